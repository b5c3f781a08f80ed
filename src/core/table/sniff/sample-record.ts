/** Types of a sample: the first records of a table, however they are split. */

export interface SampleRecord {
  readonly fields: readonly string[];
  readonly start: number;
  readonly linesBefore: number;
  readonly isBroken?: boolean;
}

export interface Sample {
  readonly records: readonly SampleRecord[];
  readonly hasOpenQuote: boolean;
}

export type SplitSample = (delimiter: string | null) => Sample;

/** Enough records to outvote some title lines, too few to take noticeable time. */
export const maximumRecords = 100;

export const startRecords = 1000;
