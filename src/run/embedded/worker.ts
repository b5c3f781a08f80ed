/** Entry point of a worker thread. Posts `ready` once, then answers one block after the other. */
import { parentPort, workerData } from "node:worker_threads";
import { loadClassifier } from "../../classifier/classifier.js";
import { scanAlone } from "../../table/scan/chunk-assembler.js";
import { recordWords } from "../../table/scan/scanner.js";
import { BlockClassifier } from "./block-classifier.js";
import { Slot } from "./slot.js";
import type { BlockAnswer, BlockTask, WorkerInput } from "./worker-pool.js";

const { options, source, memories } = workerData as WorkerInput;
const slots = memories.map((memory) => new Slot(memory));
/** Memory for the record positions of one block; large enough for very short records. */
const scanMemory = new Int32Array(recordWords * 65_536);
const blockClassifier = new BlockClassifier(options, loadClassifier(source));

parentPort!.on("message", (task: BlockTask) => parentPort!.postMessage(answer(task)));
parentPort!.postMessage("ready");

function answer({ slot: index, length }: BlockTask): BlockAnswer {
  const slot = slots[index]!;
  const scanned = scanAlone(options.shape, slot.block.subarray(0, length), scanMemory);
  if (scanned === undefined || scanned.chunk.count > slot.codes.length) return undefined;
  const { chunk, lines } = scanned;
  const { codes, items, emptied, notUtf8 } = blockClassifier.classify(chunk, slot);
  // The slot has no room for several items of a record.
  if (items !== undefined) return undefined;
  const { bytes } = blockClassifier.render(chunk, codes, slot);
  // The rows did not fit into the slot, so they were rendered in memory that the main thread cannot see.
  if (bytes.buffer !== slot.memory) return undefined;
  return { lines, rows: chunk.count, outputLength: bytes.length, emptied, notUtf8 };
}
