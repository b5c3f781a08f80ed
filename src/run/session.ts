/** State that the runs over several files share, so that an item in two of them is charged once. */
import type { ItemLedger } from "./batched/item-ledger.js";
import type { DistinctItems } from "./distinct-items.js";
import type { Charges } from "./embedded/charges.js";

/** Filled by the first run, and used by those after it. All of them have the same engine, and run in the same way. */
export interface RunSession {
  /** Whether tables that the scanner reads go in batches too, because another table has to. */
  readonly isBatched: boolean;
  charges?: Charges;
  ledger?: ItemLedger;
  /** Mailboxes that were written, for `--dedupe=canonical`. */
  mailboxes?: DistinctItems;
}
