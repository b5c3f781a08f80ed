/** Reads records with csv-parse, the reference for the scanner (`--strict`). */
import { Parser } from "csv-parse";
import type { BadRowListener, RowFault } from "../bad-rows.js";
import { isUtf8Text, itemText, lineEndings } from "../bytes.js";
import type { Dialect } from "../dialect.js";
import {
  maximumRecordBytes,
  neverClosed,
  rowsAtATime,
  swallows,
  type TableShape,
  tooLong,
  tooNarrow,
  tooWide,
} from "../records.js";
import { findStep, findStray, findSwallowingQuote } from "../scan/broken-rows.js";
import { boundsIn } from "../scan/scan-shape.js";
import type { ItemTest } from "../sniff/item-profile.js";
import { copiedUnchanged, csvWriter, type FieldChunk } from "./field-writer.js";

/** Delimiter for a plain list, because csv-parse needs one: a string that occurs in no table. */
const noDelimiter = "\u0000idv\u0000plain\u0000list\u0000";

function parserOptions({ delimiter, quote, escape: escaping, comment, skipsSpaces }: Dialect) {
  return {
    delimiter: delimiter ?? noDelimiter,
    encoding: "latin1" as const,
    ...{ quote, escape: escaping, ltrim: skipsSpaces },
    comment: comment ?? "",
    comment_no_infix: true,
    record_delimiter: ["\r\n", "\n", "\r"] as string[],
    // Quotes inside a field are text: `Ann "Annie" Lee`, `"Lee, Ann" <ann@example.net>`.
    relax_quotes: true,
    relax_column_count: true,
    max_record_size: maximumRecordBytes,
  };
}

/**
 * Yields the records below the header, and closes the input at the end.
 *
 * @param first the bytes that were read already, without byte order mark
 * @throws TableError for a bad row if `badRows` is `error`. A record over 1 MiB, a quote that is never closed and one that has
 * swallowed lines are always errors, because csv-parse cannot go on after their line
 */
export async function* readFields(
  shape: TableShape,
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
  items: ItemTest,
  onBadRow: BadRowListener,
): AsyncGenerator<FieldChunk> {
  const parser = new CollectingParser(shape.dialect);
  const chunker = new Chunker(shape, items, onBadRow);
  try {
    for (let bytes: Uint8Array | undefined = first; bytes !== undefined; ) {
      const error = await parser.parse(bytes);
      const chunk = chunker.take(parser.takeRecords());
      if (error) throw chunker.errorFor(error, parser.info.comment_lines);
      yield* pieces(chunk, shape);
      const next = await rest.next();
      bytes = next.done ? undefined : Buffer.from(next.value);
    }
    const error = await parser.finish();
    const chunk = chunker.take(parser.takeRecords());
    if (error) throw chunker.errorFor(error, parser.info.comment_lines);
    yield* pieces(chunk, shape);
  } finally {
    parser.destroy();
    await rest.return?.();
  }
}

/**
 * Yields a chunk in pieces that are small enough to render. They are smaller than elsewhere: here each padded field is
 * an object.
 */
function* pieces(
  { values, otherValues = [], notUtf8, records }: FieldChunk,
  shape: TableShape,
): Generator<FieldChunk> {
  const rows = Math.ceil(rowsAtATime(shape) / 16);
  for (let from = 0; from < records.length; from += rows) {
    yield {
      values: values.slice(from, from + rows),
      otherValues: otherValues.map((others) => others.slice(from, from + rows)),
      notUtf8: from === 0 ? notUtf8 : 0,
      records: records.slice(from, from + rows),
    };
  }
}

/** csv-parse that collects the records of a write, instead of streaming them one by one. */
class CollectingParser extends Parser {
  #records: ParsedRecord[] = [];

  constructor(dialect: Dialect) {
    super({ ...parserOptions(dialect), raw: true });
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
  /** Bytes of the record with its line ending, a binary string. */
  readonly raw: string;
  /** Number of comment lines before the record. */
  readonly commentsBefore: number;
}

/** Makes chunks of parsed records, counts lines, and finds rows with too many or too few fields. */
class Chunker {
  readonly #shape: TableShape;
  readonly #items: ItemTest;
  readonly #onBadRow: BadRowListener;
  /** 1 while the header is still to come, then 0. */
  #toSkip: number;
  /** Line on which the next record starts, from 1, without comment lines, which csv-parse counts. */
  #line: number;

