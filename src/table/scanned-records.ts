import { type Block, blocksOf } from "./blocks.js";
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

/** A table of which the records are found by the scanner, for whoever works on their bytes. */
export interface ScannedTable {
  readonly shape: TableShape;
  /** The records below the header that had to be read to find it. */
  readonly first: ScannedChunk;
  /**
   * The bytes behind them, cut behind line ends: most are, but some may not be, the ends of records. Each is good until
   * the next is asked for.
   */
  readonly blocks: AsyncIterable<Block>;
  /** Makes chunks of the blocks: takes each in turn, and undefined behind the last. */
  readonly assembler: ChunkAssembler;
}

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
  const assembler = new ChunkAssembler(shape);
  let chunk = assembler.assemble(first, shape.skipped);
  while (chunk.count < shape.skipped && !assembler.isAtEnd) {
    const read = await rest.next();
    chunk = assembler.assemble(read.done ? undefined : read.value, shape.skipped);
  }
  const [head, below] = chunk.split(shape.skipped);
  const scanned = { shape, first: below, blocks: blocksOf(rest), assembler };
  return {
    start: (columns) => startTable(shape, columns, (names) => head.append(names)),
    chunks: chunksOf(scanned),
    scanned,
  };
}

async function* chunksOf({ first, blocks, assembler }: ScannedTable): AsyncGenerator<RecordChunk> {
  yield first;
  for await (const { bytes } of blocks) yield assembler.assemble(bytes);
  yield assembler.assemble(undefined);
}

/** Cuts blocks of bytes into records, wherever they are cut, and refuses what is no record of the table. */
class ChunkAssembler {
  /** Whether the end of the table was assembled. */
  isAtEnd = false;
  readonly #shape: TableShape;
  #pending: Buffer = Buffer.of();
  /** That of the next record, from 1. */
  #line = 1;

  constructor(shape: TableShape) {
    this.#shape = shape;
  }

  /** Whether the next block starts with a record. */
  get isAligned(): boolean {
    return this.#pending.length === 0;
  }

  /** Takes note of a block that somebody else has cut into records. */
  skip(lines: number): void {
    this.#line += lines;
  }

