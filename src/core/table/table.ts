/** Types of an open table: its source, its options and its properties, and the names of its columns. */
import type { BadRowListener, BadRowPolicy } from "./bad-rows.js";
import { nameText } from "./bytes.js";
import type { Dialect, KnownDialect } from "./dialect.js";
import type { TableFormat, TableShape } from "./records.js";
import type { RecordStream } from "./scan/scanned-records.js";
import type { ItemProfile, ItemTest } from "./sniff/item-profile.js";

export interface TableSource {
  readonly name: string;
  /** Each piece need be valid only until the next one is requested. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Whether the input may pause, as a pipe does: its table is then opened with the records that are there. */
  readonly mayPause?: boolean;
}

export type Rewrite = (
  shape: TableShape,
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
  items: ItemTest,
) => AsyncGenerator<Buffer>;

/** Properties of the table that the user has given. Absent ones are detected, or have the default given here. */
export interface TableOptions {
  readonly profile: ItemProfile;
  /** Detects rows that are out of step; derived from the profile by default. */
  readonly items?: ItemTest;
  /** The sheet that is read. Its cells name their columns, so short and long rows are not faults. */
  readonly sheet?: {
    /** Returns the number of columns of the rows below row `row`, which counts from 1; at least `known`. Reads all rows. */
    widthBelow(row: number, known: number): Promise<number>;
  };
  /** Formats of text besides lines. Without them, all text is read as lines. */
  readonly formats?: TextFormats;
  /** Whether to continue if most of the first rows are bad. */
  readonly force?: boolean;
  /** Columns that hold items: an index from 1, a name, or `Name[2]` for the second column of that name. */
  readonly columns?: readonly string[];
  readonly allColumns?: boolean;
  /** One ASCII character; null for none: each line is one field. */
  readonly delimiter?: string | null;
  readonly header?: boolean;
  /** Number of lines above the table, which are copied unchanged if the format stays. */
  readonly skipLines?: number;
  readonly dialect?: KnownDialect;
  /** By default, `ragged` is `pad` and `badRows` is `error`. */
  readonly ragged?: "pad" | "error";
  readonly badRows?: BadRowPolicy;
  readonly onBadRow?: BadRowListener;
  /** Whether the first fields of all columns are needed, so that the first line alone is not enough. */
  readonly needsSample?: boolean;
  readonly format?: TableFormat;
  /** Format that the name of the output asks for. `csv` keeps the delimiter of the input, unless that is a tab. */
  readonly namedFormat?: TableFormat;
  /** Rewrites the table before it is scanned, so that tests can compare the scanner with another reader. */
  readonly rewrite?: Rewrite;
}

/** What becomes of lines: the document that was read, JSON Lines without its white space, or an array. */
export type OutputForm = "document" | "compact lines" | "array";

/** Formats of text that are read as lines of a table; the room `formats` has them. */
export interface TextFormats {
  /**
   * Returns how a text becomes a table; undefined if it is one.
   *
   * @param start its first 64 KiB, with a byte order mark
   * @param isWhole whether they are all of it
   * @throws ChoiceError if it is of a format that is not read
   */
  conversionOf(
    name: string,
    start: Buffer,
    isWhole: boolean,
    options: TableOptions,
  ): TextConversion | undefined;
  /**
   * Opens a JSON document; undefined if the text is lines.
   *
   * @throws TableError, ChoiceError if its records or columns cannot be found
   */
  openDocument(
    start: TableStart,
    sample: TextSample,
    options: TableOptions,
  ): Promise<OpenedTable | undefined>;
}

interface TextConversion {
  /** What the text is, such as "a vCard file". */
  readonly what: string;
  /** Returns the table as CSV with a header. */
  convert(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

interface TextSample {
  readonly bytes: Buffer;
  /** Whether it is all of the text below the skipped lines. */
  readonly isWhole: boolean;
  /** Number of its lines that are objects, if its first line is one. */
  readonly objects: number;
}

export interface Table extends RecordStream {
  /** Format of the output; `csv` for any delimiter but the tab. */
  readonly format: TableFormat;
  readonly dialect: Dialect;
  /** What the table was made of, such as "a vCard file"; undefined if the input is a table. */
  readonly madeOf?: string;
  readonly elements?: Pick<DocumentLines, "others" | "header" | "isOfTexts" | "mayHaveMore">;
  /** Undefined if the lines are written unchanged. */
  readonly outputForm?: OutputForm;
  /** Names in the header, binary strings; undefined if the table has no header. */
  readonly header: readonly string[] | undefined;
  /** Names of the columns in the output, as text. Added columns must have other names. */
  readonly names: readonly string[];
  /** Number of records above the first row, with the header; undefined in JSON Lines. */
  readonly rowsAbove?: number;
  /** Number of fields of a full row; 0 if there are no records. */
  readonly width: number;
  /** Mean length of the first records in bytes; undefined if there are fewer than two. */
  readonly recordBytes: number | undefined;
  /** Index, from 0, of the column that holds the items. The other indices also count from 0. */
  readonly column: number;
  readonly columnName: string | undefined;
  readonly otherColumns: readonly number[];
  /** Columns that hold items, but are not wanted. */
  readonly passedOver: readonly number[];
  /** Number of lines above the table, without blank ones, that the output format cannot represent. */
  readonly linesLeftOut: number;
  /** The lines above the table that hold an item in their text, which is not judged: numbers from 1. */
  readonly linesWithItems?: readonly number[];
  /** Returns the encoding of the table's start if it is certain; undefined for UTF-8, and if nothing is certain. */
  surelyIn(): Promise<string | undefined>;
  firstValues(column: number): readonly string[];
  /** Returns up to 1,000 values, as far as the bytes go that were read at the start: 64 KiB or more. */
  startValues(column: number): Promise<readonly string[]>;
}

export type OpenedTable = Omit<Table, "surelyIn">;

export interface DocumentLines {
  /** Path of the list, with a dot at the end, which is shown before the paths of members; may be empty. */
  readonly prefix: string;
  /** Paths of one column, of which each record has one. */
  readonly alternatives: readonly string[] | undefined;
  /** Whether the records are texts, which have become objects. */
  readonly isOfTexts: boolean;
  /** Names of the columns, if the records are arrays, which have become objects. */
  readonly header: readonly string[] | undefined;
  /** Whether further lists may start after the bytes that were searched for lists. */
  readonly mayHaveMore: boolean;
  /** Number of bytes put before each text to make it an object. */
  readonly addedBytes: number;
  /** The character at the start of lines that are not records. */
  readonly comment: string;
  /** Returns the number of elements so far that are not records. */
  others(): number;
}

export interface TableStart {
  readonly source: TableSource;
  readonly byteOrderMark: boolean;
  /** Bytes above the table, after the byte order mark: skipped lines, and a line that names the delimiter. */
  readonly preamble: Buffer;
  readonly first: Buffer;
  /** Whether `first` ends with the text. */
  readonly isWhole: boolean;
  readonly input: AsyncIterator<Uint8Array>;
  readonly isUnwrapped?: boolean;
}

/** Returns the name of a column, or its index from 1 if it has none. */
export const columnName = ({ header }: Pick<Table, "header">, column: number): string =>
  nameText(header?.[column] ?? "") || String(column + 1);
