/**
 * The run for the offline engine and a table that the scanner reads.
 *
 * Blocks are classified from their bytes, before it is known whether the quota grants the verdicts:
 *
 *     input -> blocks -> threads (scan, judge, write) -> main thread (count, charge) -> row writer
 *                     \-> main thread, for all other blocks ------------/
 *
 * 1. Blocks end after a line ending. The workers have up to `blocksForWorker` blocks per core, each in a slot of shared
 *    memory.
 * 2. The main thread takes the answers in input order. A block that starts inside a record, or that a thread refused,
 *    goes through the chunk assembler instead, which has the start of that record.
 * 3. `Charges` adds the items of each chunk to the table of distinct items, in input order. Chunks wait until there are
 *    enough new items for one durable charge. While the disk or a database makes it, the next chunks are judged and wait for the
 *    next one: it is the larger, the longer the last one takes. A crash wastes the units of at most one charge.
 * 4. After the charge, items that the quota did not grant are marked in the table. Rows with such items are rendered
 *    again as `quota_exceeded`. Until the quota ends, the rendered bytes in the slot are written unchanged.
 * 5. The row writer counts, filters and writes. A slot is released when its bytes are written.
 *
 * To keep: chunks pass 2 to 5 in input order, or duplicates and the end of the quota would depend on timing. A slot's
 * memory may not be used after its release. Every exit from the loop closes the pool.
 */
import { setImmediate } from "node:timers/promises";
import type { Classifier } from "../../classifier/classifier.js";
import { countsOf, resetCounts } from "../../kernel/disposable-counts.js";
import { prepareMemory, withKernel } from "../../kernel/kernel.js";
import { writeDomainTables } from "../../kernel/tables.js";
import { scanAlone } from "../../table/scan/chunk-assembler.js";
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import type { ScannedTable } from "../../table/scan/scanned-records.js";
import { Place, recordWords } from "../../table/scan/scanner.js";
import { type RecordReader, readerOf } from "../../table/writers/writer-of.js";
import type { EmbeddedEngine, Kind, Status } from "../../validator/validator.js";
import { usualCells } from "../cells.js";
import type { Columns } from "../columns.js";
import { topDomains } from "../domain-counts.js";
import { anyUpdate, badRowCode, keptFields, tooManyKept, type Update } from "../earlier-fields.js";
import { type RowsWithStatus, RowWriter } from "../row-writer.js";
import type { RunOptions, RunReport } from "../run-options.js";
import { countsSince, SessionState } from "../session.js";
import { offlineReasons, offlineStatuses } from "../status-codes.js";
import { BlockClassifier, kernelSettings } from "./block-classifier.js";
import { BlockKernel } from "./block-kernel.js";
import { BlockMemory } from "./block-memory.js";
import { type BlockOptions, itemColumnsOf } from "./block-options.js";
import { Charges, type ClassifiedChunk, mostWaitingChunks } from "./charges.js";
import { codeOfKept, type OtherStatus, statusesWithKept } from "./kept-rows.js";
import type { SubmittedBlock, WorkerPool } from "./worker-pool.js";

/** Bytes left to read, or bytes read if the size is not known, from which on it pays to start workers. */
const [worthWorkers, worthWorkersRead] = [25_165_824, 8_388_608];
/** Most threads: more of them would wait for the main thread, which counts, charges and writes. */
const mostThreads = 4;
/** Most blocks per thread: enough that no worker waits for the main thread. */
const blocksForThread = 3;
/** What the runs over several files share. */
interface EmbeddedState {
  readonly charges: Charges;
  /** The kernel with its memory, for one run at a time; null if it cannot run. Without it, items have other hashes. */
  kernel?: PreparedKernel | null;
}

const states = new SessionState<EmbeddedState>();

