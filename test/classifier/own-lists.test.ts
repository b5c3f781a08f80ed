/** Covers allow and deny lists: how their lines are parsed and how they override verdicts. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createClassifier } from "../../src/core/classifier/classifier.js";
import { Fault } from "../../src/core/classifier/syntax/fault.js";
import { compileDisposableTable, DisposableTable } from "../../src/core/classifier/tables/disposable-table.js";
import { compileList, NameList, parseListLine } from "../../src/core/classifier/tables/own-lists.js";
import { times } from "../support/tier.js";

describe("list lines", () => {
  test.each([
    ["Mailinator.com", "mailinator.com"],
    ["*.mailinator.com.", "mailinator.com"],
    ["  bücher.de  # books", "xn--bcher-kva.de"],
    ["Ann+News@Bücher.de", "ann+news@xn--bcher-kva.de"],
    [".mailinator.com", "mailinator.com"],
    ["@Mailinator.com", "mailinator.com"],
    ["*@mailinator.com # all", "mailinator.com"],
    ["ann#1@b.net", "ann#1@b.net"],
    ["NoReply@*", "noreply@*"],
    ["* # all", "*"],
    ["*@*", "*"],
    ["mx:MX1.Bücher.de.", "mx:mx1.xn--bcher-kva.de"],
    ["MX:*.b.net", "mx:b.net"],
    [".com", "com"],
    ["*.com # all", "com"],
    ["@com", "com"],
    ["localnet", "localnet"],
    ["", undefined],
    ["# nothing", undefined],
  ])("%j is parsed", (line, expected) => expect(parseListLine(line, "deny")).toEqual(expected));

  test.each([
    ...["two words", "a@@b.net", "http://b.net", "ann@[192.0.2.1]", "a..b", "info*@b.net", "no*@*", "mx:"],
    ...["mx:ann@b.net", "@", "..b.net", "*@*.b.net", "com", "SHOP.", "com # all"],
  ])("%j is rejected", (line) => expect(parseListLine(line, "deny")).toBeInstanceOf(Fault));

  test("an allow list takes no exchange", () => {
    expect(parseListLine("mx:b.net", "allow")).toEqual(new Fault("only a deny list takes mx:", 1));
  });
});

const listed = ["mailinator.com", "throw.net"].map((domain) => ({ domain, onlyBelow: false }));
const table = new DisposableTable(compileDisposableTable(listed));
const classifierWith = (allow: readonly string[], deny: readonly string[]) =>
  createClassifier(table, { allow: compileList("allow", allow), deny: compileList("deny", deny) });
const { classify } = classifierWith(
  ["gmial.com", "boss@mailinator.com", "good.throw.net", "example.org", "test@hotmail.com"],
  ["larch-and-oak.com", "spam@gmx.de", "bad.good.throw.net", "boss@mailinator.com"],
);

test.each(["localhost", "10.0.0.256"])("%s stays fake although the allow list has it", (domain) => {
  const allowing = classifierWith([domain], []);
  expect(allowing.classify("domain", domain).status).toBe("fake");
  expect(allowing.classify("email", `ann@${domain}`).status).toBe("fake");
});

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
    expect(classify("email", item)).toEqual({ status, reason, suggestion });
  });

  test.each([
    ["gmial.com", "ok", "allow-list: gmial.com"],
    ["larch-and-oak.com", "disposable", "deny-list: larch-and-oak.com"],
    ["mailinator.com", "disposable", "disposable-domain: mailinator.com"],
  ])("give the domain %s the status %s", (item, status, reason) => {
    expect(classify("domain", item)).toEqual({ status, reason });
  });
});

describe("entries about all domains", () => {
  const { classify } = classifierWith(
    ["firm.de", "postmaster@*", "ann@gmail.com"],
    ["noreply@*", "noreply@larch.com", "oak.com", "*"],
  );

  test.each([
    ["ann@firm.de", "ok", "allow-list: firm.de"],
    ["noreply@firm.de", "ok", "allow-list: firm.de"],
    ["Postmaster@oak.com", "ok", "allow-list: Postmaster@*"],
    ["ann@gmail.com", "ok", "allow-list: ann@gmail.com"],
    ["bob@gmail.com", "disposable", "deny-list: *"],
    ["bob+news@gmail.com", "disposable", "deny-list: *"],
    ["noreply@larch.com", "disposable", "deny-list: noreply@larch.com"],
    ["NoReply@oak.com", "disposable", "deny-list: oak.com"],
    ["noreply@mailinator.com", "disposable", "deny-list: noreply@*"],
    ["ann@mailinator.com", "disposable", "deny-list: *"],
    ["test@gmail.com", "disposable", "deny-list: *"],
    ["ann@gmial.com", "disposable", "deny-list: *"],
    ["a..b@firm.de", "fake", "syntax: two dots in a row at 3"],
  ])("decide about %s after the narrower ones", (item, status, reason) => {
    expect(classify("email", item)).toMatchObject({ status, reason });
  });

  test.each([
    ["firm.de", "ok", "allow-list: firm.de"],
    ["larch.com", "disposable", "deny-list: *"],
  ])("decide about the domain %s", (item, status, reason) => {
    expect(classify("domain", item)).toEqual({ status, reason });
  });
});

test("a compiled list has exactly the entries that its lines are parsed to", () => {
  const label = fc.string({ unit: fc.constantFrom(..."abz9-A"), minLength: 0, maxLength: 4 });
  const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
  const local = fc.string({ unit: fc.constantFrom(...'abz9-A_+.*"'), minLength: 0, maxLength: 5 });
  const line = fc.oneof(
    name,
    name,
    fc.tuple(local, name).map((parts) => parts.join("@")),
    fc.tuple(local, name).map((parts) => parts.join("@")),
    name.map((text) => ` *.${text} # why`),
    name.map((text) => `mx:${text}`),
    label.map((text) => `${text}@*`),
    fc.constantFrom(
      ...["", "# none", "*", "b\u00fccher.de", "xn--bcher-kva.de", "x".repeat(64)],
      ...[`${"x".repeat(64)}.de`, `${"x".repeat(64)}@b.de`, `${"x".repeat(65)}@b.de`],
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
          "deny",
          texts.map((lines) => lines.join(lineEnding)),
          (text, at, { what }) => faults.push(`${text}:${at}:${what}`),
        );
        const parsed = texts.flatMap((lines, text) =>
          lines.map((each, at) => ({ text, at: at + 1, entry: parseListLine(each, "deny") })),
        );
        expect(faults).toEqual(
          parsed.flatMap(({ text, at, entry }) => (entry instanceof Fault ? [`${text}:${at}:${entry.what}`] : [])),
        );
        const entries = parsed.flatMap(({ entry }) => (entry && !(entry instanceof Fault) ? [entry] : []));
        expect(compiled.entries).toBe(entries.length);
        const list = new NameList(compiled);
        const domains = new Set(entries.filter((entry) => !/[@:*]/.test(entry)));
        const places = new Set(entries.flatMap((entry) => /@([^*]+)$/.exec(entry)?.[1] ?? []));
        const isAboutAll = entries.some((entry) => entry.endsWith("*"));
        for (const asked of [...domains, ...places, ...others.map((each) => each.toLowerCase())]) {
          const parts = asked.split(".");
          const suffixes = parts.map((_, index) => parts.slice(index).join("."));
          const all = entries.includes("*") ? "*" : undefined;
          const found = suffixes.find((suffix) => domains.has(suffix)) ?? all;
          expect(list.find(asked)).toBe(found);
          expect(list.find(asked, "nobody")).toBe(found);
          expect(list.hasMailboxesAt(asked)).toBe(isAboutAll || places.has(asked));
          const exchange = suffixes.find((suffix) => entries.includes(`mx:${suffix}`));
          expect(list.findExchange(asked)).toBe(exchange && `mx:${exchange}`);
        }
        for (const entry of entries) {
          const [, local, domain = ""] = /^([^@]+)@(.*)$/.exec(entry) ?? [];
          if (domain === "*") expect(list.find("b2.example", local)).toBe(entry);
          else if (local !== undefined) expect(list.find(domain, local)).toBe(entry);
        }
      },
    ),
    { numRuns: times(500) },
  );
});
