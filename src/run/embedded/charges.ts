/**
 * The distinct items of embedded runs and their charges: chunks wait here until their new items are charged. See the top
 * of embedded-run.ts.
 */
import { randomFillSync } from "node:crypto";
import { seedWords } from "../../kernel/layout.js";
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import type { WrittenRecords } from "../../table/writers/output.js";
import { keepRecords, wantedRecords } from "../../table/writers/record-writer.js";
import { type EmbeddedEngine, type QuotaState, unitsOf } from "../../validator/validator.js";
import { DistinctItems } from "../distinct-items.js";
import type { RowsWithStatus } from "../row-writer.js";
import type { RunCounts } from "../session.js";
import { hasItem, noItemCode, notCheckedCode } from "../status-codes.js";
import type { BlockClassifier, ChunkVerdicts } from "./block-classifier.js";
import { goodRows, takeDeciding } from "./item-verdicts.js";
import { isKept } from "./kept-rows.js";

/**
 * Number of new items at which they are charged. A durable charge takes as long as thousands of verdicts, but a crash
 * may waste its units.
 */
const chargedItems = 20_000;
/** Number of chunks and rows at which their items are charged, whatever their number. */
const chargedChunks = 8;
const chargedRows = 65_536;
/** Most chunks that wait while another charge is under way, as with a database far away. They limit memory. */
export const mostWaitingChunks = 48;

/** Share of the input that must be read before the number of all items is estimated. */
const estimatingShare = 1 / 8;

/** A chunk with its verdicts, rendered as if the quota granted all of them. */
export interface ClassifiedChunk extends ChunkVerdicts {
  readonly written: WrittenRecords;
  readonly chunk: () => ScannedChunk;
  /** Whether the input pauses after this chunk. If so, it is written at once. */
  readonly isBeforePause?: boolean;
  readonly release?: () => void;
}

/** States of an item in the table of distinct items. */
const [forgotten, checked, unchecked] = [0, 1, 2];

/** A chunk whose items are in the table of distinct items but not charged yet. */
interface UnchargedChunk extends ClassifiedChunk {
  /** 1 for each item that is new to the run. */
  readonly isNew: Uint8Array;
  readonly newItems: number;
}

/** The distinct items of the run, and their charges. */
export class Charges {
  readonly #items = new DistinctItems();
  readonly #engine: EmbeddedEngine;
  #waiting: UnchargedChunk[] = [];
  #waitingRows = 0;
  #uncharged = 0;
  #distinct = 0;
  #charged = 0;
  #quota: QuotaState | undefined;
  #isExhausted = false;

  constructor(engine: EmbeddedEngine) {
    this.#engine = engine;
  }

  /** Seed of the item hashes, secret and new for each run: no list can be made to collide. */
  readonly seed = randomFillSync(new Int32Array(seedWords));

  /**
   * Estimates the number of items in the whole input from those in the share that was read.
   *
   * @param share from 0 to 1; undefined when it is not known
   * @param before number of items before this input
   */
  expect(share: number | undefined, before: number): void {
    if (share !== undefined && share >= estimatingShare)
      this.#items.expect(Math.ceil(before + (this.#items.size - before) / share));
  }

  /** Whether no more chunks may be added before others are settled. */
  get isFull(): boolean {
    return this.#waiting.length >= mostWaitingChunks;
  }

  /** Adds the items of a chunk. Returns whether it is time to settle. */
  add(classified: ClassifiedChunk): boolean {
    const { hashes, codes } = classified.items ?? classified;
    // Fields that keep the status of an earlier run have no item that is charged.
    const mayBeKept = classified.kept > 0 || classified.columns > 1;
    const judged = mayBeKept ? codes.map((code) => (isKept(code) ? noItemCode : code)) : codes;
    const { isNew, count } = this.#items.addAll(hashes, judged, checked);
    this.#waiting.push({ ...classified, isNew, newItems: count });
    this.#uncharged += count;
    this.#distinct += count;
    this.#waitingRows += classified.codes.length;
    return (
      classified.isBeforePause === true ||
      this.#uncharged >= chargedItems ||
      this.#waitingRows >= chargedRows ||
      this.#waiting.length >= chargedChunks
    );
  }

