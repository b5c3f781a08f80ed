/** The items of a session that a service has to be asked about, and the verdicts on them that the cache has. */
import type { ItemHash } from "../../classifier/item-hash.js";
import type { QuotaState, Status, Verdict } from "../../validator/validator.js";
import type { CachePort } from "../cache-port.js";
import { DistinctItems } from "../distinct-items.js";
import { itemKey } from "../item.js";
import type { ItemLedger } from "../item-ledger.js";

/** An item that waits for its verdict. */
export interface OpenItem extends ItemHash {
  readonly item: string;
  /** Digest of the item in the cache; empty without a cache. */
  digest: string;
}

export class OpenItems {
  readonly #ledger: ItemLedger;
  readonly #cache: CachePort | undefined;
  /** The codes of the verdicts in the cache, by the first words of their digests. */
  readonly #known: DistinctItems | undefined;

  constructor(ledger: ItemLedger, cache: CachePort | undefined) {
    this.#ledger = ledger;
    this.#cache = cache;
    this.#known = cache && new DistinctItems();
  }

  /** Loads the verdicts of earlier runs. */
  async load(): Promise<void> {
    await this.#cache?.load((low, high, status) => this.remember({ low, high }, status));
  }

  /** Takes a verdict from the cache, added by an earlier or a concurrent run. Ignores it if there are too many statuses. */
  remember(digest: ItemHash, status: Status): void {
    const code = this.#ledger.codes.codeOf({ status });
    if (code !== undefined) this.#known?.set(digest, code);
  }

  /** Finds the digest of an item that is new to the session. Returns whether it is open: the cache has no verdict on it. */
  open(item: OpenItem): boolean {
    if (this.#cache) item.digest = this.#cache.digest(itemKey(item.item));
    return !this.settleFromCache(item);
  }

  /** Settles an item if the cache has a verdict on it. Returns whether it has. */
  settleFromCache(item: OpenItem): boolean {
    if (this.#known === undefined) return false;
    const code = this.#known.get(wordsOf(item.digest));
    if (code === 0) return false;
    this.#ledger.cached++;
    this.#ledger.give(item, code);
    return true;
  }

  /**
   * Takes the verdicts of the service on items.
   *
   * @throws ServiceError when there are too many different ones
   */
  settle(items: readonly OpenItem[], verdicts: readonly Verdict[]): void {
    this.#ledger.settleAll(items, verdicts);
  }

  /** Forgets an item that was not submitted: it is new when it comes again. */
  forget(item: OpenItem): void {
    this.#ledger.forget(item);
  }

  /** Adds the charge of a request or a batch. */
  charge(units: number, quota?: QuotaState): void {
    this.#ledger.charged += units;
    if (quota !== undefined) this.#ledger.quota = quota;
  }
}

/** Returns the first 64 bits of a digest. */
function wordsOf(digest: string): ItemHash {
  const word = (at: number) =>
    digest.charCodeAt(at) |
    (digest.charCodeAt(at + 1) << 8) |
    (digest.charCodeAt(at + 2) << 16) |
    (digest.charCodeAt(at + 3) << 24);
  return { low: word(0), high: word(4) };
}
