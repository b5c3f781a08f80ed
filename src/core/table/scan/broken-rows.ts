// Distinguishes broken rows from odd ones: a quote without its partner swallows rows; a delimiter too many or too few
// moves the item. Both are valid in RFC 4180: only the rows around reveal the fault. Must not know how rows are read.
import { carriageReturn, lineFeed } from "../../ascii.js";
import type { RowFault } from "../bad-rows.js";
import { itemText } from "../bytes.js";
import type { Marks } from "../dialect.js";
import { closeOf, unquote } from "../quotes.js";
import { outOfStep, strayQuote, type TableShape } from "../records.js";
import { anySign, type ItemTest, isSign } from "../sniff/item-profile.js";
import { boundsIn } from "./scan-shape.js";

/** `at` is its index, `column` counts from 1; `lines` follow the one on which it opens, infinity if over 1 MiB. */
export interface SwallowingQuote {
  readonly at: number;
  readonly column: number;
  readonly lines: number;
}

type FieldAt = (field: number) => string;

const lineBreak = /\r\n|\n|\r/;

/** Most lines with items in a field of a table with one column: people write a few addresses into a cell. */
const mostLinesWithItems = 5;

/**
 * A quote has swallowed lines if text follows its closing quote; one of its lines is a row with an item in its column;
 * or, in a table with one column, many lines hold items. Undefined if the line breaks are intended.
 */
export function findSwallowingQuote(shape: TableShape, items: ItemTest, bytes: Buffer, start: number, end: number) {
  const { dialect, trustsQuotes } = shape;
  if (trustsQuotes || dialect.quote === "") return undefined;
  const quoteCode = dialect.quote.charCodeAt(0);
  const bounds = boundsIn(shape, bytes, start, end);
  for (let field = 0; field < bounds.length; field += 2) {
    const from = bounds[field]!;
    const to = bounds[field + 1]!;
    if (bytes[from] !== quoteCode) continue;
    const text = bytes.toString("latin1", from, to);
    const lines = text.split(lineBreak);
    if (lines.length === 1) continue;
    const isBroken = isSwallowing(text, dialect);
    if (!isBroken && shape.width > 1 && holdsItemsOnly(items, trimmed(text, dialect.quote))) continue;
    // Without the lines that are cut off. The last line is whole if nothing follows the closing quote.
    const whole = lines.slice(1, to === end ? undefined : -1).map((line) => trimmed(line, dialect.quote));
    const index = field / 2;
    const textAt = (_: unknown, nth: number) => bytes.toString("latin1", bounds[2 * nth], bounds[2 * nth + 1]);
    const fields = Array.from({ length: bounds.length / 2 }, textAt);
    const first = fieldsIn(shape, lines[0]!);
    const last = fieldsIn(shape, lines.at(-1)!);
    // As text, the quote is in a row with an item after it; or the last line is a row, and the first holds an item.
    const isFirst = first.length > 1 && isRow(shape, items, [...fields.slice(0, index), ...first]);
    const isLast = last.length > 1 && isRow(shape, items, [...last, ...fields.slice(index + 1)]);
    const areRows = (isFirst && (shape.column >= index || isLast)) || (isLast && items.holds(itemText(lines[0]!)));
    if (isBroken || holdsRows(shape, items, whole) || areRows) {
      return { at: from, column: index + 1, lines: lines.length - 1 };
    }
  }
  return undefined;
}

/** False only if `findSwallowingQuote`, which takes microseconds a record, certainly finds nothing. */
export function mayHaveSwallowed(
  { dialect, width, column, trustsQuotes }: TableShape,
  { signs }: ItemTest,
  bytes: Uint8Array,
  { start, end, fields }: { readonly start: number; readonly end: number; readonly fields: number },
): boolean {
  if (trustsQuotes || dialect.quote === "") return false;
  if (width === 1 || dialect.delimiter === null || dialect.skipsSpaces) return true;
  const delimiter = dialect.delimiter.charCodeAt(0);
  const quoteMark = dialect.quote.charCodeAt(0);
  const escaping = dialect.escape === dialect.quote ? undefined : dialect.escape.charCodeAt(0);
  const marks = { delimiter, quote: quoteMark, escaping, signs: fields > width ? anySign : signs };
  const lines = new QuotedLines(bytes, marks);
  for (let p = start, index = 0; p < end; p++, index++) {
    if (bytes[p] !== quoteMark) {
      while (p < end && bytes[p] !== delimiter) p++;
      continue;
    }
    p = lines.read(p + 1, end, index, width - 1);
    const { first, last } = lines;
    if (first !== -1) {
      if (lines.isWide || (p < end && bytes[p] !== delimiter)) return true;
      const isLast = last + fields - index - 1 === width - 1 || (p >= end && last === width - 1);
      if (isLast && (lines.hasFirstSign || lines.hasSign)) return true;
      if (first === width - 1 && column >= index && lines.hasFirstSign) return true;
    }
    while (p < end && bytes[p] !== delimiter) p++;
  }
  return false;
}

