// The steps of an offline run, each over all blocks of a table that are in memory, on one thread: nanoseconds a row.
import { readFileSync } from "node:fs";
import { loadClassifier } from "../../dist/core/classifier/tables/load-classifier.js";
import { Kernel, kernelModule, prepareMemory } from "../../dist/core/kernel/kernel.js";
import { seedWords } from "../../dist/core/kernel/layout.js";
import { writeDomainTables } from "../../dist/core/kernel/tables.js";
import { BlockMemory, slotRows } from "../../dist/core/run/blocks/threads/block-memory.js";
import { DistinctItems } from "../../dist/core/run/distinct-items.js";
import { say } from "./measure.mjs";

/**
 * Prints the time of each step.
 *
 * @param {string} input path of a table of `writeTableInput`
 */
export async function profile(input) {
  const bytes = readFileSync(input).subarray(0, 256 * 2 ** 20);
  const memory = new BlockMemory(1, 1);
  const comma = 0x2c;
  const tails = ["", ",ok", ",alias", ",disposable", ",fake", ",quota_exceeded"].map((tail) => Buffer.from(tail));
  const shape = { delimiter: comma, column: 2 };
  const seed = crypto.getRandomValues(new Int32Array(seedWords));
  prepareMemory(memory.memory, { shape, width: 6, delimiter: comma, seed, tails });
  const classifier = loadClassifier();
  writeDomainTables(memory.memory.buffer, classifier);
  const kernel = new Kernel(kernelModule(), memory.memory, memory.scratchOf(0), classifier, "email");
  const { block, codes, hashes, output, ends } = memory.slot(0);
  const records = memory.recordsOf(0);
  for (const run of ["first time", "again"]) {
    const items = new DistinctItems();
    const nanoseconds = { scan: 0, judge: 0, write: 0, count: 0 };
    let rows = 0;
    const step = (name, work) => {
      const started = process.hrtime.bigint();
      const result = work();
      nanoseconds[name] += Number(process.hrtime.bigint() - started);
      return result;
    };
    for (let from = bytes.indexOf(10) + 1; from < bytes.length; ) {
      const to = bytes.lastIndexOf(10, from + 262_144) + 1;
      if (to <= from) break;
      const length = bytes.copy(block, 0, from, to);
      from = to;
      const { count } = step("scan", () => kernel.scan(block.byteOffset, length, records, slotRows));
      const [codesAt, hashesAt] = [codes.byteOffset, hashes.byteOffset];
      step("judge", () => kernel.judge(block.byteOffset, records, count, { codes: codesAt, hashes: hashesAt }));
      const places = [codesAt, output.byteOffset, output.length, ends.byteOffset];
      step("write", () => kernel.write(block.byteOffset, records, count, ...places));
      step("count", () => items.table.addAll(hashes.subarray(0, 2 * count), codes.subarray(0, count)));
      rows += count;
    }
    const figures = Object.entries(nanoseconds).map(([name, sum]) => `${name} ${(sum / rows).toFixed(0)}`);
    say(`${run}: ${figures.join(", ")} ns a row`);
  }
}
