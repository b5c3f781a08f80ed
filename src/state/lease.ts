/**
 * Leases: whoever holds something of a state gives signs of life, and loses it when it has given none for a while. Clocks of
 * machines may differ by hours.
 *
 * Process IDs tell nothing about other machines and containers, so that only signs of life count there.
 */

export const signMilliseconds = 4000;
/** Time without a sign of life after which a holder is dead, in milliseconds. */
export const deadMilliseconds = 15_000;
/** Difference of clocks beyond which a sign of life is old in any case, in milliseconds. */
const oldMilliseconds = 86_400_000;

/** What one process has seen of the signs of others, by its own clock. */
export class Sightings {
  readonly #seen = new Map<string, { alive: number; since: number; isMoving: boolean }>();

  /**
   * Returns whether a holder is dead; undefined if another look is needed.
   *
   * @param alive the time of its last sign, by a clock that may be another than that of `now`
   */
  isSilent(holder: string, alive: number, now: number): boolean | undefined {
    if (Math.abs(now - alive) > oldMilliseconds) return true;
    const seen = this.#seen.get(holder);
    if (seen?.alive !== alive) {
      const isMoving = seen !== undefined;
      this.#seen.set(holder, { alive, since: performance.now(), isMoving });
      return isMoving ? false : undefined;
    }
    if (performance.now() - seen.since > deadMilliseconds) return true;
    return seen.isMoving ? false : undefined;
  }
}
