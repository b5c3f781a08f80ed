import { isSplit } from "../../files/split-output.js";
import { scanAlone } from "../../table/scan/chunk-assembler.js";
import {
  copyRecords,
  keepRecords,
  type ScannedChunk,
  type WrittenRecords,
} from "../../table/scan/scanned-chunk.js";
import type { ScannedTable } from "../../table/scan/scanned-records.js";
import type { EmbeddedEngine, QuotaState, Status } from "../../validator/validator.js";
import { DistinctItems } from "../distinct-items.js";
import { hasItem, noItem, notARow, notChecked, rowStatuses } from "../row-status.js";
import type { RowFilter, RunOptions, RunReport } from "../run-options.js";
import { WriteBehind } from "../write-behind.js";
import { Judge, type Judgements } from "./judge.js";
import { type HandedBlock, JudgePool } from "./judge-pool.js";

/** Starting threads costs as much as judging some megabytes. */
const bytesBeforeThreads = 4_194_304;
/** So that no thread waits for the main one. */
const blocksForThread = 3;

/** A durable transaction costs as much as thousands of verdicts; a crash costs at most about this many units. */
const chargedItems = 20_000;
/** However few of their items are new, so that what waits takes little memory. */
const chargedChunks = 8;
const chargedRows = 65_536;

/** A chunk's verdicts, and as it is written if the quota lasts. */
interface JudgedChunk extends Judgements {
  readonly written: WrittenRecords;
  /** The chunk itself. */
  readonly chunk: () => ScannedChunk;
  /** The input pauses behind it: it has to be written now. */
  readonly isBeforePause?: boolean;
  /** To be called when nothing of it is needed any more. */
  readonly release?: () => void;
}

/**
 * The way for the embedded engine and a table that is scanned: verdicts are made of the bytes, in threads when the
 * table is large, and before it is known whether the quota grants them. Here, in the order of the rows, items are
 * counted once and charged, and what the quota does not grant is taken back before it is written.
 */
export async function runEmbedded(
  options: RunOptions,
  scanned: ScannedTable,
  engine: EmbeddedEngine,
): Promise<RunReport> {
  const { kind, table, sink, columns, filter = {}, cores = 1, signal, onProgress } = options;
  const split = isSplit(sink) ? sink : undefined;
  const ledger = new Ledger(engine, filter, split !== undefined);
  const { seed } = ledger.items;
  const hashesMailboxes = filter.dedupe === "canonical";
  const judgeOptions = { kind, shape: scanned.shape, seed, columns, hashesMailboxes };
  const judge = new Judge(judgeOptions, engine.classifier);
  const blocksInThreads = cores * blocksForThread;
  // One more is being written.
  const startPool = () =>
    new JudgePool(cores, blocksInThreads + chargedChunks + 1, judgeOptions, engine.source);
  const output = new WriteBehind(sink);
  await output.write(table.start(columns.names));
  const settle = async () => {
    for (const { rows, status, release } of await ledger.settle(judge)) {
      await output.write(rows, release, status === undefined || !split ? sink : await split.of(status));
    }
    await onProgress?.(ledger.rows);
  };
  for await (const judged of judgeInOrder(
    scanned,
    judge,
    cores > 1 ? startPool : undefined,
    blocksInThreads,
  )) {
    signal.throwIfAborted();
    if (ledger.count(judged)) await settle();
    // A reader that has gone would not be noticed before there is more to write.
    if (judged.isBeforePause) await output.flush();
  }
  await settle();
  await output.flush();
  return ledger.report();
}

