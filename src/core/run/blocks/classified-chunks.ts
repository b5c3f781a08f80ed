// The blocks of a table, classified by the threads: each block ends after a line ending and is in a slot of shared
// memory; the main thread takes the results in input order. A block that starts inside a record, or that a thread
// refused, goes through the chunk assembler instead, which has the start of that record.
// To keep: a slot's memory may not be used after its release. Every way out closes the threads.
import type { Classifier } from "../../classifier/classifier.js";
import type { ClassifierSource } from "../../classifier/tables/load-classifier.js";
import { prepareMemory, withKernel } from "../../kernel/kernel.js";
import { writeFurtherTables } from "../../kernel/tables.js";
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import type { ScannedTable } from "../../table/scan/scanned-records.js";
import { readerOf } from "../../table/writers/writer-of.js";
import type { Kind } from "../../validator/validator.js";
import type { ClassifiedChunk } from "../settle/settler.js";
import { BlockClassifier, kernelSettings } from "./block-classifier.js";
import { type BlockKernel, createBlockKernel } from "./block-kernel.js";
import { type BlockOptions, looksAtRows } from "./block-options.js";
import type { MainThread } from "./chunk-verdicts.js";
import { BlockMemory } from "./threads/block-memory.js";
import type { SubmittedBlock, WorkerPool } from "./threads/worker-pool.js";

/** Workers pay off from this many bytes left to read or, if the size of the input is not known, bytes read. */
const worthWorkers = 25_165_824;
const worthWorkersRead = 8_388_608;
/** Further threads would wait for the main thread, which counts, charges and writes. */
const mostThreads = 4;
/** Enough blocks per thread that no worker waits for the main thread. */
const blocksForThread = 3;
/** In bytes, for a service: answers and the next requests wait while a block is classified. */
const smallBlock = 65_536;
/** In bytes, for rows that are delivered as they come: a run that is killed has not paid for the last two blocks. */
const deliveredBlock = 262_144;
/** Limit on chunks that wait for their verdicts or to be written. It bounds memory. */
export const mostWaiting = 128;

export type PreparedKernel = { readonly memory: BlockMemory; readonly kernel: BlockKernel };

export interface ThreadEngine {
  readonly classifier: Classifier | undefined;
  readonly source: ClassifierSource | undefined;
}

const threadsFor = (engine: ThreadEngine, cores: number): number =>
  // A service is slower than one thread.
  engine.classifier === undefined ? 1 : Math.min(cores, mostThreads);

/** Returns the kernel with its memory; null where it cannot run. Without it, items have other hashes. */
export const prepareKernel = (engine: ThreadEngine, cores: number, kind: Kind): PreparedKernel | null =>
  withKernel((module) => {
    const threads = threadsFor(engine, cores);
    // For submitted blocks, waiting chunks, the block taken last, and one whose bytes are being written.
    const memory = new BlockMemory(threads, blocksOf(threads) + mostWaiting + 2);
    return { memory, kernel: createBlockKernel(module, memory, 0, engine.classifier, kind) };
  }) ?? null;

/** Starts the threads of a run over one input before it is read. `bytes`: of the input, as far as known. */
export async function prepareThreads(bytes: number, cores: number): Promise<void> {
  if (bytes < worthWorkers) return;
  const { prepareWorkers } = await import("./threads/worker-pool.js");
  prepareWorkers(Math.min(cores, mostThreads) - 1);
}

type Submitted = SubmittedBlock & { readonly share: number | undefined };

const blocksOf = (threads: number): number => 2 + threads * blocksForThread;

export function classifyTable(
  table: ScannedTable,
  options: BlockOptions,
  { engine, prepared }: { readonly engine: ThreadEngine; readonly prepared: PreparedKernel | null },
  main: MainThread,
  inputShare: () => number | undefined,
) {
  if (prepared) {
    const { memory } = prepared.memory;
    prepareMemory(memory, kernelSettings(options));
    prepared.kernel.forgetCounts();
    // Small inputs skip this; `newPool` does it when more blocks arrive.
    if ((inputShare() ?? 1) < 1) writeFurtherTables(memory.buffer, engine.classifier);
  }
  const classifier = new BlockClassifier(options, engine.classifier, prepared?.kernel, main);
  const read = readerOf(table.shape, table.target, options.columns, table.onBadRow);
  const { isService, answersPauses, deliversRows } = options;
  const blockBytes = isService ? smallBlock : deliversRows ? deliveredBlock : undefined;
  let pool: WorkerPool | undefined;

  async function newPool(): Promise<WorkerPool | undefined> {
    if (prepared === null || looksAtRows(options)) return undefined;
    const { memory } = prepared;
    const { createWorkerPool } = await import("./threads/worker-pool.js");
    writeFurtherTables(memory.memory.buffer, engine.classifier);
    return withKernel((module) => createWorkerPool(options, engine.source, module, memory, classifier));
  }

  async function* takeResult({ block, result, records, release, share }: Submitted): AsyncGenerator<ClassifiedChunk> {
    const { assembler } = table;
    const classified = await result();
    // A record from an earlier block may end in this one; then the thread started in the middle of a record.
    if (classified === undefined || !assembler.isAligned) {
      if (classified !== undefined) classifier.judge.takeBack(() => records(1), classified);
      const chunk = assembler.assemble(block);
      release();
      yield* classifyHere(chunk);
      return;
    }
    const { line } = assembler;
    assembler.skip(classified.lines);
    classifier.checkHeaders(classified, classified.codes, () => records(line));
    yield { ...classified, chunk: () => records(line), release, share };
  }

  function* classifyHere(whole: ScannedChunk, isBeforePause = false): Generator<ClassifiedChunk> {
    for (const piece of whole.pieces()) {
      const chunk = read(piece)!;
      const verdicts = classifier.classify(chunk);
      classifier.checkHeaders(verdicts, verdicts.codes, () => chunk);
      const written = options.isFinal ? classifier.renderer.render(chunk, verdicts) : undefined;
      yield { ...verdicts, chunk: () => chunk, written, isBeforePause, share: inputShare() };
    }
  }

  async function* readAll(): AsyncGenerator<ClassifiedChunk> {
    const { first, blocks, assembler } = table;
    const submitted: Submitted[] = [];
    let bytesSoFar = 0;
    yield* classifyHere(first, answersPauses);
    for await (const { bytes, isBeforePause } of blocks({ blockBytes, endsAtPauses: answersPauses })) {
      bytesSoFar += bytes.length;
      pool ??= await newPool();
      const share = inputShare();
      if (isWorthWorkers(bytesSoFar, share)) pool?.startWorkers();
      const inSlot = isBeforePause ? undefined : pool?.submit(bytes);
      if (inSlot) submitted.push({ ...inSlot, share });
      const most = inSlot && prepared ? blocksOf(prepared.memory.threads) - 1 : 0;
      while (submitted.length > most) yield* takeResult(submitted.shift()!);
      if (!inSlot) yield* classifyHere(assembler.assemble(bytes, 0, isBeforePause), isBeforePause);
    }
    for (const block of submitted) yield* takeResult(block);
    yield* classifyHere(assembler.assemble(undefined));
  }

  return { classifier, reading: readAll(), close: async () => pool?.close() };
}

function isWorthWorkers(bytes: number, share: number | undefined): boolean {
  return share === undefined ? bytes >= worthWorkersRead : (bytes * (1 - share)) / share >= worthWorkers;
}
