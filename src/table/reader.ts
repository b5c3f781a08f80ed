/**
 * Opens tables: detects the format from the start of the input, and picks the reader and the writer for it. CSV goes
 * through the scanner if its bytes can be kept, and through csv-parse otherwise; JSON lines have a reader of their own.
 * It must not know what items are: an {@link ItemProfile} recognises them.
 */

import { ChoiceError } from "../files/errors.js";
import type { BadRowListener, BadRowPolicy } from "./bad-rows.js";
import { itemText, lineEndings, nameText, toBinary } from "./bytes.js";
import type { FieldChunk } from "./fields/field-writer.js";
import { JsonLines, type JsonObject, parseObject, textOf } from "./fields/json-lines.js";
import { byteOrderMarkBytes, maximumRecordBytes, type RecordStream, type TableShape } from "./records.js";
import { readScanned, type ScannableStream } from "./scan/scanned-records.js";
import { chooseColumn, findColumn } from "./sniff/column.js";
import { type Dialect, type KnownDialect, sniffDelimiter, sniffLineEnding } from "./sniff/dialect.js";
import { refuseForeignFormat } from "./sniff/foreign-format.js";
import type { ItemProfile } from "./sniff/item-profile.js";
import { layoutOf, mostCommonWidth } from "./sniff/layout.js";
import { separatorLine, splitterOf } from "./sniff/sample.js";

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
  /** Number of lines above the table, which are copied unchanged. */
  readonly skipLines?: number;
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
  /** The first fields of that column, as text. */
  readonly firstValues: readonly string[];
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
  const { bytes, isWhole } = await readSample(input, options.skipLines ?? 0);
  refuseForeignFormat(source.name, bytes.subarray(0, sampleBytes));
  const byteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const start = { source, input, byteOrderMark };
  let first = byteOrderMark ? bytes.subarray(3) : bytes;
  const above = [linesAbove(source.name, first, options.skipLines ?? 0)];
  first = first.subarray(above[0]!.length);
  const separator = separatorLine(first);
  if (separator !== undefined) {
    above.push(first.subarray(0, separator.length));
    first = first.subarray(separator.length);
  }
  const sample = sampleOf(first);
  const isWholeSample = isWhole && sample.length === first.length;
  const preamble = Buffer.concat(above);
  const objects =
    options.delimiter === undefined
      ? sampleObjects(sample.toString("latin1"), isWholeSample, options.dialect?.comment)
      : [];
  if (objects.length > 0) return openJsonLines({ ...start, preamble, first }, sample, objects, options);
  return openCsv({ ...start, preamble, first }, sample, isWholeSample, separator?.delimiter, options);
}

/** The start of a table. */
interface TableStart {
  readonly source: TableSource;
  readonly byteOrderMark: boolean;
  /** Bytes above the table, after the byte order mark. */
  readonly preamble: Buffer;
  /** Bytes of the table that were read already. */
  readonly first: Buffer;
  /** The bytes that follow. */
  readonly input: AsyncIterator<Uint8Array>;
}

async function openCsv(
  { source, byteOrderMark, preamble: linesAbove, first, input }: TableStart,
  sample: Buffer,
  isWhole: boolean,
  separator: string | undefined,
  options: TableOptions,
): Promise<Table> {
  const { profile, dialect: known = {}, header: hasHeader, ragged = "pad", badRows = "error" } = options;
  const { onBadRow = () => {} } = options;
  const layoutOptions = {
    profile,
    startsHere: options.skipLines !== undefined,
    ...(options.column !== undefined && { columns: [options.column] }),
    ...(hasHeader !== undefined && { header: hasHeader }),
  };
  const split = await splitterOf(sample, isWhole, known);
  const delimiter = options.delimiter ?? separator ?? sniffDelimiter(split, layoutOptions);
  const { quote = '"', comment = null } = known;

  const parts = split(delimiter);
  const { above, header: headerRecord, body } = layoutOf(parts, layoutOptions);
  const header = headerRecord?.fields;
  const table = first.subarray(parts.records[above]?.start ?? 0);
  const preamble = Buffer.concat([linesAbove, first.subarray(0, first.length - table.length)]);
  const lineEnding = sniffLineEnding(table.subarray(0, sample.length), delimiter, known);
  const dialect = { delimiter, quote, escape: known.escape ?? quote, comment, byteOrderMark, lineEnding };
  const width = widthOf(header, body);
  const column =
    options.column !== undefined && width > 0
      ? findColumn(options.column, header, width)
      : chooseColumn(header, body, width, profile);
  const shape: TableShape = {
    ...{ name: source.name, dialect, width, column, hasHeader: header !== undefined, ragged, badRows },
    firstLine: 1 + lineEndings(preamble),
  };
  const facts = {
    dialect,
    header,
    names: header?.map(nameText) ?? [],
    width,
    column,
    columnName: nameText(header?.[column] ?? "") || undefined,
    firstValues: body.map((fields) => itemText(fields[column] ?? "")),
  };
  const format = delimiter === "\t" ? "tsv" : "csv";
  const isReshaped =
    options.format !== undefined && (options.format !== format || (delimiter ?? ",") !== delimiterOf[format]);
  if (!isReshaped && !options.strict && quote === '"' && dialect.escape === '"') {
    const stream = await readScanned(shape, table, input, onBadRow);
    return { ...facts, format, ...stream, start: startAfter(byteOrderMark, preamble, stream) };
  }
  const [{ readFields }, { csvWriter, streamOf }] = await Promise.all([
    import("./fields/strict-records.js"),
    import("./fields/field-writer.js"),
  ]);
  const fields = readFields(shape, table, input, onBadRow);
  if (isReshaped) {
    return {
      ...facts,
      format: options.format,
      ...(await reshape(options.format, header, width, fields, byteOrderMark)),
    };
  }
  const stream = streamOf(fields, csvWriter(dialect, header, width));
  return { ...facts, format, ...stream, start: startAfter(byteOrderMark, preamble, stream) };
}

