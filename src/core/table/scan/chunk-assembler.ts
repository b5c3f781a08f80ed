// Turns blocks, wherever they are cut, into chunks of complete records, and finds the bad rows. Must not know where
// blocks come from, what items are, or which thread it is in.
// The incomplete record at the end of a block stays pending until a later one completes it; up to the header, all
// records do. The totals of the scanner usually show that no record is bad; otherwise each is checked. A kept bad row
// has 0 fields, as a comment, and is written without a status.
// A record over 64 MiB, or with a quote that is still open at the end, may have swallowed good rows: it is given up to
// the end of its first line only; one with a swallowing quote (broken-rows.ts), to the end of the line of the quote. Of
// a record over 1 MiB, the whole lines of its first MiB are checked. After such a quote, few records are scanned at
// first: otherwise the time would grow with the square of their number.
// A worker scans its block with `scanAlone`, as if it started with a record. If nothing is pending (`isAligned`), it
// was right, and `skip` counts the lines of the block; if not, or if it refused the block, the block is assembled.
// To keep: each block goes to either `assemble` or `skip`, in input order; `assemble(undefined)` ends the table.
// To keep: rows and reports must not depend on cuts, or on the way of a block. So `scanAlone` must refuse all blocks
// with records that `assemble` would report or change; both ask `isClean`.
// To keep: all code that passes over bytes advances `#line`, or messages name wrong lines. Blocks are valid only until
// the next is requested: chunks of `assemble` must not refer to them.
import { carriageReturn, lineFeed } from "../../ascii.js";
import type { BadRowListener, RowFault } from "../bad-rows.js";
import { lineEndings } from "../bytes.js";
import { isFrame, locationOf } from "../json/marks.js";
import { unquote } from "../quotes.js";
import type { TableShape } from "../records.js";
import { longRecordBytes, maximumRecordBytes, neverClosed, rowsAtATime, swallows, tooLong } from "../records.js";
import type { ItemTest } from "../sniff/item-profile.js";
import { otherHeader } from "../sniff/second-header.js";
import type { SwallowingQuote } from "./broken-rows.js";
import { findFault, findSwallowing, isClean, isUsual, nextRecords } from "./record-faults.js";
import { boundsIn, scanShape } from "./scan-shape.js";
import { type ScanColumn, ScannedChunk } from "./scanned-chunk.js";
import { Offset, recordWords, type ScannedRecords, scanRecords } from "./scanner.js";

export class ChunkAssembler {
  isAtEnd = false;
  #pending: Buffer = Buffer.of();
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #records = 0;
  #line: number;
  #isInLongLine = false;

  constructor(
    private readonly shape: TableShape,
    private readonly items: ItemTest,
    private readonly onBadRow: BadRowListener,
  ) {
    this.#line = shape.firstLine;
  }

  get isAligned(): boolean {
    return this.#pending.length === 0 && !this.#isInLongLine;
  }

  get line(): number {
    return this.#line;
  }

  /** Counts the lines of a block that went through {@link scanAlone}. Call this only while {@link isAligned}. */
  skip(lines: number): void {
    this.#line += lines;
  }

