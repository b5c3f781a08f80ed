import { isSplit } from "../../files/split-output.js";
import type { RecordChunk } from "../../table/records.js";
import type { RunOptions, RunReport } from "../run-options.js";
import { WriteBehind } from "../write-behind.js";
import { BatchQueue } from "./batch-queue.js";
import { ItemLedger, type RowItem } from "./item-ledger.js";

/** So many chunks wait for their verdicts at most: a batch that they do not fill is submitted as it is then. */
const waitingChunks = 64;
/** Rows that come one by one through a pipe need not wait until a batch is full. */
const pauseMilliseconds = 200;

/** A comment, or a bad row that is kept. */
const notARow = Symbol();
/** What a row of a chunk asks about, if anything. */
type ChunkRow = RowItem | undefined | typeof notARow;

/**
 * The way for any engine and any table: items are strings and go to the engine in batches, some of them at a time; rows
 * are written in their order as soon as they and all before them have their verdicts.
 */
export async function runBatched(options: RunOptions): Promise<RunReport> {
  const { table, sink, columns, signal, onProgress } = options;
  const ledger = new ItemLedger(options);
  await ledger.load();
  const watch = new Watch();
  const unfinished = (await options.memory?.unfinished()) ?? [];
  const queue = new BatchQueue(options, ledger, unfinished, (error) => watch.fail(error));
  const output = new WriteBehind(sink);
  const split = isSplit(sink) ? sink : undefined;

  async function write(chunk: RecordChunk, rows: readonly ChunkRow[]): Promise<void> {
    signal.throwIfAborted();
    const added = rows.map((row) => (row === notARow ? [] : ledger.fields(row)));
    if (split) {
      for (const status of new Set(added.flatMap((fields) => fields?.[0] ?? []))) {
        const ofStatus = added.map((fields) => (fields?.[0] === status ? fields : undefined));
        await output.write(chunk.append(ofStatus), undefined, await split.of(status));
      }
    } else await output.write(chunk.append(added));
    await onProgress?.(ledger.report().rows);
  }

  await output.write(table.start(columns.names));
  /** What is to be written, the oldest first: each begins when the one before is done. */
  const writes: Promise<void>[] = [];
  let lastWrite = Promise.resolve();
  /** Chunks since the batch that is being filled had its first item. */
  let fillingChunks = 0;
  const chunks = table.chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      signal.throwIfAborted();
      const reading = chunks.next();
      if (queue.isFilling && !(await settlesSoon(reading))) await queue.flushOpen();
      const { value: chunk, done } = await watch.until(reading);
      if (done) break;
      const rows: ChunkRow[] = [];
      for (const value of chunk.values) {
        const row = value === undefined ? notARow : ledger.locate(value);
        rows.push(row);
        // One at a time, so that a batch is on its way while the next is being filled.
        if (row !== notARow && row?.isOpen && queue.add(row)) await queue.submitFull();
      }
      // By the chunks, not by time: the same list makes the same batches, whoever answers how fast.
      fillingChunks = queue.isFilling ? fillingChunks + 1 : 0;
      if (fillingChunks === waitingChunks) {
        await queue.flush();
        fillingChunks = 0;
      }
      const judged = queue.settled();
      lastWrite = lastWrite.then(() => judged).then(() => write(chunk, rows));
      writes.push(lastWrite);
      lastWrite.then(
        () => writes.shift(),
        (error: unknown) => watch.fail(error),
      );
      while (writes.length > waitingChunks) await watch.until(writes[0]!);
    }
    await queue.flush();
    await watch.until(lastWrite);
  } finally {
    // It closes the input, but where nothing more comes, it would wait for ever.
    if (chunks.return) await settlesSoon(chunks.return());
  }
  await output.flush();
  return ledger.report();
}

/**
 * Waits for one thing at a time, unless something else fails meanwhile. Promise.race with a promise that stays would keep
 * every result alive.
 */
class Watch {
  #failure: { readonly error: unknown } | undefined;
  #reject: (error: unknown) => void = () => {};

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#reject(error);
  }

  until<Result>(work: Promise<Result>): Promise<Result> {
    if (this.#failure) return Promise.reject(this.#failure.error);
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      work.then(resolve, reject);
    });
  }
}

/** Whether it is done within the pause. */
async function settlesSoon(work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const pause = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), pauseMilliseconds);
  });
  const settled = work.then(
    () => true,
    () => true,
  );
  const isSettled = await Promise.race([settled, pause]);
  clearTimeout(timer);
  return isSettled;
}
