/** Covers the line that shows how far a run is. */
import { expect, test } from "vitest";
import { progressLine, wrappedLines } from "../../../src/cli/terminal/progress.js";

const state = {
  rows: 1_800_000,
  share: 0.61,
  seconds: 4,
  units: 1_000_000,
  cached: 0,
  statuses: { ok: 1_400_000, alias: 128_000, "sneaky\u001b[2J": 3 },
};
const style = { columns: 140, isUnicode: true, chalk: undefined };

test("the progress line shows share, rows, rate, time left and statuses", () => {
  expect(progressLine(state, style)).toBe(
    "████████████▎░░░░░░░  61 %  1.8 M of ~3.0 M rows  450,000/s  3 s left  ok 1.4 M  alias 128 k  sneaky\\u{1b}[2J 3",
  );
});

test("the progress line is ASCII in a locale without Unicode", () => {
  expect(progressLine(state, { ...style, isUnicode: false })).toMatch(/^#{12}\.{8} {2}61 % /);
});

test("the progress line leaves out share and time left if the input size is unknown", () => {
  const line = progressLine({ ...state, rows: 9999, share: null }, style);
  expect(line).toBe("9,999 rows  2,500/s  ok 1.4 M  alias 128 k  sneaky\\u{1b}[2J 3");
});

test.each([20, 40, 59, 60, 80, 100])("the progress line fits into %d columns", (columns) => {
  expect(progressLine(state, { ...style, columns }).length).toBeLessThanOrEqual(columns);
});

test("the progress line shows shares of 0 % and 100 %", () => {
  expect(progressLine({ ...state, rows: 0, share: 0, seconds: 0, statuses: {} }, style)).toBe(
    "░░░░░░░░░░░░░░░░░░░░  0 %  0 rows  0/s",
  );
  expect(progressLine({ ...state, share: 1, statuses: {} }, style)).toContain(
    "100 %  1.8 M of ~1.8 M rows  450,000/s  0 s left",
  );
});

test.each([
  [80, 0],
  [40, 0],
  [39, 1],
  [20, 1],
  [10, 4],
])("a terminal of %d columns takes %d more lines for what was drawn wider", (columns, more) => {
  // 40 columns with the spinner and its space, then 20, then none.
  expect(wrappedLines(`${"a".repeat(38)}\n\u001b[32m${"b".repeat(20)}\u001b[39m\n`, columns)).toBe(more);
});
