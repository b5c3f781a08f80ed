/** The threads that classify blocks: workers, and the main thread whenever it would have to wait for them. */
import type { Worker } from "node:worker_threads";
import { prepareThread, startThread } from "../../../../package/threads.js";
import type { ClassifierSource } from "../../../classifier/tables/load-classifier.js";
import type { ScannedChunk } from "../../../table/scan/scanned-chunk.js";
import type { WrittenRecords } from "../../../table/writers/output.js";
import type { BlockClassifier } from "../block-classifier.js";
import { type BlockOptions, itemColumnsOf } from "../block-options.js";
import { type ChunkVerdicts, countsOf } from "../chunk-verdicts.js";
import type { BlockMemory } from "./block-memory.js";
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

type ClassifiedBlock = ChunkVerdicts & { readonly lines: number; readonly written: WrittenRecords | undefined };

/** A block submitted to the threads. Its memory and its result's are valid until `release` is called. */
export interface SubmittedBlock {
  readonly block: Buffer;
  /** Resolves when the block is classified; to undefined if it was refused. See {@link BlockClassifier.classifySlot}. */
  result(): Promise<ClassifiedBlock | undefined>;
  records(line: number): ScannedChunk;
  release(): void;
}

const mainThread = 0;

export function prepareWorkers(count: number): void {
  for (let nth = 0; nth < count; nth++) prepareThread(import.meta.url);
}

export function createWorkerPool(
  options: BlockOptions,
  source: ClassifierSource | undefined,
  module: WebAssembly.Module,
  memory: BlockMemory,
  classifier: BlockClassifier,
) {
  const { threads, slots } = memory;
  const columns = itemColumnsOf(options.shape).length;
  const own = Array.from({ length: slots }, (_, index) => memory.slot(index));
  const free = own.map((_, index) => index);
  const queue = new BlockQueue(slots);
  const common = { options, source, module, memory: memory.memory, threads, slots };
  const inputs = Array.from({ length: threads - 1 }, (_, index) => {
    return { ...common, queueMemory: queue.memory, thread: index + 1 };
  });
  const workers: Worker[] = [];
  const chunks: (ScannedChunk | undefined)[] = [];
  const failures = new Map<number, Error>();
  let wake = () => {};

  async function classify(index: number): Promise<ClassifiedBlock | undefined> {
    while (!queue.isFinished(index)) {
      const task = queue.take(mainThread);
      if (task !== undefined) {
        const result = classifier.classifySlot(own[task.slot]!, task.length);
        chunks[task.slot] = result?.chunk;
        queue.finish(task.slot, result);
        continue;
      }
      for (const [thread, error] of failures) if (queue.isWith(thread, index)) throw error;
      queue.announceWait();
      if (queue.isFinished(index)) break;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const found = queue.resultOf(index);
    const { block, codes, hashes, mailboxes, domains, fields: ofFields, itemFields, output, ends } = own[index]!;
    if (found === undefined) return undefined;
    const fields = found.rows * columns;
    const end = fields + found.items;
    const items = {
      codes: codes.subarray(fields, end),
      hashes: hashes.subarray(2 * fields, 2 * end),
      fields: itemFields.subarray(0, found.items),
    };
    return {
      ...(found.items > 0 && { items }),
      columns,
      lines: found.lines,
      ...countsOf(found),
      codes: codes.subarray(0, fields),
      hashes: hashes.subarray(0, 2 * fields),
      mailboxes: mailboxes.subarray(0, 2 * fields),
      facts: options.facts ? { bytes: block, domains, fields: ofFields } : undefined,
      written: options.isFinal
        ? { bytes: output.subarray(0, found.outputLength), ends: ends.subarray(0, found.rows) }
        : undefined,
    };
  }

  function recordsOf(index: number, length: number, line: number): ScannedChunk {
    const chunk = chunks[index] ?? classifier.records(own[index]!, length, line);
    chunk.line = line;
    chunks[index] = chunk;
    return chunk;
  }

  /** A worker that cannot start takes no blocks: the other threads classify them. */
  function start(input: WorkerInput): Worker {
    const worker = startThread(import.meta.url, input);
    worker.on("message", () => wake());
    worker.on("error", (error: Error) => fail(input.thread, error));
    worker.on("exit", (code) => fail(input.thread, new Error(`a worker thread ended with ${code}`)));
    return worker;
  }

  function fail(thread: number, error: Error): void {
    if (!failures.has(thread)) failures.set(thread, error);
    wake();
  }

  return {
    startWorkers(): void {
      for (const input of inputs.splice(0)) workers.push(start(input));
    },
    /** Returns undefined if the block is too large for a slot. */
    submit(block: Buffer): SubmittedBlock | undefined {
      const index = free.at(-1);
      if (index === undefined) throw new Error("more blocks are submitted than there are slots");
      const slot = own[index]!;
      if (block.length > slot.block.length) return undefined;
      free.pop();
      block.copy(slot.block);
      chunks[index] = undefined;
      queue.offer(index, block.length);
      return {
        block: slot.block.subarray(0, block.length),
        result: () => classify(index),
        records: (line) => recordsOf(index, block.length, line),
        release: () => free.push(index),
      };
    },
    async close(): Promise<void> {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

export type WorkerPool = ReturnType<typeof createWorkerPool>;