async function* judgeInOrder(
  { shape, first, blocks, assembler }: ScannedTable,
  judge: Judge,
  startPool: (() => JudgePool) | undefined,
  blocksInThreads: number,
): AsyncGenerator<JudgedChunk> {
  function* judgeHere(whole: ScannedChunk, isBeforePause = false): Generator<JudgedChunk> {
    for (const chunk of whole.pieces()) {
      const judgements = judge.judge(chunk);
      const written = judge.write(chunk, judgements.codes);
      yield { ...judgements, chunk: () => chunk, written, isBeforePause };
    }
  }
  async function* take({ block, judged, release }: HandedBlock): AsyncGenerator<JudgedChunk> {
    const answer = await judged;
    // A block that the one before it runs into does not start with a record.
    if (answer === undefined || !assembler.isAligned) {
      const chunk = assembler.assemble(block);
      release();
      yield* judgeHere(chunk);
      return;
    }
    assembler.skip(answer.lines);
    yield { ...answer, chunk: () => scanAlone(shape, block)!.chunk, release };
  }
  let pool: JudgePool | undefined;
  const handed: HandedBlock[] = [];
  let judgedBytes = 0;
  try {
    yield* judgeHere(first, true);
    for await (const { bytes, isBeforePause } of blocks) {
      judgedBytes += bytes.length;
      if (judgedBytes >= bytesBeforeThreads) pool ??= startPool?.();
      const inThread = pool?.isReady && !isBeforePause ? pool.judge(bytes) : undefined;
      if (inThread) handed.push(inThread);
      while (handed.length > (inThread ? blocksInThreads - 1 : 0)) yield* take(handed.shift()!);
      if (!inThread) yield* judgeHere(assembler.assemble(bytes), isBeforePause);
    }
    for (const inThread of handed) yield* take(inThread);
    yield* judgeHere(assembler.assemble(undefined));
  } finally {
    await pool?.close();
  }
}

const [checked, unchecked] = [1, 2];

/** A chunk of which the items are counted but not charged. */
interface CountedChunk extends JudgedChunk {
  /** 1 for each row whose item no row had before. */
  readonly isNew: Uint8Array;
  /** How many those are. */
  readonly newItems: number;
}

/** Rows as they are to be written. */
interface SettledRows {
  readonly rows: Uint8Array;
  /** The status that all of them have, where each has a file of its own. */
  readonly status?: Status;
  /** To be called when they are written. */
  readonly release?: (() => void) | undefined;
}

/** Knows every distinct item, and keeps the counts. */
class Ledger {
  readonly items = new DistinctItems();
  readonly #mailboxes = new DistinctItems();
  rows = 0;
  readonly #engine: EmbeddedEngine;
  readonly #filter: RowFilter;
  readonly #isSplit: boolean;
  readonly #keepsCode: readonly boolean[] | undefined;
  /** Rows of each status, by its code. */
  readonly #rowsOf = rowStatuses.map(() => 0);
  #counted: CountedChunk[] = [];
  #countedRows = 0;
  #uncharged = 0;
  #written = 0;
  #charged = 0;
  #quota: QuotaState | undefined;
  #isExhausted = false;

  constructor(engine: EmbeddedEngine, filter: RowFilter, isSplit: boolean) {
    this.#engine = engine;
    this.#isSplit = isSplit;
    this.#filter = filter;
    this.#keepsCode = filter.keeps && rowStatuses.map(filter.keeps);
  }

  /** Counts the chunk's items; says whether it is time to settle. */
  count(judged: JudgedChunk): boolean {
    const { isNew, count } = this.items.addAll(judged.hashes, judged.codes, checked);
    this.#counted.push({ ...judged, isNew, newItems: count });
    this.#uncharged += count;
    this.#countedRows += judged.codes.length;
    return (
      judged.isBeforePause === true ||
      this.#uncharged >= chargedItems ||
      this.#countedRows >= chargedRows ||
      this.#counted.length >= chargedChunks
    );
  }

