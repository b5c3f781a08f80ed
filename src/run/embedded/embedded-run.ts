/**
 * The run for the offline engine and a table that the scanner reads.
 *
 * Blocks are classified from their bytes, before it is known whether the quota grants the verdicts:
 *
 *     input -> blocks -> workers (scan, classify, render) -> main thread (count, charge) -> row writer
 *                     \-> main thread, for all other blocks ------------/
 *
 * 1. Blocks end after a line ending. The workers have up to `blocksForWorker` blocks per core, each in a slot of shared
 *    memory.
 * 2. The main thread takes the answers in input order. A block that starts inside a record, or that a worker refused,
 *    goes through the chunk assembler instead, which has the start of that record.
 * 3. `Charges` adds the items of each chunk to the table of distinct items, in input order. Chunks wait until there are
 *    enough new items for one durable charge. A crash wastes the units of at most one charge.
 * 4. After the charge, items that the quota did not grant are marked in the table. Rows with such items are rendered
 *    again as `quota_exceeded`. Until the quota ends, the bytes from the worker are written unchanged.
 * 5. The row writer counts, filters and writes. A slot is released when its bytes are written.
 *
 * To keep: chunks pass 2 to 5 in input order, or duplicates and the end of the quota would depend on timing. A slot's
 * memory may not be used after its release. Every exit from the loop closes the pool.
 */
import { scanAlone } from "../../table/scan/chunk-assembler.js";
import {
  copyRecords,
  keepRecords,
  type ScannedChunk,
  type WrittenRecords,
} from "../../table/scan/scanned-chunk.js";
import type { ScannedTable } from "../../table/scan/scanned-records.js";
import type { EmbeddedEngine, QuotaState } from "../../validator/validator.js";
import { usualCells } from "../cells.js";
import { DistinctItems } from "../distinct-items.js";
import { type RowsWithStatus, RowWriter } from "../row-writer.js";
import type { RunOptions, RunReport } from "../run-options.js";
import { hasItem, notCheckedCode, offlineStatuses } from "../status-codes.js";
import { BlockClassifier, type ChunkVerdicts, takeWorst } from "./block-classifier.js";
import type { SubmittedBlock, WorkerPool } from "./worker-pool.js";

/** Bytes of input after which workers are started. Starting them takes as long as classifying a few megabytes. */
const bytesBeforeWorkers = 4_194_304;
/** Most blocks per worker: enough that it never waits for the main thread. */
const blocksForWorker = 3;

/**
 * Number of new items at which they are charged. A durable charge takes as long as thousands of verdicts, but a crash
 * may waste its units.
 */
const chargedItems = 20_000;
/** Most chunks and rows that wait for a charge. They limit memory. */
const chargedChunks = 8;
const chargedRows = 65_536;

/** A chunk with its verdicts, rendered as if the quota granted all of them. */
interface ClassifiedChunk extends ChunkVerdicts {
  readonly written: WrittenRecords;
  readonly chunk: () => ScannedChunk;
  /** Whether the input pauses after this chunk. If so, it is written at once. */
  readonly isBeforePause?: boolean;
  readonly release?: () => void;
}

