/** The use of a cache, which saves units and questions, and must not cost a run: from when it stays locked, it is passed over. */
import { StoreError } from "../../store/errors.js";

export class CacheUse {
  readonly #note: (text: string) => void;
  #isLost = false;

  /** @param note tells the user something */
  constructor(note: (text: string) => void) {
    this.#note = note;
  }

  /**
   * Uses the cache, unless another process has locked it for too long, then or before.
   *
   * @param without the result where the cache is not used
   */
  async or<Result>(without: Result, use: () => Promise<Result>): Promise<Result> {
    if (this.#isLost) return without;
    try {
      return await use();
    } catch (error) {
      if (!(error instanceof StoreError && (error.isLocked || error.isClaimed))) throw error;
      // Several may wait at the same time.
      if (!this.#isLost) this.#note(`${error.message.replace(/; .*/, "")}; idv goes on without it`);
      this.#isLost = true;
      return without;
    }
  }
}
