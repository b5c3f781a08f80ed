/** A chunk of scanned records. It does not know statuses or verdicts. */
import { isUtf8Text, itemText, nameText, toBinary } from "../bytes.js";
import type { Dialect } from "../dialect.js";
import { closeOf, quoted, quoteField, unquote } from "../quotes.js";
import { outputDelimiter, rowsAtATime, type TableShape } from "../records.js";
import { boundsIn, scanShape } from "./scan-shape.js";
import { Offset, recordWords, type ScannedRecords, scanRecords } from "./scanner.js";

const noNumbers = new Int32Array(0);

export interface ValueText {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly written: (text: string) => Buffer;
}

export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

/** Scans the bytes of a chunk for another column. */
export type ScanColumn = (column: number) => ScannedRecords | undefined;

export class ScannedChunk {
  readonly count: number;
  readonly #scan: ScanColumn;
  readonly #others = new Map<number, ScannedChunk>();

  /** `line` of the table, from 1, is that from which {@link Offset.linesBefore} counts; 1 until it is known. */
  constructor(
    protected readonly shape: TableShape,
    readonly bytes: Buffer,
    readonly at: Int32Array,
    public line = 1,
    scan?: ScanColumn,
  ) {
    this.#scan = scan ?? ((column) => this.#scanFor(column));
    this.count = at.length / recordWords;
  }

  slice(from: number, to?: number): ScannedChunk {
    const at = this.at.subarray(from * recordWords, to === undefined ? undefined : to * recordWords);
    return this.withBytes(this.bytes, at);
  }

  /** Yields the same records in chunks that are small enough to render; at least one chunk, even without records. */
  *pieces(): Generator<ScannedChunk> {
    const rows = rowsAtATime(this.shape);
    if (this.count <= rows) yield this;
    else for (let from = 0; from < this.count; from += rows) yield this.slice(from, from + rows);
  }

