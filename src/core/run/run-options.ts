/** Options and report of a bulk run. */

import type { TableSink } from "../../files/table-sink.js";
import type { Classifier } from "../classifier/classifier.js";
import type { Flag } from "../classifier/flags/flag-names.js";
import type { ItemHash } from "../classifier/tables/item-hash.js";
import type { DomainCount } from "../kernel/disposable-counts.js";
import type { RecordStream } from "../table/scan/scanned-records.js";
import type { Kind, QuotaState, Status, Validator } from "../validator/validator.js";
import type { CachePort } from "./cache-port.js";
import type { CellOptions } from "./items/cells.js";
import type { Fixer } from "./items/fixes.js";
import type { MailCheckPort } from "./mail-check-port.js";
import type { Columns } from "./rows/columns.js";
import type { Update } from "./rows/earlier-fields.js";
import type { Shard } from "./rows/shard.js";
import type { RunCounts, RunSession } from "./session.js";

export const mostTopDomains = 20;

export interface RunOptions {
  readonly kind: Kind;
  readonly table: RecordStream;
  readonly sink: TableSink;
  readonly validator: Validator;
  readonly cache?: CachePort;
  /** The offline rules, which explain the verdicts of a service that gives no reasons. */
  readonly offlineRules?: Classifier["classify"];
  readonly mailCheck?: MailCheckPort;
  readonly cells?: Omit<CellOptions, "kind">;
  /** By default, the whole list is validated. With a shard, a field with several items is an error. */
  readonly shard?: Shard | undefined;
  readonly update?: Update | undefined;
  /** Replaces mistyped items, and those with marks around them. */
  readonly fixer?: Fixer | undefined;
  readonly omitsHeader?: boolean;
  /** Written after the last row if that has no line break, as other rows may follow; by default, nothing is added. */
  readonly lineEnding?: string | undefined;
  /** Whether to write nothing before the first row, so that a table without rows leaves nothing on standard output. */
  readonly needsRows?: boolean;
  /** Whether rows are delivered as they are written, as into a pipe; else when their output appears. */
  readonly deliversRows?: boolean;
  readonly session?: RunSession;
  readonly columns: Columns;
  readonly filter?: RowFilter;
  /** Number of processor cores, 1 by default. With more than one, a large table is classified in worker threads. */
  readonly cores?: number;
  /** Returns the share of the input that has been read, from 0 to 1; undefined when its size is not known. */
  readonly inputShare?: () => number | undefined;
  /** Aborting it ends the run with the signal's reason; the caller discards the output. */
  readonly signal: AbortSignal;
  /** Called with all rows of the table, in input order, before the filter. */
  readonly observers?: readonly RowObserver[];
  /**
   * Called and awaited after rows are written. The object stays valid: its counts are updated while a run waits for a service.
   */
  readonly onProgress?: (progress: RunProgress) => void | Promise<void>;
}

export const mostFactColumns = 4;

export interface WantedFacts {
  readonly mailboxes: boolean;
  /** Indices, from 0, of up to {@link mostFactColumns} columns whose fields are needed as hashes. */
  readonly columns: readonly number[];
}

export { domainLengthMask, domainWords } from "../kernel/layout.js";

/** The arrays may be longer than the rows need. */
export interface RowFacts {
  /**
   * {@link domainWords} words for each row: two for the hash of its item's domain, which is the same in all runs of a
   * session; the start of the domain in {@link bytes}, where it is in upper or lower case; and its length in the bits
   * of {@link domainLengthMask}, 0 if the item is not plain.
   */
  readonly domains: Int32Array;
  /** For each of {@link WantedFacts.columns}, the hash of each row's field, in lower case; 0 if it is empty. */
  readonly fields: readonly Int32Array[];
  readonly bytes: Uint8Array;
}

export interface RowObserver {
  /** At most one observer of a run may want facts. */
  readonly wants?: WantedFacts;
  /** Called with consecutive rows, which are valid only during the call. */
  observe(rows: ObservedRows): void;
}

/**
 * Items and their mailboxes, as hashes of two words each; `isNew` has 1 for each item that is new. An item in its canonical
 * form has the hash of its mailbox.
 */
export interface ItemMailboxes {
  readonly hashes: Int32Array;
  readonly items: Int32Array;
  readonly isNew: Uint8Array;
  readonly isItem: (hash: ItemHash) => boolean;
}

