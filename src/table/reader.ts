import { nameText } from "./bytes.js";
import { chooseColumn, findColumn, isHeader } from "./column.js";
import { type Dialect, mostCommonWidth, sniffDelimiter, sniffLineEnding, splitSample } from "./dialect.js";
import { TableError } from "./errors.js";
import type { ItemProfile } from "./item-profile.js";
import { maximumRecordBytes, type RecordStream } from "./records.js";
import { readScanned } from "./scanned-records.js";

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
  /** Read with csv-parse and write with csv-stringify instead of copying the records' bytes. */
  readonly strict?: boolean;
}

/** A table that is being read. */
export interface Table extends RecordStream {
  readonly dialect: Dialect;
  /** The header's names, binary strings; undefined when the table has none. */
  readonly header: readonly string[] | undefined;
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
  const columnName = header === undefined ? "" : nameText(header[column] ?? "");
  const shape = { name: source.name, dialect, width, column, skipped: withHeader ? blankLines + 1 : 0 };
  const stream = options.strict
    ? (await import("./strict-records.js")).readStrictly(shape, records.slice(0, shape.skipped), first, input)
    : await readScanned(shape, first, input);

  return { ...stream, dialect, header, width, column, columnName: columnName || undefined };
}

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
  if (startsWith(0xff, 0xfe) || startsWith(0xfe, 0xff)) {
    refuse("UTF-16 text", 'save it as UTF-8, in spreadsheets as "CSV UTF-8"');
  }
  if (startsWith(0x50, 0x4b, 3, 4)) refuse("a zip archive or a spreadsheet file", "export it as CSV");
  if (startsWith(0x1f, 0x8b)) refuse("gzip-compressed", "decompress it first: gzip -dc FILE | idv ...");
}
