/** Covers the verdicts of the whole classifier, with the built-in list of disposable domains. */
import { domainToASCII } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { offeredDomains, privacyProviders } from "../../src/core/classifier/flags/free-providers.js";
import { familyDomains } from "../../src/core/classifier/known-providers.js";
import { mailcomDomains, majorProviders } from "../../src/core/classifier/providers.js";
import { listedDomain } from "../../src/core/classifier/rules/domain/disposable-domain.js";
import { compileDisposableTable, DisposableTable } from "../../src/core/classifier/tables/disposable-table.js";
import { classifier, disposableEntries } from "../support/classifier.js";
import { times } from "../support/tier.js";

const { classify } = classifier;

test("caching the facts of a domain changes no verdict, in any letter case", () => {
  const names = ["mailinator.com", "gmail.com", "larch-and-oak.com", "company.con", "gnail.com", "grr.la", "co.uk"];
  const others = Array.from({ length: 40_000 }, (_, i) => `company-${i}.com`);
  const domains = [...names, ...others.slice(0, 100)];
  const statuses = () =>
    domains.flatMap((name) =>
      [name, name.toUpperCase(), name.replace(/^./, (first) => first.toUpperCase())].map(
        (domain) => classify("email", `ann.lee@${domain}`).status,
      ),
    );
  const first = statuses();
  expect(first.slice(0, 3)).toEqual(["disposable", "disposable", "disposable"]);
  expect(statuses()).toEqual(first);
  // Twice as many as there are places, each of them twice in a row, so that it is remembered.
  for (const other of others) for (let i = 0; i < 2; i++) expect(classify("email", `ann@${other}`).status).toBe("ok");
  expect(statuses()).toEqual(first);
});

describe("addresses", () => {
  test.each([
    ["ann.lee@larch-and-oak.com", "ok", undefined],
    ["ann@mailinator.com", "disposable", "disposable-domain: mailinator.com"],
    ["ann@a.b.mailinator.com", "disposable", "disposable-domain: mailinator.com"],
    ["ann+news@mailinator.com", "disposable", "disposable-domain: mailinator.com"],
    ["ann@jetable.org", "disposable", "disposable-domain: jetable.org"],
    ["ann..lee@larch-and-oak.com", "fake", "syntax: two dots in a row at 5"],
    ["ann@[192.0.2.1]", "fake", "syntax: an address literal instead of a domain"],
    ["ann@192.0.2.1", "fake", "syntax: a numeric top-level domain"],
    ["ann@mailhost", "fake", "syntax: a domain without a dot"],
    ["ann@localhost", "fake", "special-use: localhost"],
    ["ann@mail.example.com", "fake", "special-use: example.com"],
    ["ann@company.con", "fake", "unknown-tld: con"],
    ["ann@co.uk", "fake", "public-suffix: co.uk"],
    ["ann@gmial.com", "fake", "typo-domain: gmial.com"],
    ["ann@gmai.com", "fake", "typo-domain: gmai.com"],
    ["1234+ann@users.noreply.github.com", "fake", "no-reply: users.noreply.github.com"],
    ["79871234567@yandex.ru", "ok", undefined],
    ["ann@gmail.com", "fake", "impossible-mailbox: gmail.com needs 6 to 30 characters, letters and digits"],
    ["ann.lee+news@yahoo.com", "fake", "impossible-mailbox: yahoo.com has no plus addressing"],
    ["test@hotmail.com", "fake", "placeholder"],
    ["ann@duck.com", "alias", "relay: duckduckgo"],
    ["ann+news@duck.com", "alias", "relay: duckduckgo"],
    ["ann.lee+news@gmail.com", "alias", "sub-address: +news"],
    ["ann+news@larch-and-oak.com", "alias", "sub-address: +news"],
    ["ann@lee.fastmail.com", "alias", "sub-address: lee.fastmail.com"],
    ["ශ්‍රී@larch-and-oak.com", "ok", undefined],
    ["ann\u200d@larch-and-oak.com", "fake", "syntax: U+200D in the local part at 4"],
    ["می‌خواهم@larch-and-oak.com", "ok", undefined],
    ["ann+news@yahoo.com.vn", "fake", "impossible-mailbox: yahoo.com.vn has no plus addressing"],
    ["ann+news@yahoo.co.jp", "alias", "sub-address: +news"],
    ["ann@gmаil.com", "fake", "typo-domain: xn--gmil-63d.com"],
    ["ann@edu.pl", "fake", "public-suffix: edu.pl"],
    ["ann@uw.edu.pl", "ok", undefined],
    ["ann@eu.org", "ok", undefined],
  ])("%s is %s, reason %s", (address, status, reason) => {
    const { suggestion: _, ...verdict } = classify("email", address);
    expect(verdict).toEqual({ status, reason });
  });

  test("suggests a correction for an unknown top-level domain", () => {
    const verdict = { status: "fake", reason: "unknown-tld: con", suggestion: "ann.lee@larch-and-oak.com" };
    expect(classify("email", "ann.lee@larch-and-oak.con")).toEqual(verdict);
  });

  test.each(["gmail.con", "gmailcom", "gmial.com", "hotmial.com", "gmail.net"])(
    "calls %s mistyped, which --fix repairs, whatever its ending",
    (domain) => {
      expect(classify("email", `first.last@${domain}`)).toMatchObject({
        reason: `typo-domain: ${domain}`,
        suggestion: expect.stringMatching(/^first\.last@/),
      });
    },
  );

  test("keeps the spelling of the local part in the suggestion for a typo", () => {
    expect(classify("email", "Ann.Lee@GMIAL.com").suggestion).toBe("Ann.Lee@gmail.com");
    expect(classify("email", "ann.lee+news@gmial.com").suggestion).toBe("ann.lee+news@gmail.com");
  });

  test.each(['"a@b"@gmial.com', "o'hara@hotnail.com", "ab@gmai.com", "test@hotmial.com"])(
    "suggests nothing if the mailbox cannot exist at the intended provider: %s",
    (address) => {
      const reason = `typo-domain: ${address.slice(address.lastIndexOf("@") + 1)}`;
      expect(classify("email", address)).toEqual({ status: "fake", reason });
    },
  );

  test("never suggests a fake address", () => {
    const local = fc.string({ unit: fc.constantFrom(..."ab.+_-'1é\""), minLength: 1, maxLength: 12 });
    const domain = fc.constantFrom("gmial.com", "iclud.com", "hotmial.com", "yaho.com", "outlok.com");
    fc.assert(
      fc.property(local, domain, (name, at) => {
        const { suggestion } = classify("email", `${name}@${at}`);
        if (suggestion !== undefined) expect(["ok", "alias"]).toContain(classify("email", suggestion).status);
      }),
    );
  });
});

