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

/** Where a table comes from. */
export interface TableSource {
  /** In errors: the file's name, or `standard input`. */
  readonly name: string;
  /** Each piece need be good only until the next is asked for. */
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
  /** What cannot be found out. */
  readonly dialect?: KnownDialect;
  /** What is done with rows that are too short; padded by default. */
  readonly ragged?: "pad" | "error";
  /** What is done with rows that are too long or broken; an error by default. */
  readonly badRows?: BadRowPolicy;
  readonly onBadRow?: BadRowListener;
  /** The format to write; that of the input by default. */
  readonly format?: TableFormat;
  /** Read with csv-parse and write with csv-stringify instead of copying the records' bytes. */
  readonly strict?: boolean;
}

export type TableFormat = "csv" | "tsv" | "jsonl";

/** A table that is being read. */
export interface Table extends ScannableStream {
  /** That in which it is written; `csv` for any delimiter but the tab. */
  readonly format: TableFormat;
  readonly dialect: Dialect;
  /** The header's names, binary strings; undefined when the table has none. */
  readonly header: readonly string[] | undefined;
  /** The names that columns have in the output, text, which ours must not have too. */
  readonly names: readonly string[];
  /** How many fields a record has; 0 when there is no record at all. */
  readonly width: number;
  /** The index, from 0, of the column that holds the items. */
  readonly column: number;
  /** That column's name; undefined when it has none. */
  readonly columnName: string | undefined;
}

/** What the dialect, the header and the column are found out from. */
const sampleBytes = 65_536;

/**
 * Opens a table: reads its beginning, finds out its dialect, header and column, and makes the stream of its
 * records.
 *
 * @throws TableError when the bytes are no table that can be read
 * @throws TableChoiceError when the column cannot be chosen
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
  // Without a header, the first record may be as wide as it is.
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

/** Writes records in another format than they came in. */
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

/** The objects of the first lines, if the table is lines of JSON: if the first that is not blank is an object. */
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

/** What is looked at: `sampleBytes`, or up to the end of the first line where that is longer. */
function sampleOf(first: Buffer): Buffer {
  const lineEnd = first.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  return lineEnd === -1 ? first : first.subarray(0, Math.max(sampleBytes, lineEnd + 1));
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
    chunks.push(Buffer.from(next.value));
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
  const sample = start.subarray(0, sampleBytes);
  if (sample.filter((byte) => byte === 0).length > sample.length / 4) {
    refuse("no text, but mostly NUL bytes", "if it is UTF-16 without a mark, say --encoding utf-16le");
  }
  if (startsWith(0x50, 0x4b, 3, 4)) refuse("a zip archive or a spreadsheet file", "export it as CSV");
}
