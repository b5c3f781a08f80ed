// npm run bench:start [-- ROUNDS]
//
// Measures how long small commands take, beside `node -e 0` in the same rounds. The environment has only PATH and HOME: some
// variables make every start of Node.js slower, NODE_EXTRA_CA_CERTS threefold, and would hide what idv takes.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "./measure.mjs";

const [rounds = 30] = process.argv.slice(2).map(Number);
const program = process.env.IDV_BENCH_PROGRAM ?? fileURLToPath(new URL("../../bin/idv.js", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "idv-bench-"));
const listOf = (rows) => {
  const path = join(home, `${rows}.csv`);
  const addresses = Array.from({ length: rows }, (_, i) => `user${i}@larch-and-oak${i % 300}.com\n`);
  writeFileSync(path, `email\n${addresses.join("")}`);
  return path;
};
const commands = {
  "node -e 0": ["-e", "0"],
  "idv --version": [program, "--version"],
  "idv check": [program, "check", "ann@larch-and-oak.com"],
  "idv emails, 10 rows": [program, "emails", "--offline", listOf(10)],
  "idv emails, 1,000 rows": [program, "emails", "--offline", listOf(1000)],
};

const times = new Map(Object.keys(commands).map((name) => [name, []]));
for (let round = 0; round < rounds; round++) {
  for (const [name, args] of Object.entries(commands)) {
    const started = performance.now();
    const env = { PATH: process.env.PATH, HOME: home };
    const { status, stderr } = spawnSync(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe"] });
    times.get(name).push(performance.now() - started);
    if (status !== 0) throw new Error(`${name}: ${stderr}`);
  }
}
rmSync(home, { recursive: true });

const bare = times.get("node -e 0");
process.stdout.write(`Node.js ${process.version}, ${rounds} rounds\n`);
process.stdout.write(
  `${"".padEnd(24)}${"median ms".padStart(10)}${"min".padStart(8)}${"/ node".padStart(8)}${"of min".padStart(8)}\n`,
);
for (const [name, taken] of times) {
  const figures = [
    median(taken).toFixed(1).padStart(10),
    Math.min(...taken)
      .toFixed(1)
      .padStart(8),
  ];
  const ratios = [median(taken) / median(bare), Math.min(...taken) / Math.min(...bare)];
  process.stdout.write(
    `${name.padEnd(24)}${figures.join("")}${ratios.map((ratio) => ratio.toFixed(2).padStart(8)).join("")}\n`,
  );
}
