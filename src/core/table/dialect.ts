/**
 * The syntax of a table: its delimiter, its quotes and other properties that the scanner and the writers need. All
 * characters are ASCII.
 */

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
  /** Whether each record was in quotes as a whole. unwrap.ts has removed these quotes. */
  readonly isUnwrapped?: boolean;
}

export type LineEnding = "\n" | "\r\n" | "\r";

export type Marks = Pick<Dialect, "quote" | "escape" | "comment" | "skipsSpaces">;

/**
 * Characters as the user gave them. An empty quote means none. If only the quote is given, it is also the escape.
 * Quotes and escapes that are not given are detected; comments are not.
 */
export interface KnownDialect {
  readonly quote?: string;
  readonly escape?: string;
  readonly comment?: string;
}