/** Runs the embedded way; see the top of this file. */
export async function runEmbedded(
  options: RunOptions,
  scanned: ScannedTable,
  engine: EmbeddedEngine,
): Promise<RunReport> {
  const {
    kind,
    table,
    columns,
    filter = {},
    cores = 1,
    inputShare = unknownShare,
    signal,
    onProgress,
  } = options;
  const cells = { kind, ...(options.cells ?? usualCells) };
  const { session, shard } = options;
  const state = states.of(session, () => ({ charges: new Charges(engine) }));
  const { charges } = state;
  if (session) Object.assign(session, { counts: () => charges.counts, quota: () => charges.quota });
  const before = charges.counts;
  const isUpdate = columns.places.some((place) => place !== undefined);
  const update = isUpdate ? (options.update ?? anyUpdate) : undefined;
  const withKept = statusesWithKept();
  const statuses = update ? withKept : offlineStatuses;
  const writer = new RowWriter(options, statuses, offlineReasons);
  const { shape, target } = scanned;
  const count = itemColumnsOf(shape).length;
  // Without a filter by status, and with one column, every row with a new item is written, and those are known.
  const keys: BlockOptions["keys"] =
    filter.dedupe === "canonical"
      ? "mailboxes"
      : filter.dedupe && (filter.keeps !== undefined || count > 1)
        ? "items"
        : undefined;
  const keeps = update?.keeps;
  const blockOptions = { kind, cells, shape, target, seed: charges.seed, columns, shard, keys, keeps };
  const threads = Math.min(cores, mostThreads);
  const submittedBlocks = 2 + threads * blocksForThread;
  // Slots for the blocks submitted, for the chunks collected and those being charged, and for one whose bytes are being written.
  const slots = submittedBlocks + 2 * mostWaitingChunks + 1;
  if (state.kernel === undefined) state.kernel = prepareKernel(threads, slots, engine.classifier, kind);
  const prepared = state.kernel;
  if (prepared) {
    const { memory } = prepared.memory;
    prepareMemory(memory, kernelSettings(blockOptions));
    resetCounts(memory.buffer);
    // Otherwise they are written when more blocks come.
    if ((inputShare() ?? 1) < 1) writeDomainTables(memory.buffer, engine.classifier);
  }
  const classifier = new BlockClassifier(
    blockOptions,
    engine.classifier,
    prepared?.kernel,
    update && otherStatus(update, columns, count, withKept),
  );
  const newPool = async () => {
    if (prepared === null) return undefined;
    const { WorkerPool } = await import("./worker-pool.js");
    writeDomainTables(prepared.memory.memory.buffer, engine.classifier);
    return new WorkerPool(blockOptions, engine.source, prepared.module, prepared.memory, classifier);
  };
  /** The rows whose charge is under way. */
  let charging: Promise<readonly RowsWithStatus[]> | undefined;
  let isCharged = false;
  const writeCharged = async () => {
    const charged = (await charging) ?? [];
    charging = undefined;
    for (const rows of charged) await writer.write(rows);
    const counts = writer.report().statuses;
    const { rows } = writer;
    await onProgress?.({ rows, rowsRead: rows, units: () => charges.counts, statuses: () => counts });
  };
  /** Starts to charge the waiting chunks. Meanwhile, the disk or the database works and this goes on. */
  const charge = async () => {
    await writeCharged();
    isCharged = false;
    charging = charges.settle(classifier);
    charging.then(
      () => {
        isCharged = true;
      },
      () => {},
    );
  };
  /** Writes the charged chunks as soon as the charge is done, which is found out in a turn of the event loop. */
  const writeIfCharged = async () => {
    if (charging === undefined) return;
    await setImmediate();
    if (isCharged) await writeCharged();
  };
  await writer.start(table.start(columns.names));
  try {
    const read = readerOf(shape, target, columns, scanned.onBadRow);
    for await (const chunk of classifyInOrder(
      scanned,
      read,
      classifier,
      newPool,
      submittedBlocks,
      inputShare,
    )) {
      signal.throwIfAborted();
      charges.expect(inputShare(), before.distinct);
      const isDue = charges.add(chunk);
      // While a charge takes long, the next one grows.
      const isUnderWay = charging !== undefined && !isCharged;
      if (isDue && (!isUnderWay || chunk.isBeforePause || charges.isFull)) await charge();
      await writeIfCharged();
      if (!chunk.isBeforePause) continue;
      await writeCharged();
      // Otherwise a closed output would be noticed only at the next write.
      await writer.flush();
    }
    await charge();
    await writeCharged();
    await writer.flush();
  } catch (error) {
    // A run over the next file may use the same charges.
    if (session?.isSeveral) await charging?.catch(() => {});
    charges.abandon();
    throw error;
  }
  const domains = prepared ? topDomains(countsOf(prepared.memory.memory.buffer)) : classifier.domains.top();
  const { quota } = charges;
  return { ...writer.report(), ...countsSince(before, charges.counts), quota, topDomains: domains };
}

