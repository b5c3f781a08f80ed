import type { RowError } from "./errors.js";

/** What is done with a row that is no row of the table: end the run, leave it out, or write it as it is. */
export type BadRowPolicy = "error" | "skip" | "keep";

/** A row that is too long, too short where that is an error, or broken. */
export interface BadRow {
  /** What is wrong with it: where, what, and what to do. */
  readonly error: RowError;
  /** Its bytes; only the first MiB of one that is longer. */
  readonly record: Uint8Array;
}

/** Is told of each bad row that does not end the run. */
export type BadRowListener = (row: BadRow) => void;
