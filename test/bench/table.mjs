// npm run bench:table [-- ROWS [ROUNDS]]
//
// Measures idv and other programs that read the same table of ROWS rows and write it with a status: wall time, CPU time
// and peak memory, as medians of ROUNDS, and the ratio of idv's wall time to theirs. Peers that are not installed are named
// and skipped: apt-get install mawk miller; npm install --no-save @duckdb/node-api
import { spawn } from "node:child_process";
import { openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readDisposableList } from "./disposable-list.mjs";
import { writeTableInput } from "./table-input.mjs";

const [rows = 5_000_000, rounds = 3] = process.argv.slice(2).map(Number);
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

/** Runs a program with its output in a file; samples its CPU time and peak memory from /proc. */
function measure([command, ...args]) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const env = { ...process.env, XDG_STATE_HOME: join(folder, "state") };
    const child = spawn(command, args, {
      env,
      stdio: ["ignore", openSync(`${output}.stdout`, "w"), "inherit"],
    });
    let [cpuTicks, peakKilobytes] = [0, 0];
    const watch = setInterval(() => {
      try {
        const fields = readFileSync(`/proc/${child.pid}/stat`, "latin1").split(") ")[1].split(" ");
        cpuTicks = Number(fields[11]) + Number(fields[12]);
        const status = readFileSync(`/proc/${child.pid}/status`, "latin1");
        peakKilobytes = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? peakKilobytes);
      } catch {
        // The process has just ended.
      }
    }, 10);
    child.once("error", (error) => {
      clearInterval(watch);
      reject(error);
    });
    child.once("exit", (code) => {
      clearInterval(watch);
      if (code !== 0) reject(new Error(`ended with ${code}`));
      // USER_HZ is 100 on every Linux.
      else
        resolve({
          wall: (performance.now() - started) / 1000,
          cpu: cpuTicks / 100,
          peak: peakKilobytes / 1024,
        });
    });
  });
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const say = (line) => process.stdout.write(`${line}\n`);

try {
  say(`making ${rows.toLocaleString("en")} rows`);
  await writeTableInput(input, rows);
  writeFileSync(list, `${readDisposableList().join("\n")}\n`);
  const results = new Map(Object.keys(peers).map((name) => [name, []]));
  try {
    createRequire(import.meta.url).resolve("@duckdb/node-api");
  } catch {
    say("DuckDB is not installed, left out: npm install --no-save @duckdb/node-api");
    results.delete("DuckDB");
  }
  for (let round = 0; round < rounds; round++) {
    for (const name of [...results.keys()]) {
      try {
        results.get(name).push(await measure(peers[name]));
      } catch (error) {
        say(`${name} is left out: ${error.message}`);
        results.delete(name);
      }
    }
  }
  const idv = median(results.get("idv").map(({ wall }) => wall));
  say(
    `\n${"".padEnd(18)}${"wall s".padStart(9)}${"CPU s".padStart(9)}${"peak MB".padStart(9)}${"idv / it".padStart(10)}`,
  );
  for (const [name, runs] of results) {
    const of = (key) => median(runs.map((run) => run[key]));
    const figures = [of("wall").toFixed(2), of("cpu").toFixed(2), of("peak").toFixed(0)];
    say(
      `${name.padEnd(18)}${figures.map((f) => f.padStart(9)).join("")}${(idv / of("wall")).toFixed(2).padStart(10)}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
