/** Options and report of a bulk run. */

import type { TableSink } from "../../files/table-sink.js";
import type { Classifier } from "../classifier/classifier.js";
import type { Flag } from "../classifier/flags/flag-names.js";
import type { ItemHash } from "../classifier/tables/item-hash.js";
import type { DomainCount } from "../kernel/kernel.js";
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
  readonly shard?: Shard | undefined;
  readonly update?: Update | undefined;
  readonly fixer?: Fixer | undefined;
  /** Whether the table was made of a file of another kind, which does not have its lines. */
  readonly isMade?: boolean;
  readonly omitsHeader?: boolean;
  /** Written after the last row if that has no line break, as other rows may follow; by default, nothing is added. */
  readonly lineEnding?: string | undefined;
  /** Whether to write nothing before the first row, so that a table without rows leaves nothing on standard output. */
  readonly needsRows?: boolean;
  /** Whether rows are delivered as they are written, as into a pipe; else when their output appears. */
  readonly deliversRows?: boolean | undefined;
  /** Whether rows are answered when the input pauses; else batches depend on the rows alone, and another try repeats them. */
  readonly answersPauses?: boolean | undefined;
  readonly session?: RunSession;
  readonly columns: Columns;
  readonly filter?: RowFilter;
  readonly cores?: number;
  readonly inputShare?: () => number | undefined;
  /** Aborting it ends the run with the signal's reason; the caller discards the output. */
  readonly signal: AbortSignal;
  readonly observers?: readonly RowObserver[];
  /** Called and awaited after rows are written. The object's counts change while a run waits for a service. */
  readonly onProgress?: (progress: RunProgress) => void | Promise<void>;
}

export const mostFactColumns = 4;

export interface WantedFacts {
  readonly mailboxes: boolean;
  /** Indices, from 0, of up to {@link mostFactColumns} columns whose fields are needed as hashes. */
  readonly columns: readonly number[];
}

export interface RowFacts {
  // Four words a row: the hash of the domain in two, the same in all runs of a session; its start in `bytes`, in either
  // case; its length in the bits of `domainLengthMask`, 0 if the item is not plain.
  readonly domains: Int32Array;
  readonly fields: readonly Int32Array[];
  readonly bytes: Buffer;
}

export interface RowObserver {
  /** At most one observer of a run may want facts. */
  readonly wants?: WantedFacts;
  /** Called with consecutive rows, which are valid only during the call. */
  observe(rows: ObservedRows): void;
}

export interface ItemMailboxes {
  readonly hashes: Int32Array;
  readonly items: Int32Array;
  readonly isNew: Uint8Array;
  readonly isItem: (hash: ItemHash) => boolean;
}

export interface ObservedRows {
  readonly codes: Uint8Array;
  readonly statuses: readonly Status[];
  readonly reasons: readonly (string | undefined)[];
  readonly mailboxes?: ItemMailboxes | undefined;
  readonly facts?: RowFacts | undefined;
  hashOf(domain: string): ItemHash;
  item(row: number): string | undefined;
  /** Finds the records of the rows, which costs as much as the verdicts on them. */
  locate(row: number): RowLocation;
  flagsOf(row: number): readonly Flag[];
  field(row: number, column: number): string;
}

export interface RowLocation {
  readonly line: number | undefined;
  readonly value: string;
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
  readonly keeps?: (status: Status) => boolean;
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
  readonly emptied: number;
  readonly marked: number;
  readonly repairable: number;
  readonly fixed: number;
  /** Rows without an item in their own columns that have one in another; undefined without such rows. */
  readonly elsewhere: { readonly rows: number; readonly column: string; readonly isOnly: boolean } | undefined;
  readonly notUtf8: number;
  readonly kept: number;
  readonly statuses: ReadonlyMap<Status, number>;
  readonly distinctStatuses: ReadonlyMap<Status, number>;
  readonly otherStatuses: readonly ReadonlyMap<Status, number>[];
  /** Rows left out, or failing the run, although another item is good; the lines of the first ones. */
  readonly outvoted: { readonly count: number; readonly lines: readonly number[] };
  readonly spared: ReadonlyMap<Status, number>;
  readonly reasons: ReadonlyMap<string, number>;
  readonly topDomains: readonly DomainCount[];
  readonly quota: QuotaState | undefined;
}

export const noRows: RunReport = {
  ...{ distinct: 0, cached: 0, prechecked: 0, charged: 0, rows: 0, written: 0, emptyRows: 0, emptied: 0, marked: 0 },
  ...{ repairable: 0, fixed: 0, elsewhere: undefined, notUtf8: 0, kept: 0, topDomains: [], quota: undefined },
  ...{ statuses: new Map(), distinctStatuses: new Map(), otherStatuses: [], spared: new Map(), reasons: new Map() },
  outvoted: { count: 0, lines: [] },
};
