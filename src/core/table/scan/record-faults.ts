/** Finds records that a quote left open has swallowed, and other faults, in the records of a chunk. */
import { lineFeed } from "../../ascii.js";
import type { RowFault } from "../bad-rows.js";
import { itemText } from "../bytes.js";
import { emptyTail, unquote } from "../quotes.js";
import { longRecordBytes, maximumRecordBytes, type TableShape, tooLong, tooNarrow, tooWide } from "../records.js";
import type { ItemTest } from "../sniff/item-profile.js";
import { findStep, findStray, findSwallowingQuote, mayHaveSwallowed } from "./broken-rows.js";
import { boundsIn } from "./scan-shape.js";
import { Offset, recordWords, type ScannedRecords } from "./scanner.js";

/** Number of records after a bad row among which the header of another table is looked for. */
const mostBelow = 3;

export const nextRecords = (at: Int32Array, word: number): readonly Int32Array[] =>
  Array.from({ length: mostBelow }, (_, n) =>
    at.subarray(word + (n + 1) * recordWords, word + (n + 2) * recordWords),
  ).filter(({ length }) => length > 0);

export function findFault(
  shape: TableShape,
  items: ItemTest,
  bytes: Buffer,
  record: Int32Array,
  { firstLine, isHeader = false }: { readonly firstLine: number; readonly isHeader?: boolean },
): RowFault | undefined {
  const { dialect, width, ragged, isWidthSure } = shape;
  const line = firstLine + record[Offset.linesBefore]!;
  const fields = record[Offset.fields]!;
  const start = record[Offset.start]!;
  const end = record[Offset.end]!;
  if (fields > width && emptyTail(bytes, end, fields - width, dialect) === undefined) {
    return tooWide(shape, line, fields);
  }
  const isShort = fields > 0 && fields < width && !isHeader;
  if (isShort && ragged === "error") return tooNarrow(shape, line, fields);
  if (record[Offset.next]! - start > maximumRecordBytes) return tooLong(shape, line);
  if (isHeader || fields === 0 || start === end) return undefined;
  if (fields === width) {
    const field = bytes.toString("latin1", record[Offset.valueStart]!, record[Offset.valueEnd]!);
    return findStray(shape, items, line, field);
  }
  if (!isWidthSure) return undefined;
  const bounds = boundsIn(shape, bytes, start, end);
  return findStep(shape, items, line, fields, (field) => {
    const from = bounds[2 * field];
    const to = bounds[2 * field + 1];
    return from === undefined ? "" : itemText(unquote(bytes.toString("latin1", from, to), dialect));
  });
}

/** Returns true for records that need no check, except for stray quotes. */
export const isUsual = ({ width, ragged }: TableShape, at: Int32Array, word: number): boolean =>
  (at[word + Offset.fields] === width || (ragged === "pad" && at[word] === at[word + Offset.end])) &&
  at[word + Offset.next]! - at[word]! <= maximumRecordBytes;

export function findSwallowing(shape: TableShape, items: ItemTest, bytes: Buffer, scanned: ScannedRecords) {
  const { at, lines, consumed } = scanned;
  const before = (word: number) => {
    const start = at[word] ?? consumed;
    const linesBefore = at[word + Offset.linesBefore] ?? lines;
    return { ...scanned, at: at.subarray(0, word), count: word / recordWords, consumed: start, lines: linesBefore };
  };
  for (let word = lines === scanned.count ? at.length : 0; word < at.length; word += recordWords) {
    const linesBefore = at[word + Offset.linesBefore]!;
    if ((at[word + recordWords + Offset.linesBefore] ?? lines) - linesBefore === 1) continue;
    const start = at[word]!;
    const end = at[word + Offset.end]!;
    const fields = at[word + Offset.fields]!;
    const isLong = at[word + Offset.next]! - start > longRecordBytes;
    if (!isLong && !mayHaveSwallowed(shape, items, bytes, { start, end, fields })) continue;
    const quote = isLong
      ? swallowingInLong(shape, items, bytes, start)
      : findSwallowingQuote(shape, items, bytes, start, end);
    if (quote !== undefined) return { quote, before: before(word) };
  }
  // Of the incomplete record, only the first MiB is checked: more bytes would not change the result.
  if (bytes.length - consumed <= longRecordBytes) return undefined;
  const quote = swallowingInLong(shape, items, bytes, consumed);
  return quote && { quote, before: before(at.length) };
}

function swallowingInLong(shape: TableShape, items: ItemTest, bytes: Buffer, start: number) {
  const end = bytes.subarray(start, start + longRecordBytes).lastIndexOf(lineFeed);
  const quote = end === -1 ? undefined : findSwallowingQuote(shape, items, bytes, start, start + end);
  return quote && { ...quote, lines: Number.POSITIVE_INFINITY };
}

export function isClean(
  { width, ragged, isWidthSure }: TableShape,
  { mostFields, fewestFields, longest, strays }: ScannedRecords,
): boolean {
  const isWide = (ragged === "pad" && !isWidthSure) || fewestFields >= width;
  return strays === 0 && mostFields <= width && isWide && longest <= maximumRecordBytes;
}
