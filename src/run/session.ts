/**
 * State that outlives a run: what it has cost, should it fail, and what the runs over several files share, so that an item
 * in two of them is charged once.
 */
import type { ItemLedger } from "./batched/item-ledger.js";
import type { DistinctItems } from "./distinct-items.js";
import type { Charges } from "./embedded/charges.js";
import type { PreparedKernel } from "./embedded/embedded-run.js";
import type { RunReport } from "./run-options.js";

/** Filled by the first run, and used by those after it. All of them have the same engine, and run in the same way. */
export interface RunSession {
  /** Whether another run may follow, even after one that failed. */
  readonly isSeveral: boolean;
  /** Whether tables that the scanner reads go in batches too, because another table has to. */
  readonly isBatched: boolean;
  charges?: Charges;
  /** The kernel with its memory, for one run at a time; null if it cannot run. Without it, items have other hashes. */
  kernel?: PreparedKernel | null;
  ledger?: ItemLedger;
  /** Items or mailboxes that were written, for `--dedupe`. */
  writtenKeys?: DistinctItems;
}

/** Counts of items and units, over all runs of a session. */
export type RunCounts = Pick<RunReport, "distinct" | "cached" | "prechecked" | "charged">;

/** Returns the counts of a session so far. */
export function countsOf({ charges, ledger }: RunSession): RunCounts {
  return (charges ?? ledger)?.counts ?? { distinct: 0, cached: 0, prechecked: 0, charged: 0 };
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
