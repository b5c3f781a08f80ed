/** Covers what an answer means for the items of a batch. */
import { expect, test } from "vitest";
import { afterReply, answeredIn, type Batch, newBatch } from "../../../src/engines/api/batch.js";
import type { Reply } from "../../../src/engines/api/next-step.js";

const results = (statuses: readonly (string | undefined)[], more: { left?: number; fault?: string } = {}): Reply => ({
  isGone: false,
  renewsIn: 9000,
  left: undefined,
  statuses,
  ...more,
});

const whole = newBatch(4);
const all = [0, 1, 2, 3];
const batchOf = (open: readonly number[], size = 4, faults = 0): Batch => ({ open, size, faults });
const renewed = (batch: Batch) => ({ next: "go on", isRenewed: true, batch });
const waits = (batch: Batch, renewsIn?: number) => ({ next: "wait for renewal", renewsIn, batch });
const half = ["ok", "quota_exceeded", "ok", "quota_exceeded"];
const paused = { next: "pause", batch: batchOf([1], 4, 1) };
const fault = "no result for item 1 of 1";

test.each<[string, Batch, readonly number[], Reply, unknown]>([
  ["all verdicts", whole, all, results(["ok", "fake", "ok", "x"]), renewed(batchOf([]))],
  ["all of a part", batchOf(all, 2), [0, 1], results(["ok", "ok"], { left: 0 }), renewed(batchOf([2, 3], 2))],
  ["some, and units are left", whole, all, results(half, { left: 5 }), { next: "go on", batch: batchOf([1, 3]) }],
  ["some, and no unit is left", whole, all, results(half, { left: 0 }), waits(batchOf([1, 3]), 9000)],
  ["no verdict", whole, all, results(Array(4).fill("quota_exceeded"), { left: 5 }), waits(whole, 9000)],
  ["a used-up quota", whole, all, { isGone: true, renewsIn: undefined }, waits(whole)],
  ["the first faulty answer", whole, all, results(["ok", undefined, "ok", "ok"], { fault }), paused],
  ["the second one", batchOf([1], 4, 1), [1], results([undefined], { fault }), { next: "fail", fault }],
  ["a part that is too large", whole, [0, 1, 2], "too large", { next: "shrink", batch: batchOf(all, 2) }],
])("chooses the next step after %s", (_, batch, part, reply, expected) => {
  expect(afterReply(batch, part, answeredIn(part, reply).items, reply)).toEqual(expected);
});

test("the verdicts of an answer belong to the items of the submitted part", () => {
  const answered = answeredIn([5, 2, 9], results(["ok", undefined, "fake"]));
  expect(answered).toEqual({ items: [5, 9], statuses: ["ok", "fake"] });
});
