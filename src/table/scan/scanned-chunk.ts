/** A chunk of scanned records, and how they are rendered with added fields. It does not know statuses or verdicts. */
import { isUtf8Text, itemText, toBinary } from "../bytes.js";
import { emptyTail, quoteField, unquote, usualMarks } from "../quotes.js";
import {
  beforeField,
  emptyField,
  outputDelimiter,
  type RecordChunk,
  rowsAtATime,
  type TableShape,
} from "../records.js";
import type { Dialect } from "../sniff/dialect.js";
import { boundsIn, scanShape } from "./scan-shape.js";
import { Place, recordWords, type ScannedRecords, scanRecords } from "./scanner.js";

const noNumbers = new Int32Array(0);

/** Rendered records, one after the other. */
export interface WrittenRecords {
  readonly bytes: Buffer;
  /** Index after each record's last byte. */
  readonly ends: Int32Array;
}

/** Memory for rendered records. */
export interface WriteMemory {
  readonly output: Buffer;
  readonly ends: Int32Array;
}

/** Consecutive records of a table, as places in their bytes. */
export class ScannedChunk implements RecordChunk {
  readonly #shape: TableShape;
  readonly bytes: Buffer;
  /** Numbers of the scanner, `recordWords` for each record; see {@link Place}. */
  readonly at: Int32Array;
  readonly count: number;
  readonly #scan: (column: number) => ScannedRecords | undefined;
  /** The same records with another field as the value, by its column. */
  readonly #others = new Map<number, ScannedChunk>();
  /** Line of the table, from 1, from which {@link Place.linesBefore} counts; 1 if not known. */
  readonly line: number;

  /** @param scan scans the bytes again for another column, if there is a faster way than the usual one */
  constructor(
    shape: TableShape,
    bytes: Buffer,
    at: Int32Array,
    line = 1,
    scan?: (column: number) => ScannedRecords | undefined,
  ) {
    this.line = line;
    this.#scan = scan ?? ((column) => this.#scanFor(column));
    this.#shape = shape;
    this.bytes = bytes;
    this.at = at;
    this.count = at.length / recordWords;
  }

