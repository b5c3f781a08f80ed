/** Types, limits and faults that all readers and writers of tables share. Must not depend on any of them. */
import { grouped } from "../../text.js";
import { type BadRowPolicy, RowFault } from "./bad-rows.js";
import type { Dialect } from "./dialect.js";
import type { JsonShape } from "./json/json-values.js";
import { quoteField } from "./quotes.js";

export interface TableShape {
  readonly name: string;
  readonly dialect: Dialect;
  /** Number of fields of a full row. A record with more fields is a bad row, unless the surplus is empty. */
  readonly width: number;
  readonly column: number;
  readonly otherColumns: readonly number[];
  readonly hasHeader: boolean;
  readonly header?: readonly string[] | undefined;
  readonly firstLine: number;
  readonly ragged: "pad" | "error";
  readonly badRows: BadRowPolicy;
  /** Whether line breaks in quoted fields are always intended. */
  readonly trustsQuotes: boolean;
  readonly isWidthSure: boolean;
  /** Whether headers of other tables are taken for rows; otherwise they are errors. */
  readonly takesHeaders?: boolean;
  readonly itemColumns: readonly number[];
  readonly json?: JsonShape;
}

export type TableFormat = "csv" | "tsv" | "jsonl" | "json";

export const delimiterOf = { csv: ",", tsv: "\t", jsonl: undefined, json: undefined } as const;

/** A field may hold a picture or a mail. Without a limit, an unclosed quote would buffer the rest of the file. */
export const maximumRecordBytes = 67_108_864;

/** Of a longer record, only this many bytes are searched for a quote that has swallowed rows. */
export const longRecordBytes = 1_048_576;

/** Returns at least 1. Limits the padding of short rows, which may be far larger than the rows, to 8 MiB. */
export const rowsAtATime = ({ width }: Pick<TableShape, "width">): number =>
  Math.max(1, Math.floor(8_388_608 / (width + 1)));

export const byteOrderMarkBytes = Buffer.from([0xef, 0xbb, 0xbf]);

export const outputDelimiter = ({ delimiter }: Pick<Dialect, "delimiter">): string => delimiter ?? ",";

export const beforeField = (dialect: Pick<Dialect, "delimiter" | "skipsSpaces">): string =>
  outputDelimiter(dialect) + (dialect.skipsSpaces && dialect.delimiter !== " " ? " " : "");

export const emptyField = (dialect: Dialect): string =>
  outputDelimiter(dialect) + quoteField("", outputDelimiter(dialect), dialect);

export function tooWide({ name, width, hasHeader, badRows }: TableShape, line: number, fields: number): RowFault {
  const expected = hasHeader ? `the header has ${width}` : `the table has ${width}`;
  const advice =
    badRows === "error"
      ? "quote the fields that hold the delimiter, name the delimiter with -d, or leave such rows out with --bad-rows skip"
      : "quote the fields that hold the delimiter, or name the delimiter with -d";
  return new RowFault("too many fields", name, line, `${fields} fields where ${expected}`, { advice });
}

export function tooNarrow({ name, width }: TableShape, line: number, fields: number): RowFault {
  const found = `${fields} ${fields === 1 ? "field" : "fields"}`;
  const advice = "complete the row, or leave --set ragged=error out to have it padded";
  return new RowFault("too few fields", name, line, `${found} where the table has ${width}`, { advice });
}

export function outOfStep({ name, width, hasHeader }: TableShape, line: number, fields: number, column?: number) {
  const found = `${fields} ${fields === 1 ? "field" : "fields"} where the ${hasHeader ? "header" : "table"} has ${width}`;
  const item = column === undefined ? "its field holds no item" : `the item is in field ${column + 1}`;
  return new RowFault("out of step", name, line, `${found}; ${item}; add or remove a delimiter`);
}

export const strayQuote = ({ name, column }: TableShape, line: number): RowFault =>
  new RowFault("out of step", name, line, `a stray quote is in field ${column + 1}, beside the item; remove it`);

/** `lines` is the number of lines after `line`, on which the quote opens; infinity if they are over 1 MiB. */
export function swallows(
  { name }: TableShape,
  line: number,
  { column, lines }: { readonly column: number; readonly lines: number },
): RowFault {
  const many = Number.isFinite(lines) ? grouped(lines) : "over 1 MiB of";
  const follow = lines === 1 ? "a line follows" : `${many} lines follow`;
  return new RowFault("open quote", name, line, `a quote opens in column ${column} and ${follow} inside it`, {
    advice: "close it or double it, or trust all quotes with --quote '\"'",
  });
}

export function neverClosed({ name }: TableShape, line: number, column: number): RowFault {
  const where = `the quote opens in column ${column} of the record that starts here`;
  return new RowFault("open quote", name, line, `a quoted field is never closed; ${where}; close it or double it`);
}

export function tooLong({ name }: TableShape, line: number): RowFault {
  const reason = "the record that starts here is over 64 MiB; a quote in it may never be closed";
  return new RowFault("over 64 MiB", name, line, reason);
}
