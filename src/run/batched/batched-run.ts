/**
 * The run for any engine and any table: items are strings and go to the engine in batches, several at a time.
 *
 *     input -> chunks -> item ledger -> batch queue -> engine
 *                 \-> wait for the verdicts of their items -> (DNS) -> row writer
 *
 * 1. Each value of a chunk is added to the ledger. Items that neither the cache nor the precheck decides go to the
 *    queue.
 * 2. A chunk is written when all items added before its end have their verdicts and the previous chunk is written.
 *    Meanwhile, at most `waitingChunks` chunks are read ahead. If DNS is asked, it is asked as soon as the verdicts of a
 *    chunk are there, without waiting for earlier chunks.
 * 3. Partly filled batches are submitted after that many chunks, and the open batch also when the input pauses.
 *    Counting chunks instead of time gives the same batches for the same list, however fast the engine answers. The
 *    service recognises them after a crash.
 *
 * To keep: rows are written in input order. A failure of a batch or a write ends every wait at once (`Watch`). Every
 * way out closes the input, but waits only briefly for that: a pipe may never end.
 */
import type { RecordChunk } from "../../table/records.js";
import { notChecked } from "../../validator/validator.js";
import { isGood } from "../cells.js";
import { anyUpdate, badRowCode, keptFields } from "../earlier-fields.js";
import { RowWriter } from "../row-writer.js";
import type { RunOptions, RunProgress, RunReport } from "../run-options.js";
import { countsSince, SessionState } from "../session.js";
import { isInShard, severalItems } from "../shard.js";
import { notARowCode, otherShardCode } from "../status-codes.js";
import { BatchQueue } from "./batch-queue.js";
import { ItemLedger, type RowItem } from "./item-ledger.js";
import { type RowItems, RowRenderer, type ValueCounts } from "./row-renderer.js";

/** Most chunks that wait for verdicts. After as many chunks, partly filled batches are submitted. */
const waitingChunks = 64;
/** Pause of the input after which the open batch is submitted, in milliseconds. */
const pauseMilliseconds = 200;

const ledgers = new SessionState<ItemLedger>();

