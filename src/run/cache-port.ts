/**
 * The port of a run to a cache of verdicts that were paid for. The store implements it (`store/cache-scope.ts`, which
 * describes each method); a run knows no more of the store.
 */

/** Called with the first two 32-bit words of an item's digest, little-endian, and its status. */
type OnEntry = (low: number, high: number, status: string) => void;

/** Some items that this run alone may submit until it releases them. */
interface Claim {
  /** For each digest, whether another run has it in flight: its verdict should be waited for. */
  readonly isElsewhere: readonly boolean[];
  release(): Promise<void>;
}

/** The verdicts of one kind from one service. Items are known by digests: keyed hashes of 16 characters below 256. */
export interface CachePort {
  /** The digest of an item's key. */
  digest(key: string): string;
  /** Passes on the verdicts that are fresh; called again, those that were added since. */
  load(onEntry: OnEntry): Promise<void>;
  /** Claims items for `milliseconds` before they are submitted, so that runs side by side pay once. */
  claim(digests: readonly string[], milliseconds: number, onEntry: OnEntry): Promise<Claim>;
  /** Records what is about to be submitted together, in this order; the record outlives the process. */
  begin(digests: readonly string[]): Promise<void>;
  /** Keeps the verdicts on some of what was begun, and forgets that it was begun. Durable when it resolves. */
  finish(begun: readonly string[], digests: readonly string[], statuses: readonly string[]): Promise<void>;
  /** Batches that were begun within a day and not finished. */
  unfinished(): Promise<readonly (readonly string[])[]>;
}
