/**
 * Splits the start of a table into its first records, with each delimiter that is tried. It reads quotes as the scanner
 * does, or as csv-parse does where the scanner cannot read the table.
 */
import { unquote } from "../quotes.js";
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
  const bounds: number[] = [];
  const shape = {
    delimiter: delimiter?.charCodeAt(0),
    quote: quote.charCodeAt(0),
    comment: comment?.charCodeAt(0),
    column: 0,
  };
  const { at, count, isQuoteOpen } = scanRecords(sample, shape, isWhole, { bounds, most });
  if (isQuoteOpen && (isWhole || count === 0)) return undefined;
  let bound = 0;
  return Array.from({ length: count }, (_, row) => {
    const word = row * recordWords;
    const fields = Array.from({ length: at[word + Place.fields]! }, () => {
      const field = sample.toString("latin1", bounds[bound++], bounds[bound++]);
      return quote === "" ? field : unquote(field, comment ?? null);
    });
    return { fields, start: at[word]!, linesBefore: at[word + Place.linesBefore]! };
  });
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
