// npm run bench:runs [-- ROWS [ROUNDS]] [-- --only WORD]
//
// Runs idv offline on one table of ROWS rows in many ways, each option and each kind of table by itself, in ROUNDS rounds, and prints
// the median wall time of each beside that of the plain run in the same rounds, and the ratio to reach. A ratio over its goal is
// marked: no option should cost many times what the work itself does. With --only, the runs whose names have one of the words, which
// commas separate.
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createGzip } from "node:zlib";
import { compress } from "@cloudpss/zstd";
import { isPackaged, startPostgresServer } from "../support/postgres-server.mjs";
import { bareEnvironment, measure, median, say } from "./measure.mjs";
import { slowProxy } from "./slow-proxy.mjs";
import { writeTableInput } from "./table-input.mjs";

const { values, positionals } = parseArgs({
  options: { only: { type: "string", default: "" } },
  allowPositionals: true,
});
const [rows = 1_000_000, rounds = 3] = positionals.map(Number);
const idv = fileURLToPath(new URL("../../bin/idv.js", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "idv-bench-"));
const env = bareEnvironment(folder);
const at = (name) => join(folder, name);
const plain = at("plain.csv");

/** Makes a table line by line out of the plain one; its header is line 0. */
const madeOf = (change, source = plain) =>
  async function* () {
    let index = 0;
    let text = "";
    for await (const line of createInterface({ input: createReadStream(source) })) {
      text += `${change(line, index++)}\n`;
      if (text.length < 1 << 20) continue;
      yield text;
      text = "";
    }
    yield text;
  };
/** Returns the address of a line; the fields before it have neither quotes nor commas. */
const addressOf = (line) => line.split(",", 3)[2];
const withAddress = (change) => (line, index) =>
  index === 0 ? line : line.replace(addressOf(line), (address) => change(address, index));
const quoted = (line) =>
  (line.match(/"(?:[^"]|"")*"|[^,]+/g) ?? []).map((field) => (field.startsWith('"') ? field : `"${field}"`)).join(",");
const jsonOf = (line) => {
  const [id, name, email, date, country, note] = line.match(/"(?:[^"]|"")*"|[^,]+/g);
  return JSON.stringify({ id: Number(id), name, email, date, country, note: note.replaceAll('"', "") });
};
const jsonLines = async function* () {
  let isHeader = true;
  for await (const text of madeOf(jsonOf)()) {
    yield isHeader ? text.slice(text.indexOf("\n") + 1) : text;
    isHeader = false;
  }
};
/** The same objects in an array, as they are or with their line breaks and spaces. */
const arrayOf = (layout) =>
  async function* () {
    let before = "[\n";
    let rest = "";
    for await (const text of jsonLines()) {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      if (lines.length === 0) continue;
      yield before + lines.map(layout).join(",\n");
      before = ",\n";
    }
    yield `${rest === "" ? "" : before + layout(rest)}\n]\n`;
  };
const pretty = (line) => `  ${JSON.stringify(JSON.parse(line), null, 2).replaceAll("\n", "\n  ")}`;
const words = "münchen köln straße łódź été niño".split(" ");

/** The tables, by the name of their file. */
const inputs = {
  "two.csv": madeOf((line, i) => `${line},${i === 0 ? "backup_email" : `b.${addressOf(line)}`}`),
  "list.jsonl": jsonLines,
  "list.json": arrayOf((line) => line),
  "pretty.json": arrayOf(pretty),
  "urls.csv": madeOf((line, i) => (i === 0 ? "url" : `https://www.${addressOf(line).split("@")[1]}/shop?id=${i}`)),
  "addresses.csv": madeOf((line) => addressOf(line)),
  "named.csv": madeOf(withAddress((address) => `Ann Lee <${address}>`)),
  "several.csv": madeOf(withAddress((address, i) => (i % 100 ? address : `${address}; b.${address}`))),
  "letters.csv": madeOf(
    withAddress((address, i) =>
      i % 10 < 7 ? `${address.split("@")[0]}@${words[i % words.length]}${i % 5000}.de` : address,
    ),
  ),
  "quoted.csv": madeOf(quoted),
  "tabs.tsv": madeOf((line) => line.replaceAll(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/g, "\t")),
  "crlf.csv": madeOf((line) => `${line}\r`),
  "short.csv": madeOf((line, i) => (i % 2 ? line.split(",", 3).join(",") : line)),
};
const deny = Array.from({ length: 500_000 }, (_, i) => `denied-${i}.example-${i % 1000}.com`);