  constructor(shape: TableShape, items: ItemTest, onBadRow: BadRowListener) {
    this.#shape = shape;
    this.#items = items;
    this.#onBadRow = onBadRow;
    this.#toSkip = Number(shape.hasHeader);
    this.#line = shape.firstLine;
  }

  /** Returns the records below the header as a chunk, and reports bad rows. */
  take(parsed: readonly ParsedRecord[]): FieldChunk {
    const records: string[][] = [];
    const values: (string | undefined)[] = [];
    const { column, otherColumns, badRows } = this.#shape;
    let notUtf8 = 0;
    for (const { fields, raw, commentsBefore } of parsed) {
      this.#checkQuotes(fields, raw, this.#line + commentsBefore);
      const line = this.#line + commentsBefore;
      const fault = this.#findFault(fields, line) ?? this.#findStray(fields, raw, line);
      const surplus = fields.slice(this.#shape.width);
      if (surplus.length > 0 && surplus.every((field) => field === "")) fields.length = this.#shape.width;
      if (fault !== undefined) {
        const record = csvWriter(this.#shape.dialect, undefined, 0).write([fields], [copiedUnchanged]);
        if (badRows === "error" || this.#toSkip > 0) throw fault.toError(record);
        this.#onBadRow(fault, record);
      }
      this.#line += 1 + fields.reduce((sum, field) => sum + lineEndings(field), 0);
      if (this.#toSkip > 0) {
        this.#toSkip--;
        continue;
      }
      if (fault !== undefined && badRows === "skip") continue;
      records.push(fields);
      values.push(fault === undefined ? itemText(fields[column] ?? "") : undefined);
      if (fault === undefined && ![column, ...otherColumns].every((i) => isUtf8Text(fields[i] ?? "")))
        notUtf8++;
    }
    const otherValues = otherColumns.map((other) =>
      records.map((fields, row) => (values[row] === undefined ? undefined : itemText(fields[other] ?? ""))),
    );
    return { values, otherValues, notUtf8, records };
  }

  /** @throws TableError for a record with a quote that has swallowed lines */
  #checkQuotes(fields: readonly string[], raw: string, line: number): void {
    if (!fields.some((field) => /[\r\n]/.test(field))) return;
    const record = this.#recordOf(raw);
    const quote = findSwallowingQuote(this.#shape, this.#items, record, 0, record.length);
    if (quote === undefined) return;
    throw swallows(this.#shape, line + lineEndings(record.subarray(0, quote.at)), quote).toError(record);
  }

  #findFault(fields: readonly string[], line: number): RowFault | undefined {
    const { width, ragged, isWidthSure } = this.#shape;
    const { length } = fields;
    if (fields.slice(width).some((field) => field !== "")) return tooWide(this.#shape, line, length);
    const isHeader = this.#toSkip > 0;
    if (length < width && !isHeader && ragged === "error") return tooNarrow(this.#shape, line, length);
    const isBlank = length === 1 && fields[0] === "";
    if (!isWidthSure || isHeader || length === width || isBlank) return undefined;
    return findStep(this.#shape, this.#items, line, length, (field) => itemText(fields[field] ?? ""));
  }

  #findStray(fields: readonly string[], raw: string, line: number): RowFault | undefined {
    const { column, dialect, width } = this.#shape;
    const mayBeStray =
      fields.length === width && this.#toSkip === 0 && fields[column]!.includes(dialect.quote);
    if (!mayBeStray || dialect.quote === "") return undefined;
    const record = this.#recordOf(raw);
    const [from, to] = boundsIn(this.#shape, record, 0, record.length).slice(2 * column);
    return findStray(this.#shape, this.#items, line, record.toString("latin1", from, to));
  }

  /** Returns a record without its line ending and the comments before it. */
  #recordOf(raw: string): Buffer {
    const { comment } = this.#shape.dialect;
    let text = raw.replace(/(?:\r\n|\r|\n)$/, "");
    while (comment !== null && text.startsWith(comment)) text = text.replace(/^.*(?:\r\n|\r|\n)?/, "");
    return Buffer.from(text, "latin1");
  }

  /** Returns the error of this table for one of csv-parse. */
  errorFor(error: Error, comments: number): Error {
    const { code, column } = error as { code?: string; column?: number };
    const line = this.#line + comments;
    if (code === "CSV_QUOTE_NOT_CLOSED") return neverClosed(this.#shape, line, Number(column) + 1).toError();
    if (code === "CSV_MAX_RECORD_SIZE") return tooLong(this.#shape, line).toError();
    return error;
  }
}
