import type { BadRowListener, RowFault } from "./bad-rows.js";
import { type Block, blocksOf } from "./blocks.js";
import { itemText, toBinary } from "./bytes.js";
import {
  maximumRecordBytes,
  neverClosed,
  outputDelimiter,
  type RecordChunk,
  type RecordStream,
  rowsAtATime,
  startTable,
  type TableShape,
  tooLong,
  tooNarrow,
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
  /** All the chunks, for whoever does not make them of the blocks. */
  readonly chunks: AsyncIterable<ScannedChunk>;
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
  onBadRow: BadRowListener,
): Promise<RecordStream & { readonly scanned: ScannedTable }> {
  const assembler = new ChunkAssembler(shape, onBadRow);
  let chunk = assembler.assemble(first, shape.skipped);
  while (chunk.count < shape.skipped && !assembler.isAtEnd) {
    const read = await rest.next();
    chunk = assembler.assemble(read.done ? undefined : read.value, shape.skipped);
  }
  const head = chunk.slice(0, shape.skipped);
  const below = chunk.slice(shape.skipped);
  const blocks = blocksOf(rest);
  const chunks = chunksOf(below, blocks, assembler);
  return {
    start: (columns) => startTable(shape, columns, (names) => head.append(names)),
    chunks,
    scanned: { shape, first: below, blocks, assembler, chunks },
  };
}

async function* chunksOf(
  first: ScannedChunk,
  blocks: AsyncIterable<Block>,
  assembler: ChunkAssembler,
): AsyncGenerator<ScannedChunk> {
  yield* first.pieces();
  for await (const { bytes } of blocks) yield* assembler.assemble(bytes).pieces();
  yield* assembler.assemble(undefined).pieces();
}

/** Cuts blocks of bytes into records, wherever they are cut, and finds what is no record of the table. */
class ChunkAssembler {
  /** Whether the end of the table was assembled. */
  isAtEnd = false;
  readonly #shape: TableShape;
  readonly #onBadRow: BadRowListener;
  #pending: Buffer = Buffer.of();
  /** How many records were found. */
  #records = 0;
  /** That of the next record, from 1. */
  #line = 1;
  /** The next bytes belong to a line that is too long to wait for its end. */
  #isInLongLine = false;

  constructor(shape: TableShape, onBadRow: BadRowListener) {
    this.#shape = shape;
    this.#onBadRow = onBadRow;
  }