/** Puts the byte order mark and the preamble before the header. */
function startAfter(
  byteOrderMark: boolean,
  preamble: Buffer,
  { start }: RecordStream,
): RecordStream["start"] {
  const mark = byteOrderMark ? byteOrderMarkBytes : Buffer.of();
  return (columns) => Buffer.concat([mark, preamble, start(columns)]);
}

/**
 * Returns the number of fields of a full row. Rows that all end with a delimiter have one more than their header; then
 * the added fields follow it.
 */
function widthOf(header: readonly string[] | undefined, body: readonly (readonly string[])[]): number {
  const common = mostCommonWidth(body);
  // Without a header, the first record is never too wide, even if most records have fewer fields.
  if (header === undefined) return Math.max(common, body[0]?.length ?? 0);
  const hasEmptySurplus = body.every((fields) => fields.slice(header.length).every((field) => field === ""));
  return hasEmptySurplus ? Math.max(common, header.length) : header.length;
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
  const stream = streamOf(fields, csvWriter(dialect, header, width));
  return { ...stream, start: startAfter(byteOrderMark, Buffer.of(), stream) };
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
  { source, byteOrderMark, preamble, first, input }: TableStart,
  sample: Buffer,
  objects: readonly JsonObject[],
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
  const firstLine = 1 + lineEndings(preamble);
  const shape: TableShape = {
    ...{ name: source.name, dialect, width, column, hasHeader: false, firstLine, ragged: "pad", badRows },
  };
  const lines = await JsonLines.open(shape, names, first, input, onBadRow);
  const stream = lines.stream();
  const written =
    format === "jsonl"
      ? { ...stream, start: startAfter(byteOrderMark, preamble, stream) }
      : await reshape(format, header, width, lines.fields(), byteOrderMark);
  const firstValues = rows.map((fields) => itemText(fields[column] ?? ""));
  return {
    names,
    ...written,
    format,
    dialect,
    header,
    width,
    column,
    columnName: names[column],
    firstValues,
  };
}

/** Returns the first `sampleBytes`, or the first line if that is longer. */
function sampleOf(first: Buffer): Buffer {
  return first.subarray(0, Math.max(sampleBytes, firstLineLength(first) ?? first.length));
}

/** Returns the length of the first line with its line ending; undefined if it has none. */
function firstLineLength(bytes: Buffer): number | undefined {
  const end = bytes.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  if (end === -1) return undefined;
  return end + (bytes[end] === 0x0d && bytes[end + 1] === 0x0a ? 2 : 1);
}

/**
 * Returns the first lines.
 *
 * @throws ChoiceError if there are fewer
 */
function linesAbove(name: string, bytes: Buffer, count: number): Buffer {
  let end = 0;
  for (let line = 0; line < count; line++) {
    const length = firstLineLength(bytes.subarray(end));
    if (length === undefined) {
      throw new ChoiceError(
        `${name}: --skip-lines ${count} is more than the ${line} lines at its start; give fewer`,
      );
    }
    end += length;
  }
  return bytes.subarray(0, end);
}

/**
 * Reads at least `sampleBytes` unless the input ends before, and more, up to 1 MiB, until it has the first line below
 * the skipped ones. Detection uses only {@link sampleOf} of them, so that it does not depend on the size of the pieces
 * that the input comes in.
 */
async function readSample(
  input: AsyncIterator<Uint8Array>,
  skipLines: number,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let lineEnds = 0;
  // Three more bytes for a byte order mark.
  while (length < sampleBytes + 3 || (lineEnds <= skipLines && length <= maximumRecordBytes)) {
    const next = await input.next();
    if (next.done) return { bytes: Buffer.concat(chunks), isWhole: true };
    const chunk = Buffer.from(next.value);
    chunks.push(chunk);
    length += chunk.length;
    lineEnds += lineEndings(chunk);
  }
  return { bytes: Buffer.concat(chunks), isWhole: false };
}
