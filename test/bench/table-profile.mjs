// The work on the rows of a table by itself, on one thread, in nanoseconds a row: what no run of idv can take less of. The first
// pass compiles the kernel, judges each domain, and takes memory for the items, as a run does; in the second, all of that is done.
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { Readable } from "node:stream";
import { loadClassifier } from "../../dist/core/classifier/tables/load-classifier.js";
import { kernelModule, prepareMemory } from "../../dist/core/kernel/kernel.js";
import { seedWords } from "../../dist/core/kernel/layout.js";
import { writeFurtherTables } from "../../dist/core/kernel/tables.js";
import { BlockClassifier, kernelSettings } from "../../dist/core/run/blocks/block-classifier.js";
import { createBlockKernel } from "../../dist/core/run/blocks/block-kernel.js";
import { BlockMemory } from "../../dist/core/run/blocks/threads/block-memory.js";
import { DistinctItems } from "../../dist/core/run/distinct-items.js";
import { usualCells } from "../../dist/core/run/items/cells.js";
import { profiles } from "../../dist/core/run/items/profiles.js";
import { nameColumns } from "../../dist/core/run/rows/columns.js";
import { openTable } from "../../dist/formats/text-formats.js";
import { say } from "./measure.mjs";

const kind = "email";
const blockBytes = 524_288;

/**
 * Prints the time of each step, and returns the seconds of the first pass.
 *
 * @param {string} input path of a table of `writeTableInput`
 * @param {string} output path of a file that is written
 */
export async function profile(input, output) {
  const file = openSync(input, "r");
  const start = Buffer.alloc(blockBytes);
  readSync(file, start, 0, blockBytes, 0);
  const first = start.subarray(0, start.lastIndexOf(10) + 1);
  const table = await openTable({ name: input, bytes: Readable.from([first]) }, { profile: profiles.email });
  const { shape, target } = table.scanned;
  const options = {
    ...{ kind, shape, target, columns: nameColumns(shape.header, "status"), keys: undefined },
    ...{
      cells: { kind, ...usualCells },
      seed: crypto.getRandomValues(new Int32Array(seedWords)),
      isService: false,
      isFinal: true,
    },
  };
  const classifier = loadClassifier();
  const memory = new BlockMemory(1, 1);
  prepareMemory(memory.memory, kernelSettings(options));
  writeFurtherTables(memory.memory.buffer, classifier);
  const kernel = createBlockKernel(kernelModule(), memory, 0, classifier, kind);
  const blocks = new BlockClassifier(options, classifier, kernel);
  const slot = memory.slot(0);
  let total = 0;
  let seconds;
  for (const pass of ["first pass", "second pass"]) {
    const distinct = new DistinctItems();
    distinct.table.expect(total);
    const written = openSync(output, "w");
    const nanoseconds = { read: 0, classify: 0, count: 0, write: 0 };
    let rows = 0;
    const step = (name, work) => {
      const started = process.hrtime.bigint();
      const result = work();
      nanoseconds[name] += Number(process.hrtime.bigint() - started);
      return result;
    };
    for (let from = first.indexOf(10) + 1; ; ) {
      const length = step("read", () => readSync(file, slot.block, 0, blockBytes, from));
      const end = slot.block.subarray(0, length).lastIndexOf(10) + 1;
      if (end === 0) break;
      from += end;
      const found = step("classify", () => blocks.classifySlot(slot, end));
      if (found === undefined) throw new Error(`a thread refused the block before byte ${from}`);
      const codes = slot.codes.subarray(0, found.rows);
      step("count", () => distinct.table.addAll(slot.hashes.subarray(0, 2 * found.rows), codes));
      step("write", () => writeSync(written, slot.output, 0, found.outputLength));
      rows += found.rows;
    }
    closeSync(written);
    const figures = Object.entries(nanoseconds).map(([name, sum]) => `${name} ${(sum / rows).toFixed(0)}`);
    const sum = Object.values(nanoseconds).reduce((sum, each) => sum + each, 0);
    say(`${pass}: ${figures.join(", ")}, together ${(sum / rows).toFixed(0)} ns a row`);
    if (distinct.size < rows) throw new Error(`only ${distinct.size} of ${rows} items differ`);
    seconds ??= sum / 1e9;
    total = rows;
  }
  closeSync(file);
  return seconds;
}
