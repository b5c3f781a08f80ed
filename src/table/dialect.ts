/** The syntax of a table: its delimiter, its quotes and what else the scanner and the writers need to know. */

/** Syntax of a table. All characters are ASCII. */
export interface Dialect {
  /** Character between fields; null for a plain list, in which every line is one field. */
  readonly delimiter: string | null;
  readonly lineEnding: LineEnding;
  /** Character around quoted fields; empty if there is none. */
  readonly quote: string;
  /** Character that escapes a quote inside a quoted field. */
  readonly escape: string;
  /** Character that starts a comment line; null if there are none. */
  readonly comment: string | null;
  /** Whether spaces in front of a field belong to the delimiter. With a space as the delimiter, runs of spaces are one. */
  readonly skipsSpaces: boolean;
  /** Whether the table starts with the UTF-8 byte order mark. */
  readonly byteOrderMark: boolean;
  /** Whether each record was in quotes as a whole; unwrap.ts has removed them. */
  readonly isUnwrapped?: boolean;
}

export type LineEnding = "\n" | "\r\n" | "\r";

/** The part of a dialect that tells where fields end, apart from the delimiter. */
export type Marks = Pick<Dialect, "quote" | "escape" | "comment" | "skipsSpaces">;

/** Characters as the user gave them. */
export interface KnownDialect {
  /** Empty for none. Detected by default. */
  readonly quote?: string;
  /** The quote itself if only that is given; otherwise detected by default. */
  readonly escape?: string;
  /** No comments by default. */
  readonly comment?: string;
}
