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
import { type Columns, ourFields } from "../columns.js";
import { extractItem, itemKey, mailboxKey } from "../item.js";
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
  /** Seed of the run's item hashes. */
  readonly seed: Int32Array;
  readonly columns: Columns;
  /** Whether to hash mailboxes too, for `--dedupe=canonical`. */
  readonly hashesMailboxes: boolean;
}

/** Verdicts on the records of a chunk, whether or not the quota grants them. */
export interface ChunkVerdicts {
  /** The code of each record's status. */
  readonly codes: Uint8Array;
  /** Hash of each record's item in two words; meaningless for a record without an item. */
  readonly hashes: Int32Array;
  /** Hash of each record's mailbox in two words, if `hashesMailboxes`. Meaningless for a record without an item. */
  readonly mailboxes?: Int32Array;
}

export class BlockClassifier {
  readonly #options: BlockOptions;
  readonly #classifier: Classifier;
  readonly #plain: PlainItems;
  /** Bytes to append to a record, by status code. */
  readonly #tails: readonly Uint8Array[];

  constructor(options: BlockOptions, classifier: Classifier) {
    const { kind, shape, seed, columns } = options;
    this.#options = options;
    this.#classifier = classifier;
    this.#plain = new PlainItems(classifier, seed);
    this.#tails = offlineStatuses.map((status) => tailOf(shape, ourFields(columns, { status }, kind)));
  }

  /**
   * Classifies the records of a chunk.
   *
   * @param memory takes the verdicts; must be large enough for the chunk
   */
  classify(
    chunk: ScannedChunk,
    memory: ChunkVerdicts = {
      codes: new Uint8Array(chunk.count),
      hashes: new Int32Array(2 * chunk.count),
    },
  ): ChunkVerdicts {
    const { bytes, at, count } = chunk;
    const { kind } = this.#options;
    const plain = this.#plain;
    const codes = memory.codes.subarray(0, count);
    const hashes = memory.hashes.subarray(0, 2 * count);
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
      if (code === noItemCode) this.#classifyText(chunk, row, codes, hashes);
      else {
        codes[row] = code;
        hashes[2 * row] = plain.low;
        hashes[2 * row + 1] = plain.high;
      }
    }
    if (!this.#options.hashesMailboxes) return { codes, hashes };
    return { codes, hashes, mailboxes: this.#hashMailboxes(chunk, codes, memory.mailboxes) };
  }

  /**
   * Classifies a value that {@link PlainItems} does not decide: not ASCII, or wrapped in a name or a URL, for example.
   */
  #classifyText(chunk: ScannedChunk, row: number, codes: Uint8Array, hashes: Int32Array): void {
    const { kind, seed } = this.#options;
    const item = extractItem(kind, chunk.value(row));
    if (item === "") return;
    codes[row] = offlineCode(this.#classifier.classify(kind, item).status);
    const { low, high } = hashItem(seed, itemKey(item));
    hashes[2 * row] = low;
    hashes[2 * row + 1] = high;
  }

  #hashMailboxes(chunk: ScannedChunk, codes: Uint8Array, memory: Int32Array | undefined): Int32Array {
    const { kind, seed } = this.#options;
    const mailboxes = memory?.subarray(0, 2 * codes.length) ?? new Int32Array(2 * codes.length);
    for (let row = 0; row < codes.length; row++) {
      if (!hasItem(codes[row]!)) continue;
      const item = extractItem(kind, chunk.value(row));
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
      const item = extractItem(kind, chunk.value(row));
      const verdict = this.#classifier.classify(kind, item);
      return tailOf(shape, ourFields(columns, verdict, kind, item));
    });
    const choice = Uint32Array.from(tails, (_, row) => row);
    return chunk.write(tails, choice, memory);
  }
}
