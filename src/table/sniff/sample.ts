/**
 * Splits the start of a table into its first records, with each delimiter that is tried. It reads quotes as the scanner
 * does, or as csv-parse does where the scanner cannot read the table.
 */
import { unquote } from "../quotes.js";
import { isSwallowing } from "../scan/broken-rows.js";
import { Place, recordWords, scanRecords } from "../scan/scanner.js";
import type { KnownDialect } from "./dialect.js";
import { maximumRecords, type SampleRecord, type SplitSample } from "./sample-record.js";

/**
 * Returns how to split a sample. A record that the sample cuts off is left out. If a quote is never closed, all quotes
 * in the sample are ordinary characters; the reader reports the error.
 *
 * @param sample the start of a table, without byte order mark
 * @param isWhole whether the sample is the whole table
 * @param most number of records to split
 */
export async function splitterOf(
  sample: Buffer,
  isWhole: boolean,
  known: KnownDialect = {},
  most = maximumRecords,
): Promise<SplitSample> {
  const { quote = '"', escape: escaping = quote } = known;
  const split =
    quote === '"' && escaping === '"'
      ? splitScanned
      : (await import("../fields/strict-records.js")).splitParsed;
  return (delimiter) => {
    const records = split(sample, delimiter, isWhole, known, most);
    if (records !== undefined) return { records, hasOpenQuote: false };
    return {
      records: split(sample, delimiter, isWhole, { ...known, quote: "" }, most) ?? [],
      hasOpenQuote: true,
    };
  };
}

/** Splits a sample with the scanner. Returns undefined if a quote is never closed. */
function splitScanned(
  sample: Buffer,
  delimiter: string | null,
  isWhole: boolean,
  { quote = '"', comment }: KnownDialect,
  most: number,
): SampleRecord[] | undefined {
  const codes = { delimiter: delimiter?.charCodeAt(0), comment: comment?.charCodeAt(0), column: 0 };
  const records: SampleRecord[] = [];
  let [from, lines] = [0, 0];
  while (records.length < most) {
    const bounds: number[] = [];
    const shape = { ...codes, quote: quote.charCodeAt(0) };
    const scanned = scanRecords(sample, shape, isWhole, { from, bounds, most: most - records.length });
    const { at, count, isQuoteOpen, consumed } = scanned;
    if (isQuoteOpen && (isWhole || (count === 0 && records.length === 0))) return undefined;
    let bound = 0;
    let given: number | undefined;
    for (let row = 0; row < count && given === undefined; row++) {
      const word = row * recordWords;
      const ends = bounds.slice(bound, bound + 2 * at[word + Place.fields]!);
      bound += ends.length;
      const fields = Array.from({ length: ends.length / 2 }, (_, field) =>
        sample.toString("latin1", ends[2 * field], ends[2 * field + 1]),
      );
      if (quote !== "" && fields.some(isSwallowing)) given = at[word]!;
      else {
        const values = quote === "" ? fields : fields.map((field) => unquote(field, comment ?? null));
        records.push({
          fields: values,
          start: at[word]!,
          linesBefore: lines + at[word + Place.linesBefore]!,
        });
      }
      if (given !== undefined) lines += at[word + Place.linesBefore]!;
    }
    if (given === undefined) break;
    // Its line alone, with the quote as text.
    const line = scanRecords(sample, { ...codes, quote: Number.NaN }, true, {
      from: given,
      bounds: [],
      most: 1,
    });
    const text = sample.toString("latin1", given, line.at[Place.end]);
    records.push({
      fields: delimiter === null ? [text] : text.split(delimiter),
      start: given,
      linesBefore: lines,
    });
    from = line.consumed;
    lines++;
    if (from >= consumed && count === 0) break;
  }
  return records;
}

/**
 * Returns the delimiter that Excel is told in the first line, `sep=;`, and the length of that line in bytes; undefined
 * if the first line says no such thing.
 */
export function separatorLine(
  bytes: Buffer,
): { readonly delimiter: string; readonly length: number } | undefined {
  const [line = "", delimiter] =
    /^"?sep=([^"\r\n])"?(?:\r\n|\n|\r|$)/i.exec(bytes.toString("latin1", 0, 16)) ?? [];
  return delimiter === undefined ? undefined : { delimiter, length: line.length };
}
