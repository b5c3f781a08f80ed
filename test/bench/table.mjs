// npm run bench:table [-- ROWS [ROUNDS]] [-- --profile]
//
// Measures idv and other programs that read the same table of ROWS rows and write it with a status, one after the other in
// ROUNDS rounds, each to a new file: wall time with its smallest and largest value, CPU time and peak memory, as medians, and the ratio of
// idv's wall time to theirs. If idv's slowest round takes more than 1.5 times its fastest, the machine was busy, and there are up to as many
// rounds again. Peers that are not installed are named and skipped: apt-get install mawk miller; npm install --no-save
// @duckdb/node-api. With --profile, also an estimate of the floor: a run of two rows, and the work on the rows by itself on two
// threads.
import { rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readDisposableList } from "./disposable-list.mjs";
import { bareEnvironment, measure, median, say } from "./measure.mjs";
import { writeTableInput } from "./table-input.mjs";

const { values, positionals } = parseArgs({ options: { profile: { type: "boolean" } }, allowPositionals: true });
const [rows = 5_000_000, rounds = 5] = positionals.map(Number);
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "idv-bench-"));
const input = join(folder, "input.csv");
const list = join(folder, "disposable.txt");
const output = join(folder, "output.csv");

const lookUp = `BEGIN { FS = ","; while ((getline line < "${list}") > 0) listed[line] = 1 }
{ print $0 "," (substr($3, index($3, "@") + 1) in listed ? "disposable" : "ok") }`;

const peers = {
  idv: [process.execPath, here("../../bin/idv.js"), "emails", "--offline", "-q", input, "-o", output],
  mawk: ["mawk", lookUp, input],
  DuckDB: [process.execPath, here("table-duckdb.mjs"), input, list, output],
  "Miller cat": ["mlr", "--csv", "cat", input],
  "csv-parse stream": [process.execPath, here("table-csv-stream.mjs"), input, list],
  cat: ["cat", input],
};
const env = bareEnvironment(folder);
const results = new Map(Object.keys(peers).map((name) => [name, []]));

/** A peer that takes ten times as long as idv runs once. */
const isSlow = (name) => results.get(name)[0]?.wall > 10 * results.get("idv")[0]?.wall;

/** Whether the rounds of a program differ by more than half. */
const isBusy = (runs) => {
  const walls = runs.map(({ wall }) => wall);
  return Math.max(...walls) > 1.5 * Math.min(...walls);
};

try {
  say(`making ${rows.toLocaleString("en")} rows, whose addresses all differ`);
  await writeTableInput(input, rows);
  writeFileSync(list, `${readDisposableList().join("\n")}\n`);
  try {
    createRequire(import.meta.url).resolve("@duckdb/node-api");
  } catch {
    say("DuckDB is not installed, left out: npm install --no-save @duckdb/node-api");
    results.delete("DuckDB");
  }
  let round = 0;
  while (round < rounds || (round < 2 * rounds && isBusy(results.get("idv")))) {
    round++;
    for (const name of [...results.keys()]) {
      if (isSlow(name)) continue;
      // To free the old file takes a tenth of a second, which is the system's work.
      for (const path of [output, `${output}.stdout`]) rmSync(path, { force: true });
      try {
        results.get(name).push(await measure(peers[name], `${output}.stdout`, env));
      } catch (error) {
        say(`${name} is left out: ${error.message}`);
        results.delete(name);
      }
    }
  }
  const idv = median(results.get("idv").map(({ wall }) => wall));
  const line = (...cells) => say(cells.map((cell, i) => (i === 0 ? cell.padEnd(18) : cell.padStart(12))).join(""));
  say(`\n${round} rounds`);
  line("", "wall s", "min", "max", "CPU s", "peak MB", "idv / it");
  for (const [name, runs] of results) {
    const of = (key) => runs.map((run) => run[key]);
    const walls = of("wall");
    const seconds = [median(walls), Math.min(...walls), Math.max(...walls), median(of("cpu"))];
    const ratio = (idv / median(walls)).toFixed(2);
    line(name, ...seconds.map((figure) => figure.toFixed(2)), median(of("peak")).toFixed(0), ratio);
  }
  if (values.profile) {
    const { profile } = await import("./table-profile.mjs");
    const small = join(folder, "small.csv");
    await writeTableInput(small, 2);
    const starts = [];
    for (let i = 0; i <= rounds; i++) {
      starts.push(await measure([...peers.idv.slice(0, 5), small, "-o", output], `${output}.stdout`, env));
    }
    const seconds = median(starts.map(({ wall }) => wall)) + (await profile(input, output, rows, rounds));
    line("floor", seconds.toFixed(2), "", "", "", "", (idv / seconds).toFixed(2));
    for (const name of ["mawk", "DuckDB"]) {
      const peer = results.get(name) && median(results.get(name).map(({ wall }) => wall));
      if (peer) say(`the floor is ${(seconds / peer).toFixed(2)} of ${name}`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
