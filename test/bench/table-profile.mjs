// The work on the rows of a table by itself, on two threads: each has half of the bytes, its own table of items and its own
// output, and nothing to wait for. A run also has to start, to put the rows of both in order, to count each item once, and to
// charge. Then the same for one shard of 16, which has to find and hash all items to tell which are its own.
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
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

// As in a run: see expectLongRun in bin/idv.js.
if (process.versions.v8.startsWith("11.")) setFlagsFromString("--interrupt-budget=400000");

const kind = "email";
const blockBytes = 524_288;
/** As many as a run has on two cores. */
const threads = 2;

/**
 * Prints the time of each step, and returns the seconds until both threads have done their half: of ROUNDS, the middle one. The
 * time to load and to prepare them is not counted.
 *
 * @param {string} input path of a table of `writeTableInput`
 * @param {string} output start of the paths of two files that are written
 * @param {number} rows
 * @param {number} rounds
 */
export async function profile(input, output, rows, rounds) {
  const wholes = [];
  const shards = [];
  for (let round = 0; round < rounds; round++) {
    wholes.push(await profileOf(input, output, rows));
    shards.push(await profileOf(input, output, rows, { index: 1, count: 16 }));
  }
  const middle = (results) => results.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(results.length / 2)];
  const whole = middle(wholes);
  const shard = middle(shards);
  say(`work on the rows: ${whole.text}`);
  say(`of one shard of 16: ${shard.text}; ${(shard.milliseconds / whole.milliseconds).toFixed(2)} of it`);
  return whole.seconds;
}

async function profileOf(input, output, rows, shard) {
  const { options, bounds } = await open(input, shard);
  const { memory } = new BlockMemory(threads, threads);
  const classifier = loadClassifier();
  prepareMemory(memory, kernelSettings(options));
  writeFurtherTables(memory.buffer, classifier);
  const module = kernelModule();
  const wanted = rows / (shard?.count ?? 1);
  const workers = bounds.slice(1).map((end, part) => {
    const half = {
      input,
      output: `${output}.${part}`,
      from: bounds[part],
      end,
      items: Math.ceil(wanted / threads),
      part,
    };
    return new Worker(new URL(import.meta.url), { workerData: { ...half, options, memory, module } });
  });
  const next = (worker) => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  await Promise.all(workers.map(next));
  const started = performance.now();
  const done = workers.map(next);
  for (const worker of workers) worker.postMessage("start");
  const results = await Promise.all(done);
  const seconds = (performance.now() - started) / 1000;
  const found = results.reduce((sum, { items }) => sum + items, 0);
  if (Math.abs(found - wanted) > (shard ? wanted / 20 : 0)) throw new Error(`${found} items, not ${wanted}`);
  const sums = Object.keys(results[0].milliseconds).map((name) => {
    return [name, results.reduce((sum, { milliseconds }) => sum + milliseconds[name], 0)];
  });
  const figures = sums.map(([name, sum]) => `${name} ${((1e6 * sum) / rows).toFixed(0)}`);
  const text = `${figures.join(", ")} ns of a thread for each; ${seconds.toFixed(2)} s on ${threads} threads`;
  return { seconds, text, milliseconds: sums.reduce((total, [, sum]) => total + sum, 0) };
}

/** Returns the options of a run, and where the parts of the file start and end. */
async function open(input, shard) {
  const file = openSync(input, "r");
  const { size } = fstatSync(file);
  const start = Buffer.alloc(blockBytes);
  const first = start.subarray(0, start.subarray(0, readSync(file, start, 0, blockBytes, 0)).lastIndexOf(10) + 1);
  const table = await openTable({ name: input, bytes: Readable.from([first]) }, { profile: profiles.email });
  const { shape, target } = table.scanned;
  const options = {
    ...{ kind, shape, target, columns: nameColumns(shape.header, "status"), keys: undefined, shard },
    ...{
      cells: { kind, ...usualCells },
      seed: crypto.getRandomValues(new Int32Array(seedWords)),
      isService: false,
      isFinal: true,
    },
  };
  // Rows are shorter than 4,096 bytes.
  const nextLine = (position) => {
    const length = readSync(file, start, 0, 4096, position);
    return position + start.subarray(0, length).indexOf(10) + 1;
  };
  const bounds = Array.from({ length: threads }, (_, part) => nextLine(Math.floor((size * part) / threads)));
  closeSync(file);
  return { options, bounds: [...bounds, size] };
}

if (!isMainThread) {
  const work = prepare(workerData);
  parentPort.once("message", () => parentPort.postMessage(work()));
  parentPort.postMessage("ready");
}

/** Prepares one half. The function that it returns does the work, and returns the times and the number of different items. */
function prepare({ options, memory, module, part, input, output, from, end, items }) {
  const classifier = loadClassifier();
  const blockMemory = new BlockMemory(threads, threads, memory);
  const kernel = createBlockKernel(module, blockMemory, part, classifier, kind);
  const blocks = new BlockClassifier(options, classifier, kernel);
  const slot = blockMemory.slot(part);
  return () => {
    const file = openSync(input, "r");
    const written = openSync(output, "w");
    const distinct = new DistinctItems();
    distinct.table.expect(items);
    const milliseconds = { read: 0, classify: 0, count: 0, write: 0 };
    const step = (name, work) => {
      const started = performance.now();
      const result = work();
      milliseconds[name] += performance.now() - started;
      return result;
    };
    for (let position = from; position < end; ) {
      const most = Math.min(blockBytes, end - position);
      const length = step("read", () => readSync(file, slot.block, 0, most, position));
      const bytes = slot.block.subarray(0, length).lastIndexOf(10) + 1;
      position += bytes;
      const found = step("classify", () => blocks.classifySlot(slot, bytes));
      if (found === undefined) throw new Error(`a thread refused the block before byte ${position}`);
      const codes = slot.codes.subarray(0, found.rows);
      step("count", () => distinct.table.addAll(slot.hashes.subarray(0, 2 * found.rows), codes));
      step("write", () => writeSync(written, slot.output, 0, found.outputLength));
    }
    closeSync(written);
    closeSync(file);
    return { milliseconds, items: distinct.size };
  };
}
