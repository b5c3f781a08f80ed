/**
 * The records of a table, found in its bytes. The grammar is that of csv-parse with relaxed quotes, which is the
 * reference (`--strict`): RFC 4180; LF, CRLF and CR all end a record; a quote is special at the start of a field
 * only, and text behind a closing quote makes the field plain text.
 */

const lf = 0x0a;
const cr = 0x0d;

/** How the bytes are to be read. */
export interface ScanShape {
  /** The delimiter's byte; undefined for a plain list, in which every line is one field. */
  readonly delimiter: number | undefined;
  /** The index, from 0, of the wanted field. */
  readonly column: number;
  /** The byte around fields; NaN when there is none. `"` by default. */
  readonly quote?: number | undefined;
  /** The byte that a line of comment starts with; undefined when there are none. */
  readonly comment?: number | undefined;
}

/** How many numbers stand for a record in {@link ScannedRecords.at}; their order is that of {@link Place}. */
export const recordWords = 7;

/** What the numbers of a record mean, as offsets from its first: indices into the bytes, but for the last two. */
export const Place = {
  start: 0,
  /** Behind the last field. */
  end: 1,
  /** Behind the line end; the same as `end` where the last record has none. */
  next: 2,
  /** The wanted field with its quotes; both are `end` when the record is too short to have it. */
  valueStart: 3,
  valueEnd: 4,
  /** How many fields the record has; 0 for a comment. */
  fields: 5,
  /** How many line ends there are before the record in the scanned bytes. */
  linesBefore: 6,
} as const;

/** The complete records of some bytes. */
export interface ScannedRecords {
  /** `recordWords` numbers for each record. */
  readonly at: Int32Array;
  readonly count: number;
  /** The largest and the smallest number of fields of a record. */
  readonly mostFields: number;
  readonly fewestFields: number;
  /** The length of the longest record, in bytes. */
  readonly longest: number;
  /** Where the last complete record ends. */
  readonly consumed: number;
  /** How many line ends there are before that. */
  readonly lines: number;
  /** The field, from 0, that an incomplete record has come to. */
  readonly openField: number;
  /** Whether that field is quoted and its quote is still open. */
  readonly isQuoteOpen: boolean;
}

/**
 * Finds the records that are complete.
 *
 * @param isEnd whether nothing follows: the last record needs no line end then
 * @param from where the first record starts
 * @param memory for `at`, as far as it suffices
 */
export function scanRecords(
  bytes: Uint8Array,
  { delimiter, column, quote = 0x22, comment }: ScanShape,
  isEnd: boolean,
  { from = 0, memory = new Int32Array(recordWords * (16 + (bytes.length >> 6))) as Int32Array } = {},
): ScannedRecords {
  const { length } = bytes;
  // What ends an unquoted field: 1 for the delimiter, 2 for line ends.
  const classes = new Uint8Array(256);
  classes[lf] = 2;
  classes[cr] = 2;
  if (delimiter !== undefined) classes[delimiter] = 1;
  let at = memory;
  let word = 0;
  let lines = 0;
  let start = from;
  let openField = 0;
  let isQuoteOpen = false;
  let mostFields = 0;
  let fewestFields = Number.POSITIVE_INFINITY;
  let longest = 0;
  while (start < length) {
    const linesBefore = lines;
    let valueStart = -1;
    let valueEnd = -1;
    let field = 0;
    let p = start;
    const isComment = bytes[start] === comment;
    while (isComment && p < length && bytes[p] !== lf && bytes[p] !== cr) p++;
    while (!isComment) {
      const fieldStart = p;
      if (p < length && bytes[p] === quote) {
        isQuoteOpen = true;
        p++;
        while (p < length) {
          const byte = bytes[p++];
          if (byte === quote) {
            if (bytes[p] !== quote) {
              isQuoteOpen = false;
              break;
            }
            p++;
          } else if (byte === lf || (byte === cr && bytes[p] !== lf)) lines++;
        }
      }
      while (p < length && classes[bytes[p]!] === 0) p++;
      if (field === column) {
        valueStart = fieldStart;
        valueEnd = p;
      }
      if (p >= length || classes[bytes[p]!] !== 1) break;
      field++;
      p++;
    }
    const next = p + (bytes[p] === cr && bytes[p + 1] === lf ? 2 : p < length ? 1 : 0);
    // A CR at the end may be half of a CRLF.
    const isComplete = isEnd
      ? !isQuoteOpen
      : p < length && !(bytes[p] === cr && next === length && p + 1 === next);
    if (!isComplete) {
      lines = linesBefore;
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
  const found = { at: at.subarray(0, word), count, mostFields, fewestFields, longest };
  return { ...found, consumed: start, lines, openField, isQuoteOpen };
}
