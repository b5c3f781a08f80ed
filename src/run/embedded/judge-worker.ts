/** A thread that judges blocks. It says `ready` once, then answers every block in turn. */
import { parentPort, workerData } from "node:worker_threads";
import { loadClassifier } from "../../classifier/classifier.js";
import { scanAlone } from "../../table/scan/chunk-assembler.js";
import { recordWords } from "../../table/scan/scanner.js";
import { Judge } from "./judge.js";
import type { BlockTask, JudgeThreadData, TaskAnswer } from "./judge-pool.js";
import { Slot } from "./slot.js";

const { options, source, memories } = workerData as JudgeThreadData;
const slots = memories.map((memory) => new Slot(memory));
/** For the records of a block of mostly very short ones. */
const scanMemory = new Int32Array(recordWords * 65_536);
const judge = new Judge(options, loadClassifier(source));

parentPort!.on("message", (task: BlockTask) => parentPort!.postMessage(answer(task)));
parentPort!.postMessage("ready");

function answer({ slot: index, length }: BlockTask): TaskAnswer {
  const slot = slots[index]!;
  const scanned = scanAlone(options.shape, slot.block.subarray(0, length), scanMemory);
  if (scanned === undefined || scanned.chunk.count > slot.codes.length) return undefined;
  const { chunk, lines } = scanned;
  const { codes } = judge.judge(chunk, slot);
  const { bytes } = judge.write(chunk, codes, slot);
  if (bytes.buffer !== slot.memory) return undefined;
  return { lines, rows: chunk.count, outputLength: bytes.length };
}
