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

export interface TableOptions {
  readonly profile: ItemProfile;
  readonly items?: ItemTest;
  /** The sheet that is read. Its cells name their columns, so short and long rows are not faults. */
  readonly sheet?: {
    /** Returns the width of the rows below row `row`, which counts from 1; at least `known`. Reads all rows. */
    widthBelow(row: number, known: number): Promise<number>;
  };
  readonly formats?: TextFormats;
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
  readonly needsSample?: boolean;
  readonly format?: TableFormat;
  /** Format that the name of the output asks for. `csv` keeps the delimiter of the input, unless that is a tab. */
  readonly namedFormat?: TableFormat;
  readonly rewrite?: Rewrite;
}

export type OutputForm = "document" | "compact lines" | "array";

export interface TextFormats {
  /** Returns undefined for a table; `start` is its first 64 KiB. @throws ChoiceError when the format is not read */
  conversionOf(name: string, start: Buffer, isWhole: boolean, options: TableOptions): TextConversion | undefined;
  /** Returns undefined for lines. @throws TableError, ChoiceError when records or columns cannot be found */
  openDocument(start: TableStart, sample: TextSample, options: TableOptions): Promise<OpenedTable | undefined>;
}

interface TextConversion {
  readonly what: string;
  convert(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

interface TextSample {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
  readonly objects: number;
}

export interface Table extends RecordStream {
  /** Format of the output; `csv` for any delimiter but the tab. */
  readonly format: TableFormat;
  readonly dialect: Dialect;
  readonly madeOf?: string;
  readonly elements?: Pick<DocumentLines, "others" | "header" | "isOfTexts" | "mayHaveMore">;
  readonly outputForm?: OutputForm;
  /** Names in the header, binary strings; undefined if the table has no header. */
  readonly header: readonly string[] | undefined;
  readonly names: readonly string[];
  readonly rowsAbove?: number;
  readonly width: number;
  /** Mean length of the first records in bytes; undefined if there are fewer than two. */
  readonly recordBytes: number | undefined;
  /** Index, from 0, of the column that holds the items. The other indices also count from 0. */
  readonly column: number;
  readonly columnName: string | undefined;
  readonly otherColumns: readonly number[];
  readonly passedOver: readonly number[];
  readonly linesLeftOut: number;
  /** The lines above the table that hold an item in their text, which is not judged: numbers from 1. */
  readonly linesWithItems?: readonly number[];
  readonly unusedHeader?: number | undefined;
  /** Returns the encoding of the table's start if it is certain; undefined for UTF-8, and if nothing is certain. */
  surelyIn(): Promise<string | undefined>;
  firstValues(column: number): readonly string[];
  /** Returns up to 1,000 values, as far as the bytes go that were read at the start: 64 KiB or more. */
  startValues(column: number): Promise<readonly string[]>;
}

export type OpenedTable = Omit<Table, "surelyIn">;

export interface DocumentLines {
  readonly prefix: string;
  /** Paths of one column, of which each record has one. */
  readonly alternatives: readonly string[] | undefined;
  readonly isOfTexts: boolean;
  readonly header: readonly string[] | undefined;
  /** Whether further lists may start after the bytes that were searched for lists. */
  readonly mayHaveMore: boolean;
  readonly addedBytes: number;
  readonly comment: string;
  others(): number;
}

export interface TableStart {
  readonly source: TableSource;
  readonly byteOrderMark: boolean;
  /** Bytes above the table, after the byte order mark: skipped lines, and a line that names the delimiter. */
  readonly preamble: Buffer;
  readonly first: Buffer;
  readonly isWhole: boolean;
  readonly input: AsyncIterator<Uint8Array>;
  readonly isUnwrapped?: boolean;
}

export const columnName = ({ header }: Pick<Table, "header">, column: number): string =>
  nameText(header?.[column] ?? "") || String(column + 1);
