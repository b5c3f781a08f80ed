/** The added columns of an earlier run, which `--update` replaces. */

export interface EarlierColumns {
  /** For each added column its index in the table; undefined for one that the table does not have. */
  readonly places: readonly (number | undefined)[];
}
