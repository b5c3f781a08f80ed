/** Covers the grammars of providers: mailboxes that cannot exist. */
import { describe, expect, test } from "vitest";
import { reasonOf } from "../../support/mailbox-reason.js";

describe("mailboxes that cannot exist", () => {
  test.each([
    ["abcde", "gmail.com"],
    ["a.b.c.d.e", "gmail.com"],
    ["ab".repeat(16), "gmail.com"],
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
    ["ann!x", "icloud.com"],
    ["an", "me.com"],
    [".ann", "mac.com"],
    ["1ann", "yandex.ru"],
    ["7987123456789012", "yandex.ru"],
    ["+79871234567x", "yandex.com"],
    ["ann+news", "yahoo.com"],
    ["ann#", "yahoo.co.uk"],
    ["ann+news", "aol.com"],
    ["ann+news", "gmx.de"],
    ["ann+news", "web.de"],
    ["ann+news", "qq.com"],
    ["ann/lee", "mail.ru"],
    ["ann!", "proton.me"],
  ])("include %s at %s", (local, domain) => expect(reasonOf(local, domain)).toMatch(/^impossible-mailbox: /));

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
    ["1ann", "icloud.com"],
    ["carpals-grabby.0x", "icloud.com"],
    ["0x.carpals-grabby", "icloud.com"],
    ["an-address-of-more-than-20", "mac.com"],
    ["ann.lee-x", "yandex.ru"],
    ["79871234567", "yandex.ru"],
    ["+79871234567", "yandex.com.tr"],
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
