/** The engine of a run, behind one interface for the offline engine and for a service. */
import type { CachePort } from "../../run/cache-port.js";
import type { ApiEngine } from "../../validator/api/engine.js";
import type { Validator } from "../../validator/validator.js";

export interface Engine {
  readonly validator: Validator;
  readonly reason: string;
  readonly cache?: CachePort;
  readonly requests?: () => number;
  readonly dryRunItems?: () => number;
  /** Number of verdicts that this run has added to the cache; absent without a cache. */
  readonly verdictsAdded?: () => number;
  readonly activity?: () => ApiEngine["activity"];
  readonly probe?: ApiEngine["probe"];
  /** Called when all files are written; after that, a later run over the same items pays again. */
  readonly end?: () => Promise<void>;
  /** Returns whether the run over the current file has left receipts, so that the next run need not pay again. */
  readonly leavesReceipts?: () => boolean;
  /**
   * Waits a moment for answers in flight, which may be paid for, and closes the engine's files. Later calls wait for
   * the first.
   *
   * @param isInterrupted shortens the wait: the user wants the program to end
   */
  close(isInterrupted?: boolean): Promise<void>;
}

export function once(close: Engine["close"]): Engine["close"] {
  let closed: Promise<void> | undefined;
  return (isInterrupted) => {
    closed ??= close(isInterrupted);
    return closed;
  };
}

/** Longest delay of Node's timers, in milliseconds; longer ones fire at once. */
export const longestTimer = 2 ** 31 - 1;
