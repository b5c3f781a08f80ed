/** Covers domain names and each rule of the classifier on its own. */
import { describe, expect, test } from "vitest";
import { mailcomDomains, majorProviders, privacyProviders, relays } from "../../src/classifier/providers.js";
import { classifyMailbox, findMailboxRules } from "../../src/classifier/rules/mailbox.js";
import { findSuffix, isPrivateZone } from "../../src/classifier/rules/public-suffix.js";
import { findRelay } from "../../src/classifier/rules/relay.js";
import { findSpecialUse } from "../../src/classifier/rules/special-use.js";
import { findTypo } from "../../src/classifier/rules/typo-domain.js";
import { parseDomainName } from "../../src/classifier/syntax/domain-name.js";
import { Fault } from "../../src/classifier/syntax/fault.js";

/** Returns the reason of the mailbox rules for an address whose domain passed; undefined if it is ok. */
function reasonOf(local: string, domain: string): string | undefined {
  const [bytes, rules] = [Buffer.from(local), findMailboxRules(domain)];
  const isAscii = bytes.length === local.length;
  return classifyMailbox(rules, bytes, 0, bytes.length, isAscii)?.reason;
}

describe("domain names", () => {
  test.each([
    ["Example.COM", "example.com"],
    ["a-b.c--d.com", "a-b.c--d.com"],
    ["1and1.com", "1and1.com"],
    ["bücher.de", "xn--bcher-kva.de"],
    ["xn--bcher-kva.de", "xn--bcher-kva.de"],
    ["BÜCHER.DE", "xn--bcher-kva.de"],
    ["例子。中国", "xn--fsqu00a.xn--fiqs8s"],
  ])("%s becomes %s", (text, ascii) => {
    expect(parseDomainName(text)).toEqual({ ascii });
  });

  test.each([
    "",
    ".",
    "a..b",
    ".a",
    "a.",
    "-a.com",
    "a-.com",
    "a b.com",
    "a_b.com",
    "a/b.com",
    "xn--a.com",
    "xn--.com",
    "a\u0000.com",
    "a%62.com",
    `${"a".repeat(64)}.com`,
    "ü%00.com",
    "ü/path.com",
  ])("%j is rejected", (text) => {
    expect(parseDomainName(text)).toBeInstanceOf(Fault);
  });
});

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
  ])("found in %s: %s", (ascii, expected) => {
    expect(findSpecialUse(ascii)).toBe(expected);
  });
});

describe("public suffixes", () => {
  test.each([
    ["gmail.com", "registrable"],
    ["a.b.co.uk", "registrable"],
    ["github.io", "registrable"],
    ["eu.org", "registrable"],
    ["www.ck", "registrable"],
    ["co.uk", "public-suffix"],
    ["com", "public-suffix"],
    ["foo.ck", "public-suffix"],
    ["company.con", "unknown-tld"],
    ["company.internal", "unknown-tld"],
  ])("%s is %s", (ascii, expected) => {
    expect(findSuffix(ascii)).toBe(expected);
  });

  test.each([
    ["eu.org", true],
    ["github.io", true],
    ["a.eu.org", false],
    ["com", false],
    ["gmail.com", false],
  ])("%s is a private zone: %s", (ascii, expected) => {
    expect(isPrivateZone(ascii)).toBe(expected);
  });
});

describe("typos", () => {
  test.each([
    ["gmial.com", "gmail.com"],
    ["gmai.com", "gmail.com"],
    ["gamil.com", "gmail.com"],
    ["gmaill.com", "gmail.com"],
    ["gmail.co", "gmail.com"],
    ["gmail.con", "gmail.com"],
    ["hotmial.com", "hotmail.com"],
    ["yaho.com", "yahoo.com"],
    ["yahooo.com", "yahoo.com"],
    ["outlok.com", "outlook.com"],
    ["iclould.com", "icloud.com"],
    ["xn--gmil-6na.com", "gmail.com"],
  ])("%s is corrected to %s", (ascii, meant) => {
    expect(findTypo(ascii)).toBe(meant);
  });

  test.each([
    ...[
      "gmail.com",
      "mail.com",
      "ymail.com",
      "email.com",
      "hotmailr.com",
      "yahoo.co",
      "cloud.com",
      "pcloud.com",
    ],
    ...["yahoo.de", "outlook.fr", "gmx.com", "gotmail.com", "gmlia.com", "mygmail.com", "mail.gmail.com"],
    ...majorProviders,
    ...mailcomDomains,
    ...privacyProviders,
    ...Object.values(relays).flat(),
  ])("%s is left alone", (ascii) => {
    expect(findTypo(ascii)).toBeUndefined();
  });
});

