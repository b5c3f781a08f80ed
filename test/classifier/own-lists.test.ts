/** Covers allow and deny lists: how their lines are parsed and how they override verdicts. */
import { describe, expect, test } from "vitest";
import { createClassifier } from "../../src/classifier/classifier.js";
import { compileDisposableTable, DisposableTable } from "../../src/classifier/disposable-table.js";
import { parseListLine } from "../../src/classifier/own-lists.js";
import { Fault } from "../../src/classifier/syntax/fault.js";

describe("list lines", () => {
  test.each([
    ["Mailinator.com", { domain: "mailinator.com" }],
    ["*.mailinator.com.", { domain: "mailinator.com" }],
    ["  bücher.de  # books", { domain: "xn--bcher-kva.de" }],
    ["Ann+News@Bücher.de", { domain: "xn--bcher-kva.de", mailbox: "ann+news" }],
    ["ann#1@b.net", { domain: "b.net", mailbox: "ann#1" }],
    ["", undefined],
    ["# nothing", undefined],
  ])("%j is parsed", (line, expected) => {
    expect(parseListLine(line)).toEqual(expected);
  });

  test.each(["two words", "a@@b.net", "http://b.net", "ann@[192.0.2.1]", "a..b"])(
    "%j is rejected",
    (line) => {
      expect(parseListLine(line)).toBeInstanceOf(Fault);
    },
  );
});

const table = new DisposableTable(
  compileDisposableTable([
    { domain: "mailinator.com", onlyBelow: false },
    { domain: "throw.net", onlyBelow: false },
  ]),
);
const { classify } = createClassifier(table, {
  allow: ["gmial.com", "boss@mailinator.com", "good.throw.net", "example.org", "test@hotmail.com"],
  deny: ["larch-and-oak.com", "spam@gmx.de", "bad.good.throw.net", "boss@mailinator.com"],
});

test.each(["localhost", "10.0.0.256"])(
  "the allow list does not make %s, which is no domain for mail, ok",
  (domain) => {
    const allowing = createClassifier(table, { allow: [domain], deny: [] });
    expect(allowing.classify("domain", domain).status).toBe("fake");
    expect(allowing.classify("email", `ann@${domain}`).status).toBe("fake");
  },
);

describe("allow and deny lists", () => {
  test.each([
    ["ann@gmial.com", "ok", "allow-list: gmial.com"],
    ["ann+news@sub.gmial.com", "ok", "allow-list: gmial.com"],
    ["Boss@mailinator.com", "ok", "allow-list: Boss@mailinator.com"],
    ["ann@mailinator.com", "disposable", "disposable-domain: mailinator.com"],
    ["ann@good.throw.net", "ok", "allow-list: good.throw.net"],
    ["ann@bad.good.throw.net", "ok", "allow-list: good.throw.net"],
    ["ann@throw.net", "disposable", "disposable-domain: throw.net"],
    ["ann@example.org", "ok", "allow-list: example.org"],
    ["test@hotmail.com", "ok", "allow-list: test@hotmail.com"],
    ["ann@larch-and-oak.com", "disposable", "deny-list: larch-and-oak.com"],
    ["ann@x.LARCH-and-oak.com", "disposable", "deny-list: larch-and-oak.com"],
    ["spam@gmx.de", "disposable", "deny-list: spam@gmx.de"],
    ["ann@gmx.de", "ok", undefined],
    ["ann@notlarch-and-oak.com", "ok", undefined],
    ["a..b@gmial.com", "fake", "syntax: two dots in a row at 3", "a.b@gmial.com"],
  ])("with them, the address %s is %s", (item, status, reason, suggestion?: string) => {
    expect(classify("email", item)).toEqual({
      status,
      ...(reason !== undefined && { reason }),
      ...(suggestion !== undefined && { suggestion }),
    });
  });

  test.each([
    ["gmial.com", "ok", "allow-list: gmial.com"],
    ["larch-and-oak.com", "disposable", "deny-list: larch-and-oak.com"],
    ["mailinator.com", "disposable", "disposable-domain: mailinator.com"],
  ])("with them, the domain %s is %s", (item, status, reason) => {
    expect(classify("domain", item)).toEqual({ status, reason });
  });
});
