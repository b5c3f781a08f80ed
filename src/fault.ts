/**
 * Faults of what a user has given. A fault has a code for programs, and a sentence for each of its readers: the user of the
 * command line, whom it tells an option, and somebody at a page or behind a service, who sees no options.
 */

/** The kinds of faults, with their exit codes and their statuses of HTTP (RFC 9110, section 15). */
export const faultKinds = {
  /** The bytes cannot be read or written. */
  file: { exitCode: 6, status: 400 },
  /** They are not a format that is read, or not the table that they look like. */
  format: { exitCode: 2, status: 415 },
  workbook: { exitCode: 6, status: 400 },
  sheet: { exitCode: 2, status: 400 },
  /** The text is no table. */
  table: { exitCode: 6, status: 400 },
  row: { exitCode: 6, status: 400 },
  /** A column is not there, or it is not clear which one is meant. */
  column: { exitCode: 2, status: 400 },
  /** The column has few items or none. */
  items: { exitCode: 2, status: 400 },
  /** An option does not fit the file. */
  option: { exitCode: 2, status: 400 },
} as const;

export type FaultCode = keyof typeof faultKinds;

/** Returns the status of a fault in an answer over HTTP. */
export const statusOf = (code: string | undefined): number =>
  code !== undefined && Object.hasOwn(faultKinds, code) ? faultKinds[code as FaultCode].status : 400;

/** A place in a file; lines count from 1, columns from 1 and in bytes. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column?: number | undefined;
}

export interface FaultWords {
  readonly code?: FaultCode;
  readonly at?: Place;
  /** What the user of the command line can do. */
  readonly advice?: string;
  /** What somebody at a page can do; nothing by default, as `advice` names an option. */
  readonly page?: string;
}

export abstract class Fault extends Error {
  readonly code: FaultCode;
  readonly at: Place | undefined;
  /** The message for people who do not see options. */
  plain: string;

  /** @param what where the fault is, and what was found; with what to do, if that is the same for all readers */
  constructor(code: FaultCode, what: string, { at, advice, page }: FaultWords = {}) {
    super(advice === undefined ? what : `${what}; ${advice}`);
    this.code = code;
    this.at = at;
    this.plain = page === undefined ? what : `${what}; ${page}`;
  }

  /** Adds what was found besides, for all readers. */
  add(text: string): void {
    this.message += `; ${text}`;
    this.plain += `; ${text}`;
  }
}
