/** The items of a session that have to be submitted to a service, and the verdicts on them in the cache. */
import type { ItemHash } from "../../classifier/item-hash.js";
import type { QuotaState, Status, Verdict } from "../../validator/validator.js";
import type { CachePort } from "../cache-port.js";
import { DistinctItems } from "../distinct-items.js";
import { itemKey } from "../item.js";
import type { ItemLedger } from "../item-ledger.js";

export interface OpenItem extends ItemHash {
  readonly item: string;
  /** Digest of the item in the cache; empty without a cache. */
  digest: string;
}

export class OpenItems {
  readonly #ledger: ItemLedger;
  readonly #cache: CachePort | undefined;
  /** Codes of the verdicts in the cache, by the first 64 bits of the items' digests. */
  readonly #known: DistinctItems | undefined;

  constructor(ledger: ItemLedger, cache: CachePort | undefined) {
    this.#ledger = ledger;
    this.#cache = cache;
    this.#known = cache && new DistinctItems();
  }

  async load(): Promise<void> {
    await this.#cache?.load((low, high, status) => this.remember({ low, high }, status));
  }

  /** Adds a verdict of an earlier or a concurrent run from the cache, unless there are too many statuses. */
  remember(digest: ItemHash, status: Status): void {
    const code = this.#ledger.codes.codeOf({ status });
    if (code !== undefined) this.#known?.set(digest, code);
  }

  /** Finds the digest of an item that is new to the session. Returns true if the cache has no verdict on it. */
  open(item: OpenItem): boolean {
    if (this.#cache) item.digest = this.#cache.digest(itemKey(item.item));
    return !this.settleFromCache(item);
  }

  settleFromCache(item: OpenItem): boolean {
    if (this.#known === undefined) return false;
    const code = this.#known.get(wordsOf(item.digest));
    if (code === 0) return false;
    this.#ledger.cached++;
    this.#ledger.give(item, code);
    return true;
  }

  /** @throws ServiceError when there are too many different verdicts */
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

function wordsOf(digest: string): ItemHash {
  const word = (at: number) =>
    digest.charCodeAt(at) |
    (digest.charCodeAt(at + 1) << 8) |
    (digest.charCodeAt(at + 2) << 16) |
    (digest.charCodeAt(at + 3) << 24);
  return { low: word(0), high: word(4) };
}
