/**
 * Detects the delimiter and the line ending of a table from a sample of it. Quote, escape and comment characters must
 * be given.
 */
import { nameFit } from "./column.js";
import type { ItemProfile } from "./item-profile.js";

/** Syntax of a table. All characters are ASCII. */
export interface Dialect {
  /** Character between fields; null for a plain list, in which every line is one field. */
  readonly delimiter: string | null;
  readonly lineEnding: LineEnding;
  /** Character around quoted fields; empty if there is none. */
  readonly quote: string;
  /** Character that escapes a quote inside a quoted field. */
  readonly escape: string;
  /** Character that starts a comment line; null if there are none. */
  readonly comment: string | null;
  /** Whether the table starts with the UTF-8 byte order mark. */
  readonly byteOrderMark: boolean;
}

export type LineEnding = "\n" | "\r\n" | "\r";

/** Characters that are not detected, as the user gave them. */
export interface KnownDialect {
  /** `"` by default. */
  readonly quote?: string;
  /** The quote itself by default. */
  readonly escape?: string;
  /** No comments by default. */
  readonly comment?: string;
}

/**
 * Delimiters that are detected. If several split equally well, the first one wins: the rarest in text comes first. Dot,
 * colon and space are left out, because addresses, URLs and names contain them.
 */
const delimiters = ["\t", "|", ";", ","] as const;

/** Maximum number of records in a sample: enough to outvote a title line or two, too few to take noticeable time. */
const maximumRecords = 100;

/**
 * Splits the start of a table into its first records, at most 100, by RFC 4180. A quote that is not at the start of a
 * field is an ordinary character. If a quote is never closed, all quotes in the sample are ordinary characters; the
 * reader reports the error. A record that the sample cuts off is left out.
 *
 * @param sample a binary string, without byte order mark
 * @param delimiter one character, or null for a plain list
 * @param isWhole whether the sample is the whole table
 * @returns the fields of each record; none for a comment
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

/**
 * Splits a sample. Returns undefined if a quote is still open at the end, and the sample is the whole table or not even
 * one record is complete.
 */
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
        // Text follows the closing quote: the field is plain text, and the quotes belong to it.
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
      // At the end of a cut sample, this may be half of a CRLF.
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

/** Returns whether a quote before `next` ends its field. For NUL and the comment character, see `unquote`. */
function isFieldEnd(
  next: string | undefined,
  delimiter: string | null,
  comment: string | undefined,
): boolean {
  return next === undefined || [delimiter, comment, "\n", "\r", "\u0000"].includes(next);
}

/**
 * Finds the delimiter: the one with which most of the first records have a field that is an item, then the one that
 * splits them most consistently. Returns null if there is no delimiter.
 *
 * @param sample a binary string, without byte order mark
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

/** Returns whether the candidate separates fields, rather than being part of their text. */
function isDelimiter(candidate: Assessment, plain: Assessment): boolean {
  const { width, agreement, firstWidth, itemShare } = candidate;
  // The first record is a header with a column for items. Then the records below it may have fewer fields.
  if (candidate.namesItems) return true;
  // Whole lines are items already, such as URLs with commas. Then nearly all records must have the same number of
  // fields.
  if (plain.itemShare > 0 && plain.itemShare >= itemShare) return width > 1 && agreement >= 0.9;
  // Most records have the same number of fields, or more records contain an item when they are split.
  return (width > 1 && agreement > 0.5) || (firstWidth > 1 && itemShare > plain.itemShare);
}

/** Quality of a delimiter, measured on the records of a sample that are not blank. */
interface Assessment {
  readonly delimiter: string | null;
  /** Most common number of fields. */
  readonly width: number;
  /** Share of the records with that number of fields, 0 to 1. */
  readonly agreement: number;
  /** Number of fields of the first record. */
  readonly firstWidth: number;
  /** Whether the first record has several fields and one of them is a known name for a column of items. */
  readonly namesItems: boolean;
  /** Share of the records in which some field is or contains an item, 0 to 1. */
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

/** Returns the most common number of fields; the largest if several are equally common; 0 without records. */
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

/** Returns the first line ending outside quotes; LF if there is none. */
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
