/**
 * Detects the delimiter and the line ending of a table from a sample of it. Quote, escape and comment characters must
 * be given.
 */

import { nameText } from "../bytes.js";
import { Place, scanRecords } from "../scan/scanner.js";
import { nameFit } from "./column.js";
import { type LayoutOptions, layoutOf, mostCommonWidth, wantedNames } from "./layout.js";
import type { Sample, SplitSample } from "./sample-record.js";

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

/**
 * Finds the delimiter: one with which the header has a column that the user wants, then the one with which most of the first
 * records have a field that is an item, then the one that splits them most consistently. Returns null if there is no
 * delimiter.
 */
export function sniffDelimiter(split: SplitSample, options: LayoutOptions): string | null {
  const plain = assess(null, split(null), options);
  let best = plain;
  for (const delimiter of delimiters) {
    const candidate = assess(delimiter, split(delimiter), options);
    if (!isDelimiter(candidate, plain)) continue;
    if (isBetter(candidate, best, plain)) best = candidate;
  }
  return best.delimiter;
}

/** Returns whether the candidate separates fields, rather than being part of their text. */
function isDelimiter(candidate: Assessment, plain: Assessment): boolean {
  const { width, agreement, firstWidth, itemCount } = candidate;
  // The first record is a header with a column for items. Then the records below it may have fewer fields.
  if (candidate.namesItems || candidate.namesWanted) return true;
  // Whole lines are items already, such as URLs with commas. Then nearly all records must have the same number of
  // fields.
  if (plain.itemCount > 0 && plain.itemCount >= itemCount) return width > 1 && agreement >= 0.9;
  // Most records have the same number of fields, or more records contain an item when they are split.
  return (width > 1 && agreement > 0.5) || (firstWidth > 1 && itemCount > plain.itemCount);
}

/** Quality of a delimiter, measured on the records from the header on that are not blank. */
interface Assessment {
  readonly delimiter: string | null;
  /** Number of records above the table. */
  readonly above: number;
  /** Most common number of fields. */
  readonly width: number;
  /** Share of the records with that number of fields, 0 to 1. */
  readonly agreement: number;
  /** Number of fields of the first record. */
  readonly firstWidth: number;
  /** Whether the first record has several fields and one of them is a known name for a column of items. */
  readonly namesItems: boolean;
  /** Whether the first record has several fields and one of them is the name of a column that the user wants. */
  readonly namesWanted: boolean;
  /**
   * Number of the records in which some field is or contains an item. Not their share: a wrong delimiter may take the header,
   * or rows, for titles above the table.
   */
  readonly itemCount: number;
}

function assess(delimiter: string | null, sample: Sample, options: LayoutOptions): Assessment {
  const { profile } = options;
  const { above } = layoutOf(sample, options);
  const records = sample.records
    .slice(above)
    .map(({ fields }) => fields)
    .filter((fields) => fields.some((field) => field !== ""));
  const width = mostCommonWidth(records);
  const [first = []] = records;
  const wanted = wantedNames(options).filter((name) => !/^\d+$/.test(name));
  const share = (matches: (fields: readonly string[]) => boolean) =>
    records.filter(matches).length / Math.max(1, records.length);
  return {
    delimiter,
    above,
    width,
    agreement: share((fields) => fields.length === width),
    firstWidth: first.length,
    namesItems: first.length > 1 && first.some((name) => nameFit(name, profile) === 3),
    namesWanted: first.length > 1 && first.some((name) => wanted.includes(nameText(name))),
    itemCount: records.filter((fields) => fields.some((field) => profile.likeness(field) > 0)).length,
  };
}

function isBetter(candidate: Assessment, best: Assessment, plain: Assessment): boolean {
  if (candidate.namesWanted !== best.namesWanted) return candidate.namesWanted;
  if (candidate.itemCount !== best.itemCount) return candidate.itemCount > best.itemCount;
  if (best === plain) return true;
  if (candidate.namesItems !== best.namesItems) return candidate.namesItems;
  if (candidate.above !== best.above) return candidate.above < best.above;
  if (candidate.agreement !== best.agreement) return candidate.agreement > best.agreement;
  return candidate.width > best.width;
}

/** Returns the line ending of the first record; LF if it has none. */
export function sniffLineEnding(
  sample: Uint8Array,
  delimiter: string | null,
  { quote = '"' }: KnownDialect = {},
): LineEnding {
  const shape = { delimiter: delimiter?.charCodeAt(0), quote: quote.charCodeAt(0), column: 0 };
  const { at, count } = scanRecords(sample, shape, true, { most: 1 });
  if (count === 0)
    return sample.length > 0 && quote !== "" ? sniffLineEnding(sample, delimiter, { quote: "" }) : "\n";
  const [end, next] = [at[Place.end]!, at[Place.next]!];
  if (next - end === 2) return "\r\n";
  return sample[end] === 0x0d ? "\r" : "\n";
}
