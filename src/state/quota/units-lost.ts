/** The error of a run that was silent for so long that its units were given back, and the quota has no more. */

export class UnitsLost extends Error {
  override readonly name = "UnitsLost";

  /** `isOther` if its name has paid for other items, `isWhole` if the output appears as a whole. */
  constructor(
    readonly isOther: boolean,
    isWhole = true,
  ) {
    const why = isOther
      ? "earlier runs with this IDV_RUN paid for other items, and the quota has too few units for these"
      : "other runs used up the quota while this run was suspended or cut off";
    super(`${why}; ${isWhole ? "nothing is written" : "the output ends early: do not use it, run again"}`);
  }
}
