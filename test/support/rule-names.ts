/** Names that the rules are about, and names on which parsers of hosts differ. */
import { readFileSync } from "node:fs";
import { domainToUnicode } from "node:url";
import * as providers from "../../src/core/classifier/providers.js";
import { domainRules, mailboxRules } from "../../src/core/classifier/rules/rules.js";
import { suffixRules } from "./suffixes.js";

/** Soft hyphens, capitals and look-alikes, deviations of IDNA 2003 and 2008, numbers of IPv4, escapes, wrong A-labels. */
const hard = [
  ...["faß.de", "ΒΌΛΟΣ.com", "βόλος.com", "a\u00adb.com", "a\u200db.com", "ａｂｃ.com", "münchen。de", "İstanbul.com"],
  ...["MÜNCHEN.de", "mu\u0308nchen.de", "☃.net", "💩.la", "xn--ls8h.la", "xn--a.com", "xn--zzzz.com", "xn--.com"],
  ...["xn--a-ä.com", "xn--mnchen-3ya.de", "xn--MNCHEN-3YA.de", "ab--cd.com", "a\u0301.com", "\u0301a.com", "ⓐ.com"],
  ...["1.2.3", "127.1", "0x7f.1", "1.2.3.4", "1.2.3.4.5", "١٢٣.com", "a_b.com", "a%41.com", "%6d.com", "a b.com"],
  ...["a/b.com", "a?b.com", "a#b.com", "a:8.com", "a@b.com", "a\\b.com", "[::1]", "-a.com", "a-.com", "a..b", ".a.com"],
  ...["аррӏе.com", "gmаil.com", "xn--gmil-63d.com", "日本語.jp", "مثال.إختبار", "example\u3002com", "a\u2260b.com"],
  ...[`${"a".repeat(63)}.com`, `${"a".repeat(64)}.com`, `${"ü".repeat(56)}.com`, `${"ü".repeat(60)}.com`],
];

export function ruleNames(): readonly string[] {
  const listed = readFileSync(new URL("../../src/engines/data/disposable-domains.txt", import.meta.url), "utf8")
    .split("\n")
    .filter((name) => name.includes("xn--"));
  const suffixes = suffixRules.map(({ rule }) => rule.replace(/^(?:\*\.|!)/, ""));
  const own = Object.values(providers).flatMap((value) =>
    Array.isArray(value) ? (value as readonly string[]).filter((name) => typeof name === "string") : [],
  );
  const named = [...domainRules, ...mailboxRules].flatMap((rule) => ("names" in rule ? [...rule.names] : []));
  const names = [...suffixes, ...suffixes.map((name) => `ann.${name}`), ...listed, ...own, ...named];
  return [...new Set([...hard, ...names, ...names.map(domainToUnicode)])];
}
