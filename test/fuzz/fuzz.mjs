// node test/fuzz/fuzz.mjs [--minutes N | --rows N] [--seeds FROM[-TO]]    without options, until the first difference
//
// Feeds hostile tables to the built program's two kinds of engines, in any dialect, cut anywhere, with any quota and filter: the
// offline one, with the kernel and one to four threads, and the same rules as a service, asked in batches. Both must write the same
// bytes, report the same counts and charge the same units. Ends with exit code 1 at the first difference and prints the
// seed of that table, with which `--seeds` repeats it. test/program/emails/fuzz.test.ts runs some seeds.
import { createHash, randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { loadClassifier } from "../../dist/core/classifier/tables/load-classifier.js";
import { itemTest, usualCells } from "../../dist/core/run/items/cells.js";
import { profiles } from "../../dist/core/run/items/profiles.js";
import { nameColumns } from "../../dist/core/run/rows/columns.js";
import { validateTable } from "../../dist/core/run/run.js";
import { openTable } from "../../dist/core/table/open/reader.js";
import { offlineValidator } from "../../dist/core/validator/offline.js";
import { openQuotaFile } from "../../dist/state/quota/quota-file.js";

const { values } = parseArgs({
  options: { minutes: { type: "string" }, rows: { type: "string" }, seeds: { type: "string" } },
});
const until = values.minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + 60_000 * Number(values.minutes);
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
  ...["ann.lee@larch-and-oak.com", "Ann+News@Gmail.com", "test@hotmail.com", "x@mailinator.com", "a@b.mooo.com"],
  ...["bob@gmial.com", "ann@example.com", "-a@outlook.com", "you@domain.com", "ann@duck.com", "box@ann.fastmail.com"],
  ...[
    "Lee <ann@oak.net>",
    '"""Lee, Ann"" <ann@oak.net>"',
    '"a@b.net\nc@d.net"',
    "a@b.net ::: n/a",
    "a@b.net; c@d.net",
    "mailto:ann@oak.net",
    "é@oak.net",
    "ann@bücher.de",
    "n/a",
    "",
    "Email",
  ],
  ...[`${"a".repeat(64)}@oak.net`, `${"b".repeat(63)}@oak.net`, `a@${"c".repeat(60)}.net`, "ann@192.0.2.1", "ann"],
  ...["mailinator.com", "co.uk", "xn--bcher-kva.de", "www.oak.net", "https://oak.net/x"],
  // Lengths at and beyond the limits of mailboxes, labels, domains and addresses, and of what the kernel looks at.
  ...[63, 64, 65, 127, 128, 255, 256, 4000].map((length) => `${"l".repeat(length)}@oak.net`),
  ...[62, 63, 64].map((length) => `a@${"d".repeat(length)}.oak.net`),
  ...[240, 243, 244, 245, 246, 1000].map((length) => `a@${"d.".repeat(length / 2)}oak.net`),
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
  '",',
  ',"',
  "\n\n",
];
const oddBytes = [0x00, 0x0a, 0x0d, 0x22, 0x2c, 0x80, 0xc3, 0xe2, 0xff];

const statuses = ["ok", "ok", "ok", "fake", "alias", '"disposable"', "quota_exceeded", "", "", "valid", " ok"];

/**
 * Returns a table, and the options with which both ways read it.
 *
 * @param later decides about updates, so that the tables of older seeds stay what they are
 * @param last decides about further columns with items, in the same way
 */
