/** Covers the remark about old lists. */
import { expect, test } from "vitest";
import { oldDataRemark } from "../../../../src/cli/bulk/report/summary.js";
import { daysOld } from "../../../../src/core/classifier/tables/disposable-table.js";

test.each([
  ["the newest list is 31 days old", ["2026-01-01", "2025-01-01"], "2026-02-01T12:00Z", "31 days old"],
  ["the newest list is 30 days old", ["2025-01-01", "2026-01-01"], "2026-01-31T23:00Z", undefined],
  ["no date is known", [""], "2026-03-02T23:00Z", undefined],
  ["the clock is behind", ["2026-01-01"], "2020-01-01T00:00Z", undefined],
])("gives the remark about old lists only when it is needed: %s", (_, dates, now, expected) => {
  const sources = dates.map((published) => ({ published }));
  const remark = oldDataRemark({ dataDays: daysOld(sources, Date.parse(now)) ?? null });
  if (expected === undefined) expect(remark).toBeUndefined();
  else expect(remark).toContain(expected);
});
