import { nameFit } from "./column.js";
import type { ItemProfile } from "./item-profile.js";

/** How the records of a table are written down. */
export interface Dialect {
  /** The byte between fields; null for a plain list, in which every line is one field. Like the others, ASCII. */
  readonly delimiter: string | null;
  readonly lineEnding: LineEnding;
  /** Around fields; empty when nothing is. */
  readonly quote: string;
  /** What stands before a quote inside a quoted field. */
  readonly escape: string;
  /** What a line of comment starts with; null when there are none. */
  readonly comment: string | null;
  /** Whether the table begins with the UTF-8 byte order mark. */
  readonly byteOrderMark: boolean;
}

export type LineEnding = "\n" | "\r\n" | "\r";

/** How a table may be written that cannot be found out. */
export interface KnownDialect {
  /** ASCII characters; `"` and no comments by default. */
  readonly quote?: string;
  /** What stands before a quote inside a quoted field; the quote itself by default. */
  readonly escape?: string;
  readonly comment?: string;
}

/** Never the dot, the colon or the space: they are part of addresses, URLs and names. */
/** Where several split equally well, the one that text holds least comes first. */
const delimiters = ["\t", "|", ";", ","] as const;

/** Enough to see past a title line or two, little enough to be free. */
const maximumRecords = 100;

/**
 * Splits the beginning of a table into its first records, at most 100, as RFC 4180 has it; a quote that is not at
 * the start of a field is an ordinary character, and so is one that is never closed: that is for the reader to
 * refuse, once it is known how. A record that the sample cuts off is left out; a comment has no fields.
 *
 * @param sample binary text, without byte order mark
 * @param delimiter one character, or null for a plain list
 * @param isWhole whether the sample is the whole table
 */
export function splitSample(
  sample: string,
  delimiter: string | null,
  isWhole: boolean,
  known: KnownDialect = {},
): string[][] {
  return (
    split(sample, delimiter, isWhole, known) ??
    split(sample, delimiter, isWhole, known, "quotes are text") ??
    []
  );
}

/** Undefined when a quote is not closed within the first records. */
function split(
  sample: string,
  delimiter: string | null,
  isWhole: boolean,
  { quote = '"', escape: escaping = quote, comment }: KnownDialect,
  quotes?: "quotes are text",
): string[][] | undefined {
  const records: string[][] = [];
  let record: string[] = [];
  let field = "";
  let isQuoted = false;
  let wasQuoted = false;
  const endField = () => {
    record.push(field);
    field = "";
    wasQuoted = false;
  };
  const endRecord = () => {
    endField();
    records.push(record);
    record = [];
  };
  for (let i = 0; i < sample.length && records.length < maximumRecords; i++) {
    const character = sample[i]!;
    if (isQuoted) {
      const next = sample[i + 1];
      if (character === escaping && (next === quote || (next === escaping && escaping !== quote))) {
        field += next;
        i++;
      } else if (character !== quote) field += character;
      else if (isFieldEnd(sample[i + 1], delimiter, comment)) isQuoted = false;
      else {
        // Text goes on behind the closing quote: it was no quoted field after all.
        field = quote + field + quote;
        isQuoted = false;
      }
    } else if (character === comment && record.length === 0 && field === "" && !wasQuoted) {
      const end = sample.slice(i).search(/[\r\n]/);
      if (end === -1 && !isWhole) break;
      records.push([]);
      i = end === -1 ? sample.length : i + end + (sample.startsWith("\r\n", i + end) ? 1 : 0);
    } else if (character === quote && field === "" && !wasQuoted && quotes === undefined) {
      isQuoted = true;
      wasQuoted = true;
    } else if (character === delimiter) endField();
    else if (character === "\n") endRecord();
    else if (character === "\r") {
      // Whether this is CR or CRLF is not known at the end of a cut sample.
      if (i + 1 === sample.length && !isWhole) break;
      endRecord();
      if (sample[i + 1] === "\n") i++;
    } else field += character;
  }
  if (isQuoted && (isWhole || records.length === 0)) return undefined;
  const hasRest = field !== "" || wasQuoted || record.length > 0;
  if (hasRest && isWhole && records.length < maximumRecords) endRecord();
  return records;
}