function tableOf(random, later, last) {
  const pick = (list) => list[random(list.length)];
  const width = 1 + random(6);
  // A table of one column may be a plain list.
  const delimiter = pick([",", ";", "\t", "|", ...(width === 1 ? [undefined, undefined] : [])]);
  const lineEnding = pick(["\n", "\n", "\r\n", "\r"]);
  const column = random(width);
  const brokenRows = pick([0, 0, 200, 20]);
  /** One row in so many is blank, a comment, short, wide or very long, and has another line ending. */
  const odd = pick([0, 0, 300, 10]);
  const endings = odd > 0 && random(2) === 0 ? ["\n", "\r\n", "\r"] : [lineEnding];
  /** Whether the last column has the statuses of an earlier run. */
  const isUpdate = width > 1 && column < width - 1 && later(4) === 0;
  // Broken rows have other fields in the place of the status, and a run keeps only so many different ones.
  const broken = isUpdate ? 0 : brokenRows;
  /** Index of another column with items, which the table may not have. */
  const other = last(4) === 0 && width > 1 ? last(width) : column;
  const field = (index) => {
    if (index === other && index !== column && !(isUpdate && index === width - 1)) {
      return last(3) === 0 ? (last(2) === 0 ? "" : items[last(items.length)]) : `user${last(5000)}@d${last(3000)}.com`;
    }
    if (isUpdate && index === width - 1) return statuses[later(statuses.length)];
    if (index !== column)
      return pick(["", "x", "customer", `"calls${delimiter} back"`, '"a ""b"""', "long ".repeat(random(20))]);
    const share = random(10);
    const item =
      share < 4 ? `user${random(5000)}@d${random(3000)}.com` : share < 6 ? `u${random(50)}@gmail.com` : pick(items);
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
  /** A text of many lines. In quotes, it goes over the ends of blocks: the next block starts inside them. */
  const longText = () => pick(["x", "a,b\n", "\r\n", '""\n', "@"]).repeat(1 + random(1 << (4 + random(15))));
  let longRows = 20;
  const oddRow = (row) => {
    const kind = random(7);
    if (kind === 0 && longRows-- > 0) return row.replace(/[^@]*$/, (end) => `"${longText()}"${end}`);
    if (kind === 1) return row + (delimiter ?? ",").repeat(1 + random(3));
    if (kind === 2) return row + delimiter + row;
    return pick(["", "# a comment", '#"', row.split(delimiter)[0]]);
  };
  const header = Array.from({ length: width }, (_, index) =>
    index === column ? "email" : isUpdate && index === width - 1 ? "status" : `name${index}`,
  );
  const rows = [header.join(delimiter) + lineEnding];
  // Blocks with more rows than there is room for, too.
  const isTiny = random(8) === 0;
  const count = isTiny ? pick([100_000, 200_000]) : pick([0, 1, 30, 300, 1000, 5000, 20_000, 60_000]);
  for (let i = 0; i < count; i++) {
    const row = isTiny
      ? pick(["", "", "a", "@", '""', "a@b.c", delimiter ?? "x"])
      : Array.from({ length: width }, (_, index) => field(index)).join(delimiter);
    const isOdd = odd > 0 && random(isTiny ? 1000 : odd) === 0;
    const text = isOdd ? oddRow(row) : broken > 0 && random(broken) === 0 ? mutated(row) : row;
    rows.push(text + (isOdd ? pick(endings) : lineEnding));
  }
  const text = (random(8) === 0 ? "\ufeff" : "") + rows.join("");
  const whole = random(5) === 0 ? text.slice(0, -lineEnding.length) : text;
  const table = Buffer.from(whole, pick(["utf8", "utf8", "latin1"]));
  // Bytes that are no UTF-8, and marks, anywhere below the header.
  const changes = random(6) === 0 ? random(50) : 0;
  for (let i = 0; i < changes && table.length > 100; i++) table[100 + random(table.length - 100)] = pick(oddBytes);
  const cut = pick([1 << 16, 1 << 16, 1 << 20, 1000 + random(5000)]);
  // Marks where pieces of the input end.
  for (let end = cut; random(3) === 0 && end < table.length; end += cut) table[end - random(2)] = pick(oddBytes);
  const dedupe = pick([undefined, undefined, "item", "canonical"]);
  const keeps = pick([
    undefined,
    undefined,
    (status) => status === "ok",
    (status) => status !== "ok",
    (status) => status !== "",
  ]);
  return {
    bytes: table,
    rows: count,
    delimiter,
    column,
    other,
    cut,
    dedupe,
    keeps,
    comment: random(4) === 0 ? "#" : undefined,
    badRows: pick(["keep", "keep", "skip", "skip", "error"]),
    ragged: pick(["pad", "pad", "error"]),
    kind: pick(["email", "email", "domain"]),
    cores: 1 + random(4),
    limit: pick([null, null, null, 0, 1, random(count + 1)]),
    added: {
      withReasons: random(6) === 0,
      added: ["canonical", "flags"].filter(() => random(6) === 0),
      escapesFormulas: random(8) === 0,
    },
    deciding: random(4) === 0 ? "first" : random(3) === 0 ? "best" : "worst",
    update: isUpdate ? { input: "list.csv", keeps: later(4) > 0, isSure: later(4) > 0 } : undefined,
    format: last(4) === 0 ? ["tsv", "jsonl", "csv"][last(3)] : undefined,
    shard: random(6) === 0 ? { index: 1 + random(2), count: 2, list: "list.csv" } : undefined,
  };
}

const lines = [
  ...["", "  ", "[]", "{}", "{", '{"email":1,}', '{"e\\u006dail":"ann@oak.net"}', '{"email":"a@b.net"} x'],
  ...['{"email":"a@b.net","email":"x@mailinator.com"}', '{"email":["a@b.net","c@d.net"]}', '{"email":null}'],
  ...['{"email":{"a":1}}', '{"email":"a\\"b@oak.net"}', '{"idv_status":1}', '{"email":"\\ud83d@oak.net"}'],
];

/** Returns a table of JSON Lines, and its options. */
function jsonTableOf(random) {
  const pick = (list) => list[random(list.length)];
  const count = pick([1, 30, 1000, 20_000]);
  const odd = pick([0, 0, 5, 100]);
  const isUpdate = random(4) === 0;
  const lineEnding = pick(["\n", "\n", "\r\n", "\r"]);
  const row = (index) => {
    if (index > 20 && odd > 0 && random(odd) === 0) return pick(lines);
    const item = random(3) === 0 ? items[random(items.length)] : `user${random(5000)}@d${random(3000)}.com`;
    const object = {
      id: index,
      email: item,
      ...(random(20) > 0 && { note: pick(["", 'calls, "back"', "\t", "é", 1.5, null]) }),
      ...(isUpdate && { status: pick(statuses) }),
    };
    return JSON.stringify(object, null, random(9) === 0 ? " " : undefined).replaceAll("\n", " ");
  };
  const rows = Array.from({ length: count }, (_, index) => row(index));
  const bytes = Buffer.from(rows.join(lineEnding) + pick(["", lineEnding]), pick(["utf8", "utf8", "latin1"]));
  const changes = random(6) === 0 ? random(20) : 0;
  for (let i = 0; i < changes && bytes.length > 3000; i++) bytes[3000 + random(bytes.length - 3000)] = pick(oddBytes);
  return {
    bytes,
    rows: count,
    names: ["email"],
    kind: "email",
    cut: pick([1 << 16, 1 << 20, 1000 + random(5000)]),
    dedupe: pick([undefined, undefined, "item", "canonical"]),
    keeps: pick([undefined, undefined, (status) => status === "ok"]),
    badRows: pick(["keep", "skip", "skip", "error"]),
    ragged: "pad",
    cores: 1 + random(4),
    limit: pick([null, null, null, random(count + 1)]),
    added: { withReasons: random(4) === 0, added: ["canonical", "flags"].filter(() => random(6) === 0) },
    deciding: "worst",
    update: isUpdate ? { input: "list.csv", keeps: random(4) > 0, isSure: true } : undefined,
    format: pick([undefined, undefined, "csv", "tsv"]),
    shard: random(6) === 0 ? { index: 1 + random(2), count: 2, list: "list.csv" } : undefined,
  };
}

/** Runs one way over a table. Returns everything that a user could see. */
async function run(table, quotaFile, validator) {
  await quotaFile.configure({ limit: table.limit });
  await quotaFile.reset();
  async function* input() {
    for (let from = 0; from < table.bytes.length; from += table.cut) yield table.bytes.subarray(from, from + table.cut);
  }
  const hash = createHash("sha256");
  try {
    const { delimiter, comment, column, other, badRows, ragged, kind, cores, dedupe, keeps, deciding, shard } = table;
    const { format = undefined } = table.badRows === "keep" ? {} : table;
    const faults = [];
    const opened = await openTable(
      { name: "list.csv", bytes: input() },
      {
        profile: profiles[kind],
        items: itemTest({ kind, emptyValues: usualCells.emptyValues }),
        badRows,
        ragged,
        columns: table.names ?? [...new Set([column, other])].map((index) => String(index + 1)),
        header: true,
        force: true,
        ...(delimiter !== undefined && { delimiter }),
        ...(format !== undefined && { format }),
        dialect: { ...(comment !== undefined && { comment }) },
        onBadRow: ({ message }) => faults.push(message),
      },
    );
    const { update } = table;
    const others = opened.otherColumns.map((index) => opened.names[index] ?? String(index));
    const columns = nameColumns(update && opened.names, "status", { ...table.added, others, isOurs: () => true });
    const report = await validateTable({
      kind,
      table: opened,
      sink: { write: async (bytes) => void hash.update(bytes), commit: async () => {}, discard: async () => {} },
      validator,
      columns,
      update,
      filter: { ...(dedupe && { dedupe }), ...(keeps && { keeps }) },
      cells: { ...usualCells, deciding, isPlainList: opened.dialect.delimiter === null },
      shard,
      cores,
      inputShare: () => 1e-6,
      signal: new AbortController().signal,
      // A run that fails ends after its batches, which are charged.
      session: { isSeveral: true },
    });
    const { used } = await quotaFile.read();
    // What a service suggests is not counted, and it is asked about values that are no addresses.
    const counts = {
      ...report,
      quota: undefined,
      repairable: undefined,
      elsewhere: undefined,
      statuses: [...report.statuses].sort(),
    };
    return { counts, used, output: hash.digest("hex"), faults };
  } catch (error) {
    if (error.name !== "TableError") throw error;
    return error.message;
  }
}

/** A block is read before its items are looked at, and blocks differ in size. So a bad row may be found before an earlier field. */
const isOtherOfTwoFaults = (...faults) =>
  faults.every((fault) => typeof fault === "string") && faults.some((fault) => fault.includes("with several items"));

const folder = mkdtempSync(join(tmpdir(), "idv-fuzz-"));
const { quotas, close } = await openQuotaFile(join(folder, "quota.db"), Date.now);
let charges = 0;
/** Delivers at once what it charges. */
const quotaFile = {
  configure: (change) => quotas.configure(change),
  reset: () => quotas.reset(),
  read: () => quotas.read(() => false),
  async charge(units) {
    const id = `${++charges}`;
    const { holds: granted, quota } = await quotas.reserve({ id, owner: "", holds: units, isDead: () => false });
    await quotas.deliver({ id, kind: "email", held: granted, holds: 0 }, false);
    await quotas.release(id);
    return { granted, quota };
  },
  close,
};
const validator = offlineValidator({ classifier: loadClassifier(), source: {} }, quotaFile);
const { embedded: _, ...service } = validator;
const [from, to = from] = (values.seeds ?? "").match(/\d+/g)?.map(Number) ?? [];
let [rows, tables] = [0, 0];
try {
  for (let next = from; process.exitCode === undefined; next++) {
    if (from === undefined ? Date.now() >= until || rows >= mostRows : next > to) break;
    const seed = from === undefined ? randomInt(2 ** 32) : next;
    const isJson = randomFrom(seed + 3)(6) === 0;
    const table = isJson
      ? jsonTableOf(randomFrom(seed + 4))
      : tableOf(randomFrom(seed), randomFrom(seed + 1), randomFrom(seed + 2));
    const offline = await run(table, quotaFile, validator);
    const asked = await run(table, quotaFile, service);
    tables++;
    rows += table.rows;
    if (isDeepStrictEqual(offline, asked) || isOtherOfTwoFaults(offline, asked)) continue;
    const { bytes, ...options } = table;
    const texts = [options, offline, asked].map((value) => JSON.stringify(value).slice(0, 2000));
    process.stdout.write(`differ, --seeds ${seed}: ${texts.join("\n")}\n`);
    process.exitCode = 1;
  }
} finally {
  await quotaFile.close();
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`${tables} tables, ${rows} rows\n`);
