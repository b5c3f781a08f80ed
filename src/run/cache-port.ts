/**
 * The port from a run to a cache of verdicts that were paid for. A run knows nothing else of the store, which implements the
 * port in `store/cache/cache-scope.ts`.
 */

/** Callback for a verdict: the first two 32-bit words of the item's digest, little-endian, and the status. */
type OnEntry = (low: number, high: number, status: string) => void;

/** While a claim lasts, other runs do not submit its items. */
interface Claim {
  /** For each digest, whether another run has claimed it. Wait for its verdict instead of submitting it. */
  readonly isElsewhere: readonly boolean[];
  release(): Promise<void>;
}

/** Cached verdicts of one kind from one service. A digest is a keyed hash of an item: 16 characters below U+0100. */
export interface CachePort {
  digest(key: string): string;
  /** Passes the fresh verdicts to `onEntry`. Later calls pass only verdicts added since then. */
  load(onEntry: OnEntry): Promise<void>;
  /**
   * Claims items for `milliseconds` before they are submitted, so that concurrent runs pay for them only once. Passes verdicts
   * that other runs have added to `onEntry`.
   */
  claim(digests: readonly string[], milliseconds: number, onEntry: OnEntry): Promise<Claim>;
  /** Records a batch that is about to be submitted, with its items in this order. The record survives a crash. */
  begin(digests: readonly string[]): Promise<void>;
  /**
   * Stores verdicts and deletes the record of their batch. Verdicts are durable when this resolves.
   *
   * @param begun digests of the whole batch, as passed to `begin`
   * @param digests items of the batch that have a verdict
   */
  finish(begun: readonly string[], digests: readonly string[], statuses: readonly string[]): Promise<void>;
  /** Returns the digests of each batch that was begun within the last 24 hours and not finished. */
  unfinished(): Promise<readonly (readonly string[])[]>;
}