  /** Returns some of the records, over the same bytes. */
  slice(from: number, to?: number): ScannedChunk {
    const at = this.at.subarray(from * recordWords, to === undefined ? undefined : to * recordWords);
    return new ScannedChunk(this.#shape, this.bytes, at, this.line);
  }

  /** Yields the same records in chunks that are small enough to render; at least one, even without records. */
  *pieces(mostRows = Number.POSITIVE_INFINITY): Generator<ScannedChunk> {
    const rows = Math.min(mostRows, rowsAtATime(this.#shape));
    if (this.count <= rows) yield this;
    else for (let from = 0; from < this.count; from += rows) yield this.slice(from, from + rows);
  }

  /** Returns the field of a record that holds the item, as text. */
  value(row: number): string {
    return itemText(this.#binaryValue(row));
  }

  /** Returns whether the field of a record that holds the item is UTF-8. */
  isUtf8(row: number): boolean {
    const word = row * recordWords;
    const end = this.at[word + Place.valueEnd]!;
    let at = this.at[word + Place.valueStart]!;
    while (at < end && this.bytes[at]! < 0x80) at++;
    return at === end || isUtf8Text(this.#binaryValue(row));
  }

  #binaryValue(row: number): string {
    const word = row * recordWords;
    const [start, end] = [this.at[word + Place.valueStart]!, this.at[word + Place.valueEnd]!];
    return unquote(this.bytes.toString("latin1", start, end), this.#shape.dialect);
  }

  get values(): readonly (string | undefined)[] {
    return Array.from({ length: this.count }, (_, row) => (this.isRow(row) ? this.value(row) : undefined));
  }

  get notUtf8(): number {
    let count = 0;
    for (let row = 0; row < this.count; row++) if (this.isRow(row) && !this.isUtf8(row)) count++;
    return count;
  }

  lineOf(row: number): number {
    return this.line + this.at[row * recordWords + Place.linesBefore]!;
  }

  /** Returns the start and the end of each field of a record, quotes included. */
  boundsOf(row: number): readonly number[] {
    const word = row * recordWords;
    const [start, end] = [this.at[word + Place.start]!, this.at[word + Place.end]!];
    return boundsIn(this.#shape, this.bytes, start, end).slice(0, 2 * this.at[word + Place.fields]!);
  }

  field(row: number, column: number): string {
    return this.withColumn(column).value(row);
  }

  /** Returns the same records with another field as the value; empty where a record does not have it. */
  withColumn(column: number): ScannedChunk {
    let other = column === this.#shape.column ? this : this.#others.get(column);
    if (other === undefined) {
      const shape = { ...this.#shape, column };
      other = new ScannedChunk(shape, this.bytes, this.#locate(column), this.line);
      this.#others.set(column, other);
    }
    return other;
  }

  /** Returns the numbers of the records, with the places of another field. */
  #locate(column: number): Int32Array {
    const numbers = this.at.slice();
    const found = this.#scan(column)?.at ?? noNumbers;
    let isSame = found.length === numbers.length;
    for (let word = 0; isSame && word < numbers.length; word += recordWords) {
      isSame = found[word] === numbers[word];
      numbers[word + Place.valueStart] = found[word + Place.valueStart]!;
      numbers[word + Place.valueEnd] = found[word + Place.valueEnd]!;
    }
    // Bad rows are among the bytes, but not among the records, and may swallow others.
    for (let row = 0; !isSame && row < this.count; row++) {
      const word = row * recordWords;
      const end = numbers[word + Place.end]!;
      const [from = end, to = end] = this.boundsOf(row).slice(2 * column, 2 * column + 2);
      numbers[word + Place.valueStart] = from;
      numbers[word + Place.valueEnd] = to;
    }
    return numbers;
  }

  /** One scan for the column takes a third of the time of one for each record. */
  #scanFor(column: number): ScannedRecords {
    const [from, to] = [this.at[0] ?? 0, this.at[(this.count - 1) * recordWords + Place.next] ?? 0];
    return scanRecords(this.bytes.subarray(0, to), { ...scanShape(this.#shape), column }, true, { from });
  }

  /** Returns whether a record is a row, rather than a comment or a bad row that is kept. */
  isRow(row: number): boolean {
    return this.at[row * recordWords + Place.fields] !== 0;
  }

  append(added: readonly (readonly string[] | undefined)[]): Buffer {
    // Callers pass the same list for all rows with the same fields: each tail is rendered once.
    const indices = new Map([...new Set(added)].map((fields, index) => [fields, index]));
    const tails = [...indices.keys()].map((fields) => tailOf(this.#shape, fields ?? []));
    const choice = Uint32Array.from(added, (fields) => indices.get(fields)!);
    return keepRecords(this.write(tails, choice), (row) => added[row] !== undefined);
  }

  /**
   * Renders the records: pads each row and appends its tail. Records that are not rows are copied unchanged. A record without
   * a tail is left out.
   *
   * @param tails added fields, from {@link tailOf}
   * @param choice for each record the index of its tail
   * @param memory where the records are put; if it is too small, they are put in new memory
   */
  write(
    tails: readonly (Uint8Array | undefined)[],
    choice: Uint8Array | Uint32Array,
    memory?: WriteMemory,
  ): WrittenRecords {
    const { bytes, at, count } = this;
    const { dialect, width } = this.#shape;
    const lineEnding = Buffer.from(dialect.lineEnding);
    const padding = Buffer.from(emptyField(dialect));
    const last = (count - 1) * recordWords;
    let length = lineEnding.length + (count === 0 ? 0 : at[last + Place.next]! - at[Place.start]!);
    for (let row = 0; row < count; row++) {
      const fields = at[row * recordWords + Place.fields]!;
      if (fields > 0) length += (tails[choice[row]!]?.length ?? 0) + padding.length * (width - fields);
    }
    const lines = dialect.delimiter === null ? quotedLines(this, dialect) : undefined;
    if (lines) for (const line of lines.values()) length += line.length;
    const isLarge = memory && memory.output.length >= length && memory.ends.length >= count;
    const output = isLarge ? memory.output : Buffer.allocUnsafeSlow(length);
    const ends = isLarge ? memory.ends : new Int32Array(count);
    let position = 0;
    for (let row = 0, word = 0; row < count; row++, word += recordWords) {
      const end = at[word + Place.end]!;
      const next = at[word + Place.next]!;
      const tail = tails[choice[row]!];
      if (tail === undefined) {
        ends[row] = position;
        continue;
      }
      if (at[word + Place.fields] === 0) {
        position += bytes.copy(output, position, at[word], next);
        ends[row] = position;
        continue;
      }
      const line = lines?.get(row);
      const fields = at[word + Place.fields]!;
      // A row with more fields than the table ends with empty ones, which are left out.
      const kept = fields > width ? emptyTail(bytes, end, fields - width, dialect)! : end;
      position += line?.copy(output, position) ?? bytes.copy(output, position, at[word]!, kept);
      for (let field = fields; field < width; field++)
        position = put(output, position, padding, 0, padding.length);
      position = put(output, position, tail, 0, tail.length);
      if (end === next) position = put(output, position, lineEnding, 0, lineEnding.length);
      else position = put(output, position, bytes, end, next);
      ends[row] = position;
    }
    return { bytes: output.subarray(0, position), ends: ends.subarray(0, count) };
  }
}

/**
 * Copies a few bytes and returns the position behind them. The position is not a variable that a closure changes: the compiler of
 * Node.js 26.10 (V8 14.6, Maglev) then lost the last changes, and rows were cut in the wrong places.
 */
function put(output: Uint8Array, position: number, from: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end; i++) output[position + i - start] = from[i]!;
  return position + end - start;
}

/** Renders the added fields of a row, each with the delimiter before it. */
export function tailOf({ dialect }: TableShape, fields: readonly string[]): Uint8Array {
  const [before, delimiter] = [beforeField(dialect), outputDelimiter(dialect)];
  const tail = fields.map((field) => before + quoteField(toBinary(field), delimiter, dialect)).join("");
  return Buffer.from(tail, "latin1");
}

/** Returns the records that are kept. Moves them together in place: the rendered bytes cannot be used afterwards. */
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

/** Returns a copy of the wanted records. */
export function copyRecords({ bytes, ends }: WrittenRecords, isWanted: (row: number) => boolean): Buffer {
  const copy = { bytes: Buffer.from(bytes), ends };
  return keepRecords(copy, isWanted);
}

/**
 * Returns the lines of a plain list that have to be quoted to be one field of a table, quoted, by the index of the
 * record.
 */
function quotedLines(chunk: ScannedChunk, dialect: Dialect): ReadonlyMap<number, Buffer> {
  const { bytes, at, count } = chunk;
  const lines = new Map<number, Buffer>();
  if (!bytes.includes(comma)) return lines;
  for (let row = 0; row < count; row++) {
    if (!chunk.isRow(row)) continue;
    const [start, end] = [at[row * recordWords]!, at[row * recordWords + Place.end]!];
    const line = bytes.toString("latin1", start, end);
    const quoted = quoteField(unquote(line, dialect), comma, dialect.quote === "" ? usualMarks : dialect);
    if (line.includes(comma) && line !== quoted) lines.set(row, Buffer.from(quoted, "latin1"));
  }
  return lines;
}

/** Delimiter of the table that a plain list becomes. */
const comma = ",";
