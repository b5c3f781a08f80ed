import type { TableSink } from "../files/output.js";
import type { CacheScope } from "../store/verdict-cache.js";
import type { ScannableStream } from "../table/scan/scanned-records.js";
import type { Kind, QuotaState, Status, Validator } from "../validator/validator.js";
import type { Columns } from "./columns.js";

/** One bulk run: every row of a table gets the status of its item. */
export interface RunOptions {
  readonly kind: Kind;
  readonly table: ScannableStream;
  readonly sink: TableSink;
  readonly validator: Validator;
  /** Verdicts of earlier runs, and where those of this one go. */
  readonly memory?: CacheScope;
  /** Our columns, from `nameColumns`. */
  readonly columns: Columns;
  /** The rows to write; all of them by default. */
  readonly filter?: RowFilter;
  /** How many processor cores there are: with more than one, a large table is judged in threads. 1 by default. */
  readonly cores?: number;
  /** Aborting it ends the run with the signal's reason; what is written stays for the caller to discard. */
  readonly signal: AbortSignal;
  /** Called after every chunk with the rows written so far, and waited for. */
  readonly onProgress?: (rows: number) => void | Promise<void>;
}

/** Which rows are written. All are validated and counted. */
export interface RowFilter {
  /** Whether rows of this status are; that of a row without an item is empty. */
  readonly keeps?: (status: Status) => boolean;
  /** Only the first row of each item is, or of each canonical item; rows without an item all are. */
  readonly dedupe?: "item" | "canonical";
}

/** What came of a run. */
export interface RunReport {
  /** Records below the header. */
  readonly rows: number;
  /** Rows that were written, as the filter has it. */
  readonly written: number;
  /** Rows without an item: their status is empty. */
  readonly emptyRows: number;
  /** Distinct items, checked or not. */
  readonly distinct: number;
  /** Distinct items whose verdict was remembered, and those that were not worth asking. */
  readonly cached: number;
  readonly prechecked: number;
  /** Rows of each status that occurred. */
  readonly statuses: ReadonlyMap<Status, number>;
  /** Units that this run was charged. */
  readonly charged: number;
  /** The quota after the last batch; undefined when nothing was submitted. */
  readonly quota: QuotaState | undefined;
}