  /** Charges what is counted, and gives the rows as they are to be written. */
  async settle(judge: Judge): Promise<readonly SettledRows[]> {
    let granted = await this.#charge(this.#uncharged);
    const rows = this.#counted.flatMap((counted) => {
      if (granted < counted.newItems) this.#takeBack(counted, granted);
      granted = Math.max(0, granted - counted.newItems);
      return this.#finish(counted, judge);
    });
    this.#counted = [];
    this.#countedRows = 0;
    this.#uncharged = 0;
    return rows;
  }

  /** Counts the chunk's rows, and gives them as they are to be written. */
  #finish(counted: CountedChunk, judge: Judge): SettledRows[] {
    const { chunk, codes, hashes, mailboxes, written, release } = counted;
    // Until the quota ends, every item that is known is checked.
    const isComplete = !this.#isExhausted || !this.#markUnchecked(codes, hashes);
    const rows = isComplete ? written : judge.write(chunk(), codes);
    let rowCount = 0;
    for (let row = 0; row < codes.length; row++) {
      if (codes[row] === notARow) continue;
      this.#rowsOf[codes[row]!]!++;
      rowCount++;
    }
    this.rows += rowCount;
    const keepsCode = this.#keepsCode;
    const { dedupe } = this.#filter;
    if (!keepsCode && !dedupe && !this.#isSplit) {
      this.#written += rowCount;
      return [{ rows: rows.bytes, release }];
    }
    const mayKeep = codes.map((code) => Number(keepsCode?.[code] !== false));
    // A row that is not kept for its status hides no other one of its mailbox.
    const { isNew } =
      dedupe === "canonical" && mailboxes
        ? this.#mailboxes.addAll(
            mailboxes,
            codes.map((code, row) => (mayKeep[row] ? code : noItem)),
            1,
          )
        : counted;
    const isKept = (row: number) =>
      mayKeep[row] === 1 && (!dedupe || !hasItem(codes[row]!) || isNew[row] === 1);
    for (let row = 0; row < codes.length; row++) {
      if (codes[row] !== notARow && isKept(row)) this.#written++;
    }
    if (!this.#isSplit) return [{ rows: keepRecords(rows, isKept), release }];
    const parts = rowStatuses.flatMap((status, code) => {
      if (!codes.includes(code)) return [];
      const ofStatus = copyRecords(rows, (row) => codes[row] === code && isKept(row));
      return ofStatus.length > 0 ? { rows: ofStatus, status } : [];
    });
    release?.();
    return parts;
  }

  report(): RunReport {
    const statuses = new Map<Status, number>();
    this.#rowsOf.forEach((rows, code) => {
      if (code !== noItem && rows > 0) statuses.set(rowStatuses[code]!, rows);
    });
    return {
      rows: this.rows,
      written: this.#written,
      emptyRows: this.#rowsOf[noItem]!,
      distinct: this.items.size,
      cached: 0,
      prechecked: 0,
      statuses,
      charged: this.#charged,
      quota: this.#quota,
    };
  }

  /** @returns how many of the new items may be checked */
  async #charge(units: number): Promise<number> {
    if (this.#isExhausted || units === 0) return 0;
    const { charged, exhausted, quota } = await this.#engine.charge(units);
    this.#charged += charged;
    this.#isExhausted = exhausted;
    this.#quota = quota;
    return charged;
  }

  /** The new items that the quota did not grant are known from now on as not checked. */
  #takeBack({ hashes, isNew }: CountedChunk, granted: number): void {
    let seen = 0;
    for (let row = 0; row < isNew.length; row++) {
      if (isNew[row] === 1 && seen++ >= granted) this.items.set(hashAt(hashes, row), unchecked);
    }
  }

  /** Gives the rows whose item is not checked that status; whether there are any. */
  #markUnchecked(codes: Uint8Array, hashes: Int32Array): boolean {
    let isAny = false;
    for (let row = 0; row < codes.length; row++) {
      if (!hasItem(codes[row]!) || this.items.get(hashAt(hashes, row)) !== unchecked) continue;
      codes[row] = notChecked;
      isAny = true;
    }
    return isAny;
  }
}

const hashAt = (hashes: Int32Array, row: number) => ({ low: hashes[2 * row]!, high: hashes[2 * row + 1]! });
