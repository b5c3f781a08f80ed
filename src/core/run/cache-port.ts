/** The port from a run to a cache of paid verdicts, implemented in `state/cache/cache-scope.ts`. */

import type { ItemHash } from "../classifier/tables/item-hash.js";

type OnEntry = (item: ItemHash, status: string) => void;

interface Claim {
  /** For each item, whether another run has claimed it. Wait for its verdict instead of submitting it. */
  readonly isElsewhere: readonly boolean[];
  release(): Promise<void>;
}

export interface CachePort {
  /** The seed of the hashes has to be derived from it, so that all runs have the same ones. */
  readonly secret: Uint8Array;
  /** Passes the fresh verdicts to `onEntry`. Later calls pass only verdicts added since then. */
  load(onEntry: OnEntry): Promise<void>;
  /** Keeps concurrent runs from paying twice. Passes verdicts that other runs have added to `onEntry`. */
  claim(items: readonly ItemHash[], milliseconds: number, onEntry: OnEntry): Promise<Claim>;
  /** Records a batch that is about to be submitted, with its items in this order. The record survives a crash. */
  begin(items: readonly ItemHash[]): Promise<void>;
  /** `begun` is the whole batch. Verdicts are durable, and its record is gone, when this resolves. */
  finish(begun: readonly ItemHash[], items: readonly ItemHash[], statuses: readonly string[]): Promise<void>;
  unfinished(): Promise<readonly (readonly ItemHash[])[]>;
}
