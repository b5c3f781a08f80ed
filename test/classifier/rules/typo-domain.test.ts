/** Covers mistyped names of large providers, and real names beside them. */
import { describe, expect, test } from "vitest";
import {
  mailcomDomains,
  majorProviders,
  privacyProviders,
  relays,
} from "../../../src/classifier/providers.js";
import { findMeant, findTypo } from "../../../src/classifier/rules/typo-domain.js";

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
    ["gmail.net", "gmail.com"],
    ["gmail.co.uk", "gmail.com"],
    ["gmail.com.com", "gmail.com"],
    ["icloud.co", "icloud.com"],
    ["protonmail.net", "protonmail.com"],
    ["comcas.net", "comcast.net"],
    ["btinternet.co", "btinternet.com"],
    ["t-onlin.de", "t-online.de"],
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
    ...["protonmail.ch", "icloud.com.cn", "hotmail.net", "outlook.net", "yahoo.net", "live.net", "aol.net"],
    ...[
      "terra.com.ar",
      "yahoo.de",
      "outlook.fr",
      "gmx.com",
      "gotmail.com",
      "gmlia.com",
      "mygmail.com",
      "mail.gmail.com",
    ],
    ...majorProviders,
    ...mailcomDomains,
    ...privacyProviders,
    ...Object.values(relays).flat(),
  ])("%s is not corrected", (ascii) => {
    expect(findTypo(ascii)).toBeUndefined();
  });
});

test.each([
  ["example.con", "example.com"],
  ["larch-and-oak.comm", "larch-and-oak.com"],
  ["gmailcom", "gmail.com"],
  ["example.internal", undefined],
  ["localhost", undefined],
])("for %s, which cannot exist, the suggestion is %s", (ascii, meant) => {
  expect(findMeant(ascii)).toBe(meant);
});
