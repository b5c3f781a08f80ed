/** Classifies the records of a block from its bytes, and renders them with their statuses. Runs in any thread. */
import type { Classifier } from "../../classifier/classifier.js";
import { hashItem } from "../../classifier/item-hash.js";
import { PlainItems } from "../../classifier/plain-items.js";
import type { TableShape } from "../../table/records.js";
import {
  type ScannedChunk,
  tailOf,
  type WriteMemory,
  type WrittenRecords,
} from "../../table/scan/scanned-chunk.js";
import { Place, recordWords } from "../../table/scan/scanner.js";
import type { Kind } from "../../validator/validator.js";
import { badness, type CellOptions, Cells } from "../cells.js";
import { type Columns, ourFields } from "../columns.js";
import { itemKey, mailboxKey } from "../item.js";
import {
  hasItem,
  noItemCode,
  notARowCode,
  notCheckedCode,
  offlineCode,
  offlineStatuses,
} from "../status-codes.js";

const quote = 0x22;
const noTail = Buffer.of();

/** Options of a run that its block classifiers need. Plain data, because worker threads get a copy. */
export interface BlockOptions {
  readonly kind: Kind;
  readonly shape: TableShape;
  readonly cells: CellOptions;
  /** Seed of the run's item hashes. */
  readonly seed: Int32Array;
  readonly columns: Columns;
  /** Whether to hash mailboxes too, for `--dedupe=canonical`. */
  readonly hashesMailboxes: boolean;
}

/** Verdicts on the records of a chunk, whether or not the quota grants them. */
export interface ChunkVerdicts extends VerdictMemory {
  /** The verdicts on all items in order, if a record has several; undefined if each has one at most. */
  readonly items?: ItemVerdicts;
  /** Number of records with a word that stands for no item, and of those with a value that is not UTF-8. */
  readonly emptied: number;
  readonly notUtf8: number;
}

/** The part of the verdicts that has a place in shared memory. */
export interface VerdictMemory {
  /** The code of each record's status. */
  readonly codes: Uint8Array;
  /** Hash of each record's item in two words; meaningless for a record without an item. */
  readonly hashes: Int32Array;
  /** Hash of each record's mailbox in two words, if `hashesMailboxes`. Meaningless for a record without an item. */
  readonly mailboxes?: Int32Array;
}

/** Verdicts on items, where a record may have several. */
export interface ItemVerdicts {
  readonly codes: Uint8Array;
  readonly hashes: Int32Array;
  /** The record of each item; records without an item are listed once. */
  readonly rows: Int32Array;
}

export class BlockClassifier {
  readonly #options: BlockOptions;
  readonly #classifier: Classifier;
  readonly #plain: PlainItems;
  readonly #cells: Cells;
  /** Bytes to append to a record, by status code. */
  readonly #tails: readonly Uint8Array[];

  constructor(options: BlockOptions, classifier: Classifier) {
    const { kind, shape, seed, columns } = options;
    this.#options = options;
    this.#classifier = classifier;
    this.#plain = new PlainItems(classifier, seed);
    this.#cells = new Cells(options.cells);
    this.#tails = offlineStatuses.map((status) => tailOf(shape, ourFields(columns, { status }, kind)));
  }

