// npm run bench:runs [-- ROWS [ROUNDS]] [-- --only WORD]
//
// Runs idv offline on one table of ROWS rows in many ways, each option and each kind of table by itself, in ROUNDS rounds. Prints
// medians of wall time, CPU time and peak memory, and the CPU time of a row and of a megabyte, without the start of the program,
// beside those of the plain run in the same rounds. A run is marked if both are over 3: no option should cost many times what the
// work itself does. With --only, the runs whose names have one of the words, which commas separate.
import {
  createReadStream,
  createWriteStream,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { domainToASCII, fileURLToPath } from "node:url";
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
const others = ["n/a", "none given", "see below", "call first", "ann at web.de", "0170 1234567", "-", "unknown"];
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
  "lines.csv": madeOf((line, i) =>
    i % 3 === 1 ? line.replace(/,customer$/, ',"calls back,\nmornings, or\nevenings"') : line,
  ),
  "others.csv": madeOf(withAddress((address, i) => (i % 3 ? others[i % others.length] : address))),
  "accents.csv": madeOf(withAddress((address, i) => `${words[i % words.length]}.${address}`)),
  "a-labels.csv": madeOf(
    withAddress((address, i) =>
      i % 10 < 7 ? `${address.split("@")[0]}@${domainToASCII(`${words[i % words.length]}${i % 500}.de`)}` : address,
    ),
  ),
  "capitals.csv": madeOf(withAddress((address) => ` ${address.toUpperCase()} `)),
  "both.csv": madeOf(withAddress((address) => `${address}; b.${address}`)),
  "cards.vcf": madeOf((line, i) =>
    ["BEGIN:VCARD", "VERSION:3.0", `FN:Ann Lee ${i}`, `EMAIL:${addressOf(line)}`, "END:VCARD"].join("\r\n"),
  ),
  "short.csv": madeOf((line, i) => (i % 2 ? line.split(",", 3).join(",") : line)),
};
const deny = Array.from({ length: 500_000 }, (_, i) => `denied-${i}.example-${i % 1000}.com`);

/** The run over two rows, whose time is that of the start. */
const start = "two rows";
const most = 3;

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
/** Each run: its name, and its arguments or its command. */
const runs = [
  [start, options(at("start.csv"), ...out())],
  ["plain", options(plain, ...out())],
  ["--drop", options(plain, "--drop", "disposable,fake", ...out())],
  ["--dedupe", options(plain, "--dedupe", ...out())],
  ["--dedupe=canonical", options(plain, "--dedupe=canonical", ...out())],
  ["--split", options(plain, "--split", at("parts"))],
  ["--shard 1/4", options(plain, "--shard", "1/4", ...out())],
  ["--shard 1/16", options(plain, "--shard", "1/16", ...out())],
  ["--dry-run", options(plain, "--dry-run")],
  ["--explain", options(plain, "--explain", ...out())],
  ["--add flags", options(plain, "--add", "flags", ...out())],
  ["--drop flag:role", options(plain, "--drop", "flag:role", ...out())],
  ["--fix=all", options(plain, "--fix=all", ...out())],
  ["--add canonical", options(plain, "--add", "canonical", ...out())],
  ["--report", options(plain, "--report", at("r.html"), ...out())],
  ["--report full:", options(plain, "--report", `full:${at("r.html")}`, ...out())],
  ["--deny of 500,000", options(plain, "--deny", at("deny.txt"), ...out())],
  ["--update, 5 % new", options(at("earlier.csv"), "--update", ...out())],
  ["two columns", options(at("two.csv"), "-c", "email", "-c", "backup_email", ...out())],
  ["several items in 1 %", options(at("several.csv"), ...out())],
  ["Name <address>", options(at("named.csv"), ...out())],
  ["letters beyond ASCII", options(at("letters.csv"), ...out())],
  ["domains over URLs", ["domains", ...options(at("urls.csv"), ...out()).slice(1)]],
  ["domains over addresses", ["domains", ...options(at("addresses.csv"), ...out()).slice(1)]],
  ["JSON Lines", options(at("list.jsonl"), ...out("o.jsonl"))],
  ["JSON document", options(at("list.json"), ...out("o.json"))],
  ["JSON document, pretty", options(at("pretty.json"), ...out("o.json"))],
  ["vCard to CSV", options(at("cards.vcf"), ...out())],
  ["CSV to JSON", options(plain, ...out("o.json"))],
  ["CSV to JSON Lines", options(plain, ...out("o.jsonl"))],
  ["JSON Lines to CSV", options(at("list.jsonl"), ...out())],
  ["CSV to TSV", options(plain, ...out("o.tsv"))],
  ["quoted fields", options(at("quoted.csv"), ...out())],
  ["tabs", options(at("tabs.tsv"), ...out("o.tsv"))],
  ["CRLF", options(at("crlf.csv"), ...out())],
  ["fields of several lines", options(at("lines.csv"), ...out())],
  ["two of three no address", options(at("others.csv"), ...out())],
  ["local parts with accents", options(at("accents.csv"), ...out())],
  ["A-labels", options(at("a-labels.csv"), ...out())],
  ["capitals and spaces", options(at("capitals.csv"), ...out())],
  ["two items in each", options(at("both.csv"), ...out())],
  ["short rows", options(at("short.csv"), ...out())],
  ["pipe to pipe", piped(`cat "${plain}"`, "cat > /dev/null")],
  ["zstd", options(at("plain.csv.zst"), ...out("o.csv.zst"))],
  ["gzip", options(at("plain.csv.gz"), ...out("o.csv.gz"))],
  // --offline allows no database.
  ["quota 20 ms away", ["emails", "--set", "engine=offline", "-q", plain, ...out()]],
].filter(([name]) => name === "plain" || name === start || values.only.split(",").some((word) => name.includes(word)));

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
  writeFileSync(at("start.csv"), "id,name,email,date,country,note\n1,Ann Lee,ann@web.de,2026-01-02,DE,customer\n");
  writeFileSync(at("deny.txt"), `${deny.join("\n")}\n`);
  const isUsed = (name) => runs.some(([, args]) => args.includes(at(name)));
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
    for (const [name, args] of runs) {
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
  const line = (name, ...cells) => say([name.padEnd(26), ...cells.map((cell) => cell.padStart(13))].join(""));
  say(`\n${rounds} rounds`);
  line("", "wall s", "CPU s", "peak MB", "CPU of plain", "a MB");
  const bytesOf = (args) =>
    statSync(
      Object.keys(inputs)
        .map(at)
        .find((path) => args.includes(path)) ?? plain,
    ).size;
  const cpuOf = (name) => middle(name, "cpu") - middle(start, "cpu");
  for (const [name, args] of runs) {
    if (results.get(name) === undefined) continue;
    const ratio = cpuOf(name) / cpuOf("plain");
    const ofMegabyte = (ratio * bytesOf([])) / bytesOf(args);
    const [wall, cpu] = [middle(name, "wall"), middle(name, "cpu")].map((seconds) => seconds.toFixed(2));
    const mark = Math.min(ratio, ofMegabyte) > most ? " !" : "";
    line(name, wall, cpu, middle(name, "peak").toFixed(0), ratio.toFixed(2), `${ofMegabyte.toFixed(2)}${mark}`);
  }
} finally {
  await quota.end();
  rmSync(folder, { recursive: true, force: true });
}
