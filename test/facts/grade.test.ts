/** Covers the grade of a list: limits of bounces, at their edges. */
import { expect, test } from "vitest";
import { gradeOf } from "../../src/core/facts/grade.js";

const graded = (statuses: Readonly<Record<string, number>>) => gradeOf({ kind: "email", statuses });

test.each([
  [0, "good"],
  [19, "good"],
  [20, "fair"],
  [49, "fair"],
  [50, "poor"],
  [99, "poor"],
  [100, "bad"],
  [1000, "bad"],
])("grades %i fake or disposable rows of 1,000 filled ones as %s", (bad, name) => {
  expect(graded({ fake: bad, ok: 1000 - bad })?.name).toBe(name);
  expect(graded({ disposable: bad, ok: 1000 - bad })?.name).toBe(name);
  const disposable = Math.floor(bad / 2);
  expect(graded({ fake: bad - disposable, disposable, ok: 1000 - bad })?.name).toBe(name);
});

test("does not promise that disposable addresses bounce, nor that they do not count", () => {
  expect(graded({ disposable: 1000 })?.text).toBe("Bad: 100.0 % are disposable: nobody reads what is sent there.");
  expect(graded({ fake: 60, disposable: 60, ok: 880 })?.text).toBe(
    "Bad: 12.0 % would bounce or are disposable (6.0 % bounce); Amazon SES reviews senders from 5 % of bounces on.",
  );
  expect(graded({ fake: 10, disposable: 100, ok: 890 })?.text).toBe(
    "Bad: 11.0 % would bounce or are disposable (1.0 % bounce); nobody reads what is sent to the others.",
  );
  expect(graded({ fake: 100, ok: 900 })?.text).toBe(
    "Bad: 10.0 % would bounce; Amazon SES pauses senders from 10 % of bounces on.",
  );
  expect(graded({ fake: 1, ok: 999 })?.text).toMatch(/^Good: 0.1 % would bounce; /);
});

test("does not count rows without units", () => {
  expect(graded({ fake: 10, quota_exceeded: 900, ok: 90 })?.name).toBe("bad");
});

test("grades no domains, and no list in which nothing was checked", () => {
  expect(gradeOf({ kind: "domain", statuses: { fake: 5 } })).toBeUndefined();
  expect(gradeOf({ kind: "email", statuses: {} })).toBeUndefined();
  expect(gradeOf({ kind: "email", statuses: { ok: 0, fake: 0 } })).toBeUndefined();
});