  // Copies `block`; undefined ends the table. Waits for `atLeast` records, unless the table ends. `isBeforePause`: all
  // complete records are wanted now. Throws a TableError for a bad row if `badRows` is `error`, or in the header.
  assemble(block: Uint8Array | undefined, atLeast = 0, isBeforePause = false): ScannedChunk {
    if (block === undefined) this.isAtEnd = true;
    else if (this.#waits(block, isBeforePause)) return new ScannedChunk(this.shape, Buffer.of(), noRecords);
    const bytes = Buffer.concat([this.#pending, ...this.#waiting, block ?? Buffer.of()]);
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#pending = bytes;
    const found: Int32Array[] = [];
    const line = this.#line;
    let from = this.#isInLongLine ? this.#passLongLine(bytes, 0, found) : 0;
    for (let most = Number.POSITIVE_INFINITY; ; most *= 2) {
      const memory = most < bytes.length ? new Int32Array(recordWords * most) : undefined;
      const all = scanRecords(bytes, scanShape(this.shape), this.isAtEnd, { from, most, memory });
      const swallowing = findSwallowing(this.shape, this.items, bytes, all);
      const scanned = swallowing?.before ?? all;
      if (swallowing === undefined && this.#records + scanned.count < atLeast && !this.isAtEnd) {
        const fault = this.#findBroken(scanned, bytes);
        if (fault !== undefined) throw fault.toError();
        return new ScannedChunk(this.shape, bytes, noRecords);
      }
      found.push(addLines(this.#withoutBadRows(bytes, scanned), this.#line - line));
      this.#records += scanned.count;
      this.#line += scanned.lines;
      from = scanned.consumed;
      if (swallowing !== undefined) {
        from = this.#giveUp(bytes, from, swallowing.quote, found);
        most = 1;
        continue;
      }
      if (scanned.count === most) continue;
      const fault = this.#findBroken(scanned, bytes);
      if (fault === undefined) break;
      const end = this.#passLongLine(bytes, from, found);
      this.#reportBadRow(fault, bytes.subarray(from, end), this.#records);
      from = end;
    }
    this.#pending = bytes.subarray(from);
    return new ScannedChunk(this.shape, bytes, concatRecords(found), line);
  }

  /** Scanning a long record again for each block would take quadratic time, so its length has to double first. */
  #waits(block: Uint8Array, isBeforePause: boolean): boolean {
    const length = this.#pending.length;
    const bytes = this.#waitingBytes + block.length;
    if (length <= longRecordBytes || isBeforePause || bytes >= Math.min(length, maximumRecordBytes - length))
      return false;
    this.#waiting.push(Buffer.from(block));
    this.#waitingBytes = bytes;
    return true;
  }

  #giveUp(bytes: Buffer, from: number, quote: SwallowingQuote, found: Int32Array[]): number {
    const end = lineEndFrom(bytes, quote.at, true)!;
    const before = lineEndings(bytes.subarray(from, quote.at));
    const fault = swallows(this.shape, this.#line + before, quote);
    this.#reportBadRow(fault, bytes.subarray(from, end), this.#records);
    if (this.shape.badRows === "keep") found.push(Int32Array.of(from, end, end, end, end, 0, 0));
    this.#line += before + 1;
    return end;
  }

  #findBroken({ consumed, openField, isQuoteOpen }: ScannedRecords, bytes: Buffer): RowFault | undefined {
    if (bytes.length - consumed > maximumRecordBytes) {
      const isMarked = this.shape.json?.isDocument && !isFrame(bytes, consumed);
      return tooLong(this.shape, isMarked ? locationOf(bytes, consumed).line : this.#line);
    }
    if (!this.isAtEnd || !isQuoteOpen) return undefined;
    return neverClosed(this.shape, this.#line, openField + 1);
  }

  #passLongLine(bytes: Buffer, from: number, found: Int32Array[]): number {
    const end = lineEndFrom(bytes, from, this.isAtEnd);
    this.#isInLongLine = end === undefined;
    if (!this.#isInLongLine) this.#line++;
    const next = end ?? bytes.length;
    if (this.shape.badRows === "keep") found.push(Int32Array.of(from, next, next, next, next, 0, 0));
    return next;
  }

  #withoutBadRows(bytes: Buffer, scanned: ScannedRecords): Int32Array {
    if (isClean(this.shape, scanned)) return scanned.at;
    const at = scanned.at;
    let length = 0;
    for (let word = 0; word < at.length; word += recordWords) {
      const record = at.subarray(word, word + recordWords);
      const index = this.#records + word / recordWords;
      const isOdd = record[Offset.fields] !== this.shape.width;
      if (index > 0 && isOdd) this.#checkHeader(bytes, record);
      const isHeader = this.shape.hasHeader && index === 0;
      const fault = findFault(this.shape, this.items, bytes, record, { firstLine: this.#line, isHeader });
      if (fault !== undefined) {
        // A title above another table is a bad row, too.
        if (isOdd) for (const next of nextRecords(at, word)) this.#checkHeader(bytes, next);
        this.#reportBadRow(fault, bytes.subarray(record[Offset.start], record[Offset.end]), index);
        if (this.shape.badRows === "skip") continue;
        record[Offset.fields] = 0;
      }
      at.set(record, length);
      length += recordWords;
    }
    return at.subarray(0, length);
  }

  #reportBadRow(fault: RowFault, record: Uint8Array, index: number): void {
    if (this.shape.badRows === "error" || (this.shape.hasHeader && index === 0)) throw fault.toError(record);
    this.onBadRow(fault, record.subarray(0, maximumRecordBytes));
  }

  /** @throws ChoiceError for the header of another table, which may make the rows around it bad */
  #checkHeader(bytes: Buffer, record: Int32Array): void {
    const { name, dialect, header, takesHeaders } = this.shape;
    if (takesHeaders) return;
    const start = record[Offset.start]!;
    const end = record[Offset.end]!;
    const fields = record[Offset.fields]!;
    if (fields === 0 || end - start > longestHeader || dialect.delimiter === null) return;
    const bounds = boundsIn(this.shape, bytes, start, end);
    const names = Array.from({ length: fields }, (_, field) =>
      unquote(bytes.toString("latin1", bounds[2 * field], bounds[2 * field + 1]), dialect),
    );
    if (this.items.isHeader(names, header))
      throw otherHeader(name, { line: this.#line + record[Offset.linesBefore]!, fields: names });
  }
}

const longestHeader = 16_384;
const noRecords = new Int32Array(0);

function lineEndFrom(bytes: Uint8Array, from: number, isEnd: boolean): number | undefined {
  let end = from;
  while (end < bytes.length && bytes[end] !== lineFeed && bytes[end] !== carriageReturn) end++;
  if (end === bytes.length || (bytes[end] === carriageReturn && end + 1 === bytes.length)) {
    return isEnd ? bytes.length : undefined;
  }
  return end + (bytes[end] === carriageReturn && bytes[end + 1] === lineFeed ? 2 : 1);
}

function addLines(at: Int32Array, lines: number): Int32Array {
  for (let word = Offset.linesBefore; lines > 0 && word < at.length; word += recordWords) at[word]! += lines;
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

/**
 * Works in any thread. The block must start with a record (see `isAligned`), and its memory is used. `items` is
 * undefined for one scanned before, without bad rows. Returns undefined if the assembler must take it: its end is not a
 * line ending, a row may be bad, or rows are too many to render at once.
 */
export function scanAlone(
  shape: TableShape,
  bytes: Buffer,
  { scan, line = 1, items }: { readonly scan?: ScanColumn; readonly line?: number; readonly items?: ItemTest } = {},
): { readonly chunk: ScannedChunk; readonly lines: number } | undefined {
  const scanned = scan ? scan(shape.column) : scanRecords(bytes, scanShape(shape), true);
  if (scanned === undefined) return undefined;
  const { at, consumed, lines, mostFields } = scanned;
  const last = at.length - recordWords;
  const endsLine = last >= 0 && at[last + Offset.end] !== at[last + Offset.next];
  const isLarge = scanned.count > rowsAtATime(shape);
  if (consumed !== bytes.length || !endsLine || isLarge || mostFields > shape.width) return undefined;
  if (items !== undefined) {
    if (findSwallowing(shape, items, bytes, scanned) !== undefined) return undefined;
    for (let word = isClean(shape, scanned) ? at.length : 0; word < at.length; word += recordWords) {
      if (scanned.strays === 0 && isUsual(shape, at, word)) continue;
      const record = at.subarray(word, word + recordWords);
      if (findFault(shape, items, bytes, record, { firstLine: line }) !== undefined) return undefined;
    }
  }
  return { chunk: new ScannedChunk(shape, bytes, at, line, scan), lines };
}