  value(row: number): string {
    return itemText(this.#unquoted(row));
  }

  isUtf8(row: number): boolean {
    const word = row * recordWords;
    const end = this.at[word + Offset.valueEnd]!;
    let at = this.at[word + Offset.valueStart]!;
    while (at < end && this.bytes[at]! < 0x80) at++;
    return at === end || isUtf8Text(this.#unquoted(row));
  }

  rawValue(row: number): Uint8Array {
    const word = row * recordWords;
    return this.bytes.subarray(this.at[word + Offset.valueStart], this.at[word + Offset.valueEnd]);
  }

  /** Whether a value, without the quotes of the table around it, has a byte for which `marks` has 1. */
  holdsAny(row: number, marks: Uint8Array): boolean {
    const { bytes } = this;
    const word = row * recordWords;
    let at = this.at[word + Offset.valueStart]!;
    let end = this.at[word + Offset.valueEnd]!;
    const quote = this.shape.json ? 0x22 : this.shape.dialect.quote.charCodeAt(0);
    if (end - at > 1 && bytes[at] === quote && bytes[end - 1] === quote) {
      at++;
      end--;
    }
    while (at < end && marks[bytes[at]!] === 0) at++;
    return at < end;
  }

  binaryValue(row: number): string {
    const word = row * recordWords;
    return this.bytes.toString("latin1", this.at[word + Offset.valueStart], this.at[word + Offset.valueEnd]);
  }

  #unquoted(row: number): string {
    return unquote(this.binaryValue(row), this.shape.dialect);
  }

  texts(row: number): readonly ValueText[] {
    const word = row * recordWords;
    const start = this.at[word + Offset.valueStart]!;
    const end = this.at[word + Offset.valueEnd]!;
    const { dialect } = this.shape;
    const raw = this.binaryValue(row);
    const isQuoted = dialect.quote !== "" && raw.startsWith(dialect.quote) && closeOf(raw, dialect) === raw.length;
    const own = isQuoted ? unquote(raw, dialect) : raw;
    const isUtf8 = isUtf8Text(own);
    const binaryOf = (text: string) => (isUtf8 ? toBinary(text) : text);
    const written = (text: string) => {
      const field = binaryOf(text);
      return Buffer.from(isQuoted ? quoted(field, dialect) : plain(field, own, dialect), "latin1");
    };
    return [{ text: isUtf8 ? itemText(own) : own, start, end, written }];
  }

  /** Returns the same records with some of their bytes replaced. `replacements` are in the order of the bytes. */
  replace(replacements: readonly Replacement[]): ScannedChunk {
    const pieces: Uint8Array[] = [];
    let from = 0;
    for (const { start, end, bytes } of replacements) {
      pieces.push(this.bytes.subarray(from, start), bytes);
      from = end;
    }
    const bytes = Buffer.concat([...pieces, this.bytes.subarray(from)]);
    const at = this.at.slice();
    const moved = new Moved(replacements);
    for (let word = 0; word < at.length; word += recordWords) this.move(at, word, moved);
    return this.withBytes(bytes, at);
  }

  protected move(at: Int32Array, word: number, moved: Moved): void {
    for (const offset of [Offset.start, Offset.valueStart, Offset.valueEnd, Offset.end, Offset.next])
      at[word + offset] = moved.to(at[word + offset]!);
  }

  protected withBytes(bytes: Buffer, at: Int32Array): ScannedChunk {
    return new ScannedChunk(this.shape, bytes, at, this.line);
  }

  lineOf(row: number): number {
    return this.line + this.at[row * recordWords + Offset.linesBefore]!;
  }

  boundsOf(row: number): readonly number[] {
    const word = row * recordWords;
    const start = this.at[word + Offset.start]!;
    const end = this.at[word + Offset.end]!;
    return boundsIn(this.shape, this.bytes, start, end).slice(0, 2 * this.at[word + Offset.fields]!);
  }

  /** Any field, as it is shown. */
  field(row: number, column: number): string {
    return this.withColumn(column).shownValue(row);
  }

  /** As in {@link nameText}: no address is looked for in it. */
  protected shownValue(row: number): string {
    return nameText(this.#unquoted(row));
  }

  /** Returns the fields of several columns; empty where the column is undefined. */
  fields(row: number, columns: readonly (number | undefined)[]): readonly string[] {
    return columns.map((column) => (column === undefined ? "" : this.field(row, column)));
  }

  /** Returns the same records with another field as the value; empty where a record does not have it. */
  withColumn(column: number): ScannedChunk {
    let other = column === this.shape.column ? this : this.#others.get(column);
    if (other === undefined) {
      const shape = { ...this.shape, column };
      other = new ScannedChunk(shape, this.bytes, this.#locate(column), this.line);
      this.#others.set(column, other);
    }
    return other;
  }

  #locate(column: number): Int32Array {
    const numbers = this.at.slice();
    const found = this.#scan(column)?.at ?? noNumbers;
    let isSame = found.length === numbers.length;
    for (let word = 0; isSame && word < numbers.length; word += recordWords) {
      isSame = found[word] === numbers[word];
      numbers[word + Offset.valueStart] = found[word + Offset.valueStart]!;
      numbers[word + Offset.valueEnd] = found[word + Offset.valueEnd]!;
    }
    // Bad rows are among the bytes, but not among the records, and may swallow other records.
    for (let row = 0; !isSame && row < this.count; row++) {
      const word = row * recordWords;
      const end = numbers[word + Offset.end]!;
      const [from = end, to = end] = this.boundsOf(row).slice(2 * column, 2 * column + 2);
      numbers[word + Offset.valueStart] = from;
      numbers[word + Offset.valueEnd] = to;
    }
    return numbers;
  }

  /** One scan for the column takes a third of the time of a scan per record. */
  #scanFor(column: number): ScannedRecords {
    const from = this.at[0] ?? 0;
    const to = this.at[(this.count - 1) * recordWords + Offset.next] ?? 0;
    return scanRecords(this.bytes.subarray(0, to), { ...scanShape(this.shape), column }, true, { from });
  }

  isRow(row: number): boolean {
    return this.at[row * recordWords + Offset.fields] !== 0;
  }
}

/** Where bytes are after replacements. Fast for positions that mostly ascend. */
export class Moved {
  #next = 0;
  #shift = 0;

  constructor(private readonly replacements: readonly Replacement[]) {}

  to(position: number): number {
    const sizeOf = ({ start, end, bytes }: Replacement) => bytes.length - (end - start);
    for (let next = this.replacements[this.#next]; next !== undefined && next.end <= position; ) {
      this.#shift += sizeOf(next);
      next = this.replacements[++this.#next];
    }
    for (let last = this.replacements[this.#next - 1]; last !== undefined && last.end > position; ) {
      this.#shift -= sizeOf(last);
      last = this.replacements[--this.#next - 1];
    }
    return position + this.#shift;
  }
}

function plain(field: string, before: string, dialect: Dialect): string {
  const { quote } = dialect;
  const delimiter = outputDelimiter(dialect);
  const isNew = (character: string) => field.includes(character) && !before.includes(character);
  const needsQuotes =
    isNew(delimiter) ||
    (quote !== "" && isNew(quote)) ||
    (quote !== "" && field.startsWith(quote) && !before.startsWith(quote));
  return needsQuotes ? quoteField(field, delimiter, dialect) : field;
}
