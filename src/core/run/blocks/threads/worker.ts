/** Entry point of a worker thread. Takes one block after the other, until it is terminated. */
import { parentPort } from "node:worker_threads";
import { keepCode } from "../../../../package/own-files.js";
import { loadClassifier } from "../../../classifier/tables/load-classifier.js";
import { BlockClassifier } from "../block-classifier.js";
import { createBlockKernel } from "../block-kernel.js";
import { BlockMemory } from "./block-memory.js";
import { BlockQueue } from "./block-queue.js";
import type { WorkerInput } from "./worker-pool.js";

/** By then, V8 has compiled what a run needs. */
const blocksUntilCompiled = 8;

parentPort!.once("message", ({ options, source, module, memory, threads, slots, queueMemory, thread }: WorkerInput) => {
  const blockMemory = new BlockMemory(threads, slots, memory);
  const queue = new BlockQueue(slots, queueMemory);
  const classifier = source && loadClassifier(source);
  const kernel = createBlockKernel(module, blockMemory, thread, classifier, options.kind);
  const blocks = new BlockClassifier(options, classifier, kernel);
  const all = Array.from({ length: slots }, (_, index) => blockMemory.slot(index));

  for (let classified = 0; ; ) {
    const task = queue.take(thread);
    if (task === undefined) {
      queue.wait();
      continue;
    }
    if (queue.finish(task.slot, blocks.classifySlot(all[task.slot]!, task.length))) parentPort!.postMessage(thread);
    if (++classified === blocksUntilCompiled) keepCode();
  }
});
