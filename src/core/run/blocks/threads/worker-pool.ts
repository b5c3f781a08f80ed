/** The threads that classify blocks: workers, and the main thread whenever it would have to wait for them. */
import type { Worker } from "node:worker_threads";
import { startThread } from "../../../../package/threads.js";
import type { ClassifierSource } from "../../../classifier/tables/load-classifier.js";
import type { ScannedChunk } from "../../../table/scan/scanned-chunk.js";
import type { WrittenRecords } from "../../../table/writers/output.js";
import type { BlockClassifier } from "../block-classifier.js";
import { type BlockOptions, itemColumnsOf } from "../block-options.js";
import type { ChunkVerdicts } from "../chunk-verdicts.js";
import { numbersOf } from "../elsewhere.js";
import type { BlockMemory, Slot } from "./block-memory.js";
import { BlockQueue } from "./block-queue.js";

export interface WorkerInput {
  readonly options: BlockOptions;
  readonly source: ClassifierSource | undefined;
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly threads: number;
  readonly slots: number;
  readonly queueMemory: SharedArrayBuffer;
  /** From 1; the main thread is 0. */
  readonly thread: number;
}

interface ClassifiedBlock extends ChunkVerdicts {
  readonly lines: number;
  readonly written: WrittenRecords | undefined;
}

/** A block submitted to the threads. Its memory and its result's are valid until `release` is called. */
export interface SubmittedBlock {
  readonly block: Buffer;
  /** Resolves when the block is classified; to undefined if it was refused. See {@link BlockClassifier.classifySlot}. */
  result(): Promise<ClassifiedBlock | undefined>;
  records(line: number): ScannedChunk;
  release(): void;
}

const mainThread = 0;

export class WorkerPool {
  readonly #classifier: BlockClassifier;
  readonly #columns: number;
  readonly #isFinal: boolean;
  readonly #hasFacts: boolean;
  readonly #slots: readonly Slot[];
  readonly #free: number[];
  readonly #queue: BlockQueue;
  readonly #inputs: WorkerInput[];
  readonly #workers: Worker[] = [];
  readonly #chunks: (ScannedChunk | undefined)[] = [];
  readonly #failures = new Map<number, Error>();
  #wake = () => {};

  constructor(
    options: BlockOptions,
    source: ClassifierSource | undefined,
    module: WebAssembly.Module,
    memory: BlockMemory,
    classifier: BlockClassifier,
  ) {
    const { threads, slots } = memory;
    this.#classifier = classifier;
    this.#columns = itemColumnsOf(options.shape).length;
    this.#isFinal = options.isFinal;
    this.#hasFacts = options.facts !== undefined;
    this.#slots = Array.from({ length: slots }, (_, index) => memory.slot(index));
    this.#free = this.#slots.map((_, index) => index);
    this.#queue = new BlockQueue(slots);
    const common = { options, source, module, memory: memory.memory, threads, slots };
    this.#inputs = Array.from({ length: threads - 1 }, (_, index) => {
      return { ...common, queueMemory: this.#queue.memory, thread: index + 1 };
    });
  }

  startWorkers(): void {
    for (const input of this.#inputs.splice(0)) this.#workers.push(this.#start(input));
  }

  /** Returns undefined if the block is too large for a slot. */
  submit(block: Buffer): SubmittedBlock | undefined {
    const index = this.#free.at(-1);
    if (index === undefined) throw new Error("more blocks are submitted than there are slots");
    const slot = this.#slots[index]!;
    if (block.length > slot.block.length) return undefined;
    this.#free.pop();
    block.copy(slot.block);
    this.#chunks[index] = undefined;
    this.#queue.offer(index, block.length);
    return {
      block: slot.block.subarray(0, block.length),
      result: () => this.#classify(index),
      records: (line) => this.#recordsOf(index, block.length, line),
      release: () => this.#free.push(index),
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  async #classify(index: number): Promise<ClassifiedBlock | undefined> {
    while (!this.#queue.isFinished(index)) {
      const task = this.#queue.take(mainThread);
      if (task !== undefined) {
        const result = this.#classifier.classifySlot(this.#slots[task.slot]!, task.length);
        this.#chunks[task.slot] = result?.chunk;
        this.#queue.finish(task.slot, result);
        continue;
      }
      for (const [thread, error] of this.#failures) if (this.#queue.isWith(thread, index)) throw error;
      this.#queue.announceWait();
      if (this.#queue.isFinished(index)) break;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const found = this.#queue.resultOf(index);
    const {
      block,
      codes,
      hashes,
      mailboxes,
      domains,
      fields: ofFields,
      itemFields,
      output,
      ends,
    } = this.#slots[index]!;
    if (found === undefined) return undefined;
    const fields = found.rows * this.#columns;
    const end = fields + found.items;
    const items = {
      codes: codes.subarray(fields, end),
      hashes: hashes.subarray(2 * fields, 2 * end),
      fields: itemFields.subarray(0, found.items),
    };
    return {
      ...(found.items > 0 && { items }),
      columns: this.#columns,
      lines: found.lines,
      emptied: found.emptied,
      marked: found.marked,
      repairable: found.repairable,
      ...numbersOf(found),
      notUtf8: found.notUtf8,
      kept: found.kept,
      codes: codes.subarray(0, fields),
      hashes: hashes.subarray(0, 2 * fields),
      mailboxes: mailboxes.subarray(0, 2 * fields),
      facts: this.#hasFacts ? { bytes: block, domains, fields: ofFields } : undefined,
      written: this.#isFinal
        ? { bytes: output.subarray(0, found.outputLength), ends: ends.subarray(0, found.rows) }
        : undefined,
    };
  }

  #recordsOf(index: number, length: number, line: number): ScannedChunk {
    const chunk = this.#chunks[index] ?? this.#classifier.records(this.#slots[index]!, length, line);
    chunk.line = line;
    this.#chunks[index] = chunk;
    return chunk;
  }

  /** A worker that cannot start takes no blocks: the other threads classify them. */
  #start(input: WorkerInput): Worker {
    const worker = startThread(import.meta.url, input);
    worker.on("message", () => this.#wake());
    worker.on("error", (error: Error) => this.#fail(input.thread, error));
    worker.on("exit", (code) => this.#fail(input.thread, new Error(`a worker thread ended with ${code}`)));
    return worker;
  }

  #fail(thread: number, error: Error): void {
    if (!this.#failures.has(thread)) this.#failures.set(thread, error);
    this.#wake();
  }
}
