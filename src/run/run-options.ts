/** Options and report of a bulk run. */
import type { Classifier } from "../classifier/classifier.js";
import type { ItemHash } from "../classifier/item-hash.js";
import type { TableSink } from "../files/output.js";
import type { DomainCount } from "../kernel/disposable-counts.js";
import type { RecordStream } from "../table/scan/scanned-records.js";
import type { Kind, QuotaState, Status, Validator } from "../validator/validator.js";
import type { CachePort } from "./cache-port.js";
import type { CellOptions } from "./cells.js";
import type { Columns } from "./columns.js";
import type { Update } from "./earlier-fields.js";
import type { MailCheckPort } from "./mail-check-port.js";
import type { RunCounts, RunSession } from "./session.js";
import type { Shard } from "./shard.js";

/** Most domains in {@link RunReport.topDomains}. */
export const mostTopDomains = 20;

/** One bulk run: every row of a table gets the status of its item. */
export interface RunOptions {
  readonly kind: Kind;
  readonly table: RecordStream;
  readonly sink: TableSink;
  readonly validator: Validator;
  /** Cache of paid verdicts: those of earlier runs are read from it, those of this run are added to it. */
  readonly cache?: CachePort;
  /** The offline rules, which explain the verdicts of a service that gives no reasons. */
  readonly offlineRules?: Classifier["classify"];
  /** Asks DNS about items that passed. */
  readonly mailCheck?: MailCheckPort;
  /** How values are read; by the usual rules if absent. */
  readonly cells?: Omit<CellOptions, "kind">;
  /** The part of the list to validate; all of it by default. A field with several items is then a fault. */
  readonly shard?: Shard | undefined;
  /** What happens to the fields of an earlier run. */
  readonly update?: Update | undefined;
  /** Whether the header, and what is above it, is left out. */
  readonly omitsHeader?: boolean;
  /** Whether nothing is written before the first row, so that a table without rows leaves nothing on standard output. */
  readonly needsRows?: boolean;
  /** State shared with the runs over other files. */
  readonly session?: RunSession;
  /** Columns to add, from `nameColumns`. */
  readonly columns: Columns;
  /** The rows to write; all of them by default. */
  readonly filter?: RowFilter;
  /** Number of processor cores; with more than one, a large table is classified in worker threads. 1 by default. */
  readonly cores?: number;
  /** Returns the share of the input that has been read, from 0 to 1; undefined when its size is not known. */
  readonly inputShare?: () => number | undefined;
  /** Aborting it ends the run with the signal's reason; the caller discards what is written. */
  readonly signal: AbortSignal;
  /** Called with all rows of the table, in input order, before the filter. */
  readonly observers?: readonly RowObserver[];
  /** Called and awaited after rows are written. A run that waits for a service goes on to count in what it was called with. */
  readonly onProgress?: (progress: RunProgress) => void | Promise<void>;
}

/** What an observer needs of each row beside the status: the domain of its item, and what is named here. */
export interface WantedFacts {
  /** Whether it needs the mailboxes of the items. */
  readonly mailboxes: boolean;
  /** Index from 0 of a column whose fields it needs hashes of. */
  readonly column?: number | undefined;
}

/** Words in {@link RowFacts.domains} for each row, and the bits of the last one with the length. */
export { domainLengthMask, domainWords } from "../kernel/layout.js";

/** What the threads have found out about rows. The arrays may be longer than the rows need. */
export interface RowFacts {
  /**
   * {@link domainWords} words for each row: the hash of its item's domain in two of them, the same in all runs of a session; its
   * start in {@link bytes}, in upper or lower case; and in the bits of {@link domainLengthMask} its length, 0 if the item is not plain.
   */
  readonly domains: Int32Array;
  /** The hash of the field of each row in {@link WantedFacts.column}, in lower case; 0 if it is empty. */
  readonly fields: Int32Array;
  readonly bytes: Uint8Array;
}

/** Looks at the rows of a run. */
export interface RowObserver {
  /** What it needs of each row beside the status. At most one observer of a run may need anything. */
  readonly wants?: WantedFacts;
  /** Called with consecutive rows. They are valid only during the call. */
  observe(rows: ObservedRows): void;
}