const options = (...all) => ["emails", "--offline", "-q", ...all];
const out = (name = "o.csv") => ["-o", at(name)];
/** The command of a run whose input and output are pipes. */
const piped = (before, after) => [
  "sh",
  "-c",
  `${before} | "$0" "$1" emails --offline -q | ${after}`,
  process.execPath,
  idv,
];
/** Each run: its name, the most that its time may be of that of the plain run, and its arguments or its command. */
const runs = [
  ["plain", 1, options(plain, ...out())],
  ["--drop", 1.2, options(plain, "--drop", "disposable,fake", ...out())],
  ["--dedupe", 1.3, options(plain, "--dedupe", ...out())],
  ["--dedupe=canonical", 3, options(plain, "--dedupe=canonical", ...out())],
  ["--split", 1.5, options(plain, "--split", at("parts"))],
  ["--shard 1/4", 1.2, options(plain, "--shard", "1/4", ...out())],
  ["--dry-run", 1.5, options(plain, "--dry-run")],
  ["--explain", 2, options(plain, "--explain", ...out())],
  ["--add canonical", 3, options(plain, "--add", "canonical", ...out())],
  ["--report", 2, options(plain, "--report", at("r.html"), ...out())],
  ["--report full:", 2.5, options(plain, "--report", `full:${at("r.html")}`, ...out())],
  ["--deny of 500,000", 1.5, options(plain, "--deny", at("deny.txt"), ...out())],
  ["--update, 5 % new", 1.2, options(at("earlier.csv"), "--update", ...out())],
  ["two columns", 1.8, options(at("two.csv"), "-c", "email", "-c", "backup_email", ...out())],
  ["several items in 1 %", 1.3, options(at("several.csv"), ...out())],
  ["Name <address>", 1.5, options(at("named.csv"), ...out())],
  ["letters beyond ASCII", 2.5, options(at("letters.csv"), ...out())],
  ["domains over URLs", 1.5, ["domains", ...options(at("urls.csv"), ...out()).slice(1)]],
  ["domains over addresses", 1.5, ["domains", ...options(at("addresses.csv"), ...out()).slice(1)]],
  ["JSON Lines", 2, options(at("list.jsonl"), ...out("o.jsonl"))],
  // 1.3 of JSON Lines; the second document has half as many bytes again.
  ["JSON document", 2.6, options(at("list.json"), ...out("o.json"))],
  ["JSON document, pretty", 3.9, options(at("pretty.json"), ...out("o.json"))],
  ["CSV to JSON Lines", 4, options(plain, ...out("o.jsonl"))],
  ["JSON Lines to CSV", 4, options(at("list.jsonl"), ...out())],
  ["CSV to TSV", 2, options(plain, ...out("o.tsv"))],
  ["quoted fields", 1.5, options(at("quoted.csv"), ...out())],
  ["tabs", 1.5, options(at("tabs.tsv"), ...out("o.tsv"))],
  ["CRLF", 1.5, options(at("crlf.csv"), ...out())],
  ["short rows", 1.5, options(at("short.csv"), ...out())],
  ["pipe to pipe", 1.3, piped(`cat "${plain}"`, "cat > /dev/null")],
  ["zstd", 1.5, options(at("plain.csv.zst"), ...out("o.csv.zst"))],
  ["gzip", 4, options(at("plain.csv.gz"), ...out("o.csv.gz"))],
  // --offline allows no database.
  ["quota 20 ms away", 1.3, ["emails", "--set", "engine=offline", "-q", plain, ...out()]],
].filter(([name]) => name === "plain" || values.only.split(",").some((word) => name.includes(word)));

