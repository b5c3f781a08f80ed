/**
 * Opens tables: detects the format from the start of the input, and picks the reader and the writer for it. CSV goes
 * through the scanner if its bytes can be kept, and through csv-parse otherwise; JSON lines have a reader of their own.
 * It must not know what items are: an {@link ItemProfile} recognises them.
 */
import type { BadRowListener, BadRowPolicy } from "./bad-rows.js";
import { nameText, toBinary } from "./bytes.js";
import { TableError } from "./errors.js";
import type { FieldChunk } from "./fields/field-writer.js";
import { JsonLines, type JsonObject, parseObject, textOf } from "./fields/json-lines.js";
import { byteOrderMarkBytes, maximumRecordBytes, type RecordStream } from "./records.js";
import { readScanned, type ScannableStream } from "./scan/scanned-records.js";
import { chooseColumn, findColumn, isHeader } from "./sniff/column.js";
import {
  type Dialect,
  type KnownDialect,
  mostCommonWidth,
  sniffDelimiter,
  sniffLineEnding,
  splitSample,
} from "./sniff/dialect.js";
import type { ItemProfile } from "./sniff/item-profile.js";

/** Source of a table. */
export interface TableSource {
  /** Name for messages: that of the file, or `standard input`. */
  readonly name: string;
  /** Bytes of the table. Each piece need be valid only until the next one is requested. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Properties of the table that the user has given. Absent ones are detected, or have the default given here. */
export interface TableOptions {
  readonly profile: ItemProfile;
  /** Column that holds the items: an index from 1, a name, or `Name[2]` for the second column of that name. */
  readonly column?: string;
  /** One ASCII character. */
  readonly delimiter?: string;
  /** Whether the first record is a header. */
  readonly header?: boolean;
  /** Quote, escape and comment characters, which are not detected. */
  readonly dialect?: KnownDialect;
  /** Whether rows with too few fields are padded, the default, or are bad rows. */
  readonly ragged?: "pad" | "error";
  /** Action on bad rows; `error` by default. */
  readonly badRows?: BadRowPolicy;
  readonly onBadRow?: BadRowListener;
  /** Format to write; that of the input by default. */
  readonly format?: TableFormat;
  /** Whether to read with csv-parse and write with csv-stringify, instead of copying the bytes of the records. */
  readonly strict?: boolean;
}

export type TableFormat = "csv" | "tsv" | "jsonl";

/** A table that is being read. */
export interface Table extends ScannableStream {
  /** Format of the output; `csv` for any delimiter but the tab. */
  readonly format: TableFormat;
  readonly dialect: Dialect;
  /** Names in the header, binary strings; undefined if the table has no header. */
  readonly header: readonly string[] | undefined;
  /** Names of the columns in the output, as text. Added columns must have other names. */
  readonly names: readonly string[];
  /** Number of fields of a full row; 0 if there are no records. */
  readonly width: number;
  /** Index, from 0, of the column that holds the items. */
  readonly column: number;
  /** Name of that column; undefined if it has none. */
  readonly columnName: string | undefined;
}

/** Number of bytes at the start of the table from which the dialect, the header and the column are detected. */
const sampleBytes = 65_536;

/**
 * Opens a table: reads its start, detects its dialect, header and column, and returns the stream of its records. Closes
 * the input if it throws.
 *
 * @throws TableError if the bytes cannot be read as a table
 * @throws ChoiceError if the column cannot be chosen
 */
export async function openTable(source: TableSource, options: TableOptions): Promise<Table> {
  const input = source.bytes[Symbol.asyncIterator]();
  try {
    return await readTable(source, options, input);
  } catch (error) {
    void input.return?.();
    throw error;
  }
}

async function readTable(
  source: TableSource,
  options: TableOptions,
  input: AsyncIterator<Uint8Array>,
): Promise<Table> {
  const { bytes: start, isWhole } = await readSample(input);
  refuseForeignFormat(source.name, start);
  const byteOrderMark = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf;
  const first = byteOrderMark ? start.subarray(3) : start;

  const sample = sampleOf(first).toString("latin1");
  const isWholeSample = isWhole && sample.length === first.length;
  const objects =
    options.delimiter === undefined ? sampleObjects(sample, isWholeSample, options.dialect?.comment) : [];
  if (objects.length > 0)
    return openJsonLines(source.name, sample, objects, first, input, byteOrderMark, options);
  const known = options.dialect ?? {};
  const delimiter = options.delimiter ?? sniffDelimiter(sample, isWholeSample, options.profile, known);
  const { quote = '"', comment = null } = known;
  const lineEnding = sniffLineEnding(sample, delimiter, known);
  const dialect = { delimiter, quote, escape: known.escape ?? quote, comment, byteOrderMark, lineEnding };

  const records = splitSample(sample, delimiter, isWholeSample, known);
  const firstFilled = records.findIndex((record) => record.some((field) => field.trim() !== ""));
  const withHeader = firstFilled !== -1 && (options.header ?? expectsHeader(records[firstFilled]!, options));
  const blankLines = withHeader ? firstFilled : 0;
  const header = withHeader ? records[blankLines] : undefined;
  const body = (withHeader ? records.slice(blankLines + 1) : records).filter(isNoComment);
  // Without a header, the first record is never too wide, even if most records have fewer fields.
  const width = header?.length ?? Math.max(mostCommonWidth(body), body[0]?.length ?? 0);
  const column =
    options.column !== undefined && width > 0
      ? findColumn(options.column, header, width)
      : chooseColumn(header, body, width, options.profile);
  const columnName = header === undefined ? "" : nameText(header[column] ?? "");
  const { ragged = "pad", badRows = "error", onBadRow = () => {} } = options;
  const skipped = withHeader ? blankLines + 1 : 0;
  const shape = { name: source.name, dialect, width, column, skipped, ragged, badRows };
  const table = {
    dialect,
    header,
    names: header?.map(nameText) ?? [],
    width,
    column,
    columnName: columnName || undefined,
  };
  const format = delimiter === "\t" ? "tsv" : "csv";
  const isReshaped =
    options.format !== undefined && (options.format !== format || (delimiter ?? ",") !== delimiterOf[format]);
  if (!isReshaped && !options.strict && quote === '"' && dialect.escape === '"') {
    return { ...table, format, ...(await readScanned(shape, first, input, onBadRow)) };
  }
  const [{ readFields }, { csvWriter, streamOf }] = await Promise.all([
    import("./fields/strict-records.js"),
    import("./fields/field-writer.js"),
  ]);
  const head = records.slice(0, skipped).filter(isNoComment);
  const fields = readFields({ ...shape, skipped: head.length }, first, input, onBadRow);
  if (isReshaped)
    return {
      ...table,
      format: options.format,
      ...(await reshape(options.format, header, width, fields, byteOrderMark)),
    };
  return { ...table, format, ...streamOf(fields, csvWriter(dialect, head, width)) };
}

const delimiterOf = { csv: ",", tsv: "\t", jsonl: undefined } as const;

/** Returns the stream of records that are written in another format than they were read in. */
async function reshape(
  format: TableFormat,
  header: readonly string[] | undefined,
  width: number,
  fields: AsyncIterable<FieldChunk>,
  byteOrderMark: boolean,
): Promise<RecordStream & Partial<Pick<Table, "names">>> {
  const { csvWriter, jsonKeys, jsonWriter, streamOf } = await import("./fields/field-writer.js");
  if (format === "jsonl") {
    const keys = jsonKeys(header, width);
    return { ...streamOf(fields, jsonWriter(keys)), names: keys };
  }
  const dialect = {
    comment: null,
    delimiter: delimiterOf[format],
    lineEnding: "\n",
    quote: '"',
    escape: '"',
    byteOrderMark,
  } as const;
  return streamOf(fields, csvWriter(dialect, header ? [header] : [], width));
}

/**
 * Returns the objects in the first 100 lines that are neither blank nor comments. Returns none if the first of these
 * lines is not an object: then the table is not lines of JSON.
 */
function sampleObjects(sample: string, isWhole: boolean, comment: string | undefined): JsonObject[] {
  const lines = sample
    .split(/\r\n|\n|\r/)
    .slice(0, isWhole ? undefined : -1)
    .filter((line) => line.trim() !== "" && (comment === undefined || !line.startsWith(comment)));
  const [first, ...others] = lines
    .slice(0, 100)
    .map((line) => parseObject(Buffer.from(line, "latin1").toString()));
  return first === undefined ? [] : [first, ...others.filter((object) => object !== undefined)];
}

async function openJsonLines(
  name: string,
  sample: string,
  objects: readonly JsonObject[],
  first: Buffer,
  input: AsyncIterator<Uint8Array>,
  byteOrderMark: boolean,
  options: TableOptions,
): Promise<Table> {
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const header = names.map(toBinary);
  const width = names.length;
  const rows = objects.map((object) => names.map((name) => toBinary(textOf(object, name))));
  const column =
    options.column === undefined
      ? chooseColumn(header, rows, width, options.profile)
      : findColumn(options.column, header, width);
  const lineEnding = sniffLineEnding(sample, null, { quote: "" });
  const dialect = {
    delimiter: null,
    quote: "",
    escape: "",
    comment: options.dialect?.comment ?? null,
    byteOrderMark,
    lineEnding,
  };
  const { badRows = "error", onBadRow = () => {}, format = "jsonl" } = options;
  const shape = { name, dialect, width, column, skipped: 0, ragged: "pad", badRows } as const;
  const lines = await JsonLines.open(shape, names, first, input, onBadRow);
  const stream =
    format === "jsonl"
      ? lines.stream(byteOrderMark ? byteOrderMarkBytes : Buffer.of())
      : await reshape(format, header, width, lines.fields(), byteOrderMark);
  return { names, ...stream, format, dialect, header, width, column, columnName: names[column] };
}

const isNoComment = (record: readonly string[]) => record.length > 0;

/** Returns the first `sampleBytes`, or the first line if that is longer. */
function sampleOf(first: Buffer): Buffer {
  const lineEnd = first.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  return lineEnd === -1 ? first : first.subarray(0, Math.max(sampleBytes, lineEnd + 1));
}

/** Returns whether the first record looks like a header, or contains the name of the column that the user gave. */
function expectsHeader(first: readonly string[], { column, profile }: TableOptions): boolean {
  const isWanted = (field: string) =>
    column !== undefined && nameText(field) === column.replace(/\[\d+\]$/, "");
  return isHeader(first, profile) || first.some(isWanted);
}

/**
 * Reads at least `sampleBytes` unless the input ends before, and more, up to 1 MiB, until the first line ending.
 * Detection uses only {@link sampleOf} of them, so that it does not depend on the size of the pieces that the input
 * comes in.
 */
async function readSample(
  input: AsyncIterator<Uint8Array>,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let hasLineEnd = false;
  // Three more bytes for a byte order mark.
  while (length < sampleBytes + 3 || (!hasLineEnd && length <= maximumRecordBytes)) {
    const next = await input.next();
    if (next.done) return { bytes: Buffer.concat(chunks), isWhole: true };
    chunks.push(Buffer.from(next.value));
    length += next.value.length;
    hasLineEnd ||= next.value.includes(0x0a) || next.value.includes(0x0d);
  }
  return { bytes: Buffer.concat(chunks), isWhole: false };
}

/** Throws a TableError for UTF-16 without a byte order mark, and for zip archives, which most spreadsheet files are. */
function refuseForeignFormat(name: string, start: Buffer): void {
  const startsWith = (...bytes: number[]) => bytes.every((byte, i) => start[i] === byte);
  const refuse = (what: string, advice: string) => {
    throw new TableError(`${name}: ${what}; ${advice}`);
  };
  const sample = start.subarray(0, sampleBytes);
  if (sample.filter((byte) => byte === 0).length > sample.length / 4) {
    refuse(
      "not text: mostly NUL bytes",
      "if it is UTF-16 without a byte order mark, pass --encoding utf-16le",
    );
  }
  if (startsWith(0x50, 0x4b, 3, 4)) refuse("a zip archive or a spreadsheet file", "export it as CSV");
}
