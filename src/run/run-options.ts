/** Input and report of a bulk run. */
import type { TableSink } from "../files/output.js";
import type { ScannableStream } from "../table/scan/scanned-records.js";
import type { Kind, QuotaState, Status, Validator } from "../validator/validator.js";
import type { CachePort } from "./cache-port.js";
import type { Columns } from "./columns.js";

/** One bulk run: every row of a table gets the status of its item. */
export interface RunOptions {
  readonly kind: Kind;
  readonly table: ScannableStream;
  readonly sink: TableSink;
  readonly validator: Validator;
  /** Verdicts that were paid for before, and where those of this run go. */
  readonly cache?: CachePort;
  /** Our columns, from `nameColumns`. */
  readonly columns: Columns;
  /** The rows to write; all of them by default. */
  readonly filter?: RowFilter;
  /** Number of processor cores; with more than one, a large table is classified in worker threads. 1 by default. */
  readonly cores?: number;
  /** Aborting it ends the run with the signal's reason; the caller discards what is written. */
  readonly signal: AbortSignal;
  /** Called with the number of rows written so far, and waited for. */
  readonly onProgress?: (rows: number) => void | Promise<void>;
}

/** Which rows are written. All rows are validated and counted. */
export interface RowFilter {
  /** Whether rows of a status are written; the status of a row without an item is empty. */
  readonly keeps?: (status: Status) => boolean;
  /** Writes only the first row of each item, or of each mailbox; rows without an item are all written. */
  readonly dedupe?: "item" | "canonical";
}

/** Counts of a run. */
export interface RunReport {
  /** Records below the header. */
  readonly rows: number;
  /** Rows that passed the filter. */
  readonly written: number;
  /** Rows without an item. */
  readonly emptyRows: number;
  /** Distinct items, checked or not. */
  readonly distinct: number;
  /** Distinct items whose verdict came from the cache, and those that were not worth submitting. */
  readonly cached: number;
  readonly prechecked: number;
  /** Rows of each status that occurred. */
  readonly statuses: ReadonlyMap<Status, number>;
  /** Units that this run was charged. */
  readonly charged: number;
  /** The quota after the last batch; undefined when nothing was submitted. */
  readonly quota: QuotaState | undefined;
}
