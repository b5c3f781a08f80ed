/** What the table room needs to know of the items it looks for, so that it need not know the kinds. */
export interface ItemProfile {
  /** In errors: `e-mail addresses`. */
  readonly plural: string;
  /** Names of columns that hold items, lower case, letters and digits only. The first are the surest. */
  readonly columnNames: readonly string[];
  /** Words that make a column's name likely: `email` in `work_email`. */
  readonly nameWords: readonly string[];
  /**
   * How much a field looks like an item, from the look of its text alone: 0 not at all, 1 it holds one, 2 it is
   * one.
   */
  likeness(field: string): 0 | 1 | 2;
}
