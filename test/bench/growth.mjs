// npm run bench:growth [-- MILLIONS...]
//
// Measures offline runs over tables of 1, 2, 5, 10 and 20 million rows, in all of whose rows the address is another one; then over
// 1,000, 3,000 and 10,000 tables of two rows, as files and in an archive, and over 50 to 400 sheets of a workbook: wall time, CPU
// time and peak memory, and what a further row or table takes beyond the first number of them.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeXlsx } from "hucre/xlsx";
import { zip } from "../support/zip.mjs";
import { bareEnvironment, measure, median, say } from "./measure.mjs";
import { writeTableInput } from "./table-input.mjs";

const millions = process.argv.slice(2).map(Number);
const idv = fileURLToPath(new URL("../../bin/idv.js", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "idv-bench-"));
const at = (name) => join(folder, name);
const env = bareEnvironment(folder);
const rounds = 3;

/** Prints what runs over each number of rows or tables take. `argumentsFor` makes the input, and returns the arguments. */
async function measureGrowth(what, numbers, argumentsFor) {
  say(`\n${what.padStart(16)}   wall s    CPU s  peak MB  CPU us of a further one  bytes of a further one`);
  let first;
  for (const number of numbers) {
    const command = [process.execPath, idv, "emails", "--offline", "-q", ...(await argumentsFor(number))];
    const runs = [];
    for (let round = 0; round < rounds; round++) runs.push(await measure(command, at("stdout"), env));
    const [wall, cpu, peak] = ["wall", "cpu", "peak"].map((key) => median(runs.map((run) => run[key])));
    first ??= { number, cpu, peak };
    const more = number - first.number;
    const further = more > 0 ? [((cpu - first.cpu) / more) * 1e6, ((peak - first.peak) / more) * 2 ** 20] : [];
    const cells = [wall.toFixed(2), cpu.toFixed(2), peak.toFixed(0)].map((cell) => cell.padStart(9));
    const ends = further.map((figure) => figure.toLocaleString("en", { maximumSignificantDigits: 3 }).padStart(24));
    say(`${number.toLocaleString("en").padStart(16)}${cells.join("")}${ends.join("")}`);
  }
}

try {
  const numbers = (millions.length > 0 ? millions : [1, 2, 5, 10, 20]).map((million) => million * 1e6);
  await measureGrowth("rows", numbers, async (rows) => {
    await writeTableInput(at("rows.csv"), rows);
    return [at("rows.csv"), "-o", at("rows-out.csv")];
  });
  const tables = [1000, 3000, 10_000];
  const named = Array.from({ length: tables.at(-1) }, (_, i) => [
    `t${i}.csv`,
    `email\nann${i}@gmail.com\nb${i}@web.de\n`,
  ]);
  mkdirSync(at("in"));
  for (const [name, text] of named) writeFileSync(join(at("in"), name), text);
  const paths = named.map(([name]) => join(at("in"), name));
  await measureGrowth("files", tables, (count) => [...paths.slice(0, count), "-o", `${at("out")}/`]);
  await measureGrowth("tables in a zip", tables, (count) => {
    writeFileSync(at("in.zip"), zip(Object.fromEntries(named.slice(0, count))));
    return [at("in.zip"), "-o", at("out.zip")];
  });
  await measureGrowth("sheets", [50, 150, 400], async (count) => {
    const sheets = named
      .slice(0, count)
      .map(([name, text]) => ({ name, rows: text.split("\n").map((line) => [line]) }));
    writeFileSync(at("in.xlsx"), await writeXlsx({ sheets }));
    return [at("in.xlsx"), "--sheet", "*", "-o", at("out.xlsx")];
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
