/**
 * Reads CSV with csv-parse and writes it anew with csv-stringify, in front of the scanner: the reference for how records and fields
 * are found. Comments, and rows with a stray quote, pass as they are, so that lines and faults are the same.
 */
import { Parser } from "csv-parse";
import { stringify } from "csv-stringify/sync";
import { lineEndings } from "../../src/core/table/bytes.js";
import type { Dialect } from "../../src/core/table/dialect.js";
import type { TableError } from "../../src/core/table/errors.js";
import {
  longRecordBytes,
  neverClosed,
  outputDelimiter,
  swallows,
  type TableShape,
} from "../../src/core/table/records.js";
import { findStray, findSwallowingQuote } from "../../src/core/table/scan/broken-rows.js";
import { boundsIn } from "../../src/core/table/scan/scan-shape.js";
import type { ItemTest } from "../../src/core/table/sniff/item-profile.js";

function parserOptions({ delimiter, quote, escape: escaping, comment, skipsSpaces }: Dialect) {
  return {
    delimiter: delimiter!,
    encoding: "latin1" as const,
    quote,
    escape: escaping,
    ltrim: skipsSpaces,
    comment: comment ?? "",
    raw: true,
    comment_no_infix: true,
    record_delimiter: ["\r\n", "\n", "\r"] as string[],
    // Quotes inside a field are text: `Ann "Annie" Lee`, `"Lee, Ann" <ann@example.net>`.
    relax_quotes: true,
    relax_column_count: true,
    max_record_size: longRecordBytes,
  };
}

function stringifyOptions(dialect: Dialect) {
  return {
    delimiter: outputDelimiter(dialect),
    record_delimiter: dialect.lineEnding,
    quote: dialect.quote,
    escape: dialect.escape,
    // Quote fields with any line ending, not only with the one of this table.
    quote_record_delimiter: true,
    // Quote fields that start with the comment character. Otherwise they would be read as comments.
    ...(dialect.comment !== null && { quoted_match: new RegExp(`^\\${dialect.comment}`) }),
  };
}

/**
 * Yields the bytes of a table, written anew, and closes the input at the end.
 *
 * @param shape of a table with a delimiter
 * @param first the bytes that were read already, without byte order mark
 * @throws TableError for a quote that is never closed, or has swallowed lines, here any record over 1 MiB: csv-parse cannot go on
 * after their line
 */
export async function* writtenAnew(
  shape: TableShape,
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
  items: ItemTest,
): AsyncGenerator<Buffer> {
  const parser = new CollectingParser(shape.dialect);
  const writer = new RecordsWriter(shape, items);
  /** The bytes from those on in which the last record ends: comments at the end of the table are in no record. */
  let pieces: Uint8Array[] = [];
  try {
    for (let bytes: Uint8Array | undefined = first; bytes !== undefined; ) {
      const error = await parser.parse(bytes);
      const records = parser.takeRecords();
      if (records.length > 0) pieces = [];
      if (shape.dialect.comment !== null) pieces.push(bytes);
      yield writer.write(records);
      writer.throwFault();
      if (error) throw writer.errorFor(error, parser.info.comment_lines);
      const next = await rest.next();
      bytes = next.done ? undefined : Buffer.from(next.value);
    }
    const error = await parser.finish();
    yield writer.write(parser.takeRecords());
    writer.throwFault();
    if (error) throw writer.errorFor(error, parser.info.comment_lines);
    yield writer.writeEnd(Buffer.concat(pieces), parser.info.comment_lines);
  } finally {
    parser.destroy();
    await rest.return?.();
  }
}

/** csv-parse that collects the records of a write, instead of streaming them one by one. */
class CollectingParser extends Parser {
  #records: ParsedRecord[] = [];

  constructor(dialect: Dialect) {
    super(parserOptions(dialect));
    // `parse` and `finish` return errors. Without a listener, Node.js would throw them too.
    this.on("error", () => {});
  }

  override push(record: { readonly raw: string; readonly record: string[] } | null): boolean {
    if (record === null) return super.push(null);
    const { raw, record: fields } = record;
    this.#records.push({ fields, raw, commentsBefore: this.info.comment_lines });
    return true;
  }

  /** Returns the records since the last call. */
  takeRecords(): ParsedRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  /** Parses bytes; returns their error, if any. */
  parse(bytes: Uint8Array): Promise<Error | null | undefined> {
    return new Promise((resolve) => this.write(bytes, resolve));
  }

  /** Parses the rest of the table after the last bytes; returns its error, if any. */
  finish(): Promise<Error | null | undefined> {
    return new Promise((resolve) => {
      this.once("finish", resolve).once("error", resolve).end();
    });
  }
}

interface ParsedRecord {
  /** Binary strings. */
  readonly fields: string[];
  /** Bytes of the record with the comments before it and its line ending, a binary string. */
  readonly raw: string;
  /** Number of comment lines before the record. */
  readonly commentsBefore: number;
}

