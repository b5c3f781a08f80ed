/** Covers sub-addresses. */
import { describe, expect, test } from "vitest";
import { reasonOf } from "../../support/mailbox-reason.js";

describe("sub-addresses", () => {
  test.each([
    ["ann+news", "example.net", "sub-address: +news"],
    ["ann+a+b", "example.net", "sub-address: +a+b"],
    ["anything", "ann.fastmail.com", "sub-address: ann.fastmail.com"],
    ["ann+", "example.net", undefined],
    ["+news", "example.net", undefined],
    ["ann-news", "example.net", undefined],
    ["ann=news", "example.net", undefined],
    ["ann.lee", "gmail.com", undefined],
    ["ann", "fastmail.com", undefined],
    ["ann", "notfastmail.com", undefined],
  ])("%s at %s gets the reason %s", (local, ascii, expected) => expect(reasonOf(local, ascii)).toBe(expected));
});
