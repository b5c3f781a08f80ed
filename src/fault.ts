/** Faults of what a user has given: a code for programs, a sentence for each reader. Pages show no options. */

/** Exit codes and HTTP statuses (RFC 9110, section 15) of faults. */
export const faultKinds = {
  file: { exitCode: 6, status: 400 },
  /** Not a format that is read, or not the table that it looks like. */
  format: { exitCode: 2, status: 415 },
  workbook: { exitCode: 6, status: 400 },
  sheet: { exitCode: 2, status: 400 },
  table: { exitCode: 6, status: 400 },
  row: { exitCode: 6, status: 400 },
  column: { exitCode: 2, status: 400 },
  items: { exitCode: 2, status: 400 },
  option: { exitCode: 2, status: 400 },
} as const;

export type FaultCode = keyof typeof faultKinds;

export const statusOf = (code: string | undefined): number =>
  code !== undefined && Object.hasOwn(faultKinds, code) ? faultKinds[code as FaultCode].status : 400;

/** Lines count from 1; columns count from 1 and in bytes. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column?: number | undefined;
}

export interface FaultWords {
  readonly code?: FaultCode;
  readonly at?: Place;
  readonly advice?: string;
  /** What somebody at a page can do; nothing by default, as `advice` names an option. */
  readonly page?: string;
  /** Whether the file holds items all the same: then it is not left out of an archive. */
  readonly holdsItems?: boolean;
}

export abstract class Fault extends Error {
  readonly code: FaultCode;
  readonly at: Place | undefined;
  readonly holdsItems: boolean;
  /** The message for people who do not see options. */
  plain: string;

  constructor(code: FaultCode, what: string, { at, advice, page, holdsItems = false }: FaultWords = {}) {
    super(advice === undefined ? what : `${what}; ${advice}`);
    this.code = code;
    this.at = at;
    this.holdsItems = holdsItems;
    this.plain = page === undefined ? what : `${what}; ${page}`;
  }

  /** Puts the name of a file in front, unless it is there. */
  nameFile(name: string): void {
    if (this.message.startsWith(name)) return;
    this.message = `${name}: ${this.message}`;
    this.plain = `${name}: ${this.plain}`;
  }

  add(text: string): void {
    this.message += `; ${text}`;
    this.plain += `; ${text}`;
  }
}
