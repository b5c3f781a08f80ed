/** The syntax of a table, as the scanner and the writers need it. All characters are ASCII. */

export interface Dialect {
  /** Null for a plain list, in which every line is one field. */
  readonly delimiter: string | null;
  readonly lineEnding: LineEnding;
  readonly quote: string;
  readonly escape: string;
  readonly comment: string | null;
  /** Whether spaces before a field belong to the delimiter. With a space as the delimiter, runs of spaces are one. */
  readonly skipsSpaces: boolean;
  readonly byteOrderMark: boolean;
  readonly isUnwrapped?: boolean;
}

export type LineEnding = "\n" | "\r\n" | "\r";

export type Marks = Pick<Dialect, "quote" | "escape" | "comment" | "skipsSpaces">;

/** The user's characters. An empty quote means none; a quote alone is also the escape. Comments are not detected. */
export interface KnownDialect {
  readonly quote?: string;
  readonly escape?: string;
  readonly comment?: string;
}
