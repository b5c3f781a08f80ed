/**
 * The port between runs and engines. Knows nothing of tables, files or the network. Times are in milliseconds since the
 * epoch.
 */
import type { Classifier } from "../classifier/classifier.js";
import type { ClassifierSource } from "../classifier/tables/load-classifier.js";
import type { Kind } from "../classifier/verdict.js";

export type { Kind };

/** A status of the interface document, or any other that a service returns, which passes through unchanged. */
export type Status = string;

/** Statuses of the interface document, in the order of summaries. */
export const knownStatuses = ["ok", "alias", "disposable", "fake", "quota_exceeded"] as const;

export interface Verdict {
  readonly status: Status;
  readonly reason?: string;
  readonly suggestion?: string;
  /** The item that was in the row, if it was replaced. */
  readonly was?: string;
  /** Host that receives the domain's mail, if DNS was asked. */
  readonly mx?: string;
}

export const notChecked: Verdict = { status: "quota_exceeded" };

/** Null means unlimited, never or unknown. */
export interface QuotaState {
  readonly left: number | null;
  readonly renewsAt: number | null;
}

export interface Charge {
  readonly charged: number;
  /** Whether items stay unchecked: the quota is used up or the engine has halted. Further batches are pointless. */
  readonly exhausted: boolean;
  readonly quota: QuotaState;
}

interface BatchOutcome extends Charge {
  /** In the order of the items. */
  readonly verdicts: readonly Verdict[];
}

/**
 * Items to submit now, and those to submit later because another run has them in flight; by their index in the batch.
 * Items in neither list have their verdicts and cost nothing.
 */
export interface Submission {
  readonly now: readonly number[];
  readonly later: readonly number[];
}

/** Observes the requests of a batch to an external engine. Items are given by their index in the batch. */
export interface BatchListener {
  /**
   * Called and awaited before a request, with its items in order.
   *
   * @returns the items to submit now and later. If all of them are for later, resolves after a pause
   */
  onSubmit(indices: readonly number[]): Promise<Submission>;
  /**
   * Called and awaited when the request of the latest `onSubmit` has been answered, even if the answer has no verdicts.
   *
   * @param indices items with a verdict in this answer, which are paid for
   * @param verdicts verdicts on these items, in the same order
   */
  onAnswered(indices: readonly number[], verdicts: readonly Verdict[]): Promise<void>;
}

/** An engine: gives verdicts on batches of distinct items, and charges one unit per item. */
export interface Validator {
  readonly name: string;
  /** Largest number of items in a batch. May change during the run. */
  readonly batchSize: number;
  /** Number of batches validated at a time; 1 by default. */
  readonly concurrency?: number;
  /** Longest usual time for one request and its retries, in milliseconds, without the waits before the request. */
  readonly patience?: number;
  /**
   * Validates a batch. A used-up quota is an outcome, not an error.
   *
   * @param listener receives paid verdicts as soon as they arrive, even if the batch fails later, and may exclude
   *   items. Items that it has answered itself come back as not checked
   * @throws ServiceError when the engine cannot answer
   * @throws AuthorisationError when the service does not accept the key
   */
  validate(
    kind: Kind,
    items: readonly string[],
    signal: AbortSignal,
    listener?: BatchListener,
  ): Promise<BatchOutcome>;
  /** Returns the verdict on an item that need not be submitted, else undefined. */
  precheck?(kind: Kind, item: string): Verdict | undefined;
  /** Set if the engine is part of this program. Direct users must charge units before they give verdicts. */
  readonly embedded?: EmbeddedEngine;
  /** Returns the verdict on an item validated before, free of charge. */
  explain?(kind: Kind, item: string): Verdict;
}

/** How the units of a run become those of what it has delivered. A run that delivers nothing owes nothing. */
export interface Delivery {
  /** Whether the run has a name, under which another try at the same items is not charged again. */
  readonly isNamed: boolean;
  /** Source of the seed of the items' hashes, so that runs over the same items have the same digests. */
  readonly secret: Uint8Array;
  /** Numbers of items of which digests of so many first ones are wanted; known after the first charge. */
  readonly marks: ReadonlySet<number>;
  /** Set by a run with a name: the digests of the items that are delivered next; `clear` begins with the next ones. */
  items:
    | {
        digests(): { readonly digest: Uint8Array; readonly prefixes: ReadonlyMap<number, Uint8Array> };
        clear(): void;
      }
    | undefined;
  /** Called before rows are delivered: charges again what others were given while this run was silent. */
  stayAlive(): Promise<void>;
  /** @param units that were delivered; all that was charged if undefined */
  deliver(units?: number): Promise<void>;
  giveBack(units: number): Promise<void>;
}

export interface EmbeddedEngine {
  readonly classifier: Classifier;
  readonly source: ClassifierSource;
  readonly delivery?: Delivery | undefined;
  /** Charges up to `units` for the first items of a batch. */
  charge(units: number): Promise<Charge>;
}