/** Whether a quote before `next` closes its field; for NUL and comments see `unquote`. */
function isFieldEnd(
  next: string | undefined,
  delimiter: string | null,
  comment: string | undefined,
): boolean {
  return next === undefined || [delimiter, comment, "\n", "\r", "\u0000"].includes(next);
}

/**
 * Finds the delimiter: the candidate that splits the first records most consistently, first of all so that items
 * stand alone in their fields. Null when none splits them.
 *
 * @param sample binary text, without byte order mark
 */
export function sniffDelimiter(
  sample: string,
  isWhole: boolean,
  profile: ItemProfile,
  known: KnownDialect = {},
): string | null {
  const assess = (delimiter: string | null) =>
    assessRecords(delimiter, splitSample(sample, delimiter, isWhole, known), profile);
  const plain = assess(null);
  let best = plain;
  for (const delimiter of delimiters) {
    const candidate = assess(delimiter);
    if (!isDelimiter(candidate, plain)) continue;
    if (isBetter(candidate, best, plain)) best = candidate;
  }
  return best.delimiter;
}

/** Whether the character delimits fields rather than being part of their text. */
function isDelimiter(candidate: Assessment, plain: Assessment): boolean {
  const { width, agreement, firstWidth, itemShare } = candidate;
  // A header with a column for items, even if all records below it are shorter.
  if (candidate.namesItems) return true;
  // The lines are items as they stand: URLs with commas, unless nearly all have as many.
  if (plain.itemShare > 0 && plain.itemShare >= itemShare) return width > 1 && agreement >= 0.9;
  // Most records have as many fields, or splitting brings out items that the lines are not.
  return (width > 1 && agreement > 0.5) || (firstWidth > 1 && itemShare > plain.itemShare);
}

interface Assessment {
  readonly delimiter: string | null;
  /** The most common number of fields. */
  readonly width: number;
  /** The share of the records that have it. */
  readonly agreement: number;
  /** The number of fields of the first record. */
  readonly firstWidth: number;
  /** Whether the first record has several fields and one of them is a known name for a column of items. */
  readonly namesItems: boolean;
  /** The share of the records in which some field is an item. */
  readonly itemShare: number;
}

function assessRecords(delimiter: string | null, all: readonly string[][], profile: ItemProfile): Assessment {
  const records = all.filter((record) => record.some((field) => field !== ""));
  const width = mostCommonWidth(records);
  const [first = []] = records;
  const share = (matches: (record: string[]) => boolean) =>
    records.filter(matches).length / Math.max(1, records.length);
  return {
    delimiter,
    width,
    agreement: share((record) => record.length === width),
    firstWidth: first.length,
    namesItems: first.length > 1 && first.some((name) => nameFit(name, profile) === 3),
    itemShare: share((record) => record.some((field) => profile.likeness(field) > 0)),
  };
}

function isBetter(candidate: Assessment, best: Assessment, plain: Assessment): boolean {
  if (candidate.itemShare !== best.itemShare) return candidate.itemShare > best.itemShare;
  if (best === plain) return true;
  if (candidate.agreement !== best.agreement) return candidate.agreement > best.agreement;
  return candidate.width > best.width;
}

/** The number of fields that most records have; the larger of two that are equally common; 0 without records. */
export function mostCommonWidth(records: readonly (readonly string[])[]): number {
  const counts = new Map<number, number>();
  for (const { length } of records) counts.set(length, (counts.get(length) ?? 0) + 1);
  let width = 0;
  for (const [length, count] of counts) {
    const most = counts.get(width) ?? 0;
    if (count > most || (count === most && length > width)) width = length;
  }
  return width;
}

/** The first line ending outside quotes; LF when there is none. */
export function sniffLineEnding(
  sample: string,
  delimiter: string | null,
  { quote = '"' }: KnownDialect = {},
): LineEnding {
  let isQuoted = false;
  let atFieldStart = true;
  for (let i = 0; i < sample.length; i++) {
    const character = sample[i]!;
    if (isQuoted) {
      if (character !== quote) continue;
      if (sample[i + 1] === quote) i++;
      else isQuoted = false;
    } else if (character === quote && atFieldStart) isQuoted = true;
    else if (character === "\n") return "\n";
    else if (character === "\r") return sample[i + 1] === "\n" ? "\r\n" : "\r";
    atFieldStart = !isQuoted && character === delimiter;
  }
  return "\n";
}