/** Runs the embedded way; see the top of this file. */
export async function runEmbedded(
  options: RunOptions,
  scanned: ScannedTable,
  engine: EmbeddedEngine,
): Promise<RunReport> {
  const { kind, table, columns, filter = {}, cores = 1, signal, onProgress } = options;
  const cells = { kind, ...(options.cells ?? usualCells) };
  const charges = new Charges(engine);
  const writer = new RowWriter(options, offlineStatuses);
  const hashesMailboxes = filter.dedupe === "canonical";
  const blockOptions = { kind, cells, shape: scanned.shape, seed: charges.seed, columns, hashesMailboxes };
  const classifier = new BlockClassifier(blockOptions, engine.classifier);
  const submittedBlocks = cores * blocksForWorker;
  // Slots for the blocks submitted, for the chunks waiting for a charge, and for one whose bytes are being written.
  const startPool = async () => {
    const { WorkerPool } = await import("./worker-pool.js");
    return new WorkerPool(cores, submittedBlocks + chargedChunks + 1, blockOptions, engine.source);
  };
  const writeCharged = async () => {
    for (const rows of await charges.settle(classifier)) await writer.write(rows);
    await onProgress?.(writer.rows);
  };
  await writer.start(table.start(columns.names));
  const chunks = classifyInOrder(scanned, classifier, cores > 1 ? startPool : undefined, submittedBlocks);
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    if (charges.add(chunk)) await writeCharged();
    // Otherwise a closed output would be noticed only at the next write.
    if (chunk.isBeforePause) await writer.flush();
  }
  await writeCharged();
  await writer.flush();
  return { ...writer.report(), ...charges.report() };
}

/** Classifies all blocks, in workers once the input is large, and yields their chunks in input order. */
async function* classifyInOrder(
  { shape, first, blocks, assembler }: ScannedTable,
  classifier: BlockClassifier,
  startPool: (() => Promise<WorkerPool>) | undefined,
  mostSubmitted: number,
): AsyncGenerator<ClassifiedChunk> {
  function* classifyHere(whole: ScannedChunk, isBeforePause = false): Generator<ClassifiedChunk> {
    for (const chunk of whole.pieces()) {
      const verdicts = classifier.classify(chunk);
      const written = classifier.render(chunk, verdicts.codes);
      yield { ...verdicts, chunk: () => chunk, written, isBeforePause };
    }
  }
  async function* takeAnswer({ block, answer, release }: SubmittedBlock): AsyncGenerator<ClassifiedChunk> {
    const classified = await answer;
    // A record that began in an earlier block may end in this one. Then the worker started in the middle of a record.
    if (classified === undefined || !assembler.isAligned) {
      const chunk = assembler.assemble(block);
      release();
      yield* classifyHere(chunk);
      return;
    }
    assembler.skip(classified.lines);
    yield { ...classified, chunk: () => scanAlone(shape, block)!.chunk, release };
  }
  let pool: WorkerPool | undefined;
  const submitted: SubmittedBlock[] = [];
  let bytesSoFar = 0;
  try {
    yield* classifyHere(first, true);
    for await (const { bytes, isBeforePause } of blocks) {
      bytesSoFar += bytes.length;
      if (bytesSoFar >= bytesBeforeWorkers) pool ??= await startPool?.();
      const inWorker = pool?.isReady && !isBeforePause ? pool.submit(bytes) : undefined;
      if (inWorker) submitted.push(inWorker);
      while (submitted.length > (inWorker ? mostSubmitted - 1 : 0)) yield* takeAnswer(submitted.shift()!);
      if (!inWorker) yield* classifyHere(assembler.assemble(bytes), isBeforePause);
    }
    for (const block of submitted) yield* takeAnswer(block);
    yield* classifyHere(assembler.assemble(undefined));
  } finally {
    await pool?.close();
  }
}

/** States of an item in the table of distinct items. */
const [checked, unchecked] = [1, 2];

/** A chunk whose items are in the table of distinct items but not charged yet. */
interface UnchargedChunk extends ClassifiedChunk {
  /** 1 for each row that is the first one with its item. */
  readonly isNew: Uint8Array;
  readonly newItems: number;
}

/** The distinct items of the run, and their charges. */
class Charges {
  readonly #items = new DistinctItems();
  readonly #engine: EmbeddedEngine;
  #waiting: UnchargedChunk[] = [];
  #waitingRows = 0;
  #uncharged = 0;
  #charged = 0;
  #quota: QuotaState | undefined;
  #isExhausted = false;

  constructor(engine: EmbeddedEngine) {
    this.#engine = engine;
  }

  /** Seed of the item hashes. */
  get seed(): Int32Array {
    return this.#items.seed;
  }

