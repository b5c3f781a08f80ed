/** Covers `idv check`: its exit codes, objects of JSON, and control characters. */
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-here.js";

describe("idv check", () => {
  test.each<[string, string[], number, string]>([
    ["fake,disposable", ["a@mailinator.com"], 1, "idv: --fail-on: values found: 1 disposable\n"],
    ["fake", ["a@mailinator.com"], 0, ""],
    ["fake,ok", ["-", "a@@b"], 1, "idv: --fail-on: values found: 2 fake, 1 ok\n"],
  ])("--fail-on %s with %j exits with %i; - reads lines", async (statuses, values, expected, message) => {
    const stdin = "ann@larch-and-oak.com\r\n\nann@gmial.com";
    const { code, stdout, stderr } = await idv(["check", "--fail-on", statuses, ...values], { stdin });
    expect({ code, stderr }).toEqual({ code: expected, stderr: message });
    if (values[0] === "-") {
      expect(stdout).toMatch(/^ann@larch-and-oak\.com\tok\nann@gmial\.com\tfake\t.*\na@@b\tfake\t.*\n$/);
    }
  });

  test("--json prints an object for each value", async () => {
    const { stdout } = await idv(["check", "--json", "Ann <ann.lee@gmial.com>", "larch-and-oak.com"]);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      {
        value: "Ann <ann.lee@gmial.com>",
        kind: "email",
        item: "ann.lee@gmial.com",
        status: "fake",
        reason: "typo-domain: gmial.com",
        suggestion: "ann.lee@gmail.com",
      },
      {
        value: "larch-and-oak.com",
        kind: "domain",
        item: "larch-and-oak.com",
        status: "ok",
        reason: null,
        suggestion: null,
      },
    ]);
  });

  test("escapes control characters", async () => {
    const { stdout } = await idv(["check", "\u001b[31mann@larch-and-oak.com"]);
    expect(stdout).toBe("\\u{1b}[31mann@larch-and-oak.com\tfake\tsyntax: U+001B in the local part at 1\n");
  });
});
