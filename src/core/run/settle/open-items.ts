/** The items of a session that have to be submitted to a service, and the verdicts on them in the cache. */
import type { ItemHash } from "../../classifier/tables/item-hash.js";
import type { QuotaState, Status } from "../../validator/validator.js";
import type { CachePort } from "../cache-port.js";
import { DistinctItems } from "../distinct-items.js";
import type { ItemLedger } from "../item-ledger.js";

export type OpenItem = ItemHash & { readonly item: string };

/** `ledger` is the session's, in which all items are. */
export function createOpenItems(ledger: ItemLedger, cache: CachePort | undefined) {
  const known = cache && new DistinctItems();

  function remember(item: ItemHash, status: Status): void {
    const code = ledger.codes.codeOf({ status });
    if (code !== undefined) known?.set(item, code);
  }

  return {
    ledger,
    remember,
    load: async () => cache?.load(remember),
    settleFromCache(item: OpenItem): boolean {
      if (known === undefined) return false;
      const code = known.get(item);
      if (code === 0) return false;
      ledger.cached++;
      ledger.give(item, code);
      return true;
    },
    charge(units: number, quota?: QuotaState): void {
      ledger.charged += units;
      if (quota !== undefined) ledger.quota = quota;
    },
  };
}

export type OpenItems = ReturnType<typeof createOpenItems>;
