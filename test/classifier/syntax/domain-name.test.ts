/** Covers domain names: parsing, lengths and internationalised labels. */
import { describe, expect, test } from "vitest";
import { parseDomainName } from "../../../src/core/classifier/syntax/domain-name.js";
import { Fault } from "../../../src/core/classifier/syntax/fault.js";

describe("domain names", () => {
  test.each([
    ["Example.COM", "example.com"],
    ["a-b.c--d.com", "a-b.c--d.com"],
    ["1and1.com", "1and1.com"],
    ["bücher.de", "xn--bcher-kva.de"],
    ["xn--bcher-kva.de", "xn--bcher-kva.de"],
    ["BÜCHER.DE", "xn--bcher-kva.de"],
    ["例子。中国", "xn--fsqu00a.xn--fiqs8s"],
  ])("%s becomes %s", (text, ascii) => expect(parseDomainName(text)).toEqual({ ascii }));

  test.each([
    ...["", ".", "a..b", ".a", "a.", "-a.com", "a-.com", "a b.com", "a_b.com", "a/b.com", "xn--a.com", "xn--.com"],
    ...["a\u0000.com", "a%62.com", `${"a".repeat(64)}.com`, "ü%00.com", "ü/path.com"],
  ])("%j is rejected", (text) => expect(parseDomainName(text)).toBeInstanceOf(Fault));
});