interface ByteMarks {
  readonly delimiter: number;
  readonly quote: number;
  readonly escaping: number | undefined;
  readonly signs: Uint8Array;
}

class QuotedLines {
  first = -1;
  last = 0;
  isWide = false;
  hasFirstSign = false;
  hasSign = false;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly marks: ByteMarks,
  ) {}

  // `from` is after the opening quote; `before` counts the delimiters before it. Returns more than `end` if unclosed.
  read(from: number, end: number, before: number, usual: number): number {
    const bytes = this.bytes;
    const { delimiter, quote, escaping, signs } = this.marks;
    this.first = -1;
    this.last = before;
    this.isWide = false;
    this.hasSign = false;
    let p = from;
    for (; p < end; p++) {
      const byte = bytes[p]!;
      if (signs[byte] !== 0) this.hasSign ||= isSign(signs, byte, bytes[p + 1]!);
      if (byte === escaping) p += Number(bytes[p + 1] === quote || bytes[p + 1] === byte);
      else if (byte === delimiter) this.last++;
      else if (byte === lineFeed || (byte === carriageReturn && bytes[p + 1] !== lineFeed)) this.#endLine(usual);
      else if (byte === quote) {
        if (escaping !== undefined || bytes[p + 1] !== byte) break;
        p++;
      }
    }
    return p + 1;
  }

  #endLine(usual: number): void {
    if (this.first === -1) {
      this.first = this.last;
      this.hasFirstSign = this.hasSign;
    } else if (this.last === usual && this.hasSign) this.isWide = true;
    this.last = 0;
    this.hasSign = false;
  }
}

export const isSwallowing = (field: string, marks: Marks): boolean =>
  marks.quote !== "" && field.startsWith(marks.quote) && lineBreak.test(field) && closeOf(field, marks) < field.length;

function trimmed(line: string, quote: string): string {
  let [from, to] = [0, line.length];
  while (from < to && line[from] === quote) from++;
  while (to > from && line[to - 1] === quote) to--;
  return line.slice(from, to);
}

function holdsRows(shape: TableShape, items: ItemTest, lines: readonly string[]): boolean {
  if (shape.width === 1) return lines.filter((line) => items.isItem(itemText(line))).length > mostLinesWithItems;
  return lines.some((line) => isRow(shape, items, fieldsIn(shape, line)));
}

function fieldsIn({ dialect: { delimiter, skipsSpaces } }: TableShape, line: string): readonly string[] {
  if (delimiter === null) return [line];
  return delimiter === " " && skipsSpaces ? line.trim().split(/ +/) : line.split(delimiter);
}

function holdsItemsOnly(items: ItemTest, field: string): boolean {
  const parts = field.split(/["\s,;|]+/).filter((part) => part !== "");
  return parts.length > 0 && parts.every((part) => items.isItem(itemText(part)));
}

const isRow = ({ width, column }: TableShape, items: ItemTest, fields: readonly string[]): boolean =>
  fields.length === width && items.isItem(itemText(fields[column] ?? ""));

/** Finds something else in the item's field; or an empty one, and an item in a column where no other row has one. */
export function findStep(shape: TableShape, items: ItemTest, line: number, fields: number, fieldAt: FieldAt) {
  const { column, otherColumns, itemColumns } = shape;
  let holdsNone = true;
  for (const wanted of [column, ...otherColumns]) {
    const text = fieldAt(wanted);
    if (items.isNone(text)) continue;
    if (!items.isItem(text) || items.isGlued(text))
      return outOfStep(shape, line, fields, fieldWithItem(shape, items, fields, fieldAt));
    holdsNone = false;
  }
  if (!holdsNone) return undefined;
  const field = fieldWithItem(shape, items, fields, fieldAt);
  return field === undefined || itemColumns.includes(field) ? undefined : outOfStep(shape, line, fields, field);
}

/** The row may have the right number of fields by chance: a stray quote can put another field beside the item. */
export function findStray(shape: TableShape, items: ItemTest, line: number, field: string): RowFault | undefined {
  const { dialect, width, trustsQuotes } = shape;
  const { quote } = dialect;
  if (width === 1 || trustsQuotes || quote === "") return undefined;
  const isStray = field.startsWith(quote) ? closeOf(field, dialect) < field.length : field.includes(quote);
  if (!isStray) return undefined;
  const text = itemText(unquote(field, dialect));
  return items.isItem(text) || !items.holds(text) ? undefined : strayQuote(shape, line);
}

function fieldWithItem({ itemColumns }: TableShape, items: ItemTest, fields: number, fieldAt: FieldAt) {
  const found = Array.from({ length: fields }, (_, field) => field).filter((field) => items.holds(fieldAt(field)));
  return found.find((field) => !itemColumns.includes(field)) ?? found[0];
}