export interface ObservedRows {
  /** See `status-codes.ts` for the codes of rows without a status. */
  readonly codes: Uint8Array;
  /** Statuses and, as far as they are known, reason codes, by the codes of the rows. */
  readonly statuses: readonly Status[];
  readonly reasons: readonly (string | undefined)[];
  readonly mailboxes?: ItemMailboxes | undefined;
  readonly facts?: RowFacts | undefined;
  /** Returns the hash of a domain in lower case, as in {@link RowFacts.domains}. */
  hashOf(domain: string): ItemHash;
  locate(row: number): RowLocation;
  /** Returns the flags of the item that decides about a row. */
  flagsOf(row: number): readonly Flag[];
  /** Returns an empty string if the row has no such field. The column is an index from 0. */
  field(row: number, column: number): string;
}

export interface RowLocation {
  /** Line on which the row starts, from 1; undefined where lines are not counted. */
  readonly line: number | undefined;
  readonly value: string;
  /** The item that decides about the row; undefined if it has none. */
  readonly item: string | undefined;
}

export interface RunProgress {
  /** Rows with a verdict, including those that the filter leaves out. */
  readonly rows: number;
  /** Rows read, including those that wait for a service; in offline runs, the rows processed. */
  readonly rowsRead: number;
  readonly units: () => { readonly charged: number; readonly cached: number };
  readonly statuses: () => ReadonlyMap<Status, number>;
}

export interface RowFilter {
  /** Returns whether to write rows with a status, which is empty for rows without an item. */
  readonly keeps?: (status: Status) => boolean;
  /** Decides about a row with an item by its flags, too. */
  readonly keepsFlagged?: ((flags: readonly Flag[], isKept: boolean) => boolean) | undefined;
  readonly fails?: (status: Status) => boolean;
  /** Whether to write a row with an item that is ok or alias, in any column. Such a row does not fail the run. */
  readonly sparesGood?: boolean;
  /** Writes only the first row of each item or of each mailbox. Rows without an item are all written. */
  readonly dedupe?: "item" | "canonical";
}

export interface RunReport extends RunCounts {
  /** Rows of the table, or of its shard, without its header, comments and bad rows. */
  readonly rows: number;
  readonly written: number;
  readonly emptyRows: number;
  /** Values with a word that means that there is no item, such as `n/a`. */
  readonly emptied: number;
  /** Values in which an item has invisible characters, quotes or the like around it. */
  readonly marked: number;
  /** Rows with a mistyped item that has a suggestion: those that `--fix` repairs. */
  readonly repairable: number;
  /** Rows in which an item was repaired. */
  readonly fixed: number;
  /**
   * Rows without an item in their own columns that have one in another: the name of the first such column, and whether it is the
   * only one. Undefined without such rows.
   */
  readonly elsewhere:
    | { readonly rows: number; readonly column: string; readonly isOnly: boolean }
    | undefined;
  readonly notUtf8: number;
  readonly kept: number;
  readonly statuses: ReadonlyMap<Status, number>;
  /** Number of distinct items by status. Items that earlier files of the session had are not counted. */
  readonly distinctStatuses: ReadonlyMap<Status, number>;
  /** Number of rows by status, for each further column with items. */
  readonly otherStatuses: readonly ReadonlyMap<Status, number>[];
  /**
   * Rows that were left out, or fail the run, although another of their items is ok or alias; and the lines of the first ones.
   */
  readonly outvoted: { readonly count: number; readonly lines: readonly number[] };
  readonly spared: ReadonlyMap<Status, number>;
  readonly reasons: ReadonlyMap<string, number>;
  /** The disposable domains with the most items, at most {@link mostTopDomains}, the largest first. */
  readonly topDomains: readonly DomainCount[];
  /** The quota after the last charge; undefined when nothing was charged. */
  readonly quota: QuotaState | undefined;
}

/** The report on a table without rows. */
export const noRows: RunReport = {
  distinct: 0,
  cached: 0,
  prechecked: 0,
  charged: 0,
  rows: 0,
  written: 0,
  emptyRows: 0,
  emptied: 0,
  marked: 0,
  repairable: 0,
  fixed: 0,
  elsewhere: undefined,
  notUtf8: 0,
  kept: 0,
  statuses: new Map(),
  distinctStatuses: new Map(),
  otherStatuses: [],
  outvoted: { count: 0, lines: [] },
  spared: new Map(),
  reasons: new Map(),
  topDomains: [],
  quota: undefined,
};
