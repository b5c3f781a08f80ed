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

/** Returns what follows the answer to a part of a batch. */
function stepAfter(batch: Batch, part: readonly number[], reply: Reply) {
  const answered = answeredIn(part, reply).items;
  return afterReply(batch, part, answered, reply);
}

const whole = newBatch(4);

test.each<[string, Batch, readonly number[], Reply, unknown]>([
  [
    "all verdicts",
    whole,
    [0, 1, 2, 3],
    results(["ok", "fake", "ok", "x"]),
    { next: "go on", isRenewed: true, batch: { open: [], size: 4, faults: 0 } },
  ],
  [
    "all verdicts of a part",
    { ...whole, size: 2 },
    [0, 1],
    results(["ok", "ok"], { left: 0 }),
    { next: "go on", isRenewed: true, batch: { open: [2, 3], size: 2, faults: 0 } },
  ],
  [
    "some verdicts, and units are left",
    whole,
    [0, 1, 2, 3],
    results(["ok", "quota_exceeded", "ok", "quota_exceeded"], { left: 5 }),
    { next: "go on", batch: { open: [1, 3], size: 4, faults: 0 } },
  ],
  [
    "some verdicts, and no unit is left",
    whole,
    [0, 1, 2, 3],
    results(["ok", "quota_exceeded", "ok", "quota_exceeded"], { left: 0 }),
    { next: "wait for renewal", renewsIn: 9000, batch: { open: [1, 3], size: 4, faults: 0 } },
  ],
  [
    "no verdict",
    whole,
    [0, 1, 2, 3],
    results(["quota_exceeded", "quota_exceeded", "quota_exceeded", "quota_exceeded"], { left: 5 }),
    { next: "wait for renewal", renewsIn: 9000, batch: whole },
  ],
  [
    "a used-up quota",
    whole,
    [0, 1, 2, 3],
    { isGone: true, renewsIn: undefined },
    { next: "wait for renewal", renewsIn: undefined, batch: whole },
  ],
  [
    "the first faulty answer",
    whole,
    [0, 1, 2, 3],
    results(["ok", undefined, "ok", "ok"], { fault: "no result for item 2 of 4" }),
    { next: "pause", batch: { open: [1], size: 4, faults: 1 } },
  ],
  [
    "the second one",
    { open: [1], size: 4, faults: 1 },
    [1],
    results([undefined], { fault: "no result for item 1 of 1" }),
    { next: "fail", fault: "no result for item 1 of 1" },
  ],
  [
    "a part that is too large",
    whole,
    [0, 1, 2],
    "too large",
    { next: "shrink", batch: { open: [0, 1, 2, 3], size: 2, faults: 0 } },
  ],
])("chooses the next step after %s", (_, batch, part, reply, expected) => {
  expect(stepAfter(batch, part, reply)).toEqual(expected);
});

test("the verdicts of an answer belong to the items of the submitted part", () => {
  expect(answeredIn([5, 2, 9], results(["ok", undefined, "fake"]))).toEqual({
    items: [5, 9],
    statuses: ["ok", "fake"],
  });
});
