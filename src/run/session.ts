/**
 * State that outlives a run: what it has cost, should it fail, and what the runs over several files share, so that an item
 * in two of them is charged once.
 */
import type { QuotaState } from "../validator/validator.js";
import type { DistinctItems } from "./distinct-items.js";

/** Filled by the first run, and used by those after it. All of them have the same engine. */
export interface RunSession {
  /** Whether another run may follow, even after one that failed. */
  readonly isSeveral: boolean;
  /** Returns the counts over all runs so far, even of one that failed. */
  counts?: () => RunCounts;
  /** Returns the quota after the last charge; undefined when nothing was charged. */
  quota?: () => QuotaState | undefined;
  /** Items or mailboxes that were written, for `--dedupe`. */
  writtenKeys?: DistinctItems;
}

/** Counts of items and units. */
export interface RunCounts {
  /** Distinct items, checked or not. */
  readonly distinct: number;
  /** Distinct items whose verdict came from the cache. */
  readonly cached: number;
  /** Distinct items decided by the precheck, and therefore not submitted. */
  readonly prechecked: number;
  /** Units that were charged. */
  readonly charged: number;
}

/** Returns the counts of a session so far. */
export function countsOf({ counts }: RunSession): RunCounts {
  return counts?.() ?? { distinct: 0, cached: 0, prechecked: 0, charged: 0 };
}

/** What a run keeps for the next one of its session. */
export class SessionState<State> {
  readonly #states = new WeakMap<RunSession, State>();

  /** Returns the state of a session, which is made if there is none; new state without a session. */
  of(session: RunSession | undefined, make: () => State): State {
    const state = (session && this.#states.get(session)) ?? make();
    if (session) this.#states.set(session, state);
    return state;
  }
}

/** Returns what was counted between two times. */
export function countsSince(before: RunCounts, now: RunCounts): RunCounts {
  return {
    distinct: now.distinct - before.distinct,
    cached: now.cached - before.cached,
    prechecked: now.prechecked - before.prechecked,
    charged: now.charged - before.charged,
  };
}
