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
import { type Columns, ourFields } from "../columns.js";
import { extractItem, itemKey, mailboxKey } from "../item.js";
import { hasItem, noItem, notARow, notChecked, rowStatuses, statusCode } from "../row-status.js";

const quote = 0x22;
const noTail = Buffer.of();

/** What a judge has to know of a run. */
export interface JudgeOptions {
  readonly kind: Kind;
  readonly shape: TableShape;
  /** That of the run's hashes. */
  readonly seed: Int32Array;
  readonly columns: Columns;
  /** Whether the hashes of the canonical items are wanted too. */
  readonly hashesMailboxes: boolean;
}

/** The verdicts on a chunk. */
export interface Judgements {
  /** For each row, its status, checked or not. */
  readonly codes: Uint8Array;
  /** For each row, the two words of its item's hash; without meaning where it has none. */
  readonly hashes: Int32Array;
  /** The same of its canonical item, where it is wanted. */
  readonly mailboxes?: Int32Array;
}

/** Judges the rows of a table by the embedded engine, in whatever thread. */
export class Judge {
  readonly #kind: Kind;
  readonly #shape: TableShape;
  readonly #seed: Int32Array;
  readonly #columns: Columns;
  readonly #hashesMailboxes: boolean;
  readonly #classifier: Classifier;
  readonly #plain: PlainItems;
  /** What is written behind a row, for each status. */
  readonly #tails: readonly Uint8Array[];

  constructor(options: JudgeOptions, classifier: Classifier) {
    const { kind, shape, seed, columns, hashesMailboxes } = options;
    this.#hashesMailboxes = hashesMailboxes;
    this.#kind = kind;
    this.#shape = shape;
    this.#seed = seed;
    this.#columns = columns;
    this.#classifier = classifier;
    this.#plain = new PlainItems(classifier, seed);
    this.#tails = rowStatuses.map((status) => tailOf(shape, ourFields(columns, { status }, kind)));
  }

  /** @param memory where the verdicts are put; long enough for the chunk */
  judge(
    chunk: ScannedChunk,
    memory: Judgements = { codes: new Uint8Array(chunk.count), hashes: new Int32Array(2 * chunk.count) },
  ): Judgements {
    const { bytes, at, count } = chunk;
    const plain = this.#plain;
    const codesOfRows = memory.codes.subarray(0, count);
    const hashes = memory.hashes.subarray(0, 2 * count);
    for (let row = 0; row < count; row++) {
      let start = at[row * recordWords + Place.valueStart]!;
      let end = at[row * recordWords + Place.valueEnd]!;
      const isRow = chunk.isRow(row);
      codesOfRows[row] = isRow ? noItem : notARow;
      if (start === end || !isRow) continue;
      if (end - start > 1 && bytes[start] === quote && bytes[end - 1] === quote) {
        start++;
        end--;
      }
      const code = plain.judge(this.#kind, bytes, start, end);
      if (code === noItem) this.#judgeText(chunk, row, codesOfRows, hashes);
      else {
        codesOfRows[row] = code;
        hashes[2 * row] = plain.low;
        hashes[2 * row + 1] = plain.high;
      }
    }
    if (!this.#hashesMailboxes) return { codes: codesOfRows, hashes };
    const mailboxes = memory.mailboxes?.subarray(0, 2 * count) ?? new Int32Array(2 * count);
    for (let row = 0; row < count; row++) {
      if (!hasItem(codesOfRows[row]!)) continue;
      const item = extractItem(this.#kind, chunk.value(row));
      const { low, high } = hashItem(this.#seed, mailboxKey(this.#kind, item));
      mailboxes[2 * row] = low;
      mailboxes[2 * row + 1] = high;
    }
    return { codes: codesOfRows, hashes, mailboxes };
  }

  #judgeText(chunk: ScannedChunk, row: number, codesOfRows: Uint8Array, hashes: Int32Array): void {
    const item = extractItem(this.#kind, chunk.value(row));
    if (item === "") return;
    codesOfRows[row] = statusCode(this.#classifier.classify(this.#kind, item).status);
    const { low, high } = hashItem(this.#seed, itemKey(item));
    hashes[2 * row] = low;
    hashes[2 * row + 1] = high;
  }

  /**
   * The rows as they are written with these verdicts.
   *
   * @param memory where that is put, if it fits
   */
  write(chunk: ScannedChunk, codesOfRows: Uint8Array, memory?: WriteMemory): WrittenRecords {
    const { withReasons, withCanonical } = this.#columns;
    if (!withReasons && !withCanonical) return chunk.write(this.#tails, codesOfRows, memory);
    const tails = Array.from(codesOfRows, (code, row) => {
      if (!hasItem(code) || code === notChecked) return this.#tails[code] ?? noTail;
      const item = extractItem(this.#kind, chunk.value(row));
      const verdict = this.#classifier.classify(this.#kind, item);
      return tailOf(this.#shape, ourFields(this.#columns, verdict, this.#kind, item));
    });
    const choice = Uint32Array.from(tails, (_, row) => row);
    return chunk.write(tails, choice, memory);
  }
}
