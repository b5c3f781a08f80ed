/** Verdicts on the records of a judged chunk. */
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import type { Status, Verdict } from "../../validator/validator.js";
import type { RowKeys } from "../rows/row-writer.js";
import type { RowFacts } from "../run-options.js";
import type { StatusCodes } from "../status-codes.js";
import { type Elsewhere, nowhere } from "./elsewhere.js";
import type { ItemVerdicts } from "./item-verdicts.js";
import type { OtherStatus } from "./kept-rows.js";

const counted = ["emptied", "marked", "repairable", "notUtf8", "kept"] as const;
/** Numbers of rows, which threads pass on. */
export const countNames = [...counted, ...(Object.keys(nowhere) as (keyof Elsewhere)[])];
type RowCounts = Readonly<Record<(typeof countNames)[number], number>>;

export const countsOf = (found: RowCounts): RowCounts =>
  Object.fromEntries(countNames.map((name) => [name, found[name]])) as RowCounts;

/** Verdicts, whether or not the quota grants them, numbered row by row: one for each column with items. */
export interface ChunkVerdicts extends RowCounts {
  readonly columns: number;
  /** The verdicts on all items in order, if a field has several; undefined if each has at most one. */
  readonly items?: ItemVerdicts | undefined;
  readonly codes: Uint8Array;
  /** Hash of each field's item, two words; meaningless for a field without an item. */
  readonly hashes: Int32Array;
  readonly mailboxes?: Int32Array;
  /** Words of the kernel about the domains in each column that they are wanted of; see its layout. */
  readonly domains?: readonly Int32Array[] | undefined;
  readonly facts?: RowFacts | undefined;
  /** The items that `--dedupe` compares; set only if it also compares rows that keep their statuses. */
  readonly keys?: RowKeys;
}

export type Judged = Pick<ChunkVerdicts, "codes" | "items">;

export type Explain = (item: string, status: Status) => Verdict;

export interface MainThread {
  readonly codes: StatusCodes;
  /** Set for `--update`. Blocks in slots are refused if idv does not know the status of a row. */
  readonly otherStatus?: OtherStatus | undefined;
  readonly precheck?: ((item: string) => number | undefined) | undefined;
  readonly explain?: Explain | undefined;
}

export interface BlockResult extends RowCounts {
  readonly chunk?: ScannedChunk;
  readonly lines: number;
  readonly rows: number;
  /** Number of items if a field has several; else 0. */
  readonly items: number;
  readonly outputLength: number;
}
