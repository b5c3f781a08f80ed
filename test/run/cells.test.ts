/** Covers the items in a value of the table: none, one or several. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withoutStrayMarks } from "../../src/core/classifier/rules/stray-marks.js";
import { Cells, decidesBefore, usualCells } from "../../src/core/run/items/cells.js";
import { profiles } from "../../src/core/run/items/profiles.js";
import { times } from "../support/tier.js";

const cells = (kind: "email" | "domain", options = {}) => new Cells({ kind, ...usualCells, ...options });

type Case = [what: string, value: string, items: string[]];

describe("a value holds", () => {
  const betweenTwo = (mark: string): Case => [`two with ${mark}`, `a@x.net${mark}b@x.net`, ["a@x.net", "b@x.net"]];
  const afterMark = (mark: string): Case => {
    const name = `U+${mark.charCodeAt(0).toString(16)}`;
    return [`one after ${name}`, `${mark}ann@x.net`, ["ann@x.net"]];
  };
  const three = "Lee, Ann <a@x.net>, Ray, Bob, Jr. <b@x.net>, c@x.net";
  const exchange = "SMTP:a@x.net;smtp:b@x.net;X500:/o=First Org/ou=x y/cn=ann;SIP:c@x.net;EUM:12;SPO:x@y.net";
  const persian = "ann@\u0646\u0627\u0645\u0647\u200c\u0627\u06cc.com";

  test.each<Case>([
    ["one address", "ann@x.net", ["ann@x.net"]],
    ["one address with a name", "Lee, Ann <ann@x.net>", ["ann@x.net"]],
    ["two with a semicolon", "a@x.net; b@x.net", ["a@x.net", "b@x.net"]],
    ["two with a comma", "a@x.net,b@x.net", ["a@x.net", "b@x.net"]],
    ["two with Google's separator", "a@x.net ::: b@x.net", ["a@x.net", "b@x.net"]],
    ["two on lines", "a@x.net\nb@x.net\r\n", ["a@x.net", "b@x.net"]],
    ["two with a space", "a@x.net b@x.net", ["a@x.net", "b@x.net"]],
    ["two with names", '"Lee, Ann" <a@x.net>, Bob Ray <b@x.net>', ["a@x.net", "b@x.net"]],
    ["two and a broken one", "a@x.net; foo; b@x.net", ["a@x.net", "foo", "b@x.net"]],
    ["two and a word for none", "a@x.net; n/a; b@x.net", ["a@x.net", "b@x.net"]],
    ["one and what is left of another", "a@x.net; foo@", ["a@x.net", "foo@"]],
    ["one and a name in another network", "a@x.net, @ann", ["a@x.net, @ann"]],
    ["one and a word", "a@x.net; foo", ["a@x.net; foo"]],
    ["one in a list that could go on", "ann@x.net;", ["ann@x.net"]],
    ["one after a word for none", "n/a; ann@x.net", ["ann@x.net"]],
    ["one between words for none", "null, ann@x.net | -", ["ann@x.net"]],
    ["one after a name", "Maria de la Cruz, ann@x.net", ["ann@x.net"]],
    ["one after words", "do not mail, ann@x.net", ["do not mail, ann@x.net"]],
    ["one before words", "ann@x.net; wrong address", ["ann@x.net; wrong address"]],
    ["one without its end", "ann@x.co, u k", ["ann@x.co, u k"]],
    ["one before a name", "ann@x.net; Lee-Smith, Ann B.", ["ann@x.net; Lee-Smith, Ann B."]],
    ["one with a comma for its dot", "ann, lee@x.net", ["ann, lee@x.net"]],
    ["one that begins like a word for none", "na,lee@x.net", ["na,lee@x.net"]],
    ["one and a stray mark", "ann@x.net,", ["ann@x.net,"]],
    ["one and a word for none after it", "ann@x.net; n/a", ["ann@x.net"]],
    ["two with a slash", "a@x.net / b@x.net", ["a@x.net", "b@x.net"]],
    ["two with a word", "a@x.net and b@x.net", ["a@x.net", "b@x.net"]],
    ["one with a number", "12. ann@x.net", ["ann@x.net"]],
    ["one with a bullet", "- ann@x.net", ["ann@x.net"]],
    ["one as Exchange writes it", "SMTP:ann@x.net", ["ann@x.net"]],
    ["one as Access writes it", "ann@x.net#mailto:ann@x.net#", ["ann@x.net"]],
    ["one as Markdown", "[Ann](mailto:ann@x.net)", ["ann@x.net"]],
    ["one as Markdown with a subject", "[Ann](mailto:ann%2Bnews@x.net?subject=hi)", ["ann+news@x.net"]],
    ["one as Access writes it with a subject", "Ann#mailto:ann@x.net?subject=hi#", ["ann@x.net"]],
    ["one in letters of a URL", "[Ann](mailto:ann@b%C3%BCcher.de)", ["ann@bücher.de"]],
    ["one as a formula", '="ann@x.net"', ["ann@x.net"]],
    ["one with a name after it", "ann@x.net (Ann Lee)", ["ann@x.net"]],
    ...["(Ann Lee)", " (work)"].map((end): [string, string, string[]] => [
      "one before",
      `ann@x.net${end}`,
      ["ann@x.net"],
    ]),
    ...["[ann@x.net]", "(ann@x.net)", "{ann@x.net}", "( mailto:ann@x.net )"].flatMap(
      (one): [string, string, string[]][] => [
        ["one in brackets", one, ["ann@x.net"]],
        ["one in brackets after a name", `Lee, Ann ${one}`, ["ann@x.net"]],
        ["two in brackets", `Lee, Ann ${one}; Roe, Bob [bob@x.net]`, ["ann@x.net", "bob@x.net"]],
      ],
    ),
    ["one with a name before it", "Ann Lee - ann@x.net", ["ann@x.net"]],
    ["one with a label before it", "Email: ann@x.net", ["ann@x.net"]],
    ["two with names that have commas", "Lee, Ann <a@x.net>; Roe, Bob <b@x.net>", ["a@x.net", "b@x.net"]],
    ["three with names and commas", three, ["a@x.net", "b@x.net", "c@x.net"]],
    ["two with names and nothing between them", "Ann <a@x.net>Bob <b@x.net>", ["a@x.net", "b@x.net"]],
    ["an address as the name of another one", "a@x.net <b@x.net>", ["a@x.net", "b@x.net"]],
    ["an address as the name of itself", '"a@x.net" <a@x.net>', ["a@x.net"]],
    ["two with notes", "Ann <a@x.net> (work), Bob <b@x.net> (home)", ["a@x.net", "b@x.net"]],
    ["two with names before dashes", "Lee, Ann - a@x.net; Roe, Bob - b@x.net", ["a@x.net", "b@x.net"]],
    ["a name with a sign", "Lee @ Work, Ann <a@x.net>; Roe, Bob <b@x.net>", ["a@x.net", "b@x.net"]],
    ["names without an address", "Lee, Ann; Roe, Bob <b@x.net>; Cid Cole; c@x.net", ["b@x.net", "c@x.net"]],
    ["two with names, one of them quoted", '"Lee, A" <a@x.net>; Roe, B <b@x.net>', ["a@x.net", "b@x.net"]],
    ["a list in brackets and quotes", "['a@x.net', 'b@x.net']", ["a@x.net", "b@x.net"]],
    ["a list in one pair of quotes", '"a@x.net; b@x.net"', ["a@x.net", "b@x.net"]],
    ["lists in JSON", '["a@x.net; b@x.net"]', ["a@x.net", "b@x.net"]],
    ["two with a slash and no space", "a@x.net/b@x.net", ["a@x.net", "b@x.net"]],
    ["one with a slash in it", "sales/eu@x.net", ["sales/eu@x.net"]],
    ...["、", "，", "；", "،", "؛", "｜", "\\n", "\\r\\n"].map(betweenTwo),
    ["an account after a backslash", "corp\\nina@x.net", ["corp\\nina@x.net"]],
    ["proxy addresses of Exchange", exchange, ["a@x.net", "b@x.net"]],
    ["proxy addresses of Microsoft 365", "SMTP:a@x.net+smtp:b@x.net", ["a@x.net", "b@x.net"]],
    ["attributes of X.400", "SMTP:a@x.net;X400:C=US;A= ;P=Org;O=Ex;S=Lee;G=Ann;", ["a@x.net"]],
    ["an address of another system only", "SIP:ann@x.net", []],
    ["a link", '<a href="mailto:ann@x.net">ann@x.net</a>', ["ann@x.net"]],
    ["a link with another text", "<A HREF='mailto:ann@x.net?subject=Hi'><b>Write</b> me</A>", ["ann@x.net"]],
    ["two on lines of HTML", "a@x.net<br/>b@x.net", ["a@x.net", "b@x.net"]],
    ["one in a paragraph", "<p>ann@x.net</p>", ["ann@x.net"]],
    ["one with entities", "Ann &lt;o&#39;hara&#x40;x.net&gt;", ["o'hara@x.net"]],
    ["links side by side", '<a href="mailto:a@x.net">A</a><a href="mailto:b@x.net">B</a>', ["a@x.net", "b@x.net"]],
    ["a link after a name", 'Ann <a href="mailto:a@x.net">mail</a>', ["a@x.net"]],
    ["a link to two", '<a href="mailto:a@x.net,b@x.net">both</a>', ["a@x.net", "b@x.net"]],
    ["entities of entities", "&amp;lt;o&amp;#39;hara@x.net&amp;gt;", ["o'hara@x.net"]],
    ["quotes as entities", "&ldquo;o&rsquo;hara@x.net&rdquo;", ["o'hara@x.net"]],
    ["a formula in parts", '=HYPERLINK("mailto:"&"ann@x.net","Ann")', ["ann@x.net"]],
    ["a space that cannot be seen in a domain", "ann@x\u200b.net", ["ann@x.net"]],
    ["a dot of full width", "ann@x\uff0enet", ["ann@x.net"]],
    ["joiners that a script needs", persian, [persian]],
    ["one in ornaments", "\u275dann@x.net\u275e", ["ann@x.net"]],
    ["one in brackets of full width", "\uff1cann@x.net\uff1e", ["ann@x.net"]],
    ["a word for none with marks", "\u201cn/a\u201d", []],
    ["a word for none with a mark that cannot be seen", "none\u200b", []],
    ["a formula with a link", '=HYPERLINK("mailto:ann@x.net","Ann")', ["ann@x.net"]],
    ["one with an apostrophe of a phone", "o\u2019hara@x.net", ["o'hara@x.net"]],
    ["one with a space in it", "ann lee@x.net", ["ann lee@x.net"]],
    ["one in single quotes", "'ann@x.net',", ["ann@x.net"]],
    ["one in two quotes", '""ann@x.net""', ["ann@x.net"]],
    ["one after a stray quote", '"ann@x.net', ["ann@x.net"]],
    ["one before a stray quote", 'ann@x.net"', ["ann@x.net"]],
    ["one with a quoted local part", '"ann lee"@x.net', ['"ann lee"@x.net']],
    ["one with a quoted local part and a stray quote", '"ann lee"@x.net"', ['"ann lee"@x.net']],
    ...["\u200b", "\u2060", "\u202a", "\u202e", "\u2066", "\u2069", "\ufeff"].map(afterMark),
    ["nothing but marks", "?", []],
    ["the field of a JSON object", '{"id": 7, "email": "ann@x.net", "note": "b@x.net"}', ["ann@x.net"]],
    ["inner fields of JSON", '{"a": {"emails": ["a@x.net", "b@x.net"]}}', ["a@x.net", "b@x.net"]],
    ["a JSON array", '["a@x.net", {"to": "b@x.net"}, 3, null]', ["a@x.net", "b@x.net"]],
    ["a broken address in JSON", '{"email": "ann@"}', ["ann@"]],
    ["JSON without an item", '{"email": "", "id": "7"}', []],
    ["text that is not JSON", "{ann@x.net", ["{ann@x.net"]],
    ["NULL of MySQL", "\\N", []],
    ["one and a word", "ann@x.net; foo", ["ann@x.net; foo"]],
    ["one with a name behind another delimiter", "ann@x.net,Ann", ["ann@x.net"]],
    ["one whose domain has a comma", "ann@x.co,uk", ["ann@x.co,uk"]],
    ["an address with two signs", "ann@x@y.net", ["ann@x@y.net"]],
    ["a quoted comma", '"a,b"@x.net', ['"a,b"@x.net']],
    ["white space", " \t ", []],
    ["a word for none", "N/A", []],
    ["another word for none", "(blank)", []],
    ["a dash", "-", []],
    ["the name of a column", "E-Mail", []],
    ["a word", "asdf", ["asdf"]],
    ["half an address that is like a name", "mail@", ["mail@"]],
  ])("%s: %j", (_, value, items) => expect(cells("email").itemsIn(value)).toEqual(items));

  test("in any list of recipients are all addresses and no names", () => {
    const name = fc.constantFrom(
      ...["", "Ann ", '"Lee, Ann" ', "Lee, Ann ", "Dr. Ann Lee-Roe ", "Lee @ Work ", "O'Hara, Pat, Jr. "],
    );
    const separator = fc.constantFrom(
      ...[", ", ";", "; ", " / ", " and ", " & ", "\t", " ", "", "\n", " | ", "\uff0c", " (home), "],
    );
    const recipient = fc.record({ name, local: fc.stringMatching(/^[a-z]{1,5}$/), separator });
    fc.assert(
      fc.property(fc.array(recipient, { minLength: 2, maxLength: 6 }), (recipients) => {
        const text = recipients.map(({ name, local, separator }) => `${name}<${local}@x.net>${separator}`).join("");
        expect(cells("email").itemsIn(text), text).toEqual(recipients.map(({ local }) => `${local}@x.net`));
      }),
      { numRuns: times(2000) },
    );
  });

  test.each<[string, string[]]>([
    ["acme.com", ["acme.com"]],
    ["acme.com; brightmill.co.uk", ["acme.com", "brightmill.co.uk"]],
    ["https://acme.com/a, https://b.net", ["acme.com", "b.net"]],
    ["http://acme.com/1,2", ["acme.com"]],
    ["unknown", []],
    ["Website", []],
    ["localhost", ["localhost"]],
    ["https://acme.com/?mail=ann@mailinator.com", ["acme.com"]],
    ["https://acme.com/#a@mailinator.com", ["acme.com"]],
    ["https://acme.com/unsub/ann@mailinator.com", ["acme.com"]],
    ["https://www.acme.com:8443/x?y@z", ["www.acme.com"]],
    ["acme.com/?e=ann@gmail.com&x=1", ["acme.com"]],
    ["acme.com:8080/a@b.net", ["acme.com"]],
    ["https://ann:secret@acme.com/x@y", ["acme.com"]],
    ["\u201cacme.com\u201d", ["acme.com"]],
    ["https:/acme.com/a@mailinator.com", ["acme.com"]],
    ['=HYPERLINK("https://acme.com/?m=a@mailinator.com","x")', ["acme.com"]],
    ['<a href="https://acme.com/?m=a@mailinator.com">x</a>', ["acme.com"]],
    ['<a href="https://acme.com/">A</a><a href="http://b.net/x">B</a>', ["acme.com", "b.net"]],
  ])("domains: %j", (value, items) => expect(cells("domain").itemsIn(value)).toEqual(items));

  test.each<[string, string[]]>([
    ["ann@x.org,group1;group2", ["ann@x.org"]],
    ["ann@x.org", ["ann@x.org"]],
    ["Lee, Ann <ann@x.org>", ["ann@x.org"]],
    ["foo,group1", ["foo,group1"]],
    ["a@x.org,b@x.org", ["a@x.org", "b@x.org"]],
    ["ann@gmail,com", ["ann@gmail,com"]],
    ["ann@gmail;com", ["ann@gmail;com"]],
    ["ann@yahoo,co.uk", ["ann@yahoo,co.uk"]],
    ["ann@gmail, com", ["ann@gmail, com"]],
    ["ann@gmail,com,group1 # note", ["ann@gmail,com"]],
    ["ann@gmail,friends", ["ann@gmail"]],
    ["ann@x.org,de", ["ann@x.org"]],
  ])("in a plain list: %j", (value, items) => {
    expect(cells("email", { isPlainList: true }).itemsIn(value)).toEqual(items);
  });

  test("only its first item if the first decides", () => {
    expect(cells("email", { deciding: "first" }).itemsIn("a@x.net; b@x.net")).toEqual(["a@x.net"]);
  });

  test("no item if the user lists it as an empty value", () => {
    const own = cells("email", { emptyValues: ["keine"] });
    expect(["Keine", "n/a"].map((value) => own.itemsIn(value))).toEqual([[], ["n/a"]]);
    expect(own.emptied).toBe(1);
  });
});

describe("marks around an address", () => {
  const address = "ann.lee@larch-and-oak.com";
  const invisible = [
    ..."\u00a0\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u202a",
    ..."\u202e\u202f\u2060\u2066\u2069\u3000\ufe0f\ufeff\u{e0001}\0",
  ];
  const typographic = [..."“”„‟‘’‚«»‹›「」『』《》【】（）［］、。，；：？！…·–—´"];
  const marks = fc.array(fc.constantFrom(...invisible, ...typographic), { maxLength: 3 });

  test("stay out of the item, but belong to the range that a repair replaces", () => {
    fc.assert(
      fc.property(marks, marks, fc.constantFrom("", " ", "Ann Lee <"), (before, after, name) => {
        const own = before.join("") + address + after.join("");
        const value = name.includes("<") ? `${name}${own}>` : name + own + name;
        const found = cells("email").find(value);
        expect(found).toMatchObject([{ item: address, isMarked: own !== address }]);
        expect(value.slice(found[0]!.start, found[0]!.end)).toBe(own);
      }),
    );
  });

  test("come off the suggestion for an address that is given as it is, too", () => {
    fc.assert(
      fc.property(marks, marks, (before, after) => {
        const marked = before.join("") + address + after.join("");
        expect(withoutStrayMarks(marked) ?? marked).toBe(address);
      }),
    );
  });

  test("count once for each value", () => {
    const counting = cells("email");
    for (const value of [`“${address}”`, address, `a@x.net\u00a0; b@x.net\u200e`]) counting.itemsIn(value);
    expect(counting.marked).toBe(2);
  });
});

test("every address of a list is found, and no name, whatever is between them", () => {
  const word = fc.stringMatching(/^[A-Z][a-z]{1,7}$/);
  const names = fc.array(word, { maxLength: 3 }).chain((words) => fc.constantFrom(words.join(" "), words.join(", ")));
  const member = fc.tuple(names, fc.stringMatching(/^[a-z]{1,8}@[a-z]{1,8}\.net$/));
  const separator = fc.constantFrom("; ", ";", ", ", ",", "\n", "|");
  const members = fc.array(member, { minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(members, separator, fc.boolean(), (members, between, isEnded) => {
      const texts = members.map(([name, address]) => (name === "" ? address : `${name} <${address}>`));
      const value = texts.join(between) + (isEnded ? between : "");
      const found = cells("email").find(value);
      expect(found.map(({ item }) => item)).toEqual(members.map(([, address]) => address));
      for (const { item, start, end } of found) expect(value.slice(start, end)).toBe(item);
    }),
  );
});

test("reading items never fails or hangs, whatever the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'a@.,;<>" \\:'), maxLength: 3000 }), (text) => {
      for (const kind of ["email", "domain"] as const) cells(kind).itemsIn(text);
    }),
  );
});

test.each([
  ["signs", "@".repeat(1_000_000)],
  ["dots", `${"a.".repeat(500_000)} b`],
  ["colons", ": ".repeat(500_000)],
  ["white space", `a${" ".repeat(1_000_000)}b;`],
  ["semicolons", ";".repeat(1_000_000)],
  ["angle brackets", `${"<".repeat(1_000_000)}>`],
])("a value of a million %s is read without delay", (_, text) => {
  for (const kind of ["email", "domain"] as const) {
    cells(kind, { isPlainList: true }).itemsIn(text);
    profiles[kind].likeness(text);
    profiles[kind].resembles(text);
  }
});

test.each([
  ["worst", ["", "ok", "alias", "unknown_to_us", "disposable", "fake", "quota_exceeded"]],
  ["best", ["fake", "disposable", "unknown_to_us", "alias", "quota_exceeded", "ok"]],
] as const)("the %s of several statuses decides", (deciding, order) => {
  for (const [i, status] of order.entries()) {
    for (const [j, other] of order.entries())
      expect(decidesBefore(status, other, deciding), `${status} ${other}`).toBe(i > j);
  }
});

test("an address gives the same item with and without angle brackets", () => {
  const address = fc
    .tuple(fc.stringMatching(/^[\w.+-]{1,9}$/), fc.stringMatching(/^[a-zA-Z0-9.-]{1,9}$/))
    .map(([local, domain]) => `${local}@${domain}`);
  fc.assert(
    fc.property(address, (text) => {
      expect(cells("email").itemsIn(text)).toEqual(cells("email").itemsIn(`<${text}>`));
      expect(cells("email", { emptyValues: [text.toLowerCase()] }).itemsIn(text)).toEqual([]);
    }),
    { numRuns: times(1000) },
  );
});

test("words without an address are the item that a closer look finds", () => {
  const word = fc.constantFrom(
    ...["ann", "Lee", "n/a", "none", "1.", "12)", "-", "at", "web.de", "e-mail", "x_y", "o..p", "i.e.", "mail"],
  );
  const text = fc.array(fc.tuple(word, fc.constantFrom(" ", "  ", ".", "-", "")), { minLength: 1, maxLength: 5 });
  const items = (value: string) => new Cells({ ...usualCells, kind: "email" }).itemsIn(value);
  // A no-break space at its end takes a value out of the quick way.
  const property = fc.property(text, (parts) => {
    const value = parts.flat().join("");
    expect(items(value)).toEqual(items(`${value}\u00a0`));
  });
  fc.assert(property, { numRuns: times(5000) });
});