  /** Adds the items of a chunk. Returns whether it is time to settle. */
  add(classified: ClassifiedChunk): boolean {
    const { hashes, codes } = classified.items ?? classified;
    const { isNew, count } = this.#items.addAll(hashes, codes, checked);
    this.#waiting.push({ ...classified, isNew, newItems: count });
    this.#uncharged += count;
    this.#waitingRows += classified.codes.length;
    return (
      classified.isBeforePause === true ||
      this.#uncharged >= chargedItems ||
      this.#waitingRows >= chargedRows ||
      this.#waiting.length >= chargedChunks
    );
  }

  /** Charges the new items of the waiting chunks, and returns the rows of these chunks with their final statuses. */
  async settle(classifier: BlockClassifier): Promise<readonly RowsWithStatus[]> {
    let granted = await this.#charge(this.#uncharged);
    const rows = this.#waiting.map((chunk) => {
      if (granted < chunk.newItems) this.#takeBack(chunk, granted);
      granted = Math.max(0, granted - chunk.newItems);
      return this.#rowsOf(chunk, classifier);
    });
    this.#waiting = [];
    this.#waitingRows = 0;
    this.#uncharged = 0;
    return rows;
  }

  report(): Pick<RunReport, "distinct" | "cached" | "prechecked" | "charged" | "quota"> {
    const { size: distinct } = this.#items;
    return { distinct, cached: 0, prechecked: 0, charged: this.#charged, quota: this.#quota };
  }

  #rowsOf(classified: UnchargedChunk, classifier: BlockClassifier): RowsWithStatus {
    const { chunk, codes, mailboxes, emptied, notUtf8, written, release } = classified;
    // Until the quota ends, every item in the table is checked.
    const isComplete = !this.#isExhausted || !this.#markUnchecked(classified);
    const rendered = isComplete ? written : classifier.render(chunk(), codes);
    return {
      ...{ codes, isFirst: firstRows(classified), mailboxes, emptied, notUtf8 },
      all: () => rendered.bytes,
      keep: (isWanted) => keepRecords(rendered, isWanted),
      copy: (isWanted) => copyRecords(rendered, isWanted),
      ...(release && { release }),
    };
  }

  /** Charges up to `units`. Returns the number of units granted. */
  async #charge(units: number): Promise<number> {
    if (this.#isExhausted || units === 0) return 0;
    const { charged, exhausted, quota } = await this.#engine.charge(units);
    this.#charged += charged;
    this.#isExhausted = exhausted;
    this.#quota = quota;
    return charged;
  }

  /** Marks the new items of a chunk after the first `granted` ones as not checked. */
  #takeBack({ hashes, items, isNew }: UnchargedChunk, granted: number): void {
    let seen = 0;
    for (let place = 0; place < isNew.length; place++) {
      if (isNew[place] === 0 || seen++ < granted) continue;
      this.#items.set(hashAt(items?.hashes ?? hashes, place), unchecked);
    }
  }

  /** Sets rows whose item was not checked to `quota_exceeded`. Returns whether there are any. */
  #markUnchecked({ items, ...records }: ChunkVerdicts): boolean {
    const { codes, hashes } = items ?? records;
    let isAny = false;
    for (let place = 0; place < codes.length; place++) {
      if (!hasItem(codes[place]!) || this.#items.get(hashAt(hashes, place)) !== unchecked) continue;
      codes[place] = notCheckedCode;
      isAny = true;
    }
    if (items && isAny) takeWorst(records.codes, items);
    return isAny;
  }
}

/** Returns 1 for each row with an item that no row before has. */
function firstRows({ codes, items, isNew }: UnchargedChunk): Uint8Array {
  if (items === undefined) return isNew;
  const isFirst = new Uint8Array(codes.length);
  for (const [place, row] of items.rows.entries()) isFirst[row]! |= isNew[place]!;
  return isFirst;
}

const hashAt = (hashes: Int32Array, row: number) => ({ low: hashes[2 * row]!, high: hashes[2 * row + 1]! });
