/** An engine that is ready for a run, whichever it is. */
import type { CachePort } from "../../run/cache-port.js";
import type { ApiEngine } from "../../validator/api/engine.js";
import type { Validator } from "../../validator/validator.js";

/** An engine that is ready for a run. */
export interface Engine {
  readonly validator: Validator;
  /** Why this engine was chosen, for people. */
  readonly reason: string;
  readonly cache?: CachePort;
  /** Requests that were sent so far. Absent where the engine sends none. */
  readonly requests?: () => number;
  /** Verdicts that this run has added to the cache. Absent without a cache. */
  readonly kept?: () => number;
  readonly probe?: ApiEngine["probe"];
  /**
   * Waits a moment for answers in flight, which are paid for, and closes the engine's files. Later calls wait for the first.
   *
   * @param isInterrupted shortens the wait: the user wants the program to end
   */
  close(isInterrupted?: boolean): Promise<void>;
}

/** Runs `close` at the first call; later calls wait for that. */
export function once(close: Engine["close"]): Engine["close"] {
  let closed: Promise<void> | undefined;
  return (isInterrupted) => {
    closed ??= close(isInterrupted);
    return closed;
  };
}
