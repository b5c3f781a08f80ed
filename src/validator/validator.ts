/**
 * The port between runs and engines. Knows nothing of tables, files or the network. Times are in milliseconds since the
 * epoch.
 */
import type { Classifier } from "../classifier/classifier.js";
import type { ClassifierSource } from "../classifier/load-classifier.js";
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

/** Returns the units that a failed change has charged nevertheless: they are in the quota, but perhaps not durable. */
export const unitsOf = (error: unknown): number => (error as { readonly granted?: number }).granted ?? 0;

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

/** A prefix of the run's items, with a digest of their keyed hashes in order: 12 bytes, as a binary string. */
export interface Mark {
  readonly items: number;
  readonly digest: string;
}

/**
 * Receipt of a charge, stored in the quota: if the run does not end, a later run over the same items need not pay
 * again.
 */
export interface ReceiptMarks {
  /** Number of the run's first items, with those of this charge. */
  readonly items: number;
  readonly marks: readonly Mark[];
  /**
   * For a run with a name: receives the receipts that others have stored since the last charge, while no other charge
   * can be made, and returns the number of units still wanted. May be called again.
   */
  readonly learn?: ((receipts: readonly Receipt[]) => number) | undefined;
}

export interface Receipt {
  readonly run: string;
  /** `granted` is the number of the run's first items that were granted; the first `used` of them are used up since. */
  readonly granted: number;
  readonly used: number;
  readonly marks: readonly Mark[];
  readonly time: number;
}

export interface ReceiptPort {
  /** Source of the seed of the items' hashes, so that runs over the same items have the same digests. */
  readonly secret: Uint8Array;
  /** Whether the run has a name: then its receipts are valid for all runs of this name. */
  readonly isNamed: boolean;
  /**
   * Returns the receipts of the same name; without a name, those of runs that did not end, which belong to this run
   * from then on.
   *
   * @param start digest of the first item
   */
  take(start: string): Promise<readonly Receipt[]>;
  /** Records that this run has used up the first `items` items of another run's receipts. */
  use(run: string, items: number): void;
  /** Begins a run over another file. Receipts of the last run stay unless that run has ended. */
  renew(): void;
}

export interface EmbeddedEngine {
  readonly classifier: Classifier;
  readonly source: ClassifierSource;
  readonly receipts?: ReceiptPort | undefined;
  /** Charges up to `units` for the first items of a batch. Durable when it resolves. */
  charge(units: number, receipt?: ReceiptMarks): Promise<Charge>;
}
