/** Covers public suffixes, private zones and unknown top-level domains. */
import { describe, expect, test } from "vitest";
import { findSuffix, isPrivateZone } from "../../../src/classifier/rules/public-suffix.js";

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
    ["gov", "public-suffix"],
    ["edu.pl", "public-suffix"],
    ["ac.jp", "public-suffix"],
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
