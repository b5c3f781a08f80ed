/** Leases: a holder gives signs of life, and loses what it holds without one. Clocks of machines differ by hours. */

/** Processes of other machines cannot be checked. */
export type ProcessState = "ended" | "running" | "elsewhere";

export const signMilliseconds = 4000;
export const deadMilliseconds = 15_000;
/** A sign of life that is further off than clocks differ is old in any case. */
const oldMilliseconds = 86_400_000;

export class Sightings {
  readonly #seen = new Map<string, { alive: number; since: number; isMoving: boolean }>();

  /** Undefined if another look is needed. The clock of `alive` may be another than that of `now`. */
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