  /** Whether the next block starts with a record. */
  get isAligned(): boolean {
    return this.#pending.length === 0 && !this.#isInLongLine;
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
    if (block === undefined) this.isAtEnd = true;
    else this.#pending = Buffer.concat([this.#pending, block]);
    const bytes = this.#pending;
    const found: Int32Array[] = [];
    const line = this.#line;
    let from = this.#isInLongLine ? this.#passLongLine(bytes, 0, found) : 0;
    for (;;) {
      const scanned = scanRecords(bytes, scanShape(this.#shape), this.isAtEnd, { from });
      if (this.#records + scanned.count < atLeast && !this.isAtEnd) {
        const fault = this.#findBroken(scanned, bytes.length);
        if (fault !== undefined) throw fault.toError();
        return new ScannedChunk(this.#shape, bytes, noRecords);
      }
      found.push(addLines(this.#withoutBadRows(bytes, scanned), this.#line - line));
      this.#records += scanned.count;
      this.#line += scanned.lines;
      from = scanned.consumed;
      const fault = this.#findBroken(scanned, bytes.length);
      if (fault === undefined) break;
      // What the quote or the length has swallowed is read again: only the first line is lost.
      const end = this.#passLongLine(bytes, from, found);
      this.#reportBadRow(fault, bytes.subarray(from, end), this.#records);
      from = end;
    }
    this.#pending = bytes.subarray(from);
    return new ScannedChunk(this.#shape, bytes, concatRecords(found), line);
  }

  /** Why the record that the scanner stopped at will never be one; undefined when it may. */
  #findBroken({ consumed, openField, isQuoteOpen }: ScannedRecords, length: number): RowFault | undefined {
    if (length - consumed > maximumRecordBytes) return tooLong(this.#shape, this.#line);
    if (!this.isAtEnd || !isQuoteOpen) return undefined;
    return neverClosed(this.#shape, this.#line, openField + 1);
  }

  /** Goes over the rest of a line that is no record, and keeps it if it is to be kept; says where it ends. */
  #passLongLine(bytes: Buffer, from: number, found: Int32Array[]): number {
    const end = lineEndFrom(bytes, from, this.isAtEnd);
    this.#isInLongLine = end === undefined;
    if (!this.#isInLongLine) this.#line++;
    const next = end ?? bytes.length;
    if (this.#shape.badRows === "keep") found.push(Int32Array.of(from, next, next, next, next, 0, 0));
    return next;
  }

  /** The records, without those that are bad or with these as they are, as the user wants it. */
  #withoutBadRows(bytes: Buffer, scanned: ScannedRecords): Int32Array {
    if (isClean(this.#shape, scanned)) return scanned.at;
    const at = scanned.at;
    let kept = 0;
    for (let word = 0; word < at.length; word += recordWords) {
      const record = at.subarray(word, word + recordWords);
      const index = this.#records + word / recordWords;
      const fault = this.#findFault(record, index);
      if (fault !== undefined) {
        this.#reportBadRow(fault, bytes.subarray(record[Place.start], record[Place.end]), index);
        if (this.#shape.badRows === "skip") continue;
        record[Place.fields] = 0;
      }
      at.set(record, kept);
      kept += recordWords;
    }
    return at.subarray(0, kept);
  }

  #findFault(record: Int32Array, index: number): RowFault | undefined {
    const { width, ragged, skipped } = this.#shape;
    const line = this.#line + record[Place.linesBefore]!;
    const fields = record[Place.fields]!;
    if (fields > width) return tooWide(this.#shape, line, fields);
    const isShort = fields > 0 && fields < width && index >= skipped;
    if (isShort && ragged === "error") return tooNarrow(this.#shape, line, fields);
    return record[Place.next]! - record[Place.start]! > maximumRecordBytes
      ? tooLong(this.#shape, line)
      : undefined;
  }

  #reportBadRow(fault: RowFault, record: Uint8Array, index: number): void {
    if (this.#shape.badRows === "error" || index < this.#shape.skipped) throw fault.toError();
    this.#onBadRow(fault, record.subarray(0, maximumRecordBytes));
  }
}

const noRecords = new Int32Array(0);
const [lf, cr] = [0x0a, 0x0d];

/** The index behind the first line end; undefined when it is not there. */
function lineEndFrom(bytes: Uint8Array, from: number, isEnd: boolean): number | undefined {
  let end = from;
  while (end < bytes.length && bytes[end] !== lf && bytes[end] !== cr) end++;
  // A CR at the end may be half of a CRLF.
  if (end === bytes.length || (bytes[end] === cr && end + 1 === bytes.length)) {
    return isEnd ? bytes.length : undefined;
  }
  return end + (bytes[end] === cr && bytes[end + 1] === lf ? 2 : 1);
}

/** Makes the lines count from so many before. */
function addLines(at: Int32Array, lines: number): Int32Array {
  for (let word = Place.linesBefore; lines > 0 && word < at.length; word += recordWords) at[word]! += lines;
  return at;
}

function concatRecords([first = noRecords, ...others]: readonly Int32Array[]): Int32Array {
  if (others.length === 0) return first;
  const all = new Int32Array(others.reduce((length, part) => length + part.length, first.length));
  let length = 0;
  for (const part of [first, ...others]) {
    all.set(part, length);
    length += part.length;
  }
  return all;
}

/** Whether the records are as the table's should be. */
function isClean(
  { width, ragged }: TableShape,
  { mostFields, fewestFields, longest }: ScannedRecords,
): boolean {
  const isWide = ragged === "pad" || fewestFields >= width;
  return mostFields <= width && isWide && longest <= maximumRecordBytes;
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
  const scanned = scanRecords(bytes, scanShape(shape), true, memory && { memory });
  const { at, consumed, lines } = scanned;
  const last = at.length - recordWords;
  const endsLine = last >= 0 && at[last + Place.end] !== at[last + Place.next];
  const isLarge = scanned.count > rowsAtATime(shape);
  if (consumed !== bytes.length || !endsLine || isLarge || !isClean(shape, scanned)) return undefined;
  return { chunk: new ScannedChunk(shape, bytes, at), lines };
}

function scanShape({ dialect, column }: TableShape) {
  const { delimiter, quote, comment } = dialect;
  const codeOf = (character: string | null) => character?.charCodeAt(0);
  return { delimiter: codeOf(delimiter), quote: codeOf(quote), column, comment: codeOf(comment) };
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
  /** That of its first byte, from 1, in the table; 1 where that is not known. */
  readonly line: number;

  constructor(shape: TableShape, bytes: Buffer, at: Int32Array, line = 1) {
    this.line = line;
    this.#shape = shape;
    this.bytes = bytes;
    this.at = at;
    this.count = at.length / recordWords;
  }

  /** Some of the records, over the same bytes. */
  slice(from: number, to?: number): ScannedChunk {
    const at = this.at.subarray(from * recordWords, to === undefined ? undefined : to * recordWords);
    return new ScannedChunk(this.#shape, this.bytes, at, this.line);
  }

  /** The same records in chunks that can be written without taking too much memory; at least one. */
  *pieces(): Generator<ScannedChunk> {
    const rows = rowsAtATime(this.#shape);
    if (this.count <= rows) yield this;
    else for (let from = 0; from < this.count; from += rows) yield this.slice(from, from + rows);
  }

  /** The field of a record that holds the item, as text. */
  value(row: number): string {
    const word = row * recordWords;
    const [start, end] = [this.at[word + Place.valueStart]!, this.at[word + Place.valueEnd]!];
    return itemText(unquote(this.bytes.toString("latin1", start, end)));
  }

  get values(): readonly (string | undefined)[] {
    return Array.from({ length: this.count }, (_, row) => (this.isRow(row) ? this.value(row) : undefined));
  }

  /** Whether it is a row of the table rather than a comment or a bad row that is kept. */
  isRow(row: number): boolean {
    return this.at[row * recordWords + Place.fields] !== 0;
  }

  append(added: readonly (readonly string[] | undefined)[]): Buffer {
    const rows = Uint32Array.from(added, (_, row) => row);
    const tails = added.map((fields) => tailOf(this.#shape, fields ?? []));
    return keepRecords(this.write(tails, rows), (row) => added[row] !== undefined);
  }

  /**
   * The records as they are written: each with the tail of ours that `choice` names, the short ones padded; what is
   * no row as it is.
   *
   * @param tails from {@link tailOf}
   * @param choice for each row the index of its tail
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
      const fields = at[row * recordWords + Place.fields]!;
      if (fields > 0) length += tails[choice[row]!]!.length + width - fields;
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
      if (at[word + Place.fields] === 0) {
        position += bytes.copy(output, position, at[word], next);
        ends[row] = position;
        continue;
      }
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

/** The records that are kept, in place, without the others. */
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

/** A copy of the records that are wanted. */
export function copyRecords({ bytes, ends }: WrittenRecords, isWanted: (row: number) => boolean): Buffer {
  const copy = { bytes: Buffer.from(bytes), ends };
  return keepRecords(copy, isWanted);
}

/** The lines of a plain list that would not be read as one field of a table, by their index, quoted. */
function quotedLines(chunk: ScannedChunk): ReadonlyMap<number, Buffer> {
  const { bytes, at, count } = chunk;
  const lines = new Map<number, Buffer>();
  if (!bytes.includes(comma)) return lines;
  for (let row = 0; row < count; row++) {
    if (!chunk.isRow(row)) continue;
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
