/** Describes the wanted items to src/core/table, which must not know the kinds of items. */

export interface ItemProfile {
  readonly plural: string;
  /** Items that have a command of their own, named like their plural. */
  readonly other?: ItemProfile;
  /** Known names of columns that hold items: lower case, letters and digits only. */
  readonly columnNames: readonly string[];
  readonly nameWords: readonly string[];
  /** What the status column of an earlier run holds. */
  readonly statuses: readonly string[];
  /** Returns 0 for a text without an item, 1 if it contains one, 2 if it is one, by the text alone. */
  likeness(field: string): 0 | 1 | 2;
  /** Returns undefined for a line with anything but items and their names, which may be empty. */
  listed(line: string): readonly { readonly name: string; readonly item: string }[] | undefined;
  resembles(field: string): boolean;
  holds(field: string): boolean;
}

export const anySign = new Uint8Array(256).fill(1);

export function isSign(signs: Uint8Array, byte: number, next: number): boolean {
  const sign = signs[byte];
  return sign === 1 || (sign === 2 && (next >= 0x80 || ((next | 0x20) >= 0x61 && (next | 0x20) <= 0x7a)));
}

export interface ItemTest {
  /** Every item has a sign. By bytes: 1 for a sign, 2 for one if a letter follows, else 0; see {@link isSign}. */
  readonly signs: Uint8Array;
  /** Returns whether a field holds an item that may be valid. */
  isItem(field: string): boolean;
  isGlued(field: string): boolean;
  holds(field: string): boolean;
  /** Returns whether a record, of binary strings, is the header of another table than the one with this header. */
  isHeader(fields: readonly string[], header: readonly string[] | undefined): boolean;
  isNone(field: string): boolean;
}
