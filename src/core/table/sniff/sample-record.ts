/** Types of a sample: the first records of a table, however they are split. */

export interface SampleRecord {
  /** Binary strings; none for a comment. */
  readonly fields: readonly string[];
  readonly start: number;
  readonly linesBefore: number;
  /** Whether it is a line with a quote that has swallowed others, and is treated as text. */
  readonly isBroken?: boolean;
}

export interface Sample {
  readonly records: readonly SampleRecord[];
  /** Whether a quote is never closed, so that all quotes were treated as text. */
  readonly hasOpenQuote: boolean;
}

export type SplitSample = (delimiter: string | null) => Sample;

/** Enough records to outvote some title lines, too few to take noticeable time. */
export const maximumRecords = 100;

/** Maximum number of records that are checked further, if they are among the bytes read at the start. */
export const startRecords = 1000;