describe("domains", () => {
  test.each([
    ["larch-and-oak.com", "ok", undefined],
    ["larch-and-oak.com.", "ok", undefined],
    ["larch-and-oak.com。", "ok", undefined],
    ["xn--1--bja.de", "fake", "syntax: a label ends with a hyphen at 3"],
    ["1é-.de", "fake", "syntax: a label ends with a hyphen at 3"],
    ["duck.com", "ok", undefined],
    ["inbox.mailinator.com", "disposable", "disposable-domain: mailinator.com"],
    ["gmial.com", "fake", "typo-domain: gmial.com"],
    ["com", "fake", "syntax: a domain without a dot"],
    ["co.uk", "fake", "public-suffix: co.uk"],
    ["192.0.2.1", "fake", "syntax: a numeric top-level domain"],
    ["", "fake", "syntax: the domain is empty at 1"],
    [".", "fake", "syntax: the domain is empty at 1"],
    ["a..", "fake", "syntax: the domain ends with a dot at 2"],
  ])("%j is %s, reason %s", (domain, status, reason) => {
    const { suggestion: _, ...verdict } = classify("domain", domain);
    expect(verdict).toEqual({ status, reason });
  });
});

const providers = [...majorProviders, ...familyDomains, ...mailcomDomains, ...offeredDomains, ...privacyProviders];

test.each(providers)("the provider %s is ok", (domain) => expect(classify("domain", domain)).toEqual({ status: "ok" }));

test("nearly all domains of the merged lists are disposable and none is ok", () => {
  const statuses = disposableEntries.map(({ domain, onlyBelow }) =>
    classify("domain", onlyBelow ? `x.${domain}` : domain),
  );
  expect(statuses.filter(({ status }) => status === "ok")).toEqual([]);
  // The others are names that cannot be meant: the typos among them get a suggestion.
  const others = statuses.filter(({ status }) => status !== "disposable");
  for (const { reason } of others) expect(reason).toMatch(/^(?:typo-domain|special-use): /);
  expect(others.length / disposableEntries.length).toBeLessThan(0.0015);
});

