/** The error of a run whose units were given to others. */

/** The run was silent for so long that its units were given back, and the quota has no more. */
export class UnitsLost extends Error {
  override readonly name = "UnitsLost";

  /** @param isOther whether its name has paid for other items than those that it delivers */
  constructor(isOther: boolean) {
    const why = isOther
      ? "this name has paid for other items, and the quota has not enough for these"
      : "the quota was used up by others while this run was stopped or cut off";
    super(`${why}; nothing is written`);
  }
}
