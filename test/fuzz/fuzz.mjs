// npm run fuzz [-- --minutes N | --rows N] [--seed S]    without options, until the first difference
//
// Feeds tables of mutated rows to the built program's two ways of running offline, in any dialect, cut anywhere, with any
// quota and filter: over bytes, with the kernel and one to four threads, and in batches, over strings. Both must write the
// same bytes, report the same counts and charge the same units. Ends with exit code 1 at the first difference and prints
// the seed of that table, with which `--seed` repeats it.
import { createHash, randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { loadClassifier } from "../../dist/classifier/classifier.js";
import { nameColumns } from "../../dist/run/columns.js";
import { profiles } from "../../dist/run/item.js";
import { validateTable } from "../../dist/run/run.js";
import { QuotaFile } from "../../dist/store/quota-file.js";
import { openTable } from "../../dist/table/reader.js";
import { offlineValidator } from "../../dist/validator/offline.js";

const { values } = parseArgs({
  options: { minutes: { type: "string" }, rows: { type: "string" }, seed: { type: "string" } },
});
const until =
  values.minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + 60_000 * Number(values.minutes);
const mostRows = values.rows === undefined ? Number.POSITIVE_INFINITY : Number(values.rows);

/** Returns a generator of numbers from 0 up to, but not including, `below`. */
function randomFrom(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return Math.floor(((Math.imul(state ^ (state >>> 13), 0x297a2d39) >>> 0) / 2 ** 32) * below);
  };
}

const items = [
  ...[
    "ann.lee@larch-and-oak.com",
    "Ann+News@Gmail.com",
    "test@hotmail.com",
    "x@mailinator.com",
    "a@b.mooo.com",
  ],
  ...[
    "bob@gmial.com",
    "ann@example.com",
    "-a@outlook.com",
    "you@domain.com",
    "ann@duck.com",
    "box@ann.fastmail.com",
  ],
  ...[
    "Lee <ann@oak.net>",
    "a@b.net; c@d.net",
    "mailto:ann@oak.net",
    "é@oak.net",
    "ann@bücher.de",
    "n/a",
    "",
    "Email",
  ],
  ...[
    `${"a".repeat(64)}@oak.net`,
    `${"b".repeat(63)}@oak.net`,
    `a@${"c".repeat(60)}.net`,
    "ann@192.0.2.1",
    "ann",
  ],
  ...["mailinator.com", "co.uk", "xn--bcher-kva.de", "www.oak.net", "https://oak.net/x"],
];
const marks = [
  '"',
  '""',
  ",",
  ";",
  "\t",
  "\r",
  "\n",
  "\r\n",
  "@",
  ".",
  "+",
  "-",
  " ",
  "\u0000",
  "é",
  "#",
  "'",
];

