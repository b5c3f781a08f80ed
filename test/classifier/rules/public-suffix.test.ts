/** Covers public suffixes, private zones and unknown top-level domains. */
import { parse } from "tldts";
import { describe, expect, test } from "vitest";
import {
  findSuffix,
  isPrivateZone,
  type SuffixFinding,
} from "../../../src/core/classifier/rules/domain/public-suffix.js";
import { compileSuffixTable } from "../../../src/core/classifier/tables/suffix-table.js";
import { suffixRules } from "../../support/suffixes.js";

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
    ["nic.in", "registrable"],
    ["gov.in", "registrable"],
    ["sa.gov.au", "registrable"],
    ["sp.gov.br", "registrable"],
    ["mil.lv", "registrable"],
    ["mil.no", "registrable"],
    ["glow.sch.uk", "registrable"],
    ["kent.sch.uk", "registrable"],
    ["catholic.edu.au", "registrable"],
    ["edu.au", "public-suffix"],
    ["gov", "public-suffix"],
    ["edu.pl", "public-suffix"],
    ["ac.jp", "public-suffix"],
    ["company.con", "unknown-tld"],
    ["company.internal", "unknown-tld"],
  ])("%s is %s", (ascii, expected) => expect(findSuffix(ascii)).toBe(expected));

  test.each([
    ["eu.org", true],
    ["github.io", true],
    ["a.eu.org", false],
    ["com", false],
    ["gmail.com", false],
  ])("%s is a private zone: %s", (ascii, expected) => expect(isPrivateZone(ascii)).toBe(expected));
});

test("the suffix table agrees with tldts on every rule and on the names around it", () => {
  const options = { extractHostname: false, validateHostname: false, detectIp: false };
  const expected = (name: string): SuffixFinding => {
    const { isIcann, domain } = parse(name, { ...options, allowPrivateDomains: false });
    if (isIcann !== true) return "unknown-tld";
    return domain === null ? "public-suffix" : "registrable";
  };
  const isPrivate = (name: string) => {
    const found = parse(name, { ...options, allowPrivateDomains: true });
    return found.isPrivate === true && found.publicSuffix === name;
  };
  const names = suffixRules.flatMap(({ rule }) => {
    const name = rule.replace(/^(?:!|\*\.)/, "");
    return [name, `x.${name}`, `y.x.${name}`, name.slice(name.indexOf(".") + 1), `x${name}`];
  });
  expect(names.length).toBeGreaterThan(50_000);
  const wrong = names.filter((name) => {
    // Suffixes with mailboxes of their own are an exception of idv's.
    const found = findSuffix(name);
    const isSame = found === expected(name) || (found === "registrable" && hasMailboxes(name));
    return !isSame || isPrivateZone(name) !== isPrivate(name);
  });
  expect(wrong).toEqual([]);
});

/** Whether the name is a suffix of an authority or of schools, or a suffix by a wildcard only. */
const hasMailboxes = (name: string) =>
  /^(?:gov|gob|gouv|govt|gv|go|gub|mil|nic|nat)\.|\.(?:ac|edu|gov|sch)\.[a-z]{2}$/.test(name) ||
  parse(`idv-probe.${name.slice(name.indexOf(".") + 1)}`).domain === null;

test("the suffix table cannot be built from an exception rule in the private section", () => {
  expect(() => compileSuffixTable([{ rule: "!a.b.com", isPrivate: true }])).toThrow("private section");
});
