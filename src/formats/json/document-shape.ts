/** Where the records of a JSON document are. Plain data. */

/** A list whose elements are records, or an object whose members are. Plain data. */
export interface RecordList {
  /** From the document to the list; null for any element of a list on the way. */
  readonly names: readonly (string | null)[];
  readonly isMap: boolean;
}

export interface DocumentShape {
  /** Whether the records are values one after another, and in no list. */
  readonly isSequence: boolean;
  readonly lists: readonly RecordList[];
  /** The name that makes an object of each text of a list; undefined if the records are not texts. */
  readonly textName?: string | undefined;
  /** The texts of the first array, if the records are the arrays after it. */
  readonly header?: readonly string[] | undefined;
}

export const isInRow = ({ names }: RecordList): boolean => names.length > 0 && names.at(-1) === null;

export const keyOf = ({ names, isMap }: RecordList): string => JSON.stringify([isMap, names]);
