/** Covers mistyped names of large providers, and real names beside them. */
import { describe, expect, test } from "vitest";
import { offeredDomains, privacyProviders } from "../../../src/core/classifier/flags/free-providers.js";
import { familyDomains, ispProviders } from "../../../src/core/classifier/known-providers.js";
import { mailcomDomains, majorProviders, relays } from "../../../src/core/classifier/providers.js";
import { findMeant, findSimilar, findTypo } from "../../../src/core/classifier/rules/domain/typo-domain.js";
import { classifier } from "../../support/classifier.js";

describe("names beside providers that are words, or that are short", () => {
  test.each([
    ["tetra.com.br", "terra.com.br"],
    ["rodgers.com", "rogers.com"],
    ["iclould.com", "icloud.com"],
    ["ucloud.com", "icloud.com"],
    ["vmail.com", "gmail.com"],
    ["hotail.co.uk", "hotmail.co.uk"],
    ["yaho.fr", "yahoo.fr"],
    ["gmai.co.uk", "gmail.com"],
    ["larch-and-oak.com", undefined],
    ["hotail.example", undefined],
    ["mail.de", undefined],
    ["email.de", undefined],
    ["outlook.de", undefined],
    ["zmail.com", undefined],
    ["tegra.com.br", undefined],
    ["serra.com.br", undefined],
    ["libera.it", undefined],
    ["grail.com", undefined],
  ])("%s is no typo, and similar to %s", (ascii, similar) => {
    expect([findTypo(ascii), findSimilar(ascii)]).toEqual([undefined, similar]);
  });

  test("the verdict is ok, with a suggestion", () => {
    const verdict = { status: "ok", reason: "similar-domain: tetra.com.br", suggestion: "terra.com.br" };
    const ofAddress = { ...verdict, suggestion: "ann.lee@terra.com.br" };
    expect(classifier.classify("email", "ann.lee@tetra.com.br")).toEqual(ofAddress);
    expect(classifier.classify("domain", "tetra.com.br")).toEqual(verdict);
    expect(classifier.classify("email", "ann+news@tetra.com.br").status).toBe("alias");
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
    ["xn--gmil-6na.com", "gmail.com"],
    ["gmail.net", "gmail.com"],
    ["gmail.co.uk", "gmail.com"],
    ["gmail.com.com", "gmail.com"],
    ["icloud.co", "icloud.com"],
    ["protonmail.net", "protonmail.com"],
    ["comcas.net", "comcast.net"],
    ["btinternet.co", "btinternet.com"],
    ["t-onlin.de", "t-online.de"],
    ["gmaal.com", "gmail.com"],
    ["gmaii.com", "gmail.com"],
    ["grnail.com", "gmail.com"],
    ["hotnail.com", "hotmail.com"],
    ["www.gmial.com", "gmail.com"],
    ["a.b.gmial.com", "gmail.com"],
    ["libero.ti", "libero.it"],
    ["gmailcom", "gmail.com"],
  ])("%s is corrected to %s", (ascii, meant) => expect(findTypo(ascii)).toBe(meant));

  test.each([
    ...["gmail.com", "mail.com", "ymail.com", "email.com", "hotmailr.com", "yahoo.co", "cloud.com", "pcloud.com"],
    ...["protonmail.ch", "icloud.com.cn", "hotmail.net", "outlook.net", "yahoo.net", "live.net", "aol.net"],
    ...["terra.com.ar", "yahoo.de", "outlook.fr", "gmx.com", "gotmail.com", "gmlia.com", "mygmail.com"],
    ...["mail.gmail.com", ...majorProviders, ...familyDomains, ...mailcomDomains, ...offeredDomains],
    ...[...ispProviders, ...privacyProviders, ...Object.values(relays).flat()],
  ])("%s is not corrected", (ascii) => expect([findTypo(ascii), findSimilar(ascii)]).toEqual([undefined, undefined]));
});

test.each([
  ["example.con", "example.com"],
  ["larch-and-oak.comm", "larch-and-oak.com"],
  ["gmailcom", "gmail.com"],
  ["gmail", "gmail.com"],
  ["example.nett", "example.net"],
  ["example.ogr", "example.org"],
  ["example.couk", "example.co.uk"],
  ["example.dee", "example.de"],
  ["web.ed", "web.de"],
  ["gmx.d", "gmx.de"],
  ["gmail.dee", "gmail.com"],
  ["example.internal", undefined],
  ["localhost", undefined],
])("for %s, which cannot exist, the suggestion is %s", (ascii, meant) => expect(findMeant(ascii)).toBe(meant));