/** The mailboxes of items, and 1 for each item that is new. An item in its canonical form has the hash of its mailbox. */
export interface ItemMailboxes {
  /** Two words each. */
  readonly hashes: Int32Array;
  readonly items: Int32Array;
  readonly isNew: Uint8Array;
  /** Returns whether a hash is that of an item of the session, as far as that has been read. */
  readonly isItem: (hash: ItemHash) => boolean;
}

/** Consecutive rows with their statuses, in input order. */
export interface ObservedRows {
  /** The code of each row's status; see `status-codes.ts` for rows without one. */
  readonly codes: Uint8Array;
  /** The statuses and the codes of their reasons, as far as these are known, by the codes of the rows. */
  readonly statuses: readonly Status[];
  readonly reasons: readonly (string | undefined)[];
  /** The mailboxes of items, for {@link WantedFacts.mailboxes}. */
  readonly mailboxes?: ItemMailboxes | undefined;
  /** Undefined if the threads cannot find them. */
  readonly facts?: RowFacts | undefined;
  /** Returns the hash of a domain in lower case, as in {@link RowFacts.domains}. */
  hashOf(domain: string): ItemHash;
  /** Returns where a row is, and its field with the item. */
  place(row: number): RowPlace;
  /** Returns a field of a row as text; empty if the row has no such field. The column is an index from 0. */
  field(row: number, column: number): string;
}

/** Where a row is. */
export interface RowPlace {
  /** Line on which it starts, from 1; undefined where lines are not counted. */
  readonly line: number | undefined;
  /** Field with the item, as it is in the table. */
  readonly value: string;
  /** The item that decides about the row; undefined if it has none. */
  readonly item: string | undefined;
}

/** How far a run is. */
export interface RunProgress {
  /** Rows with a verdict, including those that the filter leaves out. */
  readonly rows: number;
  /** Rows read, including those that wait for a service; in offline runs, the rows processed. */
  readonly rowsRead: number;
  /** Returns the units charged so far, and the number of items whose verdict came from the cache. */
  readonly units: () => { readonly charged: number; readonly cached: number };
  /** Returns the number of rows with each status so far. */
  readonly statuses: () => ReadonlyMap<Status, number>;
}

/** Selects the rows to write. All rows are validated and counted. */
export interface RowFilter {
  /** Returns whether rows with a status are written. A row without an item has an empty status. */
  readonly keeps?: (status: Status) => boolean;
  /** Returns whether rows with a status fail the run; none do by default. */
  readonly fails?: (status: Status) => boolean;
  /** Whether a row of which an item is ok or alias, in any column, is written and does not fail the run. */
  readonly sparesGood?: boolean;
  /** Writes only the first row of each item or of each mailbox. Rows without an item are all written. */
  readonly dedupe?: "item" | "canonical";
}

/** Counts of a run. */
export interface RunReport extends RunCounts {
  /** Rows of the table, or of its shard, without its header, comments and bad rows. */
  readonly rows: number;
  /** Rows that passed the filter. */
  readonly written: number;
  /** Rows without an item. */
  readonly emptyRows: number;
  /** Values with a word that stands for no item, such as `n/a`. */
  readonly emptied: number;
  /** Rows with a value that is not UTF-8. */
  readonly notUtf8: number;
  /** Rows that kept the status of an earlier run. */
  readonly kept: number;
  /** Number of rows with each status that occurred. */
  readonly statuses: ReadonlyMap<Status, number>;
  /** The same for each further column with items. */
  readonly otherStatuses: readonly ReadonlyMap<Status, number>[];
  /** Rows that the filter left out, or that fail the run, though another item of theirs is ok or alias; and the first lines. */
  readonly outvoted: { readonly count: number; readonly lines: readonly number[] };
  /** Rows by the status that would have left them out, or failed the run, without {@link RowFilter.sparesGood}. */
  readonly spared: ReadonlyMap<Status, number>;
  /** Number of rows with each reason that occurred, by its code, as far as the reasons are known. */
  readonly reasons: ReadonlyMap<string, number>;
  /** The disposable domains with the most items, at most {@link mostTopDomains}, the largest first. */
  readonly topDomains: readonly DomainCount[];
  /** Units that a run has paid which did not end, and the time of its last payment in milliseconds since the epoch. */
  readonly paidBefore: { readonly units: number; readonly time: number };
  /** The quota after the last batch; undefined when nothing was submitted. */
  readonly quota: QuotaState | undefined;
}
