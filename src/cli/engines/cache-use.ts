/** A cache saves units and queries, and must not fail a run: one that stays locked, or cannot be, is left. */
import { StoreError } from "../../state/errors.js";

export class CacheUse {
  readonly #note: (text: string) => void;
  #isLost = false;

  constructor(note: (text: string) => void) {
    this.#note = note;
  }

  async or<Result>(without: Result, use: () => Promise<Result>): Promise<Result> {
    if (this.#isLost) return without;
    try {
      return await use();
    } catch (error) {
      if (!(error instanceof StoreError) || error.obstacle === undefined) throw error;
      // Several uses may fail at the same time; note it once.
      if (!this.#isLost) this.#note(`${error.message.replace(/; .*/, "")}; idv goes on without it`);
      this.#isLost = true;
      return without;
    }
  }
}
