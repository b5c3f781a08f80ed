// node test/bench/api.mjs [ITEMS [ROUNDS]]
//
// Measures `idv emails` on ITEMS distinct items against `idv serve` on the same machine, with and without the cache. The
// peer is a bare undici loop that sends the same requests and discards the answers. Prints items a second, CPU time, their
// ratios and peak memory, as medians of ROUNDS that take turns; and the CPU time beside that of the parts of the work: a loop that also
// parses the answers, and an offline run that reads, judges and writes the table. A last run with twice the items shows how memory
// grows.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bareEnvironment, measure, median, say } from "./measure.mjs";
import { root, startIdvServe } from "./service-process.mjs";

const [items = 200_000, rounds = 3] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), "idv-bench-"));
let runs = 0;

function writeList(count) {
  const path = join(folder, `${count}.csv`);
  const lines = Array.from({ length: count }, (_, i) => {
    const domain = i % 10 < 7 ? "gmail.com" : `company-${i}.com`;
    return `ann.lee${i}@${domain}`;
  });
  writeFileSync(path, `email\n${lines.join("\n")}\n`);
  return path;
}

const { child, url, key } = await startIdvServe(join(folder, "state.db"));
try {
  // A new home for every run, so that the cache is empty.
  const run = ([script, ...args]) => {
    const env = { ...bareEnvironment(join(folder, `home${runs++}`)), IDV_API_KEY: key, IDV_BASE_URL: url };
    return measure([process.execPath, join(root, script), ...args], "/dev/null", env);
  };
  const idv = (list, ...args) => ["bin/idv.js", "emails", list, "-q", ...args];
  for (const [size, concurrency] of [
    [100, 4],
    [1000, 4],
  ]) {
    const list = writeList(items);
    const settings = ["--set", `batchSize=${size}`, "--set", `concurrency=${concurrency}`];
    const programs = {
      "bare undici loop": ["test/bench/api-bare.mjs", list, url, String(size), String(concurrency)],
      "it, parsing": ["test/bench/api-bare.mjs", list, url, String(size), String(concurrency), "parsed"],
      "idv, offline": idv(list, "--offline"),
      "idv, no cache": idv(list, "--cache=off", ...settings),
      "idv, cache": idv(list, ...settings),
    };
    const results = {};
    for (let round = 0; round < rounds; round++) {
      for (const [name, command] of Object.entries(programs)) {
        results[name] ??= [];
        results[name].push(await run(command));
      }
    }
    say(`${items.toLocaleString("en")} items, ${size} a request, ${concurrency} at a time`);
    const rateOf = (name) => items / median(results[name].map(({ wall }) => wall));
    const cpuOf = (name) => median(results[name].map(({ cpu }) => cpu));
    for (const name of Object.keys(programs)) {
      const megabytes = median(results[name].map(({ peak }) => peak));
      const ratio = rateOf(name) / rateOf("bare undici loop");
      say(
        `  ${name.padEnd(18)}${Math.round(rateOf(name)).toLocaleString("en").padStart(10)} items/s` +
          `${ratio.toFixed(2).padStart(7)}${cpuOf(name).toFixed(2).padStart(8)} s CPU` +
          `${(cpuOf(name) / cpuOf("bare undici loop")).toFixed(2).padStart(7)}${Math.round(megabytes).toString().padStart(6)} MB`,
      );
    }
    const parts = cpuOf("it, parsing") + cpuOf("idv, offline");
    say(`  idv without the cache takes ${(cpuOf("idv, no cache") / parts).toFixed(2)} of these two together`);
  }
  const { peak } = await run(idv(writeList(2 * items)));
  say(`${(2 * items).toLocaleString("en")} items with the cache: ${Math.round(peak)} MB`);
} finally {
  child.kill();
  rmSync(folder, { recursive: true, force: true });
}
