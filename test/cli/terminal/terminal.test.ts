/** Covers text for people: visible control characters, colours, and counts with nouns. */
import { describe, expect, test } from "vitest";
import { counted, printable, showsColour } from "../../../src/cli/terminal/terminal.js";

describe("printable", () => {
  test.each([
    ["controls", "a\u001b[2Jb\r\n\u0007", "a\\u{1b}[2Jb\\u{d}\\u{a}\\u{7}"],
    ["C1 controls", "a\u009bb", "a\\u{9b}b"],
    ["direction marks", "\u202egpj.exe\u2066\u200f\u061c", "\\u{202e}gpj.exe\\u{2066}\\u{200f}\\u{61c}"],
    ["line separators", "a\u2028b\u2029", "a\\u{2028}b\\u{2029}"],
  ])("makes %s visible", (_, text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  test("leaves letters of any script unchanged", () => {
    const text = "Zoë Ωμέγα 日本 עברית 👩‍👧";
    expect(printable(text)).toBe(text);
  });
});

test.each<[string, boolean | undefined, Record<string, string>, boolean]>([
  ["a terminal", true, {}, true],
  ["no terminal", undefined, {}, false],
  ["a dumb terminal", true, { TERM: "dumb" }, false],
  ["NO_COLOR", true, { NO_COLOR: "1", FORCE_COLOR: "1" }, false],
  ["an empty NO_COLOR", true, { NO_COLOR: "" }, true],
  ["FORCE_COLOR", undefined, { FORCE_COLOR: "1" }, true],
  ["FORCE_COLOR=0", true, { FORCE_COLOR: "0" }, false],
])("shows colours with %s: $3", (_, isTTY, env, expected) => {
  expect(showsColour({ ...(isTTY !== undefined && { isTTY }) }, env)).toBe(expected);
});

test.each([
  [0, "0 rows"],
  [1, "1 row"],
  [999, "999 rows"],
  [2000, "2,000 rows"],
  [1_234_567, "1,234,567 rows"],
])("writes %i with a noun in the singular or plural", (count, expected) => {
  expect(counted(count, "row")).toBe(expected);
});
