/** Covers what the records of a domain say about its mail. */
import { describe, expect, test } from "vitest";
import { disposableExchanges } from "../../src/core/classifier/tables/disposable-exchanges.js";
import { isRoutable, judgeExchanges, mailTo, sendsNoMail, verdictOf } from "../../src/engines/dns/finding.js";
import { classifier } from "../support/classifier.js";

const findDisposable = (host: string) => (host.endsWith(".mailinator.com") ? "mailinator.com" : undefined);
const judge = (...exchanges: string[]) =>
  judgeExchanges(
    exchanges.map((exchange, i) => ({ exchange, priority: exchanges.length - i })),
    findDisposable,
  );

describe("exchanges", () => {
  test.each<[string, string[], unknown]>([
    ["a host", ["mail.larch-and-oak.com"], ["mail.larch-and-oak.com"]],
    ["hosts by their priority", ["b.net", "a.net"], ["a.net", "b.net"]],
    ["a null MX", [""], { kind: "null-mx" }],
    ["a null MX with a dot", ["."], { kind: "null-mx" }],
    ["a null MX beside a host, which RFC 7505 forbids", ["", "a.net"], ["a.net"]],
    ["an IP number", ["192.0.2.1"], { kind: "no-mail-server" }],
    ["IP numbers", ["127.0.0.1", "::1"], { kind: "no-mail-server" }],
    ["localhost", ["localhost", "LOCALHOST."], { kind: "no-mail-server" }],
    ["names under .invalid", ["mx.invalid"], { kind: "no-mail-server" }],
    ["an IP number beside a host", ["a.net", "192.0.2.1"], ["a.net"]],
    ["a name without a dot", ["mail"], ["mail"]],
    ["a name that is no host name", ["\\027[2J.a.net"], ["\\027[2j.a.net"]],
    ["a name with a hyphen first", ["-1.a.net"], ["-1.a.net"]],
    ["a disposable host", ["a.net", "mx.mailinator.com"], { kind: "disposable-mx", suffix: "mailinator.com" }],
    ["a listed exchange", ["x.Dropmail.me."], { kind: "disposable-mx", suffix: "dropmail.me" }],
    ["a listed exchange itself", ["dropmail.me"], { kind: "disposable-mx", suffix: "dropmail.me" }],
    ["a name that only ends like one", ["xdropmail.me"], ["xdropmail.me"]],
  ])("lead to a finding: %s", (_, exchanges, expected) => expect(judge(...exchanges)).toEqual(expected));

  // Hosts of large mail services, registrars and forwarders, which serve real people.
  test.each(
    `aspmx.l.google.com example-com.mail.protection.outlook.com mx.zoho.com mail.protonmail.ch in1-smtp.messagingengine.com
    mx1.privateemail.com mx1.improvmx.com mx1.forwardemail.net mx1.simplelogin.co mail.anonaddy.me mxa.mailgun.org
    route1.mx.cloudflare.net amir.mx.cloudflare.net mx01.mail.icloud.com mx.yandex.net eforward1.registrar-servers.com
    mx00.ionos.com smtp.secureserver.net mx1.hostinger.com mx.sendgrid.net inbound-smtp.eu-west-1.amazonaws.com
    mx1.mail.ovh.net mx.migadu.com mailin-01.mx.startmail.com park-mx.above.com mx.h-email.net mail.h-email.net`
      .trim()
      .split(/\s+/),
  )("%s is never disposable", (host) => {
    const find = (name: string) => (classifier.domainFacts(name).verdict?.status === "disposable" ? name : undefined);
    expect(judgeExchanges([{ exchange: host, priority: 1 }], find)).toEqual([host]);
  });

  test("on the built-in disposable list are written as host names", () => {
    expect(disposableExchanges.size).toBe(103);
    for (const name of disposableExchanges) expect(name).toMatch(/^[a-z0-9.-]+\.[a-z]+$/);
  });
});

test.each([
  ["9.9.9.9", true, true],
  ["192.0.2.1", false, false],
  ["198.51.100.1", false, false],
  ["203.0.113.1", false, false],
  ["224.0.0.5", false, false],
  ["240.0.0.1", false, false],
  ["255.255.255.255", false, false],
  ["100.64.1.1", false, true],
  ["2001:db8::1", false, false],
  ["ff02::1", false, false],
  ["0.0.0.0", false, false],
  ["127.8.8.8", false, false],
  ["::1", false, false],
  ["::", false, false],
  ["10.255.0.1", false, true],
  ["172.16.0.1", false, true],
  ["172.32.0.1", true, true],
  ["192.168.0.1", false, true],
  ["169.254.1.1", false, true],
  ["fd12::1", false, true],
  ["fe80::1", false, true],
  ["2620:fe::9", true, true],
])("%s is routable: %s; from a private network: %s", (address, isOutside, isInside) => {
  expect([isRoutable(address, false), isRoutable(address, true)]).toEqual([isOutside, isInside]);
});

test("a host of DNS is passed on only if it is a host name", () => {
  expect(mailTo("mail.a.net")).toEqual({ kind: "mail", exchange: "mail.a.net" });
  expect(mailTo("\u001b[2j.a.net")).toEqual({ kind: "mail" });
});

test.each([
  [{ kind: "mail" as const }, undefined],
  [{ kind: "undecided" as const, cause: "timeout" as const }, undefined],
  [{ kind: "no-such-domain" as const }, { status: "fake", reason: "no-such-domain: a.net" }],
  [{ kind: "null-mx" as const }, { status: "fake", reason: "null-mx: a.net" }],
  [{ kind: "no-mail-server" as const }, { status: "fake", reason: "no-mail-server: a.net" }],
  [
    { kind: "disposable-mx" as const, suffix: "dropmail.me" },
    { status: "disposable", reason: "disposable-mx: dropmail.me" },
  ],
])("the finding %j has the right verdict", (finding, expected) => {
  expect(verdictOf("a.net", finding)).toEqual(expected);
});

test.each([
  [[["v=spf1 -all"]], true],
  [[["v=spf1", " -all"], ["site-verification=1"]], true],
  [[["v=spf1 -all"], ["v=spf1 mx -all"]], false],
  [[["v=spf1 ip4:192.0.2.1 -all"]], false],
  [[], false],
])("TXT records %j declare that no mail is sent: %s", (texts, expected) => expect(sendsNoMail(texts)).toBe(expected));