  /**
   * Charges the new items of the waiting chunks, and returns the rows of these chunks with their final statuses. Meanwhile,
   * chunks may be added; they are settled next, after this is done.
   */
  async settle(classifier: BlockClassifier): Promise<readonly RowsWithStatus[]> {
    const [chunks, units] = [this.#waiting, this.#uncharged];
    this.#waiting = [];
    this.#waitingRows = 0;
    this.#uncharged = 0;
    let granted = await this.#charge(units);
    return chunks.map((chunk) => {
      if (granted < chunk.newItems) this.#takeBack(chunk, granted);
      granted = Math.max(0, granted - chunk.newItems);
      return this.#rowsOf(chunk, classifier);
    });
  }

  /**
   * Drops the waiting chunks of a run that failed, so that the run over the next file neither writes their rows nor takes
   * their items for charged.
   */
  abandon(): void {
    for (const { hashes, items, isNew, newItems } of this.#waiting) {
      this.#distinct -= newItems;
      for (const [place, isFirst] of isNew.entries()) {
        if (isFirst === 1) this.#items.set(hashAt(items?.hashes ?? hashes, place), forgotten);
      }
    }
    this.#waiting = [];
    this.#waitingRows = 0;
    this.#uncharged = 0;
  }

  /** The counts over all files. There is no cache. */
  get counts(): RunCounts {
    return { distinct: this.#distinct, cached: 0, prechecked: 0, charged: this.#charged };
  }

  /** The quota after the last charge; undefined when nothing was charged. */
  get quota(): QuotaState | undefined {
    return this.#quota;
  }

  #rowsOf(classified: UnchargedChunk, classifier: BlockClassifier): RowsWithStatus {
    const { chunk, columns, codes, items, emptied, notUtf8, kept, written, release } = classified;
    // Until the quota ends, every item in the table is checked.
    const isComplete = !this.#isExhausted || !this.#markUnchecked(classified, classifier);
    const rendered = isComplete ? written : classifier.render(chunk(), codes, items);
    let scanned: ScannedChunk | undefined;
    const records = () => {
      scanned ??= chunk();
      return scanned;
    };
    return {
      ...{ codes: codesOf(codes, 0, columns), isFirst: firstRows(classified), emptied, notUtf8, kept },
      ...(columns > 1 && {
        otherCodes: Array.from({ length: columns - 1 }, (_, nth) => codesOf(codes, nth + 1, columns)),
      }),
      keys: classifier.keysOf(classified),
      ...((items || columns > 1) && { good: goodRows(columns, codes, items) }),
      place: (row) => ({ line: records().lineOf(row), value: records().value(row) }),
      field: (row, column) => records().field(row, column),
      all: () => rendered.bytes,
      keep: (isWanted) => keepRecords(rendered, isWanted),
      copy: (isWanted) => wantedRecords(rendered, isWanted),
      ...(release && { release }),
    };
  }

  /** Charges up to `units`. Returns the number of units granted. */
  async #charge(units: number): Promise<number> {
    if (this.#isExhausted || units === 0) return 0;
    const { charged, exhausted, quota } = await this.#engine.charge(units).catch((error: unknown) => {
      this.#charged += unitsOf(error);
      throw error;
    });
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
  #markUnchecked({ items, chunk, ...records }: UnchargedChunk, classifier: BlockClassifier): boolean {
    const { codes, hashes } = items ?? records;
    const before = {
      codes: records.codes.slice(),
      ...(items && { items: { ...items, codes: codes.slice() } }),
    };
    let isAny = false;
    for (let place = 0; place < codes.length; place++) {
      if (
        isKept(codes[place]!) ||
        !hasItem(codes[place]!) ||
        this.#items.get(hashAt(hashes, place)) !== unchecked
      )
        continue;
      codes[place] = notCheckedCode;
      isAny = true;
    }
    if (!isAny) return false;
    if (items) takeDeciding(records.codes, items, classifier.deciding);
    classifier.takeBack(chunk(), before, (place) => codes[place] === notCheckedCode);
    return true;
  }
}

/** Returns the codes of one column. */
const codesOf = (codes: Uint8Array, nth: number, columns: number): Uint8Array => {
  if (columns === 1) return codes;
  const own = new Uint8Array(codes.length / columns);
  for (let row = 0, field = nth; row < own.length; row++, field += columns) own[row] = codes[field]!;
  return own;
};

/** Returns 1 for each row with an item in the first column that is in no field before. */
function firstRows({ columns, codes, items, isNew }: UnchargedChunk): Uint8Array {
  if (items === undefined) return codesOf(isNew, 0, columns);
  const isFirst = new Uint8Array(codes.length / columns);
  for (let place = 0; place < isNew.length; place++) {
    const field = items.fields[place]!;
    if (isNew[place] === 1 && field % columns === 0) isFirst[field / columns] = 1;
  }
  return isFirst;
}

const hashAt = (hashes: Int32Array, row: number) => ({ low: hashes[2 * row]!, high: hashes[2 * row + 1]! });
