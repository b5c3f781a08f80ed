/** Covers finding the column with dates and reading their months. */
import { describe, expect, test } from "vitest";
import { findDateColumn } from "../../src/core/facts/months.js";

const columnOf = (columns: Readonly<Record<string, readonly string[]>>) =>
  findDateColumn(Object.keys(columns), (column) => Object.values(columns)[column]!);

describe("reads the month of", () => {
  test.each([
    ["2026-11-22", "2026-11"],
    ["2026-11-22T10:00:00Z", "2026-11"],
    ["2026-11-22 10:00:00", "2026-11"],
    ["2026/1/2", "2026-01"],
    ["2026-11", "2026-11"],
    ["22.11.2026", "2026-11"],
    ["22/11/2026 10:00", "2026-11"],
    ["11/22/2026", "2026-11"],
    ["22 Nov 2026", "2026-11"],
    ["Sun, 22 Nov 2026 10:00:00 GMT", "2026-11"],
    ["November 22, 2026", "2026-11"],
    ["1795341600", "2026-11"],
    ["1795341600000", "2026-11"],
  ])("%s", (text, month) => expect(columnOf({ a: [text] })?.monthOf(text)).toBe(month));
});

test.each(["", "ann", "12345", "2026", "555-0199", "49/99/2026", "2026-13-01", "0001-01-01", "10.0.0.1"])(
  "%j is not a date",
  (text) => expect(columnOf({ a: [text] })).toBeUndefined(),
);

test("ambiguous dates are read only if another date in the column settles their order", () => {
  expect(columnOf({ a: ["03/04/2026", "05/06/2026"] })).toBeUndefined();
  expect(columnOf({ a: ["03/04/2026", "05/26/2026"] })?.monthOf("03/04/2026")).toBe("2026-03");
  expect(columnOf({ a: ["03/04/2026", "25/06/2026"] })?.monthOf("03/04/2026")).toBe("2026-04");
});

describe("dates without separators", () => {
  test.each(["20261122", "20261122T100000Z", "20261122T1000+0100", "20261122100000", "20261122 10:00:00"])(
    "like %s are read only in a column named like a date",
    (text) => {
      expect(columnOf({ created: [text] })?.monthOf(text)).toBe("2026-11");
      expect(columnOf({ Datum: [text] })?.monthOf(text)).toBe("2026-11");
      expect(columnOf({ customer: [text] })).toBeUndefined();
    },
  );

  test.each(["20261300", "20261132", "202611221", "20261122250000", "20261122999999", "20261122100000x"])(
    "%s is not a date",
    (text) => expect(columnOf({ date: [text] })).toBeUndefined(),
  );
});

test("a column has dates if most of its filled fields are dates", () => {
  const day = "2026-11-22";
  expect(columnOf({ a: [day, day, day, day, "soon", "", ""] })?.column).toBe(0);
  expect(columnOf({ a: [day, "soon", "later"] })).toBeUndefined();
});

test("the date column that tells when a row was added is preferred, and a birthday is never chosen", () => {
  const days = ["2026-11-22"];
  expect(columnOf({ birthday: days, last_login: days, "Created At": days })?.name).toBe("Created At");
  expect(columnOf({ birthday: days, last_login: days })?.name).toBe("last_login");
  expect(columnOf({ birthday: days })).toBeUndefined();
});
