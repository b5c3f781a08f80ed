/** The port between runs and engines. Knows nothing of tables, files or the network. */
import type { Classifier, ClassifierSource } from "../classifier/classifier.js";
import type { Kind } from "../classifier/verdict.js";

export type { Kind };

/** A status defined by the interface document, or any other that a service returns, which passes through unchanged. */
export type Status = string;

/** Statuses defined by the interface document, in the order in which summaries list them. */
export const knownStatuses = ["ok", "alias", "disposable", "fake", "quota_exceeded"] as const;

/** The verdict of an engine on one item. `reason` and `suggestion` are set where the engine knows them. */
export interface Verdict {
  readonly status: Status;
  readonly reason?: string;
  readonly suggestion?: string;
  /** The host that receives the domain's mail, where DNS was asked. */
  readonly mx?: string;
}

/** Verdict on an item that was not checked because the quota ended before it. */
export const notChecked: Verdict = { status: "quota_exceeded" };

/** State of the quota after a batch, as far as the engine knows it. */
export interface QuotaState {
  /** Units left; null when unlimited or unknown. */
  readonly left: number | null;
  /** Time of the renewal, in milliseconds since the epoch; null for never or unknown. */
  readonly renewsAt: number | null;
}

/** Units that a batch took from the quota. */
export interface Charge {
  /** Number of units charged. */
  readonly charged: number;
  /** Whether items stay unchecked: the quota is used up or the engine has halted. Further batches are pointless. */
  readonly exhausted: boolean;
  readonly quota: QuotaState;
}

/** Returns the units that a failed charge has taken all the same: it is in the quota, but perhaps not durable. */
export const unitsOf = (error: unknown): number => (error as { readonly granted?: number }).granted ?? 0;

/** The answer to a batch. */
interface BatchOutcome extends Charge {
  /** Verdict on each item, in the order of the items. */
  readonly verdicts: readonly Verdict[];
}

/** What is left of the items of a request, given by their index in the batch. */
export interface Submission {
  readonly now: readonly number[];
  /** Items to ask for later: another run has them in flight. The others have their verdicts, and cost nothing. */
  readonly later: readonly number[];
}

/** Observes the requests of a batch to an engine outside this program. Items are given by their index in the batch. */
export interface BatchListener {
  /**
   * Called and awaited before a request, with its items in their order.
   *
   * @returns the items to submit now and later; if there are some for later only, after a moment
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

/** An engine: gives verdicts on batches of distinct items and charges one unit per item. */
export interface Validator {
  /** Name of the engine in summaries. */
  readonly name: string;
  /** Largest number of items in a batch. It may change during the run. */
  readonly batchSize: number;
  /** Number of batches validated at a time; 1 by default. */
  readonly concurrency?: number;
  /** Longest usual time for one request and its retries, in milliseconds. Waits before the request are not included. */
  readonly patience?: number;
  /**
   * Validates a batch. A quota that is used up is an outcome, not an error.
   *
   * @param listener gets paid verdicts as soon as they arrive, even if the batch fails later, and may keep items from being
   *   submitted. Items that it has answered itself come back as not checked
   * @throws ServiceError when the engine cannot answer
   * @throws AuthorisationError when the service does not accept the key
   */
  validate(
    kind: Kind,
    items: readonly string[],
    signal: AbortSignal,
    listener?: BatchListener,
  ): Promise<BatchOutcome>;
  /** Returns the verdict on an item that need not be submitted, or undefined when it has to be. */
  precheck?(kind: Kind, item: string): Verdict | undefined;
  /** The engine itself, if it is part of this program. Direct users must charge units before they give verdicts. */
  readonly embedded?: EmbeddedEngine;
  /** Returns the verdict on an item validated before, free of charge. Absent when the engine cannot do that. */
  explain?(kind: Kind, item: string): Verdict;
}

/** The first items of a run, up to one of them. */
export interface Mark {
  readonly items: number;
  /** Digest of their keyed hashes in their order: 12 bytes, as a binary string. */
  readonly digest: string;
}

/** What a charge leaves in the quota, so that a later run over the same items need not pay again if this one does not end. */
export interface ReceiptMarks {
  /** Number of the run's first items that are charged with it. */
  readonly items: number;
  /** The marks that they pass since the last charge. */
  readonly marks: readonly Mark[];
  /**
   * For a run with a name: takes the receipts that others have left since the last charge, when no other charge can be made, and
   * returns the number of units that are still wanted. May be called again.
   */
  readonly learn?: ((receipts: readonly Receipt[]) => number) | undefined;
}

/** What a charge of another run has left. */
export interface Receipt {
  /** Identifies the run. */
  readonly run: string;
  /** Number of its first items that were granted, and of those of them that are used up since. */
  readonly granted: number;
  readonly used: number;
  readonly marks: readonly Mark[];
  /** Time of the charge, in milliseconds since the epoch. */
  readonly time: number;
}

/** The receipts in a quota. */
export interface ReceiptPort {
  /** Secret from which the seed of the items' hashes is derived, so that runs over the same items have the same digests. */
  readonly secret: Uint8Array;
  /** Whether the run has a name: then its receipts hold for all runs of this name. */
  readonly isNamed: boolean;
  /**
   * Takes the receipts of runs that did not end, which belong to this run from then on, or those of the same name.
   *
   * @param start digest of the first item
   */
  take(start: string): Promise<readonly Receipt[]>;
  /** Notes how many of the first items of a run, whose receipts were taken, this one has had. */
  use(run: string, items: number): void;
  /** Begins a run over another file. What the last one has left stays, unless that has ended. */
  renew(): void;
}

/** An engine that is part of this program. */
export interface EmbeddedEngine {
  readonly classifier: Classifier;
  /** Source from which a worker can load the same classifier. */
  readonly source: ClassifierSource;
  /** Absent where a quota keeps none. */
  readonly receipts?: ReceiptPort | undefined;
  /**
   * Charges up to `units`, for the first items of a batch. Durable when it resolves.
   *
   * @param receipt what is left in the quota with the charge
   */
  charge(units: number, receipt?: ReceiptMarks): Promise<Charge>;
}