/** Runs the batched way; see the top of this file. */
export async function runBatched(options: RunOptions): Promise<RunReport> {
  const { table, columns, signal, onProgress } = options;
  const { session, shard, filter: { dedupe } = {}, update = anyUpdate } = options;
  const isFirstShard = shard === undefined || shard.index === 1;
  const ledger = ledgers.of(session, () => new ItemLedger(options));
  if (session) Object.assign(session, { counts: () => ledger.counts, quota: () => ledger.quota });
  const before = ledger.counts;
  await ledger.load();
  const watch = new Watch();
  const unfinished = (await options.cache?.unfinished()) ?? [];
  const queue = new BatchQueue(options, ledger, unfinished, (error) => watch.fail(error));
  const writer = new RowWriter(options, ledger.statuses, ledger.reasons);
  const renderer = new RowRenderer(options, ledger);

  /** Looks up the items in some rows that passed, and replaces their verdicts where DNS objects. */
  async function checkMail(rows: readonly RowItems[]): Promise<void> {
    const { kind, mailCheck } = options;
    if (mailCheck === undefined) return;
    const statusOf = (item: RowItem) => ledger.statuses[ledger.codeOf(item)]!;
    const passed = rows.flatMap(({ values }) => values.flat()).filter((item) => isGood(statusOf(item)));
    await mailCheck.ask(
      kind,
      passed.map(({ item }) => item),
    );
    for (const item of passed) {
      // The same item in another chunk may have been settled meanwhile.
      const status = statusOf(item);
      const verdict = isGood(status) ? mailCheck.verdictOn(kind, item.item, status) : undefined;
      if (verdict !== undefined && verdict.status !== status) ledger.settle(item, verdict);
    }
  }

  /**
   * Returns the mark of a record that is not a row of this run.
   *
   * @param items the items in each wanted column
   */
  function markOf(chunk: RecordChunk, row: number, isRow: boolean, items: readonly (readonly string[])[]) {
    const [item, second] = items.flat();
    if (shard && second !== undefined) throw severalItems(shard, chunk.lineOf?.(row));
    const isHere = shard === undefined || item === undefined ? isFirstShard : isInShard(shard, item);
    if (!isHere) return otherShardCode;
    return isRow ? undefined : notARowCode;
  }

  let rowsRead = 0;
  /** The chunks whose rows are not written yet, the oldest first. */
  const waiting: (readonly RowItems[])[] = [];

  const isSettled = ({ values }: RowItems) =>
    values.flat().every((item) => ledger.statuses[ledger.codeOf(item)] !== notChecked.status);
  /** Counts the rows with verdicts: those written, and those of the next chunk, which may wait long for its last answer. */
  const rowsDone = () => writer.rows + (waiting[0]?.filter(isSettled).length ?? 0);
  const progress: RunProgress = {
    get rows() {
      return rowsDone();
    },
    get rowsRead() {
      return rowsRead;
    },
    units: () => ledger.counts,
    statuses: () => writer.report().statuses,
  };

  async function write(chunk: RecordChunk, rows: readonly RowItems[], counts: ValueCounts): Promise<void> {
    signal.throwIfAborted();
    waiting.shift();
    await writer.write(renderer.rowsOf(chunk, rows, counts));
    await onProgress?.(progress);
  }

  await onProgress?.(progress);
  await writer.start(table.start(columns.names));
  /** Unfinished writes, the oldest first. Each begins when the previous one is done. */
  const writes: Promise<void>[] = [];
  let lastWrite = Promise.resolve();
  /** Number of consecutive chunks after which some batch was still partly filled. */
  let fillingChunks = 0;
  const chunks = table.chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      signal.throwIfAborted();
      const reading = chunks.next();
      if (queue.isFilling && !(await settlesSoon(reading))) await queue.flushOpen();
      const { value: chunk, done } = await watch.until(reading);
      if (done) break;
      const rows: RowItems[] = [];
      let emptied = 0;
      for (const [row, value] of chunk.values.entries()) {
        const [status = ""] = chunk.earlier?.[row] ?? [];
        if (value !== undefined && update.bad?.isBadRow(status)) {
          const bytes = chunk.append(chunk.values.map((_, other) => (other === row ? [] : undefined)));
          const mark = badRowCode(update.input, update.bad, columns.names[0], chunk.lineOf?.(row), bytes);
          rows.push({ mark, kept: [], values: [], compared: [] });
          continue;
        }
        const texts = [value ?? "", ...(chunk.otherValues ?? []).map((others) => others[row] ?? "")];
        const each = columns.names.length / texts.length;
        const kept = texts.map((_, column) => {
          const own = chunk.earlier?.[row]?.slice(column * each, (column + 1) * each);
          return keptFields(own, columns.names[column * each], update, chunk.lineOf?.(row));
        });
        const items = texts.map((text, column) => {
          if (kept[column] === undefined) {
            const before = ledger.emptied;
            const found = ledger.itemsIn(text);
            emptied += ledger.emptied - before;
            return found;
          }
          const isNeeded = shard !== undefined || (dedupe !== undefined && column === 0);
          return isNeeded ? ledger.itemsIn(text) : [];
        });
        const mark = markOf(chunk, row, value !== undefined, items);
        const values = items.map((found, column) =>
          mark || kept[column] ? [] : found.map((item) => ledger.add(item)),
        );
        const compared = (dedupe && !mark && items[0]) || [];
        rows.push({ ...(mark && { mark }), kept, values, compared });
        for (const item of values.flat()) {
          // Submitted at once, so that its validation runs while the next batch is being filled.
          if (item.isOpen && queue.add(item)) await queue.submitFull();
        }
      }
      rowsRead += rows.length;
      waiting.push(rows);
      // What is not an item is counted in the first shard.
      const counts = isFirstShard ? { emptied, notUtf8: chunk.notUtf8 } : { emptied: 0, notUtf8: 0 };
      fillingChunks = queue.isFilling ? fillingChunks + 1 : 0;
      if (fillingChunks === waitingChunks) {
        await queue.flush();
        fillingChunks = 0;
      }
      const settled = queue.settled().then(() => checkMail(rows));
      settled.catch(() => {});
      lastWrite = lastWrite.then(() => settled).then(() => write(chunk, rows, counts));
      writes.push(lastWrite);
      lastWrite.then(
        () => writes.shift(),
        (error: unknown) => watch.fail(error),
      );
      while (writes.length > waitingChunks) await watch.until(writes[0]!);
    }
    await queue.flush();
    await watch.until(lastWrite);
  } catch (error) {
    // A run over the next file may use the same ledger.
    if (session?.isSeveral) await queue.abandon();
    throw error;
  } finally {
    // Closes the input. Not awaited for long: it waits for a pending read, which may never end.
    if (chunks.return) await settlesSoon(chunks.return());
  }
  await writer.flush();
  const { quota } = ledger;
  const topDomains = renderer.domains.top();
  return { ...writer.report(), ...countsSince(before, ledger.counts), quota, topDomains };
}

/**
 * Waits for one promise at a time, unless something else fails meanwhile. `Promise.race` with a promise that lasts as
 * long as the run would keep every result in memory.
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

/** Returns whether a promise settles within {@link pauseMilliseconds}. */
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
