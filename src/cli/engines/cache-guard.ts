/** A cache saves units and queries, and must not fail a run: one that stays locked, or cannot be, is left. */
import { StoreError } from "../../state/errors.js";

export function cacheGuard(note: (text: string) => void) {
  let isLost = false;
  return async <Result>(without: Result, use: () => Promise<Result>): Promise<Result> => {
    if (isLost) return without;
    try {
      return await use();
    } catch (error) {
      if (!(error instanceof StoreError) || error.obstacle === undefined) throw error;
      // Several uses may fail at the same time; note it once.
      if (!isLost) note(`${error.message.replace(/; .*/, "")}; idv goes on without it`);
      isLost = true;
      return without;
    }
  };
}
