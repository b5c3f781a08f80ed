/** Covers the layout of the summary on a terminal. */
import { describe, expect, test } from "vitest";
import { fakeReasonCounts, statusLines } from "../../../../src/cli/bulk/report/summary-layout.js";
import { barOf, isUnicodeLocale } from "../../../../src/cli/terminal/bars.js";

const summary = {
  rows: 1000,
  statuses: { fake: 84 },
  reasons: { "typo-domain": 22, syntax: 27, relay: 5, "special-use": 13, placeholder: 12, "no-reply": 10 },
  topDomains: [
    { domain: "trashmail.com", items: 14 },
    { domain: "mailinator\u001b[31m.com", items: 3 },
  ],
};
const counts = [
  ["ok", 771],
  ["fake", 84],
  ["(empty)", 1],
] as const;
const lines = (columns: number, isUnicode = true) =>
  statusLines(summary, counts, { chalk: undefined, columns, isUnicode });

describe("the status lines of the summary", () => {
  test("form three blocks side by side on a wide terminal", () => {
    expect(lines(120)).toEqual([
      "  ok            771   77.1 %  ███████████████▍        Why fake 84            Disposable domains",
      "  fake           84    8.4 %  █▋                      syntax           27    trashmail.com             14",
      "  (empty)         1    0.1 %  ▏                       mistyped domain  22    mailinator\\u{1b}[31m.com   3",
      "                                                      reserved domain  13",
      "                                                      + 2 more",
    ]);
  });

  test.each([120, 100, 80, 60, 59, 40])("fit into %d columns", (columns) => {
    for (const isUnicode of [true, false]) {
      for (const line of lines(columns, isUnicode)) expect(line.length).toBeLessThanOrEqual(columns);
    }
  });

  test("use only ASCII in a locale without Unicode", () => {
    expect(lines(120, false).join("")).toMatch(/^[\x20-\x7e]+$/);
  });

  test("show what does not fit beside below, and no bars on a narrow terminal", () => {
    expect(lines(59)).toEqual([
      "  ok            771   77.1 %",
      "  fake           84    8.4 %",
      "  (empty)         1    0.1 %",
      "  Why fake 84",
      "  syntax           27",
      "  mistyped domain  22",
      "  reserved domain  13",
      "  + 2 more",
      "  Disposable domains",
      "  trashmail.com             14",
      "  mailinator\\u{1b}[31m.com   3",
    ]);
    for (const columns of [80, 100]) {
      const shown = lines(columns).join("\n");
      for (const part of ["Why fake 84", "Disposable domains", "trashmail.com"]) expect(shown).toContain(part);
    }
  });
});

test.each([
  [0, ""],
  [0.0001, "▏"],
  [0.5, "█████"],
  [0.96, "█████████▋"],
  [1, "██████████"],
])("draws a share of %d as the bar %s", (share, bar) => expect(barOf(share, 10, true)).toBe(bar));

test.each<[NodeJS.ProcessEnv, NodeJS.Platform, boolean]>([
  [{ LANG: "de_DE.UTF-8" }, "linux", true],
  [{ LC_ALL: "C", LANG: "de_DE.UTF-8" }, "linux", false],
  [{ LC_CTYPE: "en_US.utf8" }, "darwin", true],
  [{}, "linux", false],
  [{}, "win32", true],
])("detects a Unicode locale from %j on %s: %s", (env, platform, isUnicode) => {
  expect(isUnicodeLocale(env, platform)).toBe(isUnicode);
});

test.each([
  [
    { syntax: 1, relay: 9 },
    5,
    [
      ["syntax", 1],
      ["without a reason", 4],
    ],
  ],
  [{ syntax: 5 }, 5, [["syntax", 5]]],
  [{}, 5, []],
])("of the reasons %j and %i fake rows, those without one are counted", (reasons, fake, expected) => {
  expect(fakeReasonCounts({ reasons, statuses: { fake } })).toEqual(expected);
});