  /**
   * The records that are complete with this block; none while they are fewer than `atLeast`, unless the table ends.
   *
   * @param block is copied; undefined for the end of the table
   * @throws TableError
   */
  assemble(block: Uint8Array | undefined, atLeast = 0): ScannedChunk {
    this.#take(block);
    const bytes = this.#pending;
    const scanned = scanRecords(bytes, scanShape(this.#shape), this.isAtEnd);
    this.#check(scanned, bytes.length);
    if (scanned.count < atLeast && !this.isAtEnd) return new ScannedChunk(this.#shape, bytes, noRecords);
    this.#pending = bytes.subarray(scanned.consumed);
    this.#line += scanned.lines;
    return new ScannedChunk(this.#shape, bytes, scanned.at);
  }

  #take(block: Uint8Array | undefined): void {
    if (block === undefined) this.isAtEnd = true;
    else this.#pending = Buffer.concat([this.#pending, block]);
  }

  #check(scanned: ScannedRecords, length: number): void {
    const { at, consumed, lines, openField, isQuoteOpen } = scanned;
    if (!isClean(this.#shape, scanned)) {
      for (let word = 0; word < at.length; word += recordWords) {
        const line = this.#line + at[word + Place.linesBefore]!;
        const fields = at[word + Place.fields]!;
        if (fields > this.#shape.width) throw tooWide(this.#shape, line, fields);
        if (at[word + Place.next]! - at[word]! > maximumRecordBytes) throw tooLong(this.#shape, line);
      }
    }
    if (length - consumed > maximumRecordBytes) throw tooLong(this.#shape, this.#line + lines);
    if (this.isAtEnd && isQuoteOpen) throw neverClosed(this.#shape, this.#line + lines, openField + 1);
  }
}

const noRecords = new Int32Array(0);

/** Whether the records are as the table's should be. */
function isClean(shape: TableShape, { mostFields, longest }: ScannedRecords): boolean {
  return mostFields <= shape.width && longest <= maximumRecordBytes;
}

/**
 * Cuts a block into records that stands alone: it starts with a record, and ends with one.
 *
 * @param memory for the scanner
 * @returns the chunk and how many lines it has; undefined when that cannot be, or a record is not as it should be
 */
export function scanAlone(
  shape: TableShape,
  bytes: Buffer,
  memory?: Int32Array,
): { readonly chunk: ScannedChunk; readonly lines: number } | undefined {
  const scanned = scanRecords(bytes, scanShape(shape), true, memory);
  const { at, consumed, lines } = scanned;
  const last = at.length - recordWords;
  const endsLine = last >= 0 && at[last + Place.end] !== at[last + Place.next];
  if (consumed !== bytes.length || !endsLine || !isClean(shape, scanned)) return undefined;
  return { chunk: new ScannedChunk(shape, bytes, at), lines };
}

function scanShape({ dialect, column }: TableShape) {
  return { delimiter: dialect.delimiter?.charCodeAt(0), column };
}

/** Records that are written out, one behind the other. */
export interface WrittenRecords {
  readonly bytes: Buffer;
  /** Where each record's bytes end. */
  readonly ends: Int32Array;
}

/** Memory for records that are written out. */
export interface WriteMemory {
  readonly output: Buffer;
  readonly ends: Int32Array;
}

/** Some records of a table. */
export class ScannedChunk implements RecordChunk {
  readonly #shape: TableShape;
  readonly bytes: Buffer;
  /** What the scanner says of the records, `recordWords` numbers each. */
  readonly at: Int32Array;
  readonly count: number;

  constructor(shape: TableShape, bytes: Buffer, at: Int32Array) {
    this.#shape = shape;
    this.bytes = bytes;
    this.at = at;
    this.count = at.length / recordWords;
  }

  /** Two chunks: so many records, and the others. */
  split(count: number): readonly [ScannedChunk, ScannedChunk] {
    const middle = count * recordWords;
    return [
      new ScannedChunk(this.#shape, this.bytes, this.at.subarray(0, middle)),
      new ScannedChunk(this.#shape, this.bytes, this.at.subarray(middle)),
    ];
  }

  /** The field of a record that holds the item, as text. */
  value(row: number): string {
    const word = row * recordWords;
    const [start, end] = [this.at[word + Place.valueStart]!, this.at[word + Place.valueEnd]!];
    return itemText(unquote(this.bytes.toString("latin1", start, end)));
  }

  get values(): readonly string[] {
    return Array.from({ length: this.count }, (_, row) => this.value(row));
  }

  append(added: readonly (readonly string[] | undefined)[]): Buffer {
    const rows = Uint32Array.from(added, (_, row) => row);
    const tails = added.map((fields) => tailOf(this.#shape, fields ?? []));
    return keepRecords(this.write(tails, rows), (row) => added[row] !== undefined);
  }

  /**
   * The records as they are written: each with the tail of ours that `choice` names, the short ones padded.
   *
   * @param tails from {@link tailOf}
   * @param choice for each record the index of its tail
   * @param memory where to put them, if it is large enough
   */
  write(
    tails: readonly Uint8Array[],
    choice: Uint8Array | Uint32Array,
    memory?: WriteMemory,
  ): WrittenRecords {
    const { bytes, at, count } = this;
    const { dialect, width } = this.#shape;
    const lineEnding = Buffer.from(dialect.lineEnding);
    const delimiter = outputDelimiter(dialect).charCodeAt(0);
    let length = bytes.length + lineEnding.length;
    for (let row = 0; row < count; row++) {
      length += tails[choice[row]!]!.length + width - at[row * recordWords + Place.fields]!;
    }
    const lines = dialect.delimiter === null ? quotedLines(this) : undefined;
    if (lines) for (const line of lines.values()) length += line.length;
    const isLarge = memory && memory.output.length >= length && memory.ends.length >= count;
    const output = isLarge ? memory.output : Buffer.allocUnsafeSlow(length);
    const ends = isLarge ? memory.ends : new Int32Array(count);
    let position = 0;
    const put = (from: Uint8Array, start: number, end: number) => {
      for (let i = start; i < end; i++) output[position++] = from[i]!;
    };
    for (let row = 0, word = 0; row < count; row++, word += recordWords) {
      const end = at[word + Place.end]!;
      const next = at[word + Place.next]!;
      const line = lines?.get(row);
      position += line?.copy(output, position) ?? bytes.copy(output, position, at[word]!, end);
      for (let field = at[word + Place.fields]!; field < width; field++) output[position++] = delimiter;
      const tail = tails[choice[row]!]!;
      put(tail, 0, tail.length);
      if (end === next) put(lineEnding, 0, lineEnding.length);
      else put(bytes, end, next);
      ends[row] = position;
    }
    return { bytes: output.subarray(0, position), ends: ends.subarray(0, count) };
  }
}

/** What goes behind a record: fields of ours, each with the delimiter before it. */
export function tailOf({ dialect }: TableShape, fields: readonly string[]): Uint8Array {
  const delimiter = outputDelimiter(dialect);
  const tail = fields.map((field) => delimiter + quoteField(toBinary(field), delimiter)).join("");
  return Buffer.from(tail, "latin1");
}

/** The records that are kept, without the others. */
export function keepRecords({ bytes, ends }: WrittenRecords, isKept: (row: number) => boolean): Buffer {
  let length = 0;
  for (let row = 0; row < ends.length; row++) {
    if (!isKept(row)) continue;
    const start = row === 0 ? 0 : ends[row - 1]!;
    if (start !== length) bytes.copyWithin(length, start, ends[row]!);
    length += ends[row]! - start;
  }
  return bytes.subarray(0, length);
}

/** The lines of a plain list that would not be read as one field of a table, by their index, quoted. */
function quotedLines({ bytes, at, count }: ScannedChunk): ReadonlyMap<number, Buffer> {
  const lines = new Map<number, Buffer>();
  if (!bytes.includes(comma)) return lines;
  for (let row = 0; row < count; row++) {
    const [start, end] = [at[row * recordWords]!, at[row * recordWords + Place.end]!];
    const line = bytes.toString("latin1", start, end);
    const quoted = quoteField(unquote(line), comma);
    if (line.includes(comma) && line !== quoted) lines.set(row, Buffer.from(quoted, "latin1"));
  }
  return lines;
}

/** The delimiter of a table that was a plain list. */
const comma = ",";

/** RFC 4180 §2.5 to 2.7 */
function quoteField(field: string, delimiter: string): string {
  const needsQuotes = field.includes(delimiter) || /["\r\n]/.test(field);
  return needsQuotes ? `"${field.replaceAll('"', '""')}"` : field;
}