describe("arbitrary strings", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.emailAddress(),
    fc.tuple(fc.string(), fc.string({ unit: "grapheme" })).map((parts) => parts.join("@")),
    fc.string({ unit: fc.constantFrom(...'a.@+"\\[]<> ü。．-\ud800\u0000') }),
  );

  test("get a verdict that does not depend on the case of the domain", () => {
    fc.assert(
      fc.property(text, (item) => {
        for (const kind of ["email", "domain"] as const) {
          const { status, reason } = classify(kind, item);
          expect(["ok", "alias", "disposable", "fake"]).toContain(status);
          expect(reason === undefined).toBe(status === "ok");
        }
        expect(classify("domain", item.toUpperCase().toLowerCase()).status).toBe(
          classify("domain", item.toLowerCase()).status,
        );
      }),
      { numRuns: times(2000) },
    );
  });

  // Anything slower than linear time would take minutes.
  test.each([
    ...["a", ".", "@", "+", '"', "\\", "[", ":", "1.", "ü", "a.", "xn--", "\u0000", "a@", "a\u0301\u0323"],
    String.fromCharCode(...Array.from({ length: 5000 }, (_, i) => 0x4e00 + i)),
  ])("take time in proportion to their length: 1 MiB of $0", (unit) => {
    const long = unit.repeat(Math.ceil(1_048_576 / unit.length));
    const items = [long, `ann@${long}`, `${long}@example.net`, `"${long}`, `ann@[IPv6::${long}:x]`, `${long}.com`];
    for (const item of items) {
      expect(classify("email", item).status).toBe("fake");
      expect(classify("domain", item).status).toBe("fake");
    }
  });
});

describe("spellings of one address", () => {
  const label = fc.string({ unit: fc.constantFrom(..."abcàéößñжя例子-1"), minLength: 1, maxLength: 8 });
  const domain = fc.oneof(
    fc.constantFrom("bücher.de", "mailinator.com", "gmial.com", "例子.中国", "ежели.рф", "tś.xyz"),
    fc.tuple(label, fc.constantFrom("de", "com", "中国", "рф")).map((labels) => labels.join(".")),
  );
  // Local parts that no rule judges by their case.
  const local = fc.constantFrom("ann.lee", "ann.lee+news", "jürgen", '"ann lee"');

  test("get the same verdict in Unicode, as A-labels, in either case, in full width and with other dots", () => {
    let valid = 0;
    fc.assert(
      fc.property(local, domain, (mailbox, name) => {
        const expected = classify("email", `${mailbox}@${name}`);
        if (expected.reason?.startsWith("syntax")) return;
        valid++;
        const fullWidth = name.replace(/[a-z]/g, (letter) => String.fromCodePoint(letter.charCodeAt(0) + 0xfee0));
        const spellings = [domainToASCII(name), name.toUpperCase(), name.replaceAll(".", "。"), name.normalize("NFD")];
        for (const spelling of [...spellings, domainToASCII(name).toUpperCase(), fullWidth]) {
          // Upper case does not always convert back: ß becomes SS.
          if (domainToASCII(spelling) !== domainToASCII(name)) continue;
          const { status, reason } = classify("email", `${mailbox}@${spelling}`);
          expect({ spelling, status, reason }).toEqual({ spelling, status: expected.status, reason: expected.reason });
          expect(classify("domain", spelling).status).toBe(classify("domain", name).status);
        }
      }),
      { numRuns: times(1000) },
    );
    expect(valid).toBeGreaterThan(times(400, 10));
  });

  test("get the same verdict composed and decomposed", () => {
    expect(classify("email", "ju\u0308rgen@bu\u0308cher.de")).toEqual({ status: "ok" });
    // 64 octets composed, 65 decomposed.
    expect(classify("email", `${"a".repeat(62)}u\u0308@bücher.de`)).toEqual({ status: "ok" });
    expect(classify("email", `${"a".repeat(63)}u\u0308@bücher.de`).reason).toMatch(/longer than 64 octets/);
  });
});

test("the compiled table agrees with a Set on every entry and on a million other names", () => {
  const table = new DisposableTable(compileDisposableTable(disposableEntries));
  const set = new Set(disposableEntries.filter(({ onlyBelow }) => !onlyBelow).map(({ domain }) => domain));
  const zones = new Set(disposableEntries.filter(({ onlyBelow }) => onlyBelow).map(({ domain }) => domain));
  let wrong = 0;
  for (const domain of set) if (table.find(domain) !== domain) wrong++;
  for (const domain of zones) if (table.find(domain) === domain || table.find(`x.${domain}`) !== domain) wrong++;
  for (let i = 0; i < times(1_000_000); i++) {
    const name = `not-listed-${i}.com`;
    if ((table.find(name) !== undefined) !== set.has(name)) wrong++;
  }
  expect(wrong).toBe(0);
});

test.each([
  ["ann@x.us.to", "disposable-domain: us.to (free subdomain)", "us.to"],
  ["ann@a.b.mooo.com", "disposable-domain: mooo.com (free subdomain)", "mooo.com"],
  ["ann@x.mailinator.com", "disposable-domain: mailinator.com", "mailinator.com"],
])("%s names what is listed: %s", (address, reason, domain) => {
  expect(classify("email", address)).toEqual({ status: "disposable", reason });
  expect(listedDomain(reason)).toBe(domain);
});
