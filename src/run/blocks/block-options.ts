/** What the threads of a run need to know of it. Plain data, because worker threads get a copy. */
import type { TableShape } from "../../table/records.js";
import type { WriteTarget } from "../../table/writers/record-writer.js";
import type { Kind } from "../../validator/validator.js";
import type { CellOptions } from "../cells.js";
import type { Columns } from "../columns.js";
import type { WantedFacts } from "../run-options.js";
import type { Shard } from "../shard.js";

/** Options of a run for its block classifiers. */
export interface BlockOptions {
  readonly kind: Kind;
  readonly shape: TableShape;
  readonly target: WriteTarget;
  readonly cells: CellOptions;
  /** Seed of the run's item hashes. */
  readonly seed: Int32Array;
  readonly columns: Columns;
  readonly shard?: Shard | undefined;
  /** For an update: whether rows keep the statuses of an earlier run. The added columns of that run are replaced. */
  readonly keeps?: boolean | undefined;
  /** What `--dedupe` compares; undefined if it needs no more than the first row of each item. */
  readonly keys: "items" | "mailboxes" | undefined;
  /** What an observer needs of each row. */
  readonly facts?: WantedFacts | undefined;
  /** Whether a service gives the verdicts: then items wait for them, but for those that it need not be asked about. */
  readonly isService: boolean;
  /** Whether the verdicts of the threads are those of the rows, unless the quota ends. Otherwise the rows are rendered later. */
  readonly isFinal: boolean;
}

/**
 * Returns whether each row has to be looked at by itself, in JavaScript: rows that keep their statuses are compared with others or
 * may be in another shard, or the items of a row may be in different shards.
 */
export const looksAtRows = ({ shape, shard, keys, keeps }: BlockOptions): boolean =>
  (keeps !== undefined && (shard ?? keys) !== undefined) ||
  (shape.otherColumns.length > 0 && shard !== undefined);

/** Returns whether the hashes of the items' mailboxes are wanted. */
export const wantsMailboxes = ({ keys, facts }: BlockOptions): boolean =>
  keys === "mailboxes" || facts?.mailboxes === true;

/** Returns the indices of the columns with items, the first of which decides about the row. */
export const itemColumnsOf = ({ column, otherColumns }: TableShape): readonly number[] => [
  column,
  ...otherColumns,
];
