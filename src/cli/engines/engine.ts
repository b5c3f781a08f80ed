/** The engine of a run, behind one interface for the offline engine and for a service. */
import type { CachePort } from "../../run/cache-port.js";
import type { ApiEngine } from "../../validator/api/engine.js";
import type { Validator } from "../../validator/validator.js";

/** An open engine. */
export interface Engine {
  readonly validator: Validator;
  /** Why this engine was chosen, for people. */
  readonly reason: string;
  readonly cache?: CachePort;
  /** Number of requests sent so far. Absent where the engine sends none. */
  readonly requests?: () => number;
  /** Number of items that would have been submitted so far. Only in a dry run. */
  readonly dryRunItems?: () => number;
  /** Number of verdicts that this run has added to the cache. Absent without a cache. */
  readonly kept?: () => number;
  /** What the engine is doing. Absent where it asks nobody. */
  readonly activity?: () => ApiEngine["activity"];
  readonly probe?: ApiEngine["probe"];
  /** Called when the runs over all files have ended and their outputs are in place: who has their items again pays again. */
  readonly end?: () => Promise<void>;
  /** Returns whether the run over the file at hand has left receipts, so that the next one need not pay again. */
  readonly leavesReceipts?: () => boolean;
  /**
   * Waits a moment for answers in flight, which may be paid for, and closes the engine's files. Later calls wait for
   * the first.
   *
   * @param isInterrupted shortens the wait: the user wants the program to end
   */
  close(isInterrupted?: boolean): Promise<void>;
}

/** Returns a function that runs `close` at its first call; later calls wait for the first. */
export function once(close: Engine["close"]): Engine["close"] {
  let closed: Promise<void> | undefined;
  return (isInterrupted) => {
    closed ??= close(isInterrupted);
    return closed;
  };
}
