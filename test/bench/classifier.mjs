// node test/bench/classifier.mjs [ITEMS [ROUNDS]]
//
// Measures verdicts a second on one core for a realistic mix of addresses: 65 % at twenty popular domains, 30 % at rare
// ones, 5 % broken. idv judges strings, as the library does, and bytes, as a run
// does, with the time to find them. Peers are a regular expression with
// a Set of the same domains, and validator's isEmail if it is installed (npm install --no-save validator). Also prints the
// size and loading time of the data.
import { readFileSync } from "node:fs";
import { DisposableTable } from "../../dist/core/classifier/tables/disposable-table.js";
import { loadClassifier } from "../../dist/core/classifier/tables/load-classifier.js";
import { Kernel, kernelModule, prepareMemory } from "../../dist/core/kernel/kernel.js";
import { askCode, seedWords } from "../../dist/core/kernel/layout.js";
import { writeDomainTables } from "../../dist/core/kernel/tables.js";
import { BlockMemory, slotRows } from "../../dist/core/run/blocks/threads/block-memory.js";
import { builtFile } from "../../dist/package/own-files.js";
import { readDisposableList } from "./disposable-list.mjs";
import { median, say } from "./measure.mjs";

const builtInTable = builtFile("classifier/disposable.bin");
const [items = 500_000, rounds = 5] = process.argv.slice(2).map(Number);

const loading = Array.from({ length: 11 }, () => {
  const started = performance.now();
  new DisposableTable(readFileSync(builtInTable));
  return performance.now() - started;
});
const file = readFileSync(builtInTable);
const { size } = new DisposableTable(file);
say(`data: ${size} entries in ${(file.length / 2 ** 20).toFixed(1)} MB, loaded in ${median(loading).toFixed(2)} ms`);

const popular =
  "gmail.com yahoo.com hotmail.com outlook.com icloud.com aol.com gmx.de web.de mail.ru qq.com 163.com yandex.ru proton.me live.com msn.com orange.fr comcast.net t-online.de naver.com libero.it".split(
    " ",
  );
const disposable = readDisposableList();
const broken = ["ann", "ann@", "@b.net", "a..b@c.net", "ann@b..net", "ann lee@b.net", "ann@b_c.net", "ann@[1.2.3.4]"];
let state = 1;
const random = (below) => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
const addresses = Array.from({ length: items }, (_, i) => {
  const share = random(100);
  if (share < 5) return `${broken[random(broken.length)]}${i}`;
  const name = `ann.lee${random(1_000_000)}${random(20) === 0 ? "+news" : ""}`;
  if (share < 70) return `${name}@${popular[random(popular.length)]}`;
  return `${name}@${share < 75 ? disposable[random(disposable.length)] : `company-${random(items)}.com`}`;
});

const classifier = loadClassifier();
const bytes = Buffer.from(addresses.join("\n"));
const ends = new Uint32Array(items);
for (let i = 0, end = -1; i < items; i++) {
  end += addresses[i].length + 1;
  ends[i] = end;
}
const set = new Set(disposable);
const ways = {
  "idv, strings": () => {
    let count = 0;
    for (const address of addresses) if (classifier.classify("email", address).status === "ok") count++;
    return count;
  },
  "idv, bytes": () => {
    const memory = new BlockMemory(1, 1);
    const shape = { delimiter: 0x2c, column: 0 };
    prepareMemory(memory.memory, {
      shape,
      width: 1,
      delimiter: 0x2c,
      seed: crypto.getRandomValues(new Int32Array(seedWords)),
      tails: [],
    });
    writeDomainTables(memory.memory.buffer, classifier);
    const kernel = new Kernel(kernelModule(), memory.memory, memory.scratchOf(0), classifier, "email");
    const { block, codes, hashes } = memory.slot(0);
    const records = memory.recordsOf(0);
    let count = 0;
    for (let first = 0; first < items; ) {
      const start = first === 0 ? 0 : ends[first - 1] + 1;
      let next = first;
      while (next < items && next - first < slotRows && ends[next] + 1 - start <= block.length) next++;
      const length = bytes.copy(block, 0, start, ends[next - 1]);
      block[length] = 0x0a;
      const { count: rows } = kernel.scan(block.byteOffset, length + 1, records, slotRows);
      kernel.judge(block.byteOffset, records, rows, { codes: codes.byteOffset, hashes: hashes.byteOffset });
      for (let row = 0; row < rows; row++) {
        const isAsked = codes[row] === askCode;
        if (codes[row] === 1 || (isAsked && classifier.judge("email", addresses[first + row]).status === "ok")) count++;
      }
      first = next;
    }
    return count;
  },
  "regular expression and Set": () => {
    let count = 0;
    for (const address of addresses) {
      const domain = /^[^\s@]+@([^\s@]+\.[^\s@]+)$/.exec(address)?.[1];
      if (domain !== undefined && !set.has(domain.toLowerCase())) count++;
    }
    return count;
  },
};
try {
  const { default: validator } = await import("validator");
  ways["validator isEmail"] = () => addresses.filter((address) => validator.isEmail(address)).length;
} catch {
  say("validator is not installed, left out: npm install --no-save validator");
}

const seconds = new Map(Object.keys(ways).map((name) => [name, []]));
const counts = new Map();
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of Object.entries(ways)) {
    const started = performance.now();
    counts.set(name, run());
    seconds.get(name).push((performance.now() - started) / 1000);
  }
}
say(`\n${"".padEnd(28)}${"million/s".padStart(10)}${"ok".padStart(10)}`);
for (const [name, runs] of seconds) {
  const rate = (items / median(runs) / 1e6).toFixed(2);
  say(`${name.padEnd(28)}${rate.padStart(10)}${String(counts.get(name)).padStart(10)}`);
}