describe("mailboxes that cannot exist", () => {
  test.each([
    ["abcde", "gmail.com"],
    ["a.b.c.d.e", "gmail.com"],
    ["a".repeat(31), "gmail.com"],
    ["under_score", "gmail.com"],
    ["hyphen-ated", "googlemail.com"],
    ["abcdef.+news", "gmail.com"],
    ["abc..def", "gmail.com"],
    ["a..b", "outlook.com"],
    ["_ann", "hotmail.se"],
    ["ann!", "outlook.com.au"],
    ["1ann", "yandex.com.tr"],
    ["ann+news", "gmx.li"],
    ["ann+news", "aol.it"],
    ["-ann", "hotmail.com"],
    ["ann!", "live.nl"],
    ["ann'lee", "outlook.com"],
    ["1ann", "icloud.com"],
    ["an", "me.com"],
    ["a".repeat(21), "mac.com"],
    ["1ann", "yandex.ru"],
    ["ann+news", "yahoo.com"],
    ["ann#", "yahoo.co.uk"],
    ["ann+news", "aol.com"],
    ["ann+news", "gmx.de"],
    ["ann+news", "web.de"],
    ["ann+news", "qq.com"],
    ["ann/lee", "mail.ru"],
    ["ann!", "proton.me"],
  ])("include %s at %s", (local, domain) => {
    expect(reasonOf(local, domain)).toMatch(/^impossible-mailbox: /);
  });

  test.each([
    ["abcdef", "gmail.com"],
    ["Ann.Lee", "gmail.com"],
    ["ann.lee+news", "gmail.com"],
    ["123456", "gmail.com"],
    ["a".repeat(30), "gmail.com"],
    ["a", "hotmail.com"],
    ["ann_", "hotmail.com"],
    ["9.ann-lee", "outlook.com"],
    ["ann_lee", "icloud.com"],
    ["ann.lee-x", "yandex.ru"],
    ["9_ann.lee-", "yahoo.com"],
    ["ann#", "yahoo.co.jp"],
    ["ann+news", "mail.ru"],
    ["ann+news", "proton.me"],
    ["ann/lee", "qq.com"],
    ["x", "larch-and-oak.com"],
    ["ab", "live.example.co"],
    ["ann+news", "yahoo.consulting"],
    ["ann+news", "yahoo.co.jp"],
    ["ann+news", "gmx.larch.de"],
  ])("do not include %s at %s", (local, domain) => {
    expect(reasonOf(local, domain) ?? "").not.toMatch(/^impossible-mailbox/);
  });
});

describe("placeholders", () => {
  test("are found at a provider's country domains too", () => {
    expect(reasonOf("test", "hotmail.se")).toBe("placeholder");
    expect(reasonOf("test", "yahoo.com.vn")).toBe("placeholder");
  });

  test.each([
    ...["test", "TEST", "asdf", "asdff", "qwerty", "foo", "bar", "fake", "none", "null", "nobody", "example"],
    ...["noemail", "aaa", "xxxxxxx", "qwert", "zxcvb", "sdfg"],
  ])("include %s, at free-mail providers only", (local) => {
    expect(reasonOf(local, "hotmail.com")).toBe("placeholder");
    expect(reasonOf(local, "larch-and-oak.com")).not.toBe("placeholder");
  });

  test.each([
    "test1",
    "tester",
    "me",
    "mail",
    "user",
    "x",
    "aa",
    "1234",
    "12345678",
    "xkcdqp",
    "foobar",
    "ert",
    "asd",
  ])("do not include %s", (local) => {
    expect(reasonOf(local, "hotmail.com")).not.toBe("placeholder");
  });

  test("do not include numbers at QQ", () => {
    expect(reasonOf("888888", "qq.com")).not.toBe("placeholder");
    expect(reasonOf("888888", "hotmail.com")).toBe("placeholder");
  });
});

describe("relays", () => {
  test.each([
    ["duck.com", "duckduckgo"],
    ["mozmail.com", "firefox-relay"],
    ["privaterelay.appleid.com", "apple-hide-my-email"],
    ["ann.anonaddy.com", "addy"],
    ["passmail.net", "proton-pass"],
    ["aleeas.com", "simplelogin"],
    ["appleid.com", undefined],
    ["notduck.com", undefined],
    ["gmail.com", undefined],
  ])("the relay of %s is %s", (ascii, expected) => {
    expect(findRelay(ascii)).toBe(expected);
  });
});

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
  ])("%s at %s gets the reason %s", (local, ascii, expected) => {
    expect(reasonOf(local, ascii)).toBe(expected);
  });
});
