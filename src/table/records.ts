import { type BadRowPolicy, RowFault } from "./bad-rows.js";
import type { Dialect } from "./sniff/dialect.js";

/** Some records in a row, none wider than the table. */
export interface RecordChunk {
  /** The field of each record that holds the item, as text; undefined for what is no row: a comment, a bad row. */
  readonly values: readonly (string | undefined)[];
  /**
   * The records as they are written: with fields of ours behind them, short ones padded so that ours stand below
   * their names, and what is no row as it was read.
   *
   * @param added the fields of ours, text, one list for each record, any for what is no row; undefined for what is left
   * out
   */
  append(added: readonly (readonly string[] | undefined)[]): Buffer;
}

/** A table that is read and written in one of the two ways: by the scanner, or by csv-parse and csv-stringify. */
export interface RecordStream {
  /** The byte order mark, blank lines and the header with our columns' names, as far as the table has them. */
  start(columns: readonly string[]): Buffer;
  /** The records below the header, in order, as many at a time as a read gave. */
  readonly chunks: AsyncIterable<RecordChunk>;
}

/** What is known of a table before its records are read. */
export interface TableShape {
  /** In errors: the file's name, or `standard input`. */
  readonly name: string;
  readonly dialect: Dialect;
  /** How many fields a record has at most. */
  readonly width: number;
  /** The index, from 0, of the field that holds the item. */
  readonly column: number;
  /** How many records at the start are blank, comments or the header. */
  readonly skipped: number;
  /** Whether a row with fewer fields is padded or a bad one. */
  readonly ragged: "pad" | "error";
  readonly badRows: BadRowPolicy;
}

/** An unclosed quote would otherwise buffer the whole rest of the file. */
export const maximumRecordBytes = 1_048_576;

/**
 * How many rows of a table are written at a time at most: where short rows are padded, more comes out than goes in.
 * 8 MiB of delimiters.
 */
export const rowsAtATime = ({ width }: Pick<TableShape, "width">): number =>
  Math.max(1, Math.floor(8_388_608 / (width + 1)));

export const byteOrderMarkBytes = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * What stands above the records: the byte order mark, blank lines and the header.
 *
 * @param columns the names of our columns
 * @param append writes the blank lines and the header, as {@link RecordChunk.append} does
 */
export function startTable(
  { dialect, skipped }: Pick<TableShape, "dialect" | "skipped">,
  columns: readonly string[],
  append: RecordChunk["append"],
): Buffer {
  const blank = columns.map(() => "");
  const names = Array.from({ length: skipped }, (_, i) => (i + 1 < skipped ? blank : columns));
  return Buffer.concat([dialect.byteOrderMark ? byteOrderMarkBytes : Buffer.of(), append(names)]);
}

/** The delimiter of the output: a plain list becomes a table with commas. */
export const outputDelimiter = ({ delimiter }: Pick<Dialect, "delimiter">): string => delimiter ?? ",";

/** @param line the line on which the record starts, from 1 */
export function tooWide({ name, width, skipped }: TableShape, line: number, fields: number): RowFault {
  const expected = skipped > 0 ? `the header has ${width}` : `the table has ${width}`;
  return new RowFault(
    name,
    line,
    `${fields} fields where ${expected}; quote the fields that hold the delimiter, or name the delimiter with -d`,
  );
}

/** @param line the line on which the record starts, from 1 */
export function tooNarrow({ name, width }: TableShape, line: number, fields: number): RowFault {
  const found = `${fields} ${fields === 1 ? "field" : "fields"}`;
  const advice = "complete the row, or leave --ragged out to have it padded";
  return new RowFault(name, line, `${found} where the table has ${width}; ${advice}`);
}

/** @param column the column, from 1, in which the quote opens */
export function neverClosed({ name }: TableShape, line: number, column: number): RowFault {
  const where = `the quote opens in column ${column} of the record that starts here`;
  return new RowFault(name, line, `a quoted field is never closed; ${where}; close it or double it`);
}

export function tooLong({ name }: TableShape, line: number): RowFault {
  const reason = "the record that starts here is over 1 MiB; a quote in it may never be closed";
  return new RowFault(name, line, reason);
}
