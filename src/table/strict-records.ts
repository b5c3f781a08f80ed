import { Parser } from "csv-parse";
import { stringify } from "csv-stringify/sync";
import { itemText, toBinary } from "./bytes.js";
import type { Dialect } from "./dialect.js";
import {
  maximumRecordBytes,
  neverClosed,
  outputDelimiter,
  type RecordChunk,
  type RecordStream,
  startTable,
  type TableShape,
  tooLong,
  tooWide,
} from "./records.js";

/** Stands for no delimiter, which csv-parse does not know: these bytes are in no table. */
const noDelimiter = "\u0000idv\u0000plain\u0000list\u0000";

/**
 * The reference: records read by csv-parse and written by csv-stringify, so that fields are quoted only where they
 * have to be, and all line ends are the table's first.
 *
 * @param head the header and the blank records above it, binary strings; empty when there is no header
 * @param first the bytes that are read already, without byte order mark
 */
export function readStrictly(
  shape: TableShape,
  head: readonly (readonly string[])[],
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): RecordStream {
  return {
    start: (columns) => startTable(shape, columns, (names) => stringifyRecords(shape, head, names)),
    chunks: readRecords(shape, first, rest),
  };
}

function stringifyRecords(
  { dialect, width }: TableShape,
  records: readonly (readonly string[])[],
  added: readonly (readonly string[] | undefined)[],
): Buffer {
  const wider = records.flatMap((record, i) => {
    const ours = added[i];
    if (ours === undefined) return [];
    const padding = Array.from({ length: width - record.length }, () => "");
    return [[...record, ...padding, ...ours.map(toBinary)]];
  });
  const text = stringify(wider, {
    delimiter: outputDelimiter(dialect),
    record_delimiter: dialect.lineEnding,
    // Any line end needs quotes, not only this table's.
    quote_record_delimiter: true,
  });
  return Buffer.from(text, "latin1");
}

async function* readRecords(
  shape: TableShape,
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<RecordChunk> {
  const parser = new CollectingParser(shape.dialect);
  const chunker = new Chunker(shape);
  try {
    for (let bytes: Uint8Array | undefined = first; bytes !== undefined; ) {
      const error = await parser.parse(bytes);
      const chunk = chunker.take(parser.takeRecords());
      if (error) throw chunker.explain(error);
      yield chunk;
      const next = await rest.next();
      bytes = next.done ? undefined : Buffer.from(next.value);
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
  readonly #shape: TableShape;
  #toSkip: number;
  /** The line on which the next record starts, from 1. */
  #line = 1;

  constructor(shape: TableShape) {
    this.#shape = shape;
    this.#toSkip = shape.skipped;
  }

  take(parsed: readonly string[][]): RecordChunk {
    const records: string[][] = [];
    const values: string[] = [];
    const { width, column } = this.#shape;
    for (const fields of parsed) {
      if (fields.length > width) throw tooWide(this.#shape, this.#line, fields.length);
      this.#line += 1 + fields.reduce((sum, field) => sum + lineEndings(field), 0);
      if (this.#toSkip > 0) {
        this.#toSkip--;
        continue;
      }
      records.push(fields);
      values.push(itemText(fields[column] ?? ""));
    }
    return { values, append: (added) => stringifyRecords(this.#shape, records, added) };
  }

  /** What csv-parse's errors mean for this table. */
  explain(error: Error): Error {
    const { code, column } = error as { code?: string; column?: number };
    if (code === "CSV_QUOTE_NOT_CLOSED") return neverClosed(this.#shape, this.#line, Number(column) + 1);
    if (code === "CSV_MAX_RECORD_SIZE") return tooLong(this.#shape, this.#line);
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
