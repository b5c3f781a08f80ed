/** Covers the grade of a list: limits of bounces, at their edges. */
import { expect, test } from "vitest";
import { gradeOf } from "../../src/report/grade.js";
import type { Report } from "../../src/report/report.js";

const reportWith = (fake: number, rest: Partial<Report> = {}): Report =>
  ({
    kind: "email",
    rows: 1010,
    emptyRows: 10,
    statuses: new Map([
      ["fake", fake],
      ["ok", 1000 - fake],
    ]),
    ...rest,
  }) as Report;

test.each([
  [0, "good"],
  [19, "good"],
  [20, "fair"],
  [49, "fair"],
  [50, "poor"],
  [99, "poor"],
  [100, "bad"],
  [1000, "bad"],
])("%i fake of 1,000 filled rows are %s", (fake, name) => {
  expect(gradeOf(reportWith(fake))).toMatchObject({ name, share: fake / 1000 });
});

test("rows without units do not count", () => {
  const statuses = new Map([
    ["fake", 10],
    ["quota_exceeded", 900],
    ["ok", 90],
  ]);
  expect(gradeOf(reportWith(0, { statuses }))?.name).toBe("bad");
});

test("domains and lists with nothing checked have none", () => {
  expect(gradeOf(reportWith(5, { kind: "domain" }))).toBeUndefined();
  expect(gradeOf(reportWith(0, { rows: 10 }))).toBeUndefined();
});
