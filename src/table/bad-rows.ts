import { TableError } from "./errors.js";

/** What is done with a row that is no row of the table: end the run, leave it out, or write it as it is. */
export type BadRowPolicy = "error" | "skip" | "keep";

/** What is wrong with a row: too long, too short where that is an error, or broken. */
export class RowFault {
  constructor(
    readonly file: string,
    /** The line on which the row starts, from 1. */
    readonly line: number,
    /** What was found and what to do. */
    readonly reason: string,
  ) {}

  get message(): string {
    return `${this.file}:${this.line}: ${this.reason}`;
  }

  /** Where it ends the run. */
  toError(): TableError {
    return new TableError(this.message);
  }
}

/**
 * Is told of each bad row that does not end the run.
 *
 * @param record the row's bytes; only the first MiB of one that is longer
 */
export type BadRowListener = (fault: RowFault, record: Uint8Array) => void;
