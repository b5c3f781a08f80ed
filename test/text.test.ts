/** Covers counts, sizes, shares and names as people read them. */
import { describe, expect, test } from "vitest";
import { counted, percent, printable, sizeOf } from "../src/text.js";

describe("printable", () => {
  test.each([
    ["controls", "a\u001b[2Jb\r\n\u0007", "a\\u{1b}[2Jb\\u{d}\\u{a}\\u{7}"],
    ["C1 controls", "a\u009bb", "a\\u{9b}b"],
    ["direction marks", "\u202egpj.exe\u2066\u200f\u061c", "\\u{202e}gpj.exe\\u{2066}\\u{200f}\\u{61c}"],
    ["line separators", "a\u2028b\u2029", "a\\u{2028}b\\u{2029}"],
  ])("makes %s visible", (_, text, expected) => expect(printable(text)).toBe(expected));

  test("leaves letters of any script unchanged", () => {
    const text = "Zoë Ωμέγα 日本 עברית 👩‍👧";
    expect(printable(text)).toBe(text);
  });
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

test.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [999, "999 bytes"],
  [1200, "1.2 kB"],
  [92_400, "92 kB"],
  [999_600, "1.0 MB"],
  [4_200_000_000, "4.2 GB"],
])("writes %d bytes as %s", (bytes, text) => expect(sizeOf(bytes)).toBe(text));

test.each([
  [0, 0, "0.0 %"],
  [1, 8, "12.5 %"],
  [2, 2, "100.0 %"],
])("writes the share %d of %d as %s", (part, whole, text) => expect(percent(part, whole)).toBe(text));
