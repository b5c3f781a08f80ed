/** The port between runs and engines. Knows nothing of tables, files or the network. */
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
  readonly was?: string;
  readonly mx?: string;
}

export const notChecked: Verdict = { status: "quota_exceeded" };

/** Null means unlimited, never or unknown. */
export interface QuotaState {
  readonly left: number | null;
  readonly renewsAt: number | null;
  /** Units used so far, by all runs; only where it is known. */
  readonly used?: number;
}

export interface Charge {
  readonly charged: number;
  /** Whether items stay unchecked: the quota is used up or the engine has halted. Further batches are pointless. */
  readonly exhausted: boolean;
  readonly quota: QuotaState;
}

interface BatchOutcome extends Charge {
  readonly verdicts: readonly Verdict[];
}

/** Indices of items: submit now, or later, as another run has them in flight. Others have their verdicts. */
export interface Submission {
  readonly now: readonly number[];
  readonly later: readonly number[];
}

interface BatchListener {
  /** Called and awaited before a request. If all items are for later, resolves after a pause. */
  onSubmit(indices: readonly number[]): Promise<Submission>;
  // Called and awaited after each answer, even without verdicts. `indices` have a verdict in this answer and are paid.
  onAnswered(indices: readonly number[], verdicts: readonly Verdict[]): Promise<void>;
}

export interface Validator {
  readonly name: string;
  /** Largest number of items in a batch. May change during the run. */
  readonly batchSize: number;
  readonly concurrency?: number;
  /** Longest usual time for one request and its retries, in milliseconds, without the waits before the request. */
  readonly patience?: number;
  // A used-up quota is an outcome. `listener` gets paid verdicts at once, even if the batch fails later; items that it
  // answers itself come back unchecked. Throws ServiceError without an answer, AuthorisationError for a bad key.
  validate(kind: Kind, items: readonly string[], signal: AbortSignal, listener?: BatchListener): Promise<BatchOutcome>;
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
    | { digests(): { readonly digest: Uint8Array; readonly prefixes: ReadonlyMap<number, Uint8Array> }; clear(): void }
    | undefined;
  /** Called before rows are delivered: charges again what others were given while this run was silent. */
  stayAlive(): Promise<void>;
  deliver(units?: number): Promise<void>;
  giveBack(units: number): Promise<void>;
}

export interface EmbeddedEngine {
  readonly classifier: Classifier;
  readonly source: ClassifierSource;
  readonly delivery?: Delivery | undefined;
  charge(units: number): Promise<Charge>;
}
