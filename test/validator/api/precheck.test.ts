/** Covers which items are not submitted because no service could accept them. */
import { expect, test } from "vitest";
import { precheck } from "../../../src/engines/api/precheck.js";

test.each([
  "ann@b.net",
  "é@b.net",
  // Dots that Japanese carriers gave out.
  ".a@b.net",
  "a..b.@docomo.ne.jp",
  "..a...b..@docomo.ne.jp",
  // DNS allows underscores, and ends with the root.
  "a@b_c.net",
  "a@_b.net",
  "a@b.net.",
  "a@b_c.net.",
])("%s is submitted", (item) => expect(precheck("email", item)).toBeUndefined());

test.each([
  ["ann", "syntax: no @ at 3"],
  ["a b@c.net", "syntax: a space in the local part at 2"],
  ["a@b..net", undefined],
  ["a@.net", undefined],
  ["@b.net", undefined],
  [`${".a".repeat(33)}@b.net`, undefined],
])("%s is not submitted", (item, reason) => {
  expect(precheck("email", item)).toMatchObject({ status: "fake", ...(reason && { reason }) });
});

test("domains may contain underscores and end with the dot of the root", () => {
  expect(precheck("domain", "my_shop.tumblr.com")).toBeUndefined();
  expect(precheck("domain", "b.net.")).toBeUndefined();
  expect(precheck("domain", "a b.com")).toMatchObject({ status: "fake" });
  expect(precheck("domain", ".b.com")).toMatchObject({ status: "fake" });
});
