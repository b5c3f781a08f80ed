/** Detects delimiter, quotes, escape, spaces before fields and line ending in a sample, but not comments. */
import { itemText, nameText } from "../bytes.js";
import type { Dialect, KnownDialect, LineEnding, Marks } from "../dialect.js";
import { usualMarks } from "../quotes.js";
import { scanMarks } from "../scan/scan-shape.js";
import { Offset, scanRecords } from "../scan/scanner.js";
import { nameFit } from "./column.js";
import { type LayoutOptions, layoutOf, mostCommonWidth, wantedNames } from "./layout.js";
import { lineSplitterOf, type Sample, type SplitSample, splitterOf } from "./sample.js";

const otherMarks: readonly { readonly marks: Partial<Marks>; readonly delimiter?: string; readonly sign: RegExp }[] = [
  { marks: { escape: "\\" }, sign: /\\"/ },
  { marks: { quote: "'", escape: "'" }, sign: /(?:^|[\t|;,\r\n])'/ },
  { marks: { quote: "'", escape: "\\" }, sign: /\\'/ },
  { marks: { skipsSpaces: true }, sign: /[\t|;,] +["']/ },
  { marks: { quote: "'", escape: "'", skipsSpaces: true }, sign: /[\t|;,] +'/ },
  { marks: { quote: "", escape: "" }, sign: /"/ },
  { marks: { skipsSpaces: true }, delimiter: " ", sign: /\S +\S/ },
];

/**
 * Finds RFC 4180 with the delimiter of `sniffDelimiter`, or what puts clearly more rows in step: with as many fields
 * as the header, and an item in the same field as the others.
 */
export function sniffDialect(
  { bytes, isWhole }: { readonly bytes: Buffer; readonly isWhole: boolean },
  delimiter: string | null | undefined,
  { mayMergeSpaces, ...known }: KnownDialect & { readonly mayMergeSpaces: boolean },
  options: LayoutOptions,
) {
  const { quote = '"', comment = null } = known;
  const given: Marks = { quote, escape: known.escape ?? quote, comment, skipsSpaces: false };
  const present = delimiters.filter((each) => bytes.includes(each));
  const assessed = (marks: Marks, fixed: string | null | undefined) => {
    const split = splitterOf(bytes, isWhole, marks);
    const found = fixed === undefined ? sniffDelimiter(split, options, present) : fixed;
    return { marks, delimiter: found, split, ...stepsOf(split(found), options) };
  };
  const usual = assessed(given, delimiter);
  const text = bytes.toString("latin1");
  let best = usual;
  if (best.inStep === best.rows) return best;
  // A quote that swallows rows counts as one broken row.
  const alone = stepsOf(lineSplitterOf(bytes, given)(usual.delimiter), options).inStep;
  const inStep = Math.max(usual.inStep, alone);
  for (const { marks, delimiter: fixed, sign } of otherMarks) {
    if (best.inStep === best.rows) break;
    const tried = { ...given, ...marks };
    const isGiven =
      (known.quote ?? known.escape) === undefined || (tried.quote === given.quote && tried.escape === given.escape);
    if (!isGiven || !sign.test(text)) continue;
    if (fixed !== undefined && (delimiter !== undefined || !mayMergeSpaces)) continue;
    const candidate = assessed(tried, fixed ?? delimiter);
    // A few broken rows do not make another dialect.
    const isClear = candidate.inStep - inStep > Math.max(1, candidate.rows / 10);
    const isTable = fixed === undefined || candidate.isNamed || / {2}\S/.test(text);
    const isUsable = candidate.delimiter !== null && isTable && candidate.inStep > candidate.rows / 2;
    if (isClear && isUsable && candidate.inStep > best.inStep) best = candidate;
  }
  return best;
}

function stepsOf(sample: Sample, options: LayoutOptions) {
  const { above, header } = layoutOf(sample, options);
  const rows = sample.records
    .slice(header === undefined ? above : above + 1)
    .filter(({ fields }) => fields.some((field) => field !== ""));
  const width = header?.fields.length ?? mostCommonWidth(rows.map(({ fields }) => fields));
  const counts = Array.from({ length: width }, () => 0);
  for (const { fields, isBroken } of rows) {
    if (fields.length !== width || isBroken) continue;
    for (const [column, field] of fields.entries())
      if (options.profile.likeness(itemText(field)) > 0) counts[column]!++;
  }
  const isNamed = header?.fields.some((name) => nameFit(name, options.profile) === 3) ?? false;
  return { isNamed, rows: rows.length, inStep: counts.reduce((most, each) => Math.max(most, each), 0) };
}

export const hasUsualMarks = ({ quote, escape: escaping, skipsSpaces }: Dialect): boolean =>
  quote === '"' && escaping === '"' && !skipsSpaces;

export function dialectWords(
  dialect: Pick<Dialect, "delimiter" | "quote" | "escape" | "skipsSpaces" | "isUnwrapped">,
): readonly string[] {
  const { delimiter, quote, escape: escaping, skipsSpaces, isUnwrapped } = dialect;
  if (delimiter === null) return [];
  return [
    ...(isUnwrapped ? ["quotes around whole records are left out"] : []),
    ...(quote === "" ? ["quotes are text"] : quote === '"' ? [] : [`quotes are ${quote}`]),
    ...(escaping === quote ? [] : [`${escaping} escapes quotes`]),
    ...(delimiter === " " && skipsSpaces ? ["runs of spaces are the delimiter"] : []),
    ...(delimiter !== " " && skipsSpaces ? ["spaces in front of fields belong to the delimiter"] : []),
  ];
}

/** The first of equals wins: the rarest in text. Dots, colons and spaces are in addresses and names. */
const delimiters = ["\t", "|", ";", ","] as const;

/** Prefers, among `candidates`, a header with a wanted column, then items as fields in most records, then consistent splits. */
export function sniffDelimiter(
  split: SplitSample,
  options: LayoutOptions,
  candidates: readonly string[] = delimiters,
): string | null {
  const plain = assess(null, split(null), options);
  let best = plain;
  for (const delimiter of candidates) {
    const candidate = assess(delimiter, split(delimiter), options);
    if (isDelimiter(candidate, plain) && isBetter(candidate, best, plain)) best = candidate;
  }
  return best.delimiter;
}

function isDelimiter(candidate: Assessment, plain: Assessment): boolean {
  const { width, agreement, firstWidth, itemCount } = candidate;
  // The first record is a header with a column for items. Then the records below it may have fewer fields.
  if (candidate.namesItems || candidate.namesWanted) return true;
  // Whole lines are already items, such as URLs with commas: nearly all records must have the same number of fields.
  if (plain.itemCount > 0 && plain.itemCount >= itemCount) return width > 1 && agreement >= 0.9;
  return (width > 1 && agreement > 0.5) || (firstWidth > 1 && itemCount > plain.itemCount);
}

type Assessment = ReturnType<typeof assess>;

/** Counts records from the header on, not blank. `agreement` is the share with the most common width, 0 to 1. */
function assess(delimiter: string | null, sample: Sample, options: LayoutOptions) {
  const { profile } = options;
  const { above } = layoutOf(sample, options);
  const records = sample.records
    .slice(above)
    .map(({ fields }) => fields)
    .filter((fields) => fields.some((field) => field !== ""));
  const width = mostCommonWidth(records);
  const [first = []] = records;
  const wanted = wantedNames(options).filter((name) => !/^\d+$/.test(name));
  return {
    delimiter,
    above,
    width,
    agreement: records.filter(({ length }) => length === width).length / Math.max(1, records.length),
    firstWidth: first.length,
    namesItems: first.length > 1 && first.some((name) => nameFit(name, profile) === 3),
    namesWanted: first.length > 1 && first.some((name) => wanted.includes(nameText(name))),
    /** A number of records, not a share: a wrong delimiter may take the header, or rows, for titles above the table. */
    itemCount: records.filter((fields) => fields.some((field) => profile.likeness(itemText(field)) > 0)).length,
  };
}

function isBetter(candidate: Assessment, best: Assessment, plain: Assessment): boolean {
  if (candidate.namesWanted !== best.namesWanted) return candidate.namesWanted;
  // Items in lines of their own, and other fields with line breaks, are more items with a wrong delimiter than rows.
  if (candidate.namesItems !== best.namesItems) return candidate.namesItems;
  if (candidate.itemCount !== best.itemCount) return candidate.itemCount > best.itemCount;
  if (best === plain) return true;
  if (candidate.above !== best.above) return candidate.above < best.above;
  if (candidate.agreement !== best.agreement) return candidate.agreement > best.agreement;
  return candidate.width > best.width;
}

export function sniffLineEnding(sample: Uint8Array, delimiter: string | null, marks: Marks = usualMarks): LineEnding {
  const shape = { ...scanMarks(delimiter, marks), column: 0 };
  const { at, count } = scanRecords(sample, shape, true, { most: 1 });
  if (count === 0)
    return sample.length > 0 && marks.quote !== "" ? sniffLineEnding(sample, delimiter, { ...marks, quote: "" }) : "\n";
  const end = at[Offset.end]!;
  const next = at[Offset.next]!;
  if (next - end === 2) return "\r\n";
  return sample[end] === 0x0d ? "\r" : "\n";
}
