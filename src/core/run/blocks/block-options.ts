/** Options of a run for its threads. Plain data, because worker threads get a copy. */
import type { TableShape } from "../../table/records.js";
import type { WriteTarget } from "../../table/writers/record-writer.js";
import type { Kind } from "../../validator/validator.js";
import type { CellOptions } from "../items/cells.js";
import type { Columns } from "../rows/columns.js";
import { isInShard, type Shard } from "../rows/shard.js";
import type { WantedFacts } from "../run-options.js";

export interface BlockOptions {
  readonly kind: Kind;
  readonly shape: TableShape;
  readonly target: WriteTarget;
  readonly cells: CellOptions;
  readonly seed: Int32Array;
  readonly columns: Columns;
  readonly shard?: Shard | undefined;
  /** For an update: whether rows keep the statuses of an earlier run, whose added columns are replaced. */
  readonly keeps?: boolean | undefined;
  readonly asksUndecided?: boolean;
  /** What `--dedupe` compares; undefined if the first row of each item is enough. */
  readonly keys: "items" | "mailboxes" | undefined;
  readonly facts?: WantedFacts | undefined;
  readonly isService: boolean;
  /** Whether the verdicts of the threads are final unless the quota ends. If not, rows are rendered later. */
  readonly isFinal: boolean;
  readonly answersPauses?: boolean | undefined;
  readonly deliversRows?: boolean | undefined;
}

/** Rows that are kept are compared or may be in another shard; the items of a row may be in different shards. */
export const looksAtRows = ({ shape, shard, keys, keeps }: BlockOptions): boolean =>
  (keeps !== undefined && (shard ?? keys) !== undefined) || (shape.otherColumns.length > 0 && shard !== undefined);

export const wantsMailboxes = ({ keys, facts }: BlockOptions): boolean =>
  keys === "mailboxes" || facts?.mailboxes === true;

export const itemColumnsOf = ({ column, otherColumns }: TableShape): readonly number[] => [column, ...otherColumns];

export const isFirstShard = ({ shard }: { readonly shard?: Pick<Shard, "index"> | undefined }): boolean =>
  shard === undefined || shard.index === 1;

export function isHere({ shard }: BlockOptions, item: string | undefined): boolean {
  if (shard === undefined) return true;
  return item === undefined ? shard.index === 1 : isInShard(shard, item);
}
