/** Covers names that are reserved by RFC 2606, 6761 and 7686. */
import { describe, expect, test } from "vitest";
import { specialUse } from "../../../src/core/classifier/rules/domain/special-use.js";

describe("special-use names", () => {
  test.each([
    ["example.com", "example.com"],
    ["mail.example.org", "example.org"],
    ["host.test", "test"],
    ["localhost", "localhost"],
    ["printer.local", "local"],
    ["abcdef.onion", "onion"],
    ["1.0.0.127.in-addr.arpa", "arpa"],
    ["myexample.com", undefined],
    ["example.com.au", undefined],
    ["test.com", undefined],
    ["local.de", undefined],
  ])("the reserved name in %s is %s", (ascii, expected) => expect(specialUse.find(ascii)?.subject).toBe(expected));
});