/** Returns a table, and the options with which both ways read it. */
function tableOf(random) {
  const pick = (list) => list[random(list.length)];
  const [delimiter, lineEnding] = [pick([",", ";", "\t", "|"]), pick(["\n", "\n", "\r\n", "\r"])];
  const width = 1 + random(6);
  const column = random(width);
  const broken = pick([0, 0, 200, 20]);
  const field = (index) => {
    if (index !== column)
      return pick(["", "x", "customer", `"calls${delimiter} back"`, '"a ""b"""', "long ".repeat(random(20))]);
    const share = random(10);
    const item =
      share < 4
        ? `user${random(5000)}@d${random(3000)}.com`
        : share < 6
          ? `u${random(50)}@gmail.com`
          : pick(items);
    return random(8) === 0 ? `"${item}"` : item;
  };
  const mutated = (row) => {
    const place = random(row.length + 1);
    const kind = random(4);
    if (kind === 0) return row.slice(0, place) + pick(marks) + row.slice(place);
    if (kind === 1) return row.slice(0, place) + row.slice(place + 1 + random(3));
    if (kind === 2) return row.slice(0, place) + pick(marks) + row.slice(place + 1);
    return row + row.slice(place);
  };
  const rows = [
    Array.from({ length: width }, (_, index) => (index === column ? "email" : `name${index}`)).join(
      delimiter,
    ),
  ];
  const count = pick([0, 1, 30, 1000, 20_000, 60_000]);
  for (let i = 0; i < count; i++) {
    const row = Array.from({ length: width }, (_, index) => field(index)).join(delimiter);
    rows.push(broken > 0 && random(broken) === 0 ? mutated(row) : row);
  }
  const end = random(5) === 0 ? "" : lineEnding;
  return {
    bytes: Buffer.from(rows.join(lineEnding) + end, pick(["utf8", "utf8", "latin1"])),
    rows: count,
    ...{ delimiter, column },
    badRows: pick(["keep", "keep", "skip", "error"]),
    ragged: pick(["pad", "pad", "error"]),
    kind: pick(["email", "email", "domain"]),
    cores: 1 + random(4),
    limit: pick([null, null, null, 0, 1, random(count + 1)]),
    filter: pick([
      ...[{}, {}, {}, { dedupe: "item" }, { dedupe: "canonical" }],
      { keeps: (status) => status === "ok" },
      { keeps: (status) => status !== "ok", dedupe: "item" },
    ]),
    withReasons: random(6) === 0,
    cut: pick([1 << 16, 1 << 16, 1 << 20, 1000 + random(5000)]),
  };
}

/** Runs one way over a table. Returns everything that a user could see. */
async function run(table, quotaFile, validator, inBatches) {
  await quotaFile.configure({ limit: table.limit });
  await quotaFile.reset();
  async function* input() {
    for (let from = 0; from < table.bytes.length; from += table.cut)
      yield table.bytes.subarray(from, from + table.cut);
  }
  const hash = createHash("sha256");
  try {
    const { delimiter, column, badRows, ragged, kind, cores, filter, withReasons } = table;
    const faults = [];
    const opened = await openTable(
      { name: "list.csv", bytes: input() },
      {
        profile: profiles[kind],
        ...{ delimiter, badRows, ragged, columns: [String(column + 1)], header: true },
        onBadRow: ({ message }) => faults.push(message),
      },
    );
    const { start, chunks } = opened;
    const report = await validateTable({
      kind,
      table: inBatches ? { start, chunks } : opened,
      sink: {
        write: async (bytes) => void hash.update(bytes),
        commit: async () => {},
        discard: async () => {},
      },
      validator,
      columns: nameColumns(undefined, "status", { withReasons }),
      filter,
      ...{ cores, inputShare: () => 1e-6 },
      signal: new AbortController().signal,
    });
    const { used } = await quotaFile.read();
    const counts = { ...report, quota: undefined, statuses: [...report.statuses].sort() };
    return { counts, used, output: hash.digest("hex"), faults };
  } catch (error) {
    if (error.name !== "TableError") throw error;
    return error.message;
  }
}

const folder = mkdtempSync(join(tmpdir(), "idv-fuzz-"));
const quotaFile = await QuotaFile.open(join(folder, "quota.db"), Date.now);
const validator = offlineValidator({ classifier: loadClassifier(), source: {} }, quotaFile);
const seedOf = () => (values.seed === undefined ? randomInt(2 ** 32) : Number(values.seed));
let [rows, tables] = [0, 0];
try {
  do {
    const seed = seedOf();
    const table = tableOf(randomFrom(seed));
    const overBytes = await run(table, quotaFile, validator, false);
    const inBatches = await run(table, quotaFile, validator, true);
    tables++;
    rows += table.rows;
    if (isDeepStrictEqual(overBytes, inBatches)) continue;
    const { bytes, ...options } = table;
    const texts = [options, overBytes, inBatches].map((value) => JSON.stringify(value).slice(0, 2000));
    process.stdout.write(`differ, --seed ${seed}: ${texts.join("\n")}\n`);
    process.exitCode = 1;
  } while (
    process.exitCode === undefined &&
    values.seed === undefined &&
    Date.now() < until &&
    rows < mostRows
  );
} finally {
  await quotaFile.close();
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`${tables} tables, ${rows} rows\n`);