  /**
   * Classifies the records of a chunk.
   *
   * @param memory takes the verdicts; must be large enough for the chunk
   */
  classify(
    chunk: ScannedChunk,
    memory: VerdictMemory = {
      codes: new Uint8Array(chunk.count),
      hashes: new Int32Array(2 * chunk.count),
    },
  ): ChunkVerdicts {
    const { bytes, at, count } = chunk;
    const { kind } = this.#options;
    const plain = this.#plain;
    const codes = memory.codes.subarray(0, count);
    const hashes = memory.hashes.subarray(0, 2 * count);
    const several = new Map<number, readonly string[]>();
    const emptiedBefore = this.#cells.emptied;
    let notUtf8 = 0;
    for (let row = 0; row < count; row++) {
      let start = at[row * recordWords + Place.valueStart]!;
      let end = at[row * recordWords + Place.valueEnd]!;
      const isRow = chunk.isRow(row);
      codes[row] = isRow ? noItemCode : notARowCode;
      if (start === end || !isRow) continue;
      if (end - start > 1 && bytes[start] === quote && bytes[end - 1] === quote) {
        start++;
        end--;
      }
      const code = plain.classify(kind, bytes, start, end);
      if (code === noItemCode) {
        // The item is not plain: quoted, not ASCII, wrapped in a name or a URL, or one of several.
        const items = this.#cells.itemsIn(chunk.value(row));
        if (!chunk.isUtf8(row)) notUtf8++;
        if (items.length > 0) codes[row] = this.#classifyText(items[0]!, hashes, row);
        if (items.length > 1) several.set(row, items);
      } else {
        codes[row] = code;
        hashes[2 * row] = plain.low;
        hashes[2 * row + 1] = plain.high;
      }
    }
    const emptied = this.#cells.emptied - emptiedBefore;
    const items = several.size > 0 ? this.#itemVerdicts(codes, hashes, several) : undefined;
    if (items) takeWorst(codes, items);
    return {
      ...{ codes, hashes, emptied, notUtf8 },
      ...(items && { items }),
      ...(this.#options.hashesMailboxes && {
        mailboxes: this.#hashMailboxes(chunk, codes, memory.mailboxes),
      }),
    };
  }

  /** Classifies an item, puts its hash in its place, and returns the code of its status. */
  #classifyText(item: string, hashes: Int32Array, place: number): number {
    const { kind, seed } = this.#options;
    const { low, high } = hashItem(seed, itemKey(item));
    hashes[2 * place] = low;
    hashes[2 * place + 1] = high;
    return offlineCode(this.#classifier.statusOf(kind, item));
  }

  /** Lists the verdicts on all items of some records. */
  #itemVerdicts(
    codes: Uint8Array,
    hashes: Int32Array,
    several: ReadonlyMap<number, readonly string[]>,
  ): ItemVerdicts {
    const count = Array.from(several.values()).reduce((sum, { length }) => sum + length - 1, codes.length);
    const all = {
      codes: new Uint8Array(count),
      hashes: new Int32Array(2 * count),
      rows: new Int32Array(count),
    };
    let place = 0;
    for (let row = 0; row < codes.length; row++) {
      all.rows[place] = row;
      all.codes[place] = codes[row]!;
      all.hashes.set(hashes.subarray(2 * row, 2 * row + 2), 2 * place++);
      for (const item of several.get(row)?.slice(1) ?? []) {
        all.rows[place] = row;
        all.codes[place] = this.#classifyText(item, all.hashes, place);
        place++;
      }
    }
    return all;
  }

  #hashMailboxes(chunk: ScannedChunk, codes: Uint8Array, memory: Int32Array | undefined): Int32Array {
    const { kind, seed } = this.#options;
    const mailboxes = memory?.subarray(0, 2 * codes.length) ?? new Int32Array(2 * codes.length);
    for (let row = 0; row < codes.length; row++) {
      if (!hasItem(codes[row]!)) continue;
      const [item = ""] = this.#cells.itemsIn(chunk.value(row));
      const { low, high } = hashItem(seed, mailboxKey(kind, item));
      mailboxes[2 * row] = low;
      mailboxes[2 * row + 1] = high;
    }
    return mailboxes;
  }

  /**
   * Renders the records of a chunk with their statuses.
   *
   * @param memory takes the bytes if they fit; otherwise new memory does
   */
  render(chunk: ScannedChunk, codes: Uint8Array, memory?: WriteMemory): WrittenRecords {
    const { kind, shape, columns } = this.#options;
    if (!columns.withReasons && !columns.withCanonical) {
      // Code 255 has no tail: `write` ignores the code of a record that is not a row.
      return chunk.write(this.#tails, codes, memory);
    }
    const tails = Array.from(codes, (code, row) => {
      if (!hasItem(code) || code === notCheckedCode) return this.#tails[code] ?? noTail;
      const judged = this.#cells
        .itemsIn(chunk.value(row))
        .map((item) => ({ item, verdict: this.#classifier.classify(kind, item) }));
      const { item, verdict } = judged.reduce((a, b) =>
        badness(b.verdict.status) > badness(a.verdict.status) ? b : a,
      );
      return tailOf(shape, ourFields(columns, verdict, kind, item));
    });
    const choice = Uint32Array.from(tails, (_, row) => row);
    return chunk.write(tails, choice, memory);
  }
}

/** Gives each record the worst status of its items. */
export function takeWorst(codes: Uint8Array, items: ItemVerdicts): void {
  for (const [place, row] of items.rows.entries()) {
    const code = items.codes[place]!;
    const isWorse = hasItem(code) && badness(offlineStatuses[code]!) > badness(offlineStatuses[codes[row]!]!);
    if (isWorse) codes[row] = code;
  }
}
