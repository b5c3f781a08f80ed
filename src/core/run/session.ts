// State that outlives a run: its cost, even if it fails, and data shared by the runs over several files, so that an
// item in two of them is charged once.
import type { QuotaState } from "../validator/validator.js";
import type { DistinctItems } from "./distinct-items.js";

export interface RunSession {
  readonly isSeveral: boolean;
  counts?: () => RunCounts;
  quota?: () => QuotaState | undefined;
  /** Gives back what the last run has charged, whose rows are not delivered although it has ended well. */
  abandon?: () => Promise<void>;
  writtenKeys?: DistinctItems;
}

export interface RunCounts {
  readonly distinct: number;
  readonly cached: number;
  readonly prechecked: number;
  readonly charged: number;
}

export function countsOf({ counts }: RunSession): RunCounts {
  return counts?.() ?? { distinct: 0, cached: 0, prechecked: 0, charged: 0 };
}

export async function abandonLast({ abandon }: RunSession): Promise<void> {
  await abandon?.();
}

export function countsSince(before: RunCounts, now: RunCounts): RunCounts {
  return {
    distinct: now.distinct - before.distinct,
    cached: now.cached - before.cached,
    prechecked: now.prechecked - before.prechecked,
    charged: now.charged - before.charged,
  };
}
