/** Covers allow and deny lists: how their lines are parsed and how they override verdicts. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createClassifier } from "../../src/classifier/classifier.js";
import { compileDisposableTable, DisposableTable } from "../../src/classifier/disposable-table.js";
import { compileList, NameList, parseListLine } from "../../src/classifier/own-lists.js";
import { Fault } from "../../src/classifier/syntax/fault.js";
import { times } from "../support/tier.js";

describe("list lines", () => {
  test.each([
    ["Mailinator.com", { domain: "mailinator.com" }],
    ["*.mailinator.com.", { domain: "mailinator.com" }],
    ["  bücher.de  # books", { domain: "xn--bcher-kva.de" }],
    ["Ann+News@Bücher.de", { domain: "xn--bcher-kva.de", mailbox: "ann+news" }],
    [".mailinator.com", { domain: "mailinator.com" }],
    ["@Mailinator.com", { domain: "mailinator.com" }],
    ["*@mailinator.com # all", { domain: "mailinator.com" }],
    ["ann#1@b.net", { domain: "b.net", mailbox: "ann#1" }],
    ["", undefined],
    ["# nothing", undefined],
  ])("%j is parsed", (line, expected) => {
    expect(parseListLine(line)).toEqual(expected);
  });

  test.each([
    "two words",
    "a@@b.net",
    "http://b.net",
    "ann@[192.0.2.1]",
    "a..b",
    "info*@b.net",
    "*",
    "@",
    "..b.net",
    "*@*.b.net",
  ])("%j is rejected", (line) => {
    expect(parseListLine(line)).toBeInstanceOf(Fault);
  });
});

const table = new DisposableTable(
  compileDisposableTable([
    { domain: "mailinator.com", onlyBelow: false },
    { domain: "throw.net", onlyBelow: false },
  ]),
);
const { classify } = createClassifier(table, {
  allow: compileList([
    "gmial.com",
    "boss@mailinator.com",
    "good.throw.net",
    "example.org",
    "test@hotmail.com",
  ]),
  deny: compileList(["larch-and-oak.com", "spam@gmx.de", "bad.good.throw.net", "boss@mailinator.com"]),
});

test.each(["localhost", "10.0.0.256"])(
  "%s cannot receive mail and stays fake although the allow list has it",
  (domain) => {
    const allowing = createClassifier(table, { allow: compileList([domain]), deny: compileList([]) });
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
  ])("give the address %s the status %s", (item, status, reason, suggestion?: string) => {
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
  ])("give the domain %s the status %s", (item, status, reason) => {
    expect(classify("domain", item)).toEqual({ status, reason });
  });
});

test("a compiled list has exactly the entries that its lines are parsed to", () => {
  const label = fc.string({ unit: fc.constantFrom(..."abz9-A"), minLength: 0, maxLength: 4 });
  const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
  const line = fc.oneof(
    name,
    name,
    fc.tuple(label, name).map((parts) => parts.join("@")),
    name.map((text) => ` *.${text} # why`),
    fc.constantFrom(
      "",
      "# none",
      "b\u00fccher.de",
      "xn--bcher-kva.de",
      "x".repeat(64),
      `${"x".repeat(64)}.de`,
    ),
  );
  fc.assert(
    fc.property(
      fc.array(fc.array(line, { maxLength: 40 }), { maxLength: 3 }),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.array(name, { maxLength: 10 }),
      (texts, lineEnding, others) => {
        const faults: string[] = [];
        const compiled = compileList(
          texts.map((lines) => lines.join(lineEnding)),
          (text, at, { what }) => faults.push(`${text}:${at}:${what}`),
        );
        const parsed = texts.flatMap((lines, text) =>
          lines.map((each, at) => ({ text, at: at + 1, entry: parseListLine(each) })),
        );
        expect(faults).toEqual(
          parsed.flatMap(({ text, at, entry }) =>
            entry instanceof Fault ? [`${text}:${at}:${entry.what}`] : [],
          ),
        );
        const entries = parsed.flatMap(({ entry }) => (entry && !(entry instanceof Fault) ? [entry] : []));
        expect(compiled.entries).toBe(entries.length);
        const list = new NameList(compiled);
        const domains = new Set(entries.flatMap((entry) => ("mailbox" in entry ? [] : [entry.domain])));
        const places = new Set(entries.flatMap((entry) => ("mailbox" in entry ? [entry.domain] : [])));
        for (const asked of [...domains, ...places, ...others.map((each) => each.toLowerCase())]) {
          const parts = asked.split(".");
          const suffixes = parts.map((_, index) => parts.slice(index).join("."));
          expect(list.findDomain(asked)).toBe(suffixes.find((suffix) => domains.has(suffix)));
          expect(list.hasMailboxesAt(asked)).toBe(places.has(asked));
        }
        for (const entry of entries) {
          if ("mailbox" in entry) expect(list.hasMailbox(entry.mailbox, entry.domain)).toBe(true);
          expect(list.hasMailbox("nobody", entry.domain)).toBe(false);
        }
      },
    ),
    { numRuns: times(500) },
  );
});
