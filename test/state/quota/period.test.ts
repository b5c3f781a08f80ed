/** Covers the start and end of quota periods. */
import { expect, test } from "vitest";
import { type Period, periodEnd, periodStart } from "../../../src/state/quota/period.js";

test.each<[Period, string, string, string | undefined]>([
  ["hour", "2026-11-21T10:59:59.999Z", "2026-11-21T10:00:00.000Z", "2026-11-21T11:00:00.000Z"],
  ["day", "2026-11-21T10:59:59.999Z", "2026-11-21T00:00:00.000Z", "2026-11-22T00:00:00.000Z"],
  ["month", "2026-11-21T10:59:59.999Z", "2026-11-01T00:00:00.000Z", "2026-12-01T00:00:00.000Z"],
  ["month", "2026-12-31T23:59:59.999Z", "2026-12-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"],
  ["month", "2028-02-29T00:00:00.000Z", "2028-02-01T00:00:00.000Z", "2028-03-01T00:00:00.000Z"],
  ["none", "2026-11-21T10:59:59.999Z", "1970-01-01T00:00:00.000Z", undefined],
])("finds the start and end of period %s at %s", (period, now, start, end) => {
  const began = periodStart(period, Date.parse(now));
  expect(new Date(began).toISOString()).toBe(start);
  const ends = periodEnd(period, began);
  expect(ends === undefined ? undefined : new Date(ends).toISOString()).toBe(end);
});
