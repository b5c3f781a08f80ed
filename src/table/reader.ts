import { Parser } from "csv-parse";
import { itemText, nameText } from "./bytes.js";
import { chooseColumn, findColumn, isHeader } from "./column.js";
import { type Dialect, mostCommonWidth, sniffDelimiter, sniffLineEnding, splitSample } from "./dialect.js";
import { TableError } from "./errors.js";
import type { ItemProfile } from "./item-profile.js";

/** Where a table comes from. */
export interface TableSource {
  /** In errors: the file's name, or `standard input`. */
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** What the user says of the table; what is absent is found out. */
export interface TableOptions {
  readonly profile: ItemProfile;
  /** The column that holds the items: an index from 1, a name, or `Name[2]`. */
  readonly column?: string;
  /** One character. */
  readonly delimiter?: string;
  /** Whether the first record is a header. */
  readonly header?: boolean;
}

/** A table that is being read. */
export interface Table {
  readonly dialect: Dialect;
  /** How many blank records stand above the header. */
  readonly blankLines: number;
  /** The header's names, binary strings; undefined when the table has none. */
  readonly header: readonly string[] | undefined;
  /** How many fields a record has; 0 when there is no record at all. */
  readonly width: number;
  /** The index, from 0, of the column that holds the items. */
  readonly column: number;
  /** That column's name; undefined when it has none. */
  readonly columnName: string | undefined;
  /** The records below the header, in order, as many at a time as a read gave. */
  readonly chunks: AsyncIterable<RecordChunk>;
}

/** Some records in a row, none wider than the table. */
export interface RecordChunk {
  /** The fields of each record, binary strings. */
  readonly records: readonly (readonly string[])[];
  /** The field of each record that holds the item, as text. */
  readonly values: readonly string[];
}

/** What the dialect, the header and the column are found out from. */
const sampleBytes = 65_536;

/** An unclosed quote would otherwise buffer the whole rest of the file. */
const maximumRecordBytes = 1_048_576;

/** Stands for no delimiter, which csv-parse does not know: these bytes are in no table. */
const noDelimiter = "\u0000idv\u0000plain\u0000list\u0000";

/**
 * Opens a table: reads its beginning, finds out its dialect, header and column, and makes the stream of its
 * records.
 *
 * @throws TableError when the bytes are no table that can be read
 * @throws TableChoiceError when the column cannot be chosen
 */
export async function openTable(source: TableSource, options: TableOptions): Promise<Table> {
  const input = source.bytes[Symbol.asyncIterator]();
  const { bytes: start, isWhole } = await readSample(input);
  refuseForeignFormat(source.name, start);
  const byteOrderMark = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf;
  const first = byteOrderMark ? start.subarray(3) : start;

  const sample = sampleOf(first).toString("latin1");
  const isWholeSample = isWhole && sample.length === first.length;
  const delimiter = options.delimiter ?? sniffDelimiter(sample, isWholeSample, options.profile);
  const dialect = { delimiter, byteOrderMark, lineEnding: sniffLineEnding(sample, delimiter) };

  const records = splitSample(sample, delimiter, isWholeSample);
  const firstFilled = records.findIndex((record) => record.some((field) => field.trim() !== ""));
  const withHeader = firstFilled !== -1 && (options.header ?? expectsHeader(records[firstFilled]!, options));
  const blankLines = withHeader ? firstFilled : 0;
  const header = withHeader ? records[blankLines] : undefined;
  const body = withHeader ? records.slice(blankLines + 1) : records;
  // Without a header, the first record may be as wide as it is.
  const width = header?.length ?? Math.max(mostCommonWidth(records), records[0]?.length ?? 0);
  const column =
    options.column !== undefined && width > 0
      ? findColumn(options.column, header, width)
      : chooseColumn(header, body, width, options.profile);
  const name = header === undefined ? "" : nameText(header[column] ?? "");

  return {
    dialect,
    blankLines,
    header,
    width,
    column,
    columnName: name === "" ? undefined : name,
    chunks: readRecords(source.name, first, input, {
      dialect,
      width,
      column,
      skipped: withHeader ? blankLines + 1 : 0,
    }),
  };
}

/** What is looked at: `sampleBytes`, or up to the end of the first line where that is longer. */
function sampleOf(first: Buffer): Buffer {
  const lineEnd = first.subarray(0, sampleBytes).findIndex((byte) => byte === 0x0a || byte === 0x0d);
  if (lineEnd !== -1) return first.subarray(0, sampleBytes);
  const later = first.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  return later === -1 ? first : first.subarray(0, later + 1);
}

/** A record that holds the name of the wanted column is a header, whatever else it looks like. */
function expectsHeader(first: readonly string[], { column, profile }: TableOptions): boolean {
  const isWanted = (field: string) =>
    column !== undefined && nameText(field) === column.replace(/\[\d+\]$/, "");
  return isHeader(first, profile) || first.some(isWanted);
}

/**
 * The first bytes, at least `sampleBytes` of them unless the input ends before, and more where the first record is
 * longer. Does not depend on how they arrive.
 */
async function readSample(
  input: AsyncIterator<Uint8Array>,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let hasLineEnd = false;
  // Three more for a byte order mark.
  while (length < sampleBytes + 3 || (!hasLineEnd && length <= maximumRecordBytes)) {
    const next = await input.next();
    if (next.done) return { bytes: Buffer.concat(chunks), isWhole: true };
    chunks.push(next.value);
    length += next.value.length;
    hasLineEnd ||= next.value.includes(0x0a) || next.value.includes(0x0d);
  }
  return { bytes: Buffer.concat(chunks), isWhole: false };
}

function refuseForeignFormat(name: string, start: Buffer): void {
  const startsWith = (...bytes: number[]) => bytes.every((byte, i) => start[i] === byte);
  const refuse = (what: string, advice: string) => {
    throw new TableError(`${name}: ${what}; ${advice}`);
  };
  if (startsWith(0xff, 0xfe) || startsWith(0xfe, 0xff)) {
    refuse("UTF-16 text", 'save it as UTF-8, in spreadsheets as "CSV UTF-8"');
  }
  if (startsWith(0x50, 0x4b, 3, 4)) refuse("a zip archive or a spreadsheet file", "export it as CSV");
  if (startsWith(0x1f, 0x8b)) refuse("gzip-compressed", "decompress it first: gzip -dc FILE | idv ...");
}

interface Shape {
  readonly dialect: Dialect;
  readonly width: number;
  readonly column: number;
  /** How many records at the start are the header and blank lines above it. */
  readonly skipped: number;
}

async function* readRecords(
  name: string,
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
  shape: Shape,
): AsyncGenerator<RecordChunk> {
  const parser = new CollectingParser(shape.dialect);
  const chunker = new Chunker(name, shape);
  try {
    for (let bytes: Uint8Array | undefined = first; bytes !== undefined; ) {
      const error = await parser.parse(bytes);
      const chunk = chunker.take(parser.takeRecords());
      if (error) throw chunker.explain(error);
      yield chunk;
      const next = await rest.next();
      bytes = next.done ? undefined : next.value;
    }
    const error = await parser.finish();
    const chunk = chunker.take(parser.takeRecords());
    if (error) throw chunker.explain(error);
    yield chunk;
  } finally {
    parser.destroy();
    await rest.return?.();
  }
}

/** csv-parse, with the records of a write collected instead of streamed one by one. */
class CollectingParser extends Parser {
  #records: string[][] = [];

