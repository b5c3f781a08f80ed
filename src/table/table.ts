/** Types of a table that is opened: its source, its options and its properties. */
import type { BadRowListener, BadRowPolicy } from "./bad-rows.js";
import type { Dialect, KnownDialect } from "./dialect.js";
import type { TableFormat, TableShape } from "./records.js";
import type { RecordStream } from "./scan/scanned-records.js";
import type { ItemProfile, ItemTest } from "./sniff/item-profile.js";
import type { OpenSheet } from "./spreadsheet/workbook.js";

/** Source of a table. */
export interface TableSource {
  /** Name for messages: that of the file, or `standard input`. */
  readonly name: string;
  /** Bytes of the table. Each piece need be valid only until the next one is requested. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Writes a table anew: its first bytes and the rest, as other bytes. */
export type Rewrite = (
  shape: TableShape,
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
  items: ItemTest,
) => AsyncGenerator<Buffer>;

/** Properties of the table that the user has given. Absent ones are detected, or have the default given here. */
export interface TableOptions {
  readonly profile: ItemProfile;
  /** Tells rows that are out of step; by default, by the profile. */
  readonly items?: ItemTest;
  /** The sheet that is read: its cells name their columns, so that short and long rows are no faults. */
  readonly sheet?: Pick<OpenSheet, "widthBelow">;
  /** Whether to go on where most of the first rows are bad. */
  readonly force?: boolean;
  /** Columns that hold items: an index from 1, a name, or `Name[2]` for the second column of that name. */
  readonly columns?: readonly string[];
  /** Whether all columns with items are wanted, not only the one that fits best. */
  readonly allColumns?: boolean;
  /** One ASCII character; null for none: each line is an item. */
  readonly delimiter?: string | null;
  /** Whether the first record is a header. */
  readonly header?: boolean;
  /** Number of lines above the table, which are copied unchanged. */
  readonly skipLines?: number;
  /** Quote, escape and comment characters, which are not detected. */
  readonly dialect?: KnownDialect;
  /** Whether rows with too few fields are padded, the default, or are bad rows. */
  readonly ragged?: "pad" | "error";
  /** Action on bad rows; `error` by default. */
  readonly badRows?: BadRowPolicy;
  readonly onBadRow?: BadRowListener;
  /** Whether the first fields of all columns are needed, so that nothing is decided by the first line alone. */
  readonly needsSample?: boolean;
  /** Format to write; that of the input by default. */
  readonly format?: TableFormat;
  /** Format that the name of the output asks for: csv keeps the delimiter of the input, unless that is a tab. */
  readonly namedFormat?: TableFormat;
  /** Writes the table anew in front of the scanner, so that tests can compare it with another reader. */
  readonly rewrite?: Rewrite;
}

/** A table that is being read. */
export interface Table extends RecordStream {
  /** Format of the output; `csv` for any delimiter but the tab. */
  readonly format: TableFormat;
  readonly dialect: Dialect;
  /** Names in the header, binary strings; undefined if the table has no header. */
  readonly header: readonly string[] | undefined;
  /** Names of the columns in the output, as text. Added columns must have other names. */
  readonly names: readonly string[];
  /** Number of fields of a full row; 0 if there are no records. */
  readonly width: number;
  /** Mean length of the first records in bytes; undefined if there are fewer than two. */
  readonly recordBytes: number | undefined;
  /** Index, from 0, of the column that holds the items. */
  readonly column: number;
  /** Name of that column; undefined if it has none. */
  readonly columnName: string | undefined;
  /** Indices of further wanted columns. */
  readonly otherColumns: readonly number[];
  /** Indices of columns with items that are not wanted. */
  readonly passedOver: readonly number[];
  /** Number of lines above the table, without blank ones, that the format of the output has no place for. */
  readonly linesLeftOut: number;
  /** Returns the encoding that the start of the table is surely in; undefined for UTF-8, and where nothing is sure. */
  surelyIn(): Promise<string | undefined>;
  /** Returns the first fields of a column, as text. */
  firstValues(column: number): readonly string[];
  /** Returns more of them: up to 1,000, as far as the bytes go that were read at the start, 64 KiB or more. */
  startValues(column: number): Promise<readonly string[]>;
}

/** A table as the reader of its format returns it. */
export type OpenedTable = Omit<Table, "surelyIn">;

/** The start of a table. */
export interface TableStart {
  readonly source: TableSource;
  readonly byteOrderMark: boolean;
  /** Bytes above the table, after the byte order mark: skipped lines, and a line that names the delimiter. */
  readonly preamble: Buffer;
  /** Bytes of the table that were read already. */
  readonly first: Buffer;
  /** The bytes that follow. */
  readonly input: AsyncIterator<Uint8Array>;
  /** Whether unwrap.ts has removed the quotes around its records. */
  readonly isUnwrapped?: boolean;
}