/** Writes parsed records, and counts lines. */
class RecordsWriter {
  readonly #shape: TableShape;
  readonly #items: ItemTest;
  readonly #options: ReturnType<typeof stringifyOptions>;
  /** Line on which the next record starts, from 1, without comment lines, which csv-parse counts. */
  #line: number;
  /** Comment lines so far. */
  #comments = 0;
  #isAtHeader: boolean;
  #fault: TableError | undefined;

  constructor(shape: TableShape, items: ItemTest) {
    this.#shape = shape;
    this.#items = items;
    this.#options = stringifyOptions(shape.dialect);
    this.#line = shape.firstLine;
    this.#isAtHeader = shape.hasHeader;
  }

  /** Writes records, up to one with a quote that has swallowed lines: the scanner may find another fault before. */
  write(parsed: readonly ParsedRecord[]): Buffer {
    const parts: string[] = [];
    const regular: string[][] = [];
    for (const { fields, raw, commentsBefore } of parsed) {
      const { comments, record } = this.#partsOf(raw);
      this.#fault = this.#findSwallowing(fields, record, this.#line + commentsBefore);
      if (this.#fault !== undefined) break;
      if (comments.length > 0) {
        parts.push(this.#written(regular.splice(0)), this.#joined(comments));
      }
      const isBlank = fields.length === 1 && fields[0] === "";
      if (isBlank || this.#isStray(fields, record)) {
        parts.push(this.#written(regular.splice(0)), record, this.#shape.dialect.lineEnding);
      } else regular.push(fields);
      this.#line += 1 + fields.reduce((sum, field) => sum + lineEndings(field), 0);
      this.#comments = commentsBefore;
      this.#isAtHeader = false;
    }
    parts.push(this.#written(regular));
    return Buffer.from(parts.join(""), "latin1");
  }

  #written(records: readonly string[][]): string {
    return records.length === 0 ? "" : stringify([...records], this.#options);
  }

  /**
   * Writes the comments at the end of the table.
   *
   * @param bytes the last bytes of the table, with those of the comments
   * @param comments number of all comment lines
   */
  writeEnd(bytes: Buffer, comments: number): Buffer {
    const lines = bytes
      .toString("latin1")
      .replace(/(?:\r\n|\r|\n)$/, "")
      .split(/\r\n|\r|\n/);
    return Buffer.from(this.#joined(lines.slice(lines.length - (comments - this.#comments))), "latin1");
  }

  #joined(lines: readonly string[]): string {
    return lines.map((line) => line + this.#shape.dialect.lineEnding).join("");
  }

  /** @throws TableError for the record that ended the last write */
  throwFault(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Returns the error of a record with a quote that has swallowed lines. */
  #findSwallowing(fields: readonly string[], text: string, line: number): TableError | undefined {
    if (!fields.some((field) => /[\r\n]/.test(field))) return undefined;
    const record = Buffer.from(text, "latin1");
    const quote = findSwallowingQuote(this.#shape, this.#items, record, 0, record.length);
    if (quote === undefined) return undefined;
    return swallows(this.#shape, line + lineEndings(record.subarray(0, quote.at)), quote).toError(record);
  }

  /** Returns whether a row has a stray quote in the field of its item, for which the scanner has to see its bytes. */
  #isStray(fields: readonly string[], text: string): boolean {
    const { column, dialect, width } = this.#shape;
    if (this.#isAtHeader || fields.length !== width || dialect.quote === "") return false;
    if (!fields[column]!.includes(dialect.quote)) return false;
    const record = Buffer.from(text, "latin1");
    const [from, to] = boundsIn(this.#shape, record, 0, record.length).slice(2 * column);
    return findStray(this.#shape, this.#items, 1, record.toString("latin1", from, to)) !== undefined;
  }

  /** Returns a record without its line ending, and the comments before it. */
  #partsOf(raw: string): { readonly comments: readonly string[]; readonly record: string } {
    const { comment } = this.#shape.dialect;
    const comments: string[] = [];
    let record = raw.replace(/(?:\r\n|\r|\n)$/, "");
    while (comment !== null && record.startsWith(comment)) {
      const [line = ""] = record.split(/\r\n|\r|\n/, 1);
      comments.push(line);
      record = record.slice(line.length).replace(/^(?:\r\n|\r|\n)/, "");
    }
    return { comments, record };
  }

  /** Returns the error of this table for one of csv-parse. */
  errorFor(error: Error, comments: number): Error {
    const { code, column } = error as { code?: string; column?: number };
    const line = this.#line + comments;
    if (code === "CSV_QUOTE_NOT_CLOSED") return neverClosed(this.#shape, line, Number(column) + 1).toError();
    if (code === "CSV_MAX_RECORD_SIZE") {
      const quote = { column: Number(column) + 1, lines: Number.POSITIVE_INFINITY };
      return swallows(this.#shape, line, quote).toError();
    }
    return error;
  }
}
