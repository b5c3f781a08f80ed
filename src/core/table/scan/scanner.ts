// Finds the records of a table in its bytes. Must not know about blocks, headers, widths or bad rows: see
// chunk-assembler.ts. Decodes and copies nothing: seven numbers per record cause no garbage collection.
// The grammar is that of csv-parse with `relax_quotes`, the reference in the tests: RFC 4180; LF, CRLF and CR end a
// record; a quote is special only at the start of a field; text after a closing quote makes the field plain text; a
// comment is a whole line. Only csv-parse, if `#` starts comments, ignores the rest of a line that starts with `""#`.
// Scanning stops at the first record that more bytes could change, at `consumed`; no state is kept between calls.
// To keep: records must not depend on cuts. The last byte may be half of a CRLF or of a doubled quote, so a record that
// it would end is not complete until the next byte is known or the table ends.
// To keep: records must be those of csv-parse (test/table/records.test.ts). Lines in quoted fields count, a CRLF once.
// To keep: the inner loop must not allocate. The array doubles, so it is not always the one that was passed.
import { carriageReturn, lineFeed, space } from "../../ascii.js";

export interface ScanShape {
  readonly delimiter: number | undefined;
  readonly column: number;
  /** `"` by default; NaN if fields are never quoted. */
  readonly quote?: number | undefined;
  /** Byte that escapes a quote, and itself, inside a quoted field; undefined if quotes are doubled. */
  readonly escape?: number | undefined;
  readonly skipsSpaces?: boolean;
  readonly comment?: number | undefined;
}

/** Numbers per record in {@link ScannedRecords.at}, and their offsets: indices into the bytes, but for the last two. */
export const recordWords = 7;

export const Offset = {
  start: 0,
  end: 1,
  /** Index after the line ending; equal to `end` if the last record has none. */
  next: 2,
  /** Range of the wanted field with its quotes; both are `end` if the record does not have that field. */
  valueStart: 3,
  valueEnd: 4,
  /** 0 for a comment. Another positive number for a JSON object: see json-objects.ts. */
  fields: 5,
  linesBefore: 6,
} as const;

export interface ScannedRecords {
  readonly at: Int32Array;
  readonly count: number;
  readonly mostFields: number;
  readonly fewestFields: number;
  readonly longest: number;
  /** Number of records whose wanted field has a quote, but is not just a quoted field. */
  readonly strays: number;
  readonly consumed: number;
  readonly lines: number;
  readonly openField: number;
  readonly isQuoteOpen: boolean;
}

interface ScanOptions {
  readonly from?: number;
  readonly memory?: Int32Array | undefined;
  readonly bounds?: number[];
  readonly most?: number;
}

/** With `isEnd`, the last record needs no line ending. `bounds` gets start and end of every field, quotes included. */
export function scanRecords(
  bytes: Uint8Array,
  { delimiter, column, quote = 0x22, escape: escaping, skipsSpaces, comment }: ScanShape,
  isEnd: boolean,
  { from = 0, memory, bounds, most = Number.POSITIVE_INFINITY }: ScanOptions = {},
): ScannedRecords {
  const { length } = bytes;
  // Bytes that end an unquoted field: 1 for the delimiter, 2 for line endings.
  const classes = new Uint8Array(256);
  classes[lineFeed] = 2;
  classes[carriageReturn] = 2;
  if (delimiter !== undefined) classes[delimiter] = 1;
  let at = memory ?? new Int32Array(recordWords * (16 + (bytes.length >> 6)));
  let word = 0;
  let lines = 0;
  let start = from;
  let openField = 0;
  let isQuoteOpen = false;
  let mostFields = 0;
  let fewestFields = Number.POSITIVE_INFINITY;
  let longest = 0;
  let strays = 0;
  const mostWords = most * recordWords;
  while (start < length && word < mostWords) {
    const linesBefore = lines;
    const straysBefore = strays;
    let valueStart = -1;
    let valueEnd = -1;
    let field = 0;
    let p = start;
    const isComment = bytes[start] === comment;
    while (isComment && p < length && bytes[p] !== lineFeed && bytes[p] !== carriageReturn) p++;
    while (!isComment) {
      if (skipsSpaces) {
        while (p < length && bytes[p] === space) p++;
        // Where spaces are the delimiter, spaces at the end of a record are not a field.
        const isAtEnd = p >= length || classes[bytes[p]!] === 2;
        if (delimiter === space && isAtEnd && field > 0) {
          field--;
          break;
        }
      }
      const fieldStart = p;
      let closed = p;
      if (p < length && bytes[p] === quote) {
        isQuoteOpen = true;
        p++;
        while (p < length) {
          const byte = bytes[p++];
          if (byte === escaping) {
            if (bytes[p] === quote || bytes[p] === escaping) p++;
          } else if (byte === quote) {
            if (escaping !== undefined || bytes[p] !== quote) {
              isQuoteOpen = false;
              closed = p;
              break;
            }
            p++;
          } else if (byte === lineFeed || (byte === carriageReturn && bytes[p] !== lineFeed)) lines++;
        }
      }
      while (p < length && classes[bytes[p]!] === 0) p++;
      bounds?.push(fieldStart, p);
      if (field === column) {
        valueStart = fieldStart;
        valueEnd = p;
        if (isStray(bytes, fieldStart, closed, p, quote)) strays++;
      }
      if (p >= length || classes[bytes[p]!] !== 1) break;
      field++;
      p++;
    }
    const next = p + (bytes[p] === carriageReturn && bytes[p + 1] === lineFeed ? 2 : p < length ? 1 : 0);
    const isComplete = isEnd
      ? !isQuoteOpen
      : p < length && !(bytes[p] === carriageReturn && next === length && p + 1 === next);
    if (!isComplete) {
      lines = linesBefore;
      strays = straysBefore;
      openField = field;
      break;
    }
    if (word === at.length) {
      const larger = new Int32Array(2 * at.length);
      larger.set(at);
      at = larger;
    }
    at[word] = start;
    at[word + 1] = p;
    at[word + 2] = next;
    at[word + 3] = valueStart === -1 ? p : valueStart;
    at[word + 4] = valueStart === -1 ? p : valueEnd;
    const fields = isComment ? 0 : field + 1;
    at[word + 5] = fields;
    at[word + 6] = linesBefore;
    word += recordWords;
    if (fields > mostFields) mostFields = fields;
    if (fields < fewestFields && !isComment) fewestFields = fields;
    if (next - start > longest) longest = next - start;
    lines++;
    start = next;
  }
  const count = word / recordWords;
  const found = { at: at.subarray(0, word), count, mostFields, fewestFields, longest, strays };
  return { ...found, consumed: start, lines, openField, isQuoteOpen };
}

/** Returns true for a quote that is not around the field. `closed` is the index after the closing quote. */
function isStray(bytes: Uint8Array, start: number, closed: number, end: number, quote: number): boolean {
  if (closed > start) return closed < end;
  for (let p = start; p < end; p++) if (bytes[p] === quote) return true;
  return false;
}
