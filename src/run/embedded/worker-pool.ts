/** Worker threads that classify blocks, and the shared memory that passes blocks to them and back. */
import { Worker } from "node:worker_threads";
import type { ClassifierSource } from "../../classifier/classifier.js";
import type { WrittenRecords } from "../../table/scan/scanned-chunk.js";
import type { BlockOptions, ChunkVerdicts } from "./block-classifier.js";
import { Slot } from "./slot.js";

/** Data that a worker is started with. */
export interface WorkerInput {
  readonly options: BlockOptions;
  readonly source: ClassifierSource;
  /** Memory of the slots. */
  readonly memories: readonly SharedArrayBuffer[];
}

/** A block to classify. */
export interface BlockTask {
  /** Index of the slot that holds the block. */
  readonly slot: number;
  /** Length of the block in bytes. */
  readonly length: number;
}

/**
 * Answer of a worker. Undefined when the main thread has to take the block, because it cannot be scanned alone, has bad
 * rows or values with several items, or does not fit into the slot.
 */
export type BlockAnswer =
  | {
      readonly lines: number;
      readonly rows: number;
      readonly outputLength: number;
      readonly emptied: number;
      readonly notUtf8: number;
    }
  | undefined;

/** A block with its verdicts, as a worker left it in its slot. */
interface ClassifiedBlock extends ChunkVerdicts {
  /** Number of line ends in the block. */
  readonly lines: number;
  /** The rows, rendered as if the quota granted all their items. */
  readonly written: WrittenRecords;
}

/** A block submitted to a worker. Its memory and that of the answer are valid until `release` is called. */
export interface SubmittedBlock {
  readonly block: Buffer;
  readonly answer: Promise<ClassifiedBlock | undefined>;
  release(): void;
}

export class WorkerPool {
  /** Whether all workers have loaded what they need. */
  isReady = false;
  readonly #slots: readonly Slot[];
  readonly #free: number[];
  readonly #workers: readonly BlockWorker[];

  /** @param slots most blocks that are submitted and not yet released */
  constructor(workers: number, slots: number, options: BlockOptions, source: ClassifierSource) {
    this.#slots = Array.from({ length: slots }, () => new Slot());
    this.#free = this.#slots.map((_, index) => index);
    const memories = this.#slots.map(({ memory }) => memory);
    this.#workers = Array.from({ length: workers }, () => new BlockWorker({ options, source, memories }));
    Promise.all(this.#workers.map(({ ready }) => ready)).then(
      () => {
        this.isReady = true;
      },
      // A worker could not start: the pool never becomes ready, and the main thread classifies all blocks.
      () => {},
    );
  }

  /** Gives a block to the worker with the fewest pending blocks. Returns undefined when it is too large for a slot. */
  submit(block: Buffer): SubmittedBlock | undefined {
    const index = this.#free.at(-1);
    if (index === undefined) throw new Error("more blocks are submitted than there are slots");
    const slot = this.#slots[index]!;
    if (block.length > slot.block.length) return undefined;
    this.#free.pop();
    block.copy(slot.block);
    const worker = this.#workers.reduce((a, b) => (b.pending < a.pending ? b : a));
    const answer = worker.classify({ slot: index, length: block.length }).then(
      (found) =>
        found && {
          lines: found.lines,
          emptied: found.emptied,
          notUtf8: found.notUtf8,
          codes: slot.codes.subarray(0, found.rows),
          hashes: slot.hashes.subarray(0, 2 * found.rows),
          mailboxes: slot.mailboxes.subarray(0, 2 * found.rows),
          written: {
            bytes: slot.output.subarray(0, found.outputLength),
            ends: slot.ends.subarray(0, found.rows),
          },
        },
    );
    // Prevents an unhandled rejection. The run gets the error when it awaits the answer.
    answer.catch(() => {});
    const release = () => this.#free.push(index);
    return { block: slot.block.subarray(0, block.length), answer, release };
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.close()));
  }
}

/** One worker thread. It answers blocks in the order in which they were submitted. */
class BlockWorker {
  /** Resolves when the worker has loaded what it needs. */
  readonly ready: Promise<void>;
  readonly #worker: Worker;
  readonly #waiting: { resolve(answer: BlockAnswer): void; reject(error: Error): void }[] = [];

  constructor(input: WorkerInput) {
    this.#worker = new Worker(new URL("worker.js", import.meta.url), { workerData: input });
    this.ready = new Promise((resolve, reject) => {
      this.#worker.once("message", () => {
        resolve();
        this.#worker.on("message", (answer: BlockAnswer) => this.#waiting.shift()?.resolve(answer));
      });
      this.#worker.on("error", (error) => {
        reject(error);
        for (const { reject } of this.#waiting.splice(0)) reject(error);
      });
    });
  }

  /** Number of blocks without an answer. */
  get pending(): number {
    return this.#waiting.length;
  }

  classify(task: BlockTask): Promise<BlockAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#worker.postMessage(task);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
