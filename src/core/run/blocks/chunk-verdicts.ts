/** What is known of the records of a chunk once they are judged. */
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import type { RowKeys } from "../rows/row-writer.js";
import type { RowFacts } from "../run-options.js";
import type { StatusCodes } from "../status-codes.js";
import type { Explain } from "./block-renderer.js";
import type { Elsewhere } from "./elsewhere.js";
import type { ItemVerdicts } from "./item-verdicts.js";
import type { OtherStatus } from "./kept-rows.js";

/**
 * Verdicts on the records of a chunk, whether or not the quota grants them. A record has a verdict for each column with items;
 * verdicts are numbered row by row.
 */
export interface ChunkVerdicts extends Elsewhere {
  readonly columns: number;
  /** The verdicts on all items in order, if a field has several; undefined if each has at most one. */
  readonly items?: ItemVerdicts | undefined;
  readonly emptied: number;
  /** Number of values in which an item has marks around it. */
  readonly marked: number;
  /** Number of fields of the first column with a mistyped item that has a suggestion. */
  readonly repairable: number;
  readonly notUtf8: number;
  readonly kept: number;
  readonly codes: Uint8Array;
  /** Hash of each field's item, two words; meaningless for a field without an item. */
  readonly hashes: Int32Array;
  /** Hashes of the items' mailboxes, in the order of the items, if they are wanted (block-options.ts). */
  readonly mailboxes?: Int32Array;
  readonly facts?: RowFacts | undefined;
  /** The items that `--dedupe` compares; set only if it also compares rows that keep their statuses. */
  readonly keys?: RowKeys;
}

export interface Judged {
  readonly codes: Uint8Array;
  readonly items?: ItemVerdicts | undefined;
}

export interface MainThread {
  readonly codes: StatusCodes;
  /**
   * For an update: returns the code of a row whose status idv does not know. Blocks in slots are refused if they have such
   * rows.
   */
  readonly otherStatus?: OtherStatus | undefined;
  readonly precheck?: ((item: string) => number | undefined) | undefined;
  readonly explain?: Explain | undefined;
}

/** Counts that a thread returns for a block; verdicts and rendered rows are in its slot. */
export interface BlockResult extends Elsewhere {
  /** The records, if their rows are rendered later. Workers cannot pass them to the main thread. */
  readonly chunk?: ScannedChunk;
  readonly lines: number;
  readonly rows: number;
  /** Number of items if a field has several; else 0. */
  readonly items: number;
  readonly outputLength: number;
  readonly emptied: number;
  readonly marked: number;
  readonly repairable: number;
  readonly notUtf8: number;
  readonly kept: number;
}
