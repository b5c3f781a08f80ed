/** Types of a sample: the first records of a table, however they are split. */

/** A record of the sample. */
export interface SampleRecord {
  /** Binary strings; none for a comment. */
  readonly fields: readonly string[];
  /** Index of the record's first byte. */
  readonly start: number;
  /** Line endings before it. */
  readonly linesBefore: number;
  /** Whether it is a line with a quote that has swallowed others, and is taken for text. */
  readonly isBroken?: boolean;
}

/** The first records of a table. */
export interface Sample {
  readonly records: readonly SampleRecord[];
  /** Whether a quote is never closed, so that all quotes were taken for text. */
  readonly hasOpenQuote: boolean;
}

/** Splits a sample by a delimiter, or by lines if that is null. */
export type SplitSample = (delimiter: string | null) => Sample;

/** Maximum number of records in a sample: enough to outvote some title lines, too few to take noticeable time. */
export const maximumRecords = 100;

/** Number of records that `startValues` of a table looks at, if they are among the bytes read at its start. */
export const startRecords = 1000;