const commandOf = (args) => (args[0] === "sh" ? args : [process.execPath, idv, ...args]);

/** Starts the database of the run with a quota far away, if that is wanted and there is one. Returns the address, and how to end it. */
async function startQuota() {
  if (!runs.some(([name]) => name === "quota 20 ms away") || !isPackaged) return { end: async () => {} };
  const data = mkdtempSync(join(tmpdir(), "idv-postgres-"));
  const postgres = await startPostgresServer(data);
  const url = new URL(postgres.url);
  const proxy = await slowProxy(Number(url.port), 10);
  url.port = String(proxy.port);
  const end = async () => {
    proxy.close();
    await postgres.kill();
    rmSync(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  };
  return { url: url.href, end };
}

const quota = await startQuota();
try {
  if (quota.url) {
    env.IDV_QUOTA = `${quota.url}#bench`;
    const args = ["quota", "set", "--limit", "none"];
    await measure([process.execPath, idv, ...args], at("stdout"), env);
    delete env.IDV_QUOTA;
  }
  say(`making tables of ${rows.toLocaleString("en")} rows`);
  await writeTableInput(plain, rows);
  writeFileSync(at("deny.txt"), `${deny.join("\n")}\n`);
  const isUsed = (name) => runs.some(([, , args]) => args.includes(at(name)));
  for (const [name, make] of Object.entries(inputs)) {
    if (isUsed(name)) await pipeline(Readable.from(make()), createWriteStream(at(name)));
  }
  if (isUsed("plain.csv.gz")) {
    await pipeline(createReadStream(plain), createGzip(), createWriteStream(at("plain.csv.gz")));
  }
  if (isUsed("plain.csv.zst")) writeFileSync(at("plain.csv.zst"), compress(readFileSync(plain)));
  if (isUsed("earlier.csv")) {
    await measure(commandOf(options(plain, ...out("validated.csv"))), at("stdout"), env);
    const change = (line, i) => (i % 20 === 1 ? line.replace(/[a-z]+$/, "") : line);
    await pipeline(Readable.from(madeOf(change, at("validated.csv"))()), createWriteStream(at("earlier.csv")));
  }
  const results = new Map();
  for (let round = 0; round < rounds; round++) {
    for (const [name, , args] of runs) {
      if (results.get(name) === undefined && round > 0) continue;
      for (const file of ["o.csv", "o.tsv", "o.jsonl", "o.json", "o.csv.gz", "o.csv.zst", "parts"])
        rmSync(at(file), { recursive: true, force: true });
      try {
        const isFar = name === "quota 20 ms away";
        if (isFar && quota.url === undefined) throw new Error("there is no PostgreSQL");
        const own = isFar ? { ...env, IDV_QUOTA: `${quota.url}#bench` } : env;
        const measured = await measure(commandOf(args), at("stdout"), own);
        results.set(name, [...(results.get(name) ?? []), measured]);
      } catch (error) {
        say(`${name} is left out: ${error.message}`);
      }
    }
  }
  const middle = (name, key) => median(results.get(name).map((run) => run[key]));
  const line = (name, ...cells) => say([name.padEnd(24), ...cells.map((cell) => cell.padStart(10))].join(""));
  say(`\n${rounds} rounds`);
  line("", "wall s", "CPU s", "peak MB", "of plain", "goal");
  for (const [name, goal] of runs) {
    if (results.get(name) === undefined) continue;
    const ratio = middle(name, "wall") / middle("plain", "wall");
    const mark = ratio > goal ? `${goal} !` : `${goal}  `;
    const [wall, cpu] = [middle(name, "wall"), middle(name, "cpu")].map((seconds) => seconds.toFixed(2));
    line(name, wall, cpu, middle(name, "peak").toFixed(0), ratio.toFixed(2), mark);
  }
} finally {
  await quota.end();
  rmSync(folder, { recursive: true, force: true });
}
