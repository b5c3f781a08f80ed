/** The items of a session that have to be submitted to a service, and the verdicts on them in the cache. */
import type { ItemHash } from "../../classifier/tables/item-hash.js";
import type { QuotaState, Status, Verdict } from "../../validator/validator.js";
import type { CachePort } from "../cache-port.js";
import { DistinctItems } from "../distinct-items.js";
import type { ItemLedger } from "../item-ledger.js";

export interface OpenItem extends ItemHash {
  readonly item: string;
}

export class OpenItems {
  readonly #ledger: ItemLedger;
  readonly #cache: CachePort | undefined;
  readonly #known: DistinctItems | undefined;

  constructor(ledger: ItemLedger, cache: CachePort | undefined) {
    this.#ledger = ledger;
    this.#cache = cache;
    this.#known = cache && new DistinctItems();
  }

  async load(): Promise<void> {
    await this.#cache?.load((item, status) => this.remember(item, status));
  }

  remember(item: ItemHash, status: Status): void {
    const code = this.#ledger.codes.codeOf({ status });
    if (code !== undefined) this.#known?.set(item, code);
  }

  settleFromCache(item: OpenItem): boolean {
    if (this.#known === undefined) return false;
    const code = this.#known.get(item);
    if (code === 0) return false;
    this.#ledger.cached++;
    this.#ledger.give(item, code);
    return true;
  }

  settle(items: readonly OpenItem[], verdicts: readonly Verdict[]): void {
    this.#ledger.settleAll(items, verdicts);
  }

  forget(item: OpenItem): void {
    this.#ledger.forget(item);
  }

  charge(units: number, quota?: QuotaState): void {
    this.#ledger.charged += units;
    if (quota !== undefined) this.#ledger.quota = quota;
  }
}
