// npm run bench:growth [-- MILLIONS...]
//
// Measures offline runs over tables of 1, 2, 5, 10 and 20 million rows, in all of whose rows the address is another one:
// wall time, CPU time and peak memory, and how much of these a row takes beyond the first million.
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bareEnvironment, measure, median, say } from "./measure.mjs";
import { writeTableInput } from "./table-input.mjs";

const millions = process.argv.slice(2).map(Number);
const sizes = millions.length > 0 ? millions : [1, 2, 5, 10, 20];
const idv = fileURLToPath(new URL("../../bin/idv.js", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "idv-bench-"));
const input = join(folder, "input.csv");
const output = join(folder, "output.csv");
const env = bareEnvironment(folder);
const rounds = 3;

try {
  const found = [];
  say("million rows   wall s    CPU s  peak MB   CPU ns a further row   bytes a further row");
  for (const size of sizes) {
    await writeTableInput(input, size * 1e6);
    const runs = [];
    for (let round = 0; round < rounds; round++) {
      const command = [process.execPath, idv, "emails", "--offline", "-q", input, "-o", output];
      runs.push(await measure(command, `${output}.stdout`, env));
    }
    const of = (key) => median(runs.map((run) => run[key]));
    const [wall, cpu, peak] = [of("wall"), of("cpu"), of("peak")];
    found.push({ size, cpu, peak });
    const first = found[0];
    const more = (size - first.size) * 1e6;
    const perRow = more > 0 ? [((cpu - first.cpu) / more) * 1e9, ((peak - first.peak) / more) * 2 ** 20] : [];
    const cells = [wall.toFixed(2), cpu.toFixed(2), peak.toFixed(0)].map((cell) => cell.padStart(9));
    say(
      `${String(size).padStart(12)}${cells.join("")}${perRow.map((figure) => figure.toFixed(0).padStart(23)).join("")}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
