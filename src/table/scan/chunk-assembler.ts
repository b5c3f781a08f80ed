import type { BadRowListener, RowFault } from "../bad-rows.js";
import {
  maximumRecordBytes,
  neverClosed,
  rowsAtATime,
  type TableShape,
  tooLong,
  tooNarrow,
  tooWide,
} from "../records.js";
import { ScannedChunk } from "./scanned-chunk.js";
import { Place, recordWords, type ScannedRecords, scanRecords } from "./scanner.js";

/** Cuts blocks of bytes into records, wherever they are cut, and finds what is no record of the table. */
export class ChunkAssembler {
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
