/** Splits the start of a table into its first records, with each dialect that is tried. */
import type { Marks } from "../dialect.js";
import { unquote, usualMarks } from "../quotes.js";
import { isSwallowing } from "../scan/broken-rows.js";
import { scanMarks } from "../scan/scan-shape.js";
import { Offset, recordWords, scanRecords } from "../scan/scanner.js";

export interface SampleRecord {
  readonly fields: readonly string[];
  readonly start: number;
  readonly linesBefore: number;
  readonly isBroken?: boolean;
}

export interface Sample {
  readonly records: readonly SampleRecord[];
}

export type SplitSample = (delimiter: string | null) => Sample;

/** Enough records to outvote some title lines, too few to take noticeable time. */
export const maximumRecords = 100;

export const startRecords = 1000;

/** Leaves out a record that is cut off. Splits once with each delimiter. */
export function splitterOf(
  sample: Buffer,
  isWhole: boolean,
  marks: Marks = usualMarks,
  most = maximumRecords,
): SplitSample {
  const samples = new Map<string | null, Sample>();
  return (delimiter) => {
    const known = samples.get(delimiter);
    if (known !== undefined) return known;
    const found = { records: split(sample, delimiter, isWhole, marks, most) };
    samples.set(delimiter, found);
    return found;
  };
}

export function lineSplitterOf(sample: Buffer, marks: Marks): SplitSample {
  const lines = sample.toString("latin1").split(/\r\n|\n|\r/, maximumRecords);
  return (delimiter) => ({
    records: lines.map((line, linesBefore) => {
      const [record] = split(Buffer.from(line, "latin1"), delimiter, true, marks, 1);
      return { fields: [line], ...record, start: 0, linesBefore };
    }),
  });
}

/** A quote that has evidently swallowed lines, or is never closed, is text in its line, as for the reader. */
function split(sample: Buffer, delimiter: string | null, isWhole: boolean, marks: Marks, most: number) {
  const codes = { ...scanMarks(delimiter, marks), column: 0 };
  const records: SampleRecord[] = [];
  const scan = (from: number, lines: number, quoteCode: number, count: number) => {
    const bounds: number[] = [];
    const shape = { ...codes, quote: quoteCode };
    const scanned = scanRecords(sample, shape, isWhole, { from, bounds, most: count });
    let bound = 0;
    for (let word = 0; word < scanned.at.length; word += recordWords) {
      const start = scanned.at[word]!;
      const linesBefore = lines + scanned.at[word + Offset.linesBefore]!;
      const fields = Array.from({ length: scanned.at[word + Offset.fields]! }, () =>
        sample.toString("latin1", bounds[bound++], bounds[bound++]),
      );
      const hasQuotes = !Number.isNaN(quoteCode);
      if (hasQuotes && fields.some((field) => isSwallowing(field, marks)))
        return { ...scanned, swallowed: { start, linesBefore } };
      const values = hasQuotes ? fields.map((field) => unquote(field, marks)) : fields;
      records.push({ fields: values, start, linesBefore, isBroken: !hasQuotes && marks.quote !== "" });
    }
    return { ...scanned, swallowed: undefined };
  };
  for (let [from, lines] = [0, 0]; ; ) {
    const scanned = scan(from, lines, marks.quote.charCodeAt(0), most - records.length);
    const isNeverClosed = scanned.isQuoteOpen && (isWhole || records.length === 0);
    const open = { start: scanned.consumed, linesBefore: lines + scanned.lines };
    const broken = scanned.swallowed ?? (isNeverClosed ? open : undefined);
    if (broken === undefined || records.length === most) return records;
    from = scan(broken.start, broken.linesBefore, Number.NaN, 1).consumed;
    lines = broken.linesBefore + 1;
  }
}

/** Finds a line such as `sep=;`, which is meant for Excel, and its length in bytes. */
export function separatorLine(bytes: Buffer): { readonly delimiter: string; readonly length: number } | undefined {
  const [line = "", delimiter] = /^"?sep=([^"\r\n])"?(?:\r\n|\n|\r|$)/i.exec(bytes.toString("latin1", 0, 16)) ?? [];
  return delimiter === undefined ? undefined : { delimiter, length: line.length };
}
