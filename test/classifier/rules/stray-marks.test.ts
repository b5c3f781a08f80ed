/** Covers the suggestions for addresses with a stray dot, comma, bracket or `(at)`. */
import { describe, expect, test } from "vitest";
import { withoutStrayMarks } from "../../../src/core/classifier/rules/stray-marks.js";
import { classifier } from "../../support/classifier.js";

describe("a fake address with a stray mark", () => {
  test.each([
    ["ann(at)larch-and-oak.com", "ann@larch-and-oak.com"],
    ["ann [at] larch-and-oak [dot] com", "ann@larch-and-oak.com"],
    ["ann＠larch-and-oak.com", "ann@larch-and-oak.com"],
    ["ann@larch-and-oak,com", "ann@larch-and-oak.com"],
    ["ann@larch-and-oak.com,", "ann@larch-and-oak.com"],
    ["ann@larch-and-oak.com;", "ann@larch-and-oak.com"],
    ["ann@larch-and-oak.com.", "ann@larch-and-oak.com"],
    ["'ann@larch-and-oak.com'", "ann@larch-and-oak.com"],
    ["(ann@larch-and-oak.com)", "ann@larch-and-oak.com"],
    [".ann@larch-and-oak.com", "ann@larch-and-oak.com"],
    ["ann.@larch-and-oak.com", "ann@larch-and-oak.com"],
    ["ann..lee@larch-and-oak..com", "ann.lee@larch-and-oak.com"],
    ["ann @larch-and-oak.com", "ann@larch-and-oak.com"],
    ["ann@@larch-and-oak.com", "ann@larch-and-oak.com"],
    ["ann@larch-and-oak. com", "ann@larch-and-oak.com"],
    ["ann@larch-and-oak;com", "ann@larch-and-oak.com"],
    ["ann@ larch-and-oak.com", "ann@larch-and-oak.com"],
    ["an\u200bn@larch-and-oak.com", "ann@larch-and-oak.com"],
    ["ann\u200d@larch-and-oak.com", "ann@larch-and-oak.com"],
  ])("%s gets the suggestion %s", (item, suggestion) => {
    expect(classifier.classify("email", item)).toMatchObject({ status: "fake", suggestion });
  });

  test.each([
    ...["not an address", "ann lee@larch-and-oak.com", "ann@mailinator,com", "ann(at)nowhere", "@larch-and-oak.com"],
    `${"x".repeat(400)}(at)larch-and-oak.com`,
    // Something else behind an address, and half of what is around it.
    ...["ann@larch-and-oak.de, work", "ann@larch-and-oak.de,work", "ann@larch-and-oak.de; x.com"],
    ...["u'ann@larch-and-oak.de'", 'r"ann@larch-and-oak.de"', '\\"ann@larch-and-oak.de\\"'],
  ])("%s gets no suggestion", (item) => expect(classifier.classify("email", item)).not.toHaveProperty("suggestion"));

  test.each([
    ["larch-and-oak,de", "larch-and-oak.de"],
    ["larch-and-oak .de", "larch-and-oak.de"],
    ["https:larch-and-oak.de", undefined],
  ])("the domain %s gets the suggestion %s", (item, suggestion) => {
    expect(classifier.classify("domain", item).suggestion).toBe(suggestion);
  });

  test("an address without stray marks is unchanged", () => {
    expect(withoutStrayMarks("ann.lee+x@larch-and-oak.com")).toBeUndefined();
  });
});
