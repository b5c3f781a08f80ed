/** Describes the wanted items to src/table, which must not know the kinds of items. */

/** Names and look of the items that a table is searched for. */
export interface ItemProfile {
  /** Plural for messages: `e-mail addresses`. */
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
  /** Returns whether a field may have been meant as an item: it need not be a right one. */
  resembles(field: string): boolean;
  /** Returns whether a field holds an item, with or without other text. */
  holds(field: string): boolean;
}

/** Tells fields with items from others, in a run. */
export interface ItemTest {
  /** Returns whether a field holds an item that may be valid. */
  isItem(field: string): boolean;
  /** Returns whether a field is an item with other text behind it, without anything between them. */
  isGlued(field: string): boolean;
  /** Returns whether a field holds an item, with or without other text. */
  holds(field: string): boolean;
  /** Returns whether a field is empty, or stands for no item. */
  isNone(field: string): boolean;
}