  constructor({ delimiter }: Dialect) {
    super({
      delimiter: delimiter ?? noDelimiter,
      encoding: "latin1",
      record_delimiter: ["\r\n", "\n", "\r"],
      // Quotes inside a field are text: `Ann "Annie" Lee`, `"Lee, Ann" <ann@example.net>`.
      relax_quotes: true,
      relax_column_count: true,
      max_record_size: maximumRecordBytes,
    });
    // Failures are what `parse` and `finish` return.
    this.on("error", () => {});
  }

  override push(record: string[] | null): boolean {
    if (record === null) return super.push(null);
    this.#records.push(record);
    return true;
  }

  takeRecords(): string[][] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  /** Parses some bytes; gives the error that they hold, if any. */
  parse(bytes: Uint8Array): Promise<Error | null | undefined> {
    return new Promise((resolve) => this.write(bytes, resolve));
  }

  /** Parses what is left after the last bytes; gives the error that it holds, if any. */
  finish(): Promise<Error | null | undefined> {
    return new Promise((resolve) => {
      this.once("finish", resolve).once("error", resolve).end();
    });
  }
}

/** Makes chunks of parsed records, keeps count of lines and finds records that are too wide. */
class Chunker {
  readonly #name: string;
  readonly #shape: Shape;
  #toSkip: number;
  /** The line on which the next record starts, from 1. */
  #line = 1;

  constructor(name: string, shape: Shape) {
    this.#name = name;
    this.#shape = shape;
    this.#toSkip = shape.skipped;
  }

  take(parsed: readonly string[][]): RecordChunk {
    const records: string[][] = [];
    const values: string[] = [];
    const { width, column } = this.#shape;
    for (const fields of parsed) {
      if (fields.length > width) this.#refuseWide(fields.length);
      this.#line += 1 + fields.reduce((sum, field) => sum + lineEndings(field), 0);
      if (this.#toSkip > 0) {
        this.#toSkip--;
        continue;
      }
      records.push(fields);
      values.push(itemText(fields[column] ?? ""));
    }
    return { records, values };
  }

  #refuseWide(fields: number): never {
    const { width, skipped } = this.#shape;
    const expected = skipped > 0 ? `the header has ${width}` : `the table has ${width}`;
    throw new TableError(
      `${this.#name}:${this.#line}: ${fields} fields where ${expected}; ` +
        "quote the fields that hold the delimiter, or name the delimiter with -d",
    );
  }

  /** What csv-parse's errors mean for this table. */
  explain(error: Error): Error {
    const { code, column } = error as { code?: string; column?: number };
    if (code === "CSV_QUOTE_NOT_CLOSED") {
      return new TableError(
        `${this.#name}:${this.#line}: a quoted field is never closed; the quote opens in column ` +
          `${Number(column) + 1} of the record that starts here; close it or double it`,
      );
    }
    if (code === "CSV_MAX_RECORD_SIZE") {
      return new TableError(
        `${this.#name}:${this.#line}: the record that starts here is over 1 MiB; a quote in column ` +
          `${Number(column) + 1} may never be closed`,
      );
    }
    return error;
  }
}

/** How many line ends a field holds: CRLF is one. */
function lineEndings(field: string): number {
  let count = 0;
  for (let i = field.indexOf("\n"); i !== -1; i = field.indexOf("\n", i + 1)) count++;
  for (let i = field.indexOf("\r"); i !== -1; i = field.indexOf("\r", i + 1)) {
    if (field[i + 1] !== "\n") count++;
  }
  return count;
}
