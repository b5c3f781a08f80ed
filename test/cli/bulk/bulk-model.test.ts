/** Compares random bulk runs with a plain model of them. `IDV_TEST_CASES=1000-4000` runs other cases, by their numbers. */
import { test } from "vitest";
import { expectAsPredicted } from "../../support/check-bulk-case.js";
import { idv } from "../../support/run-here.js";
import { times } from "../../support/tier.js";

const [first = 1, last = times(200, 50)] = (process.env["IDV_TEST_CASES"] ?? "").match(/\d+/g)?.map(Number) ?? [];

test(
  "runs with any options do what the model says",
  async () => {
    for (let number = first; number <= last; number++) await expectAsPredicted(idv, number);
  },
  60_000 + 2000 * (last - first),
);
