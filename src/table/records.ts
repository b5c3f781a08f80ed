/** Types, limits and faults that all readers and writers of tables share. Must not depend on any of them. */
import { type BadRowPolicy, RowFault } from "./bad-rows.js";
import type { Dialect } from "./dialect.js";
import type { JsonShape } from "./json/json-values.js";
import { quoteField } from "./quotes.js";

/** Properties of a table that are known before its records are read. */
export interface TableShape {
  /** Name for messages: that of the file, or `standard input`. */
  readonly name: string;
  readonly dialect: Dialect;
  /** Number of fields of a full row. A record with more is a bad row. */
  readonly width: number;
  /** Index, from 0, of the field that holds the item. */
  readonly column: number;
  /** Indices of further fields with items. */
  readonly otherColumns: readonly number[];
  /** Whether the first record is the header. */
  readonly hasHeader: boolean;
  /** Line of the first record, from 1. */
  readonly firstLine: number;
  /** Whether a row with fewer fields is padded or is a bad row. */
  readonly ragged: "pad" | "error";
  readonly badRows: BadRowPolicy;
  /** Whether line breaks in quoted fields are always meant. */
  readonly trustsQuotes: boolean;
  /** Whether rows with another number of fields are exceptions, so that one shows a fault. */
  readonly isWidthSure: boolean;
  /** Indices of the columns in which the first rows have items. */
  readonly itemColumns: readonly number[];
  /** For JSON Lines: each record is an object. */
  readonly json?: JsonShape;
}

export type TableFormat = "csv" | "tsv" | "jsonl";

/** The delimiter of each format. */
export const delimiterOf = { csv: ",", tsv: "\t", jsonl: undefined } as const;

/** Maximum length of a record in bytes, 1 MiB. Without a limit, an unclosed quote would buffer the rest of the file. */
export const maximumRecordBytes = 1_048_576;

/**
 * Returns the maximum number of rows to render at a time, at least 1. It limits the padding of short rows, which may be
 * far larger than the rows, to 8 MiB of delimiters.
 */
export const rowsAtATime = ({ width }: Pick<TableShape, "width">): number =>
  Math.max(1, Math.floor(8_388_608 / (width + 1)));

export const byteOrderMarkBytes = Buffer.from([0xef, 0xbb, 0xbf]);

/** Returns the delimiter byte of the output, as a character: a plain list becomes a table with commas. */
export const outputDelimiter = ({ delimiter }: Pick<Dialect, "delimiter">): string => delimiter ?? ",";

/** Returns what is put before an added field. */
export const beforeField = (dialect: Pick<Dialect, "delimiter" | "skipsSpaces">): string =>
  outputDelimiter(dialect) + (dialect.skipsSpaces && dialect.delimiter !== " " ? " " : "");

/** Returns an empty field with the delimiter before it, which completes a short row. */
export const emptyField = (dialect: Dialect): string =>
  outputDelimiter(dialect) + quoteField("", outputDelimiter(dialect), dialect);

/**
 * Returns the fault of a record with more fields than the table.
 *
 * @param line the line on which the record starts, from 1
 */
export function tooWide({ name, width, hasHeader }: TableShape, line: number, fields: number): RowFault {
  const expected = hasHeader ? `the header has ${width}` : `the table has ${width}`;
  return new RowFault(
    "too many fields",
    name,
    line,
    `${fields} fields where ${expected}; quote the fields that hold the delimiter, or name the delimiter with -d`,
  );
}

/**
 * Returns the fault of a row with fewer fields than the table, for `--set ragged=error`.
 *
 * @param line the line on which the row starts, from 1
 */
export function tooNarrow({ name, width }: TableShape, line: number, fields: number): RowFault {
  const found = `${fields} ${fields === 1 ? "field" : "fields"}`;
  const advice = "complete the row, or leave --set ragged=error out to have it padded";
  return new RowFault("too few fields", name, line, `${found} where the table has ${width}; ${advice}`);
}

/**
 * Returns the fault of a row whose item is not in its field, or of which another number of fields shows that something is wrong.
 *
 * @param line the line on which the row starts, from 1
 * @param place index of the field that holds an item; undefined if none does
 */
export function outOfStep(
  { name, width, hasHeader }: TableShape,
  line: number,
  fields: number,
  place: number | undefined,
): RowFault {
  const found = `${fields} ${fields === 1 ? "field" : "fields"} where the ${hasHeader ? "header" : "table"} has ${width}`;
  const item = place === undefined ? "its field holds no item" : `the item is in field ${place + 1}`;
  return new RowFault("out of step", name, line, `${found}; ${item}; add or remove a delimiter`);
}

/**
 * Returns the fault of a row with a stray quote in the field of its item.
 *
 * @param line the line on which the row starts, from 1
 */
export function strayQuote({ name, column }: Pick<TableShape, "name" | "column">, line: number): RowFault {
  return new RowFault(
    "out of step",
    name,
    line,
    `a stray quote is in field ${column + 1}, beside the item; remove it`,
  );
}

/**
 * Returns the fault of a record in which a quote has swallowed lines.
 *
 * @param line the line on which the quote opens, from 1
 * @param lines number of lines that follow inside
 */
export function swallows(
  { name }: TableShape,
  line: number,
  { column, lines }: { readonly column: number; readonly lines: number },
): RowFault {
  const follow = lines === 1 ? "a line follows" : `${lines.toLocaleString("en-US")} lines follow`;
  return new RowFault(
    "open quote",
    name,
    line,
    `a quote opens in column ${column} and ${follow} inside it; close it or double it, or trust all quotes with --quote '"'`,
  );
}

/**
 * Returns the fault of a record whose quoted field is still open where the table ends.
 *
 * @param line the line on which the record starts, from 1
 * @param column the column, from 1, in which the quote opens
 */
export function neverClosed({ name }: TableShape, line: number, column: number): RowFault {
  const where = `the quote opens in column ${column} of the record that starts here`;
  return new RowFault(
    "open quote",
    name,
    line,
    `a quoted field is never closed; ${where}; close it or double it`,
  );
}

/**
 * Returns the fault of a record over {@link maximumRecordBytes}.
 *
 * @param line the line on which the record starts, from 1
 */
export function tooLong({ name }: TableShape, line: number): RowFault {
  const reason = "the record that starts here is over 1 MiB; a quote in it may never be closed";
  return new RowFault("over 1 MiB", name, line, reason);
}
