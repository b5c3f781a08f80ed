/**
 * A batch on its way through the api engine: which of its items are open, and what an answer means for them. Knows neither requests
 * nor waits: `engine.ts` makes them.
 *
 * - "too large": the items are submitted in parts of half the size, and later batches are made smaller.
 * - A faulty answer: the open items are submitted once more; the second faulty answer to a batch fails it.
 * - Some verdicts, and units are left: the open items are submitted again. The answer may have been replayed for its
 *   Idempotency-Key, or the quota raised since.
 * - The quota is used up: the batch waits for its renewal, if that is wanted.
 */
import { notChecked, type Status } from "../validator.js";
import type { Reply } from "./next-step.js";

/** A batch; items are indices. */
export interface Batch {
  /** Items without a verdict, in the order in which they are submitted. */
  readonly open: readonly number[];
  /** Largest number of items to submit at a time. */
  readonly size: number;
  /** Number of faulty answers. */
  readonly faults: number;
}

/** What follows an answer. */
export type BatchStep =
  /** Go on; `isRenewed` if units were left for all items. */
  | { readonly next: "go on"; readonly batch: Batch; readonly isRenewed?: true }
  | { readonly next: "shrink"; readonly batch: Batch }
  /** The answer was faulty: wait a moment. */
  | { readonly next: "pause"; readonly batch: Batch }
  | { readonly next: "fail"; readonly fault: string }
  /** The quota is used up; milliseconds until its renewal, if the service says. */
  | { readonly next: "wait for renewal"; readonly batch: Batch; readonly renewsIn: number | undefined };

/**
 * Returns a batch whose items were not submitted yet. The whole batch comes first, even where only smaller ones are accepted: a killed
 * run may have submitted it. Resent unchanged, it has the same Idempotency-Key and is not charged twice.
 */
export const newBatch = (items: number): Batch => ({
  open: [...Array(items).keys()],
  size: items,
  faults: 0,
});

/** Items that an answer gives a verdict, and their statuses. */
interface Answered {
  readonly items: readonly number[];
  readonly statuses: readonly Status[];
}

/** Returns which items of a part have a verdict in an answer. */
export function answeredIn(part: readonly number[], reply: Reply): Answered {
  if (reply === "too large" || reply.isGone) return { items: [], statuses: [] };
  const { statuses } = reply;
  const isAnswered = (status: Status | undefined): status is Status =>
    status !== undefined && status !== notChecked.status;
  // Nearly always, all of them.
  if (statuses.every(isAnswered)) return { items: part, statuses };
  return {
    items: part.filter((_, i) => isAnswered(statuses[i])),
    statuses: statuses.filter(isAnswered),
  };
}

/**
 * Decides what follows the answer to a part of a batch.
 *
 * @param answered the items that it gives a verdict
 */
export function afterReply(
  batch: Batch,
  part: readonly number[],
  answered: readonly number[],
  reply: Reply,
): BatchStep {
  if (reply === "too large") {
    return { next: "shrink", batch: { ...batch, size: Math.ceil(part.length / 2) } };
  }
  if (reply.isGone) return { next: "wait for renewal", batch, renewsIn: reply.renewsIn };
  const rest: Batch = { ...batch, open: without(batch.open, answered) };
  if (reply.fault !== undefined) {
    const faults = batch.faults + 1;
    return faults > 1 ? { next: "fail", fault: reply.fault } : { next: "pause", batch: { ...rest, faults } };
  }
  if (answered.length === part.length) return { next: "go on", batch: rest, isRenewed: true };
  // Unless no units are left: the answer to that says whether there are any.
  if (answered.length > 0 && reply.left !== 0) return { next: "go on", batch: rest };
  return { next: "wait for renewal", batch: rest, renewsIn: reply.renewsIn };
}

/** Returns items without those that are done. */
function without(items: readonly number[], done: readonly number[]): readonly number[] {
  if (done.length === items.length) return [];
  const isDone = new Set(done);
  return items.filter((item) => !isDone.has(item));
}
