import { itemText, toBinary } from "./bytes.js";
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
import { Place, recordWords, type ScannedRecords, scanRecords, unquote } from "./scanner.js";

/**
 * The fast way: records are found by the scanner and come out with the very bytes they had, with ours behind them.
 * Only a line of a plain list that holds a comma is quoted, because ours would not be its second field otherwise.
 *
 * @param first the bytes that are read already, without byte order mark
 * @throws TableError when the header cannot be read
 */
export async function readScanned(
  shape: TableShape,
  first: Buffer,
  rest: AsyncIterator<Uint8Array>,
): Promise<RecordStream> {
  const blocks = new Blocks(shape, first, rest);
  const block = await blocks.next(shape.skipped);
  const head = block && new ScannedChunk(shape, block, 0, Math.min(shape.skipped, block.count));
  return {
    start: (columns) => startTable(shape, columns, (names) => head?.append(names) ?? Buffer.of()),
    chunks: chunksOf(shape, blocks, block, rest),
  };
}

async function* chunksOf(
  shape: TableShape,
  blocks: Blocks,
  first: Block | undefined,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<RecordChunk> {
  try {
    if (first) yield new ScannedChunk(shape, first, shape.skipped, first.count);
    for (let block = await blocks.next(); block; block = await blocks.next()) {
      yield new ScannedChunk(shape, block, 0, block.count);
    }
  } finally {
    await rest.return?.();
  }
}

interface Block extends ScannedRecords {
  readonly bytes: Buffer;
}

/** Cuts the input into blocks of complete records, and refuses what is no record of the table. */
class Blocks {
  readonly #shape: TableShape;
  readonly #rest: AsyncIterator<Uint8Array>;
  #pending: Buffer;
  #line = 1;
  #isStarted = false;
  #isEnd = false;

  constructor(shape: TableShape, first: Buffer, rest: AsyncIterator<Uint8Array>) {
    this.#shape = shape;
    this.#rest = rest;
    this.#pending = first;
  }

  /** The next block, with at least so many records unless the input ends; undefined behind the last. */
  async next(atLeast = 0): Promise<Block | undefined> {
    while (!this.#isEnd) {
      if (this.#isStarted) await this.#read();
      this.#isStarted = true;
      const bytes = this.#pending;
      const scanned = scanRecords(bytes, scanShape(this.#shape), this.#isEnd);
      this.#check(scanned, bytes.length);
      if (scanned.count < atLeast && !this.#isEnd) continue;
      this.#pending = bytes.subarray(scanned.consumed);
      this.#line += scanned.lines;
      return { ...scanned, bytes };
    }
    return undefined;
  }

  async #read(): Promise<void> {
    const read = await this.#rest.next();
    if (read.done) this.#isEnd = true;
    else this.#pending = Buffer.concat([this.#pending, read.value]);
  }

  #check(scanned: ScannedRecords, length: number): void {
    const { count, at, consumed, lines, openField, isQuoteOpen } = scanned;
    for (let word = 0; word < count * recordWords; word += recordWords) {
      const line = this.#line + at[word + Place.linesBefore]!;
      const fields = at[word + Place.fields]!;
      if (fields > this.#shape.width) throw tooWide(this.#shape, line, fields);
      if (at[word + Place.next]! - at[word]! > maximumRecordBytes) throw tooLong(this.#shape, line);
    }
    if (length - consumed > maximumRecordBytes) throw tooLong(this.#shape, this.#line + lines);
    if (this.#isEnd && isQuoteOpen) throw neverClosed(this.#shape, this.#line + lines, openField + 1);
  }
}

function scanShape({ dialect, column }: TableShape) {
  return { delimiter: dialect.delimiter?.charCodeAt(0), column };
}

/** Some of the records of a block. */
class ScannedChunk implements RecordChunk {
  readonly #shape: TableShape;
  readonly #block: Block;
  readonly #from: number;
  readonly #to: number;

  constructor(shape: TableShape, block: Block, from: number, to: number) {
    this.#shape = shape;
    this.#block = block;
    this.#from = from * recordWords;
    this.#to = to * recordWords;
  }

  get values(): readonly string[] {
    const { bytes, at } = this.#block;
    const values: string[] = [];
    for (let word = this.#from; word < this.#to; word += recordWords) {
      const field = bytes.toString("latin1", at[word + Place.valueStart]!, at[word + Place.valueEnd]!);
      values.push(itemText(unquote(field)));
    }
    return values;
  }

  append(added: readonly (readonly string[] | undefined)[]): Buffer {
    const { bytes, at } = this.#block;
    const { dialect, width } = this.#shape;
    const delimiter = outputDelimiter(dialect);
    const parts: Part[] = [];
    let length = 0;
    for (let word = this.#from, row = 0; word < this.#to; word += recordWords, row++) {
      const fields = added[row];
      if (fields === undefined) continue;
      const [start, end, next] = [at[word]!, at[word + Place.end]!, at[word + Place.next]!];
      const padding = delimiter.repeat(width - at[word + Place.fields]!);
      const ours = fields.map((field) => delimiter + quoteField(toBinary(field), delimiter)).join("");
      const lineEnd = end === next ? dialect.lineEnding : "";
      const quoted =
        dialect.delimiter === null ? quotedLine(bytes.toString("latin1", start, end), delimiter) : undefined;
      const part = { start, end, next, quoted, tail: padding + ours, lineEnd };
      length += (quoted?.length ?? end - start) + part.tail.length + lineEnd.length + (next - end);
      parts.push(part);
    }
    const output = Buffer.allocUnsafe(length);
    let position = 0;
    for (const { start, end, next, quoted, tail, lineEnd } of parts) {
      position +=
        quoted === undefined
          ? bytes.copy(output, position, start, end)
          : output.write(quoted, position, "latin1");
      position += output.write(tail + lineEnd, position, "latin1");
      position += bytes.copy(output, position, end, next);
    }
    return output;
  }
}

interface Part {
  readonly start: number;
  readonly end: number;
  readonly next: number;
  readonly quoted: string | undefined;
  readonly tail: string;
  readonly lineEnd: string;
}

/** A line of a plain list as one field of a table, where it would not be read as one; undefined where it would. */
function quotedLine(line: string, delimiter: string): string | undefined {
  const field = unquote(line);
  const quoted = quoteField(field, delimiter);
  return line.includes(delimiter) && line !== quoted ? quoted : undefined;
}

/** RFC 4180 §2.5 to 2.7 */
function quoteField(field: string, delimiter: string): string {
  const needsQuotes = field.includes(delimiter) || /["\r\n]/.test(field);
  return needsQuotes ? `"${field.replaceAll('"', '""')}"` : field;
}
