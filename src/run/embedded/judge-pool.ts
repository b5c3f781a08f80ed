import { Worker } from "node:worker_threads";
import type { ClassifierSource } from "../../classifier/classifier.js";
import type { WrittenRecords } from "../../table/scan/scanned-chunk.js";
import type { Judgements, JudgeOptions } from "./judge.js";
import { Slot } from "./slot.js";

/** What a thread is started with. */
export interface JudgeThreadData {
  readonly options: JudgeOptions;
  readonly source: ClassifierSource;
  /** Those of the slots. */
  readonly memories: readonly SharedArrayBuffer[];
}

/** What a thread is asked: to judge the block in a slot. */
export interface BlockTask {
  /** The slot's index. */
  readonly slot: number;
  /** That of the block, in bytes. */
  readonly length: number;
}

/** What it answers; undefined when the block does not stand alone, is not as it should be, or does not fit. */
export type TaskAnswer =
  | { readonly lines: number; readonly rows: number; readonly outputLength: number }
  | undefined;

/** What a thread made of a block. */
interface JudgedBlock extends Judgements {
  /** How many line ends the block has. */
  readonly lines: number;
  /** The rows, as they are written if the quota lasts. */
  readonly written: WrittenRecords;
}

/** A block that was handed to a thread. Its memory is lent: it is good until it is released. */
export interface HandedBlock {
  readonly block: Buffer;
  readonly judged: Promise<JudgedBlock | undefined>;
  release(): void;
}

/** Threads that judge blocks. */
export class JudgePool {
  /** Whether all threads have loaded what they need. */
  isReady = false;
  readonly #slots: readonly Slot[];
  readonly #free: number[];
  readonly #threads: readonly Thread[];

  /** @param slots how many blocks there are at most that were handed out and not released */
  constructor(threads: number, slots: number, options: JudgeOptions, source: ClassifierSource) {
    this.#slots = Array.from({ length: slots }, () => new Slot());
    this.#free = this.#slots.map((_, index) => index);
    const memories = this.#slots.map(({ memory }) => memory);
    this.#threads = Array.from({ length: threads }, () => new Thread({ options, source, memories }));
    Promise.all(this.#threads.map(({ ready }) => ready)).then(
      () => {
        this.isReady = true;
      },
      // Whoever waits for an answer gets the error too.
      () => {},
    );
  }

  /** Hands a block to the thread that has the least to do; undefined when it is too large for a slot. */
  judge(block: Buffer): HandedBlock | undefined {
    const index = this.#free.at(-1);
    if (index === undefined) throw new Error("more blocks are handed out than there are slots");
    const slot = this.#slots[index]!;
    if (block.length > slot.block.length) return undefined;
    this.#free.pop();
    block.copy(slot.block);
    const thread = this.#threads.reduce((a, b) => (b.pending < a.pending ? b : a));
    const judged = thread.judge({ slot: index, length: block.length }).then(
      (answer) =>
        answer && {
          lines: answer.lines,
          codes: slot.codes.subarray(0, answer.rows),
          hashes: slot.hashes.subarray(0, 2 * answer.rows),
          mailboxes: slot.mailboxes.subarray(0, 2 * answer.rows),
          written: {
            bytes: slot.output.subarray(0, answer.outputLength),
            ends: slot.ends.subarray(0, answer.rows),
          },
        },
    );
    // Whoever waits for it gets the error.
    judged.catch(() => {});
    const release = () => this.#free.push(index);
    return { block: slot.block.subarray(0, block.length), judged, release };
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

class Thread {
  readonly ready: Promise<void>;
  readonly #worker: Worker;
  readonly #waiting: { resolve(answer: TaskAnswer): void; reject(error: Error): void }[] = [];

  constructor(data: JudgeThreadData) {
    this.#worker = new Worker(new URL("judge-worker.js", import.meta.url), { workerData: data });
    this.ready = new Promise((resolve, reject) => {
      this.#worker.once("message", () => {
        resolve();
        this.#worker.on("message", (answer: TaskAnswer) => this.#waiting.shift()?.resolve(answer));
      });
      this.#worker.on("error", (error) => {
        reject(error);
        for (const { reject } of this.#waiting.splice(0)) reject(error);
      });
    });
  }

  /** How many blocks it has not answered. */
  get pending(): number {
    return this.#waiting.length;
  }

  judge(task: BlockTask): Promise<TaskAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#worker.postMessage(task);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
