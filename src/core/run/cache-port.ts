/**
 * The port from a run to a cache of verdicts that were paid for. A run knows nothing else of the store, which implements the
 * port in `store/cache/cache-scope.ts`.
 */

import type { ItemHash } from "../classifier/tables/item-hash.js";

type OnEntry = (item: ItemHash, status: string) => void;

interface Claim {
  /** For each item, whether another run has claimed it. Wait for its verdict instead of submitting it. */
  readonly isElsewhere: readonly boolean[];
  release(): Promise<void>;
}

/** Cached verdicts of one kind from one service. */
export interface CachePort {
  /** The seed of the hashes has to be derived from it, so that all runs have the same ones. */
  readonly secret: Uint8Array;
  /** Passes the fresh verdicts to `onEntry`. Later calls pass only verdicts added since then. */
  load(onEntry: OnEntry): Promise<void>;
  /**
   * Claims items for `milliseconds` before they are submitted, so that concurrent runs pay for them only once. Passes verdicts
   * that other runs have added to `onEntry`.
   */
  claim(items: readonly ItemHash[], milliseconds: number, onEntry: OnEntry): Promise<Claim>;
  /** Records a batch that is about to be submitted, with its items in this order. The record survives a crash. */
  begin(items: readonly ItemHash[]): Promise<void>;
  /**
   * Stores verdicts and deletes the record of their batch. Verdicts are durable when this resolves.
   *
   * @param begun the whole batch, as passed to `begin`
   * @param items items of the batch that have a verdict
   */
  finish(begun: readonly ItemHash[], items: readonly ItemHash[], statuses: readonly string[]): Promise<void>;
  /** Returns the items of each batch that was begun within the last 24 hours and not finished. */
  unfinished(): Promise<readonly (readonly ItemHash[])[]>;
}