/**
 * Returns what gives a field of an update its code if its status is not one of idv's.
 *
 * @param count number of columns with items
 */
function otherStatus(update: Update, columns: Columns, count: number, statuses: Status[]): OtherStatus {
  return (chunk, row, status, nth) => {
    const line = chunk.lineOf(row);
    if (nth === 0 && update.bad?.isBadRow(status)) {
      const record = chunk.bytes.subarray(
        chunk.at[row * recordWords],
        chunk.at[row * recordWords + Place.next],
      );
      return badRowCode(update.input, update.bad, columns.names[0], line, record);
    }
    const name = columns.names[(nth * columns.names.length) / count];
    if (keptFields([status], name, update, line) === undefined) return 0;
    const code = codeOfKept(statuses, status);
    if (code === -1) throw tooManyKept(update.input);
    return code;
  };
}

const unknownShare = (): undefined => undefined;

/** The kernel of the main thread, and what other threads need for theirs. */
interface PreparedKernel {
  readonly module: WebAssembly.Module;
  readonly memory: BlockMemory;
  readonly kernel: BlockKernel;
}

/** Returns the kernel with its memory; null where it cannot run. */
const prepareKernel = (
  threads: number,
  slots: number,
  classifier: Classifier,
  kind: Kind,
): PreparedKernel | null =>
  withKernel((module) => {
    const memory = new BlockMemory(threads, slots);
    return { module, memory, kernel: new BlockKernel(module, memory, 0, classifier, kind) };
  }) ?? null;

/** Classifies all blocks, in workers too if the input is large, and yields their chunks in input order. */
async function* classifyInOrder(
  { shape, first, blocks, assembler }: ScannedTable,
  read: RecordReader,
  classifier: BlockClassifier,
  newPool: () => Promise<WorkerPool | undefined>,
  mostSubmitted: number,
  inputShare: () => number | undefined,
): AsyncGenerator<ClassifiedChunk> {
  function* classifyHere(whole: ScannedChunk, isBeforePause = false): Generator<ClassifiedChunk> {
    for (const piece of whole.pieces()) {
      const chunk = read(piece)!;
      const verdicts = classifier.classify(chunk);
      const written = classifier.render(chunk, verdicts.codes, verdicts.items);
      yield { ...verdicts, chunk: () => chunk, written, isBeforePause };
    }
  }
  async function* takeAnswer({ block, answer, release }: SubmittedBlock): AsyncGenerator<ClassifiedChunk> {
    const classified = await answer();
    // A record that began in an earlier block may end in this one. Then the thread started in the middle of a record.
    if (classified === undefined || !assembler.isAligned) {
      if (classified !== undefined) classifier.takeBack(read(scanAlone(shape, block)!.chunk)!, classified);
      const chunk = assembler.assemble(block);
      release();
      yield* classifyHere(chunk);
      return;
    }
    const { line } = assembler;
    assembler.skip(classified.lines);
    yield { ...classified, chunk: () => read(scanAlone(shape, block, { line })!.chunk)!, release };
  }
  let pool: WorkerPool | undefined;
  const submitted: SubmittedBlock[] = [];
  let bytesSoFar = 0;
  try {
    yield* classifyHere(first, true);
    for await (const { bytes, isBeforePause } of blocks) {
      bytesSoFar += bytes.length;
      pool ??= await newPool();
      if (isWorthWorkers(bytesSoFar, inputShare())) pool?.startWorkers();
      const inSlot = isBeforePause ? undefined : pool?.submit(bytes);
      if (inSlot) submitted.push(inSlot);
      while (submitted.length > (inSlot ? mostSubmitted - 1 : 0)) yield* takeAnswer(submitted.shift()!);
      if (!inSlot) yield* classifyHere(assembler.assemble(bytes), isBeforePause);
    }
    for (const block of submitted) yield* takeAnswer(block);
    yield* classifyHere(assembler.assemble(undefined));
  } finally {
    await pool?.close();
  }
}

/** @param share share of the input that these bytes are, from 0 to 1; undefined if it is not known */
function isWorthWorkers(bytes: number, share: number | undefined): boolean {
  return share === undefined ? bytes >= worthWorkersRead : (bytes * (1 - share)) / share >= worthWorkers;
}
