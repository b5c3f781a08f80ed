/** Covers times as people say them. */
import { expect, test } from "vitest";
import { fromNow } from "../../../src/cli/terminal/time.js";

const now = new Date(2026, 10, 22, 10, 2).getTime();
const zone = new Date(now).getTimezoneOffset() === 0 ? " UTC" : "";

test.each([
  [new Date(2026, 10, 22, 11, 0), "in 58 min (11:00)"],
  [new Date(2026, 10, 22, 10, 2), "in 1 min (10:02)"],
  [new Date(2026, 10, 23, 0, 0), "in 14 h (tomorrow 00:00)"],
  [new Date(2026, 11, 1, 0, 0), "in 9 days (2026-12-01 00:00)"],
])("describes the time %s relative to now", (time, text) =>
  expect(fromNow(time.getTime(), now)).toBe(text.replace(")", `${zone})`)),
);
