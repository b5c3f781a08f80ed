/** Faults of bad rows, and the actions on them. Only the listener knows how they are reported to the user. */
import { TableError } from "./errors.js";

/** Action on a bad row: end the run, leave the row out, or write it unchanged. */
export type BadRowPolicy = "error" | "skip" | "keep";

/** Largest length of an excerpt in bytes. */
const excerptBytes = 400;

/** Kinds of faults, in the words of the summary. */
export type FaultKind =
  | "too many fields"
  | "too few fields"
  | "out of step"
  | "open quote"
  | "over 1 MiB"
  | "not JSON"
  | "field name";

/** Fault of a bad row, such as too many fields or a quote that is never closed. */
export class RowFault {
  constructor(
    readonly kind: FaultKind,
    readonly file: string,
    /** Line on which the row starts, from 1. */
    readonly line: number,
    /** Description of what was found and what to do. */
    readonly reason: string,
  ) {}

  get message(): string {
    return `${this.file}:${this.line}: ${this.reason}`;
  }

  /**
   * Returns the error to throw if the fault ends the run.
   *
   * @param record bytes of the row, if they are at hand
   */
  toError(record?: Uint8Array): TableError {
    const text =
      record &&
      Buffer.from(record.subarray(0, excerptBytes))
        .toString()
        .split(/\r\n|\r|\n/)[0];
    return new TableError(this.message, text ? { line: this.line, text } : undefined);
  }
}

/**
 * Called with each bad row that does not end the run.
 *
 * @param record bytes of the row, cut after 1 MiB
 */
export type BadRowListener = (fault: RowFault, record: Uint8Array) => void;
