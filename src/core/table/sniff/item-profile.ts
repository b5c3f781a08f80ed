/** Describes the wanted items to src/core/table, which must not know the kinds of items. */

export interface ItemProfile {
  readonly plural: string;
  /** Known names of columns that hold items: lower case, letters and digits only. */
  readonly columnNames: readonly string[];
  /** Words that make the name of a column likely: `email` in `work_email`. */
  readonly nameWords: readonly string[];
  /**
   * Returns how much a field looks like an item, judging by its text alone: 0 not at all, 1 if it contains an item, 2
   * if it is one.
   */
  likeness(field: string): 0 | 1 | 2;
  /** Returns the items of a line with nothing but items, and their names, which may be empty; undefined for other lines. */
  listed(line: string): readonly { readonly name: string; readonly item: string }[] | undefined;
  /** Returns whether a field may have been meant as an item, even a wrong one. */
  resembles(field: string): boolean;
  /** Returns whether a field holds an item, with or without other text. */
  holds(field: string): boolean;
}

/** The signs of any items. */
export const anySign = new Uint8Array(256).fill(1);

/** Returns whether a byte may be a part of an item. */
export function isSign(signs: Uint8Array, byte: number, next: number): boolean {
  const sign = signs[byte];
  return sign === 1 || (sign === 2 && (next >= 0x80 || ((next | 0x20) >= 0x61 && (next | 0x20) <= 0x7a)));
}

export interface ItemTest {
  /** Every item has a sign in its text. By bytes: 1 for a sign, 2 for one if a letter follows, else 0; see {@link isSign}. */
  readonly signs: Uint8Array;
  /** Returns whether a field holds an item that may be valid. */
  isItem(field: string): boolean;
  /** Returns whether a field is an item that other text follows without a separator. */
  isGlued(field: string): boolean;
  holds(field: string): boolean;
  /** Returns whether a record, of binary strings, is the header of another table than the one with this header. */
  isHeader(fields: readonly string[], header: readonly string[] | undefined): boolean;
  /** Returns whether a field is empty, or stands for no item, as `n/a` does. */
  isNone(field: string): boolean;
}
