import type { Classifier, ClassifierSource } from "../classifier/classifier.js";
import type { Kind } from "../classifier/verdict.js";

export type { Kind };

/**
 * A status of the interface document, or one that a service has grown since: unknown ones pass through.
 */
export type Status = string;

/** The statuses that the interface document names, in the order in which summaries list them. */
export const knownStatuses = ["ok", "alias", "disposable", "fake", "quota_exceeded"] as const;

/** What an engine says of one item. `reason` and `suggestion` exist where the engine knows them. */
export interface Verdict {
  readonly status: Status;
  readonly reason?: string;
  readonly suggestion?: string;
}

/** The verdict on an item that the quota did not reach. */
export const notChecked: Verdict = { status: "quota_exceeded" };

/** The quota after a batch, as far as the engine knows it. */
export interface QuotaState {
  /** Units left; null for no limit, or unknown. */
  readonly left: number | null;
  /** When it renews, in milliseconds since the epoch; null for never or unknown. */
  readonly renewsAt: number | null;
}

/** What a batch took from the quota. */
export interface Charge {
  /** How many units the batch was charged. */
  readonly charged: number;
  /** Some item could not be checked because the quota is gone: no further batch makes sense. */
  readonly exhausted: boolean;
  readonly quota: QuotaState;
}

/** The answer to a batch. */
interface BatchOutcome extends Charge {
  /** One for each item, in the order of the items. */
  readonly verdicts: readonly Verdict[];
}

/** Follows a batch on its way to an engine that is elsewhere. Items are named by their indices in the batch. */
export interface BatchListener {
  /** Called and waited for before items are submitted together, in this order. */
  onSubmit(indices: readonly number[]): Promise<void>;
  /**
   * Called and waited for when the items submitted last have been answered.
   *
   * @param indices those that have verdicts now, which are paid for
   * @param verdicts theirs, in the same order
   */
  onAnswered(indices: readonly number[], verdicts: readonly Verdict[]): Promise<void>;
}

/** Gives statuses to a batch of distinct items, in submission order, charging one unit for each. */
export interface Validator {
  /** The engine's name in summaries. */
  readonly engine: string;
  /** The most items in a batch; it may change. */
  readonly batchSize: number;
  /** How many batches are validated at a time; 1 by default. */
  readonly concurrency?: number;
  /** Longest time in milliseconds from the start of `validate` to its end, unless it waits for a quota's renewal. */
  readonly patience?: number;
  /**
   * @param listener gets what is paid for as soon as it is, also where the batch comes to nothing in the end
   * @throws when the engine cannot answer. A quota that is gone is an outcome, not an exception.
   */
  validate(
    kind: Kind,
    items: readonly string[],
    signal: AbortSignal,
    listener?: BatchListener,
  ): Promise<BatchOutcome>;
  /** The verdict on an item that needs no engine; undefined where it does. */
  precheck?(kind: Kind, item: string): Verdict | undefined;
  /**
   * The engine, where it is part of this program: its verdicts can be had anywhere and any time, and are to be charged
   * before they are given away.
   */
  readonly embedded?: EmbeddedEngine;
  /** The verdict, once more and at no charge, on an item that was validated before. Absent where that is impossible. */
  explain?(kind: Kind, item: string): Verdict;
}

/** An engine that is part of this program. */
export interface EmbeddedEngine {
  readonly classifier: Classifier;
  /** What it was made of. */
  readonly source: ClassifierSource;
  /** Charges up to `units`, in the order of the items; durable when it returns. */
  charge(units: number): Promise<Charge>;
}
