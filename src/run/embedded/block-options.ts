/** What the threads of a run need to know of it. Plain data, because worker threads get a copy. */
import type { TableShape } from "../../table/records.js";
import type { WriteTarget } from "../../table/writers/record-writer.js";
import type { Kind } from "../../validator/validator.js";
import type { CellOptions } from "../cells.js";
import type { Columns } from "../columns.js";
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
}

/** Returns the indices of the columns with items, the first of which decides about the row. */
export const itemColumnsOf = ({ column, otherColumns }: TableShape): readonly number[] => [
  column,
  ...otherColumns,
];
