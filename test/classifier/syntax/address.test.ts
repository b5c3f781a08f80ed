/** Covers the address parser: the is_email suite, the faults it reports and the parts it returns. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findPlainAt, parseAddress } from "../../../src/core/classifier/syntax/address.js";
import { Fault } from "../../../src/core/classifier/syntax/fault.js";
import { times } from "../../support/tier.js";
import { allowedByRfc5321, notAllowedByRfc5321 } from "./is-email-suite.js";

describe("the is_email suite", () => {
  test("contains 164 addresses", () => expect(allowedByRfc5321.length + notAllowedByRfc5321.length).toBe(164));
  test.each(allowedByRfc5321)("accepts $0", (address) => expect(parseAddress(address)).not.toBeInstanceOf(Fault));
  test.each(notAllowedByRfc5321)("rejects $0", (address) => expect(parseAddress(address)).toBeInstanceOf(Fault));
});

describe("faults", () => {
  test.each([
    ["", "the address is empty", 1],
    ["ann", "no @", 3],
    ["@example.net", "nothing before the @", 1],
    [".ann@example.net", "the local part starts with a dot", 1],
    ["ann.@example.net", "the local part ends with a dot", 4],
    ["ann..lee@example.net", "two dots in a row", 5],
    ["ann lee@example.net", "a space in the local part", 4],
    ["ann,lee@example.net", '"," in the local part', 4],
    ["ann\u0007@example.net", "U+0007 in the local part", 4],
    ["ann\u200b@example.net", "U+200B in the local part", 4],
    ["ann\ufffd@example.net", "bytes that are not UTF-8 in the local part", 4],
    ["ann@@example.net", '"@" in the domain', 5],
    ["ann@", "the domain is empty", 5],
    ["ann@.example.net", "the domain starts with a dot", 5],
    ["ann@example.net.", "the domain ends with a dot", 16],
    ["ann@example..net", "two dots in a row", 13],
    ["ann@-example.net", "a label starts with a hyphen", 5],
    ["ann@example-.net", "a label ends with a hyphen", 12],
    ["ann@exa_mple.net", '"_" in the domain', 8],
    ["ann@exa mple.net", "a space in the domain", 8],
    ["ann@ex\ufffd.net", "not a valid internationalised domain name", 5],
    ['"ann@example.net', "the quoted local part is never closed", 1],
    ['"ann"', "no @", 6],
    ['"ann"lee@example.net', "text between the closing quote and the @", 6],
    ['"a\nb"@example.net', "U+000A in the quoted local part", 3],
    [`${"a".repeat(65)}@example.net`, "the local part is longer than 64 octets", 65],
    [`ann@${"a".repeat(64)}.net`, "a label is longer than 63 octets", 5],
    [`ann@${"abcdefghi.".repeat(30)}net`, "the domain is longer than 253 octets", 258],
    [`${"a".repeat(64)}@${"abcdefghi.".repeat(19)}net`, "the address is longer than 254 octets", 255],
    [`${"é".repeat(33)}@example.net`, "the local part is longer than 64 octets", 33],
    ["a".repeat(2000), "the address is longer than 254 octets", 255],
    // 236 octets in NFC, but 256 as it is written.
    [
      `${"a".repeat(64)}@${"s\u0323\u0307".repeat(10)}${".abcdefghi".repeat(13)}.abcdef.com`,
      "the address is longer than 254 octets",
      217,
    ],
    ["ann\u200d@larch.de", "U+200D in the local part", 4],
    ["\u200cann@larch.de", "U+200C in the local part", 1],
    ["an\u200dn@larch.de", "U+200D in the local part", 3],
    ["é\u200d@larch.de", "U+200D in the local part", 2],
    ['"ann\u200d"@larch.de', "U+200D in the quoted local part", 5],
    ["ann@[192.0.2.256]", "not a valid address literal", 5],
  ])("name the problem and its position in $0", (address, what, position) => {
    expect(parseAddress(address)).toEqual(new Fault(what, position));
  });
});

describe("parseAddress", () => {
  test.each([
    ["Ann.Lee@Example.NET", "Ann.Lee", "example.net"],
    ['"ann lee"@example.net', "ann lee", "example.net"],
    ['"a\\"b\\\\c"@example.net', 'a"b\\c', "example.net"],
    ['"a@b"@example.net', "a@b", "example.net"],
    ["o'brien@example.net", "o'brien", "example.net"],
    ["jürgen@bücher.de", "jürgen", "xn--bcher-kva.de"],
    ["ju\u0308rgen@bu\u0308cher.de", "jürgen", "xn--bcher-kva.de"],
    ["用户@例子.中国", "用户", "xn--fsqu00a.xn--fiqs8s"],
    ["😀@example.net", "😀", "example.net"],
    ["ann@XN--BCHER-KVA.de", "ann", "xn--bcher-kva.de"],
    ["ann@example。net", "ann", "example.net"],
    ["ann@ｅｘａｍｐｌｅ．ｎｅｔ", "ann", "example.net"],
    ["ann@faß.de", "ann", "xn--fa-hia.de"],
  ])("splits %j into local part and domain", (address, local, ascii) => {
    expect(parseAddress(address)).toEqual({ local, domain: { ascii } });
  });

  test("returns no domain for an address literal", () => {
    expect(parseAddress("ann@[192.0.2.1]")).toEqual({ local: "ann" });
  });

  test("limits length in octets of UTF-8, not in characters", () => {
    expect(parseAddress(`${"ü".repeat(32)}@example.net`)).not.toBeInstanceOf(Fault);
    expect(parseAddress(`${"ü".repeat(33)}@example.net`)).toBeInstanceOf(Fault);
  });
});

test("findPlainAt finds the @ only in addresses that parseAddress leaves unchanged", () => {
  const part = fc.string({ unit: fc.constantFrom(...'aZ09-_+.@"é ('), maxLength: 8 });
  const address = fc.oneof(
    fc.tuple(part, part).map(([local, domain]) => `${local}@${domain}.com`),
    fc
      .tuple(fc.integer({ min: 60, max: 70 }), fc.integer({ min: 60, max: 66 }), fc.integer({ min: 1, max: 4 }))
      .map(([local, label, labels]) => `${"a".repeat(local)}@${`${"b".repeat(label)}.`.repeat(labels)}net`),
    fc.emailAddress(),
    fc.constantFrom(
      ...["a@B.c", "a@b", "a@xn--b.c", "a@-b.c", "a@b-.c", "a@b.c-", "a@b.", "@b.c", "a@", ".a@b.c", "a.@b.c", ""],
    ),
  );
  let plain = 0;
  fc.assert(
    fc.property(address, (text) => {
      const at = findPlainAt(text);
      if (at === -1) return;
      plain++;
      const parsed = { local: text.slice(0, at), domain: { ascii: text.slice(at + 1).toLowerCase() } };
      expect(parseAddress(text)).toEqual(parsed);
    }),
    { numRuns: times(3000) },
  );
  expect(plain).toBeGreaterThan(times(300, 8));
});
