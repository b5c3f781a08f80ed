/**
 * The open items of a batch, and the effect of answers on them. A second faulty answer fails the batch. Open items are
 * submitted again while units are left: an answer may be a replay for its key, or the quota may have been raised.
 */
import { notChecked, type Status } from "../../core/validator/validator.js";
import type { Reply } from "./next-step.js";

/** Indices of items in the batch. */
type Indices = readonly number[];

export type Batch = { readonly open: Indices; readonly size: number; readonly faults: number };

export type BatchStep =
  /** `isRenewed` if there were units for all items. */
  | { readonly next: "go on"; readonly batch: Batch; readonly isRenewed?: true }
  | { readonly next: "shrink"; readonly batch: Batch }
  | { readonly next: "pause"; readonly batch: Batch }
  | { readonly next: "fail"; readonly fault: string }
  | { readonly next: "wait for renewal"; readonly batch: Batch; readonly renewsIn: number | undefined };

/** Submits the whole batch first, whatever the service accepts: a killed run may have sent it under the same key. */
export const newBatch = (items: number): Batch => ({ open: [...Array(items).keys()], size: items, faults: 0 });

export function answeredIn(part: Indices, reply: Reply) {
  if (reply === "too large" || reply.isGone) return { items: [], statuses: [] };
  const { statuses } = reply;
  const isAnswered = (status: Status | undefined): status is Status =>
    status !== undefined && status !== notChecked.status;
  if (statuses.every(isAnswered)) return { items: part, statuses };
  return { items: part.filter((_, i) => isAnswered(statuses[i])), statuses: statuses.filter(isAnswered) };
}

export function afterReply(batch: Batch, part: Indices, answered: Indices, reply: Reply): BatchStep {
  if (reply === "too large") return { next: "shrink", batch: { ...batch, size: Math.ceil(part.length / 2) } };
  if (reply.isGone) return { next: "wait for renewal", batch, renewsIn: reply.renewsIn };
  const rest: Batch = { ...batch, open: without(batch.open, answered) };
  if (reply.fault !== undefined) {
    const faults = batch.faults + 1;
    return faults > 1 ? { next: "fail", fault: reply.fault } : { next: "pause", batch: { ...rest, faults } };
  }
  if (answered.length === part.length) return { next: "go on", batch: rest, isRenewed: true };
  if (answered.length > 0 && reply.left !== 0) return { next: "go on", batch: rest };
  return { next: "wait for renewal", batch: rest, renewsIn: reply.renewsIn };
}

function without(items: Indices, done: Indices): Indices {
  if (done.length === items.length) return [];
  const isDone = new Set(done);
  return items.filter((item) => !isDone.has(item));
}
