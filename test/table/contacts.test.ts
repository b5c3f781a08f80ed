/** Covers address books, which become tables of names and addresses. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { profiles } from "../../src/core/run/items/profiles.js";
import { addressBookIn, csvOf } from "../../src/formats/contacts/address-book.js";
import { idv } from "../support/run-here.js";
import { folderOf } from "../support/temporary-folder.js";

async function* inPieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function tableOf(text: string | Buffer, size = 65_536): Promise<string> {
  const bytes = Buffer.from(text as string);
  const pieces: Uint8Array[] = [];
  for await (const piece of csvOf(addressBookIn(bytes, true, profiles.email)!, inPieces(bytes, size)))
    pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const card = (...lines: readonly string[]) => ["BEGIN:VCARD", "VERSION:3.0", ...lines, "END:VCARD", ""].join("\r\n");

describe("a vCard file", () => {
  const several = ["EMAIL;TYPE=work;PREF=1:a@b.net", 'item1.email;x="a:b;c":mailto:c@d.net'];
  const utf8 = "FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=BC=";
  const quotedPrintable = [utf8, "rgen", "N;QUOTED-PRINTABLE;CHARSET=ISO-8859-1:=FC"];
  const picture = [`PHOTO;ENCODING=b:${"A".repeat(70)}`, ...Array<string>(2000).fill(` ${"A".repeat(70)}`)];

  test.each<[string, string, string]>([
    ["a name and an address", card("FN:Ann Lee", "EMAIL:a@b.net"), "Ann Lee,a@b.net\n"],
    ["several addresses, with parameters and groups", card("FN:Ann", ...several), "Ann,a@b.net\nAnn,c@d.net\n"],
    ["no address", card("FN:Ann", "EMAIL: "), "Ann,\n"],
    ["a name in parts", card("N:Lee;Ann;;Dr.;", "EMAIL:a@b.net"), "Ann Lee,a@b.net\n"],
    ["escaped characters", card("FN:Lee\\, Ann\\nX\\\\", "EMAIL:a@b.net"), '"Lee, Ann X\\",a@b.net\n'],
    ["folded lines", card("FN:An", " n Lee", "EMAIL:a@b", "\t.net"), "Ann Lee,a@b.net\n"],
    ["quoted-printable text", card(...quotedPrintable, "EMAIL:j@b.net"), "Jürgen,j@b.net\n"],
    ["a picture, and another card", card("FN:Ann", ...picture) + card("EMAIL:c@d.net"), "Ann,\n,c@d.net\n"],
    [
      "a card without its end",
      `BEGIN:VCARD\r\nFN:Ann\r\nEMAIL:a@b.net\r\n${card("FN:Bob", "EMAIL:b@b.net")}`,
      "Ann,a@b.net\nBob,b@b.net\n",
    ],
    [
      "a last card without its end",
      `${card("EMAIL:a@b.net")}BEGIN:VCARD\r\nFN:Bob\r\nEMAIL:b@b.net\r\n`,
      ",a@b.net\nBob,b@b.net\n",
    ],
    [
      "the card of an agent in that of a person",
      card(
        "FN:Ann",
        "EMAIL:a@b.net",
        "AGENT:",
        ...card("FN:Bob", "EMAIL:b@b.net").trim().split("\r\n"),
        "EMAIL:c@d.net",
      ),
      "Bob,b@b.net\nAnn,a@b.net\nAnn,c@d.net\n",
    ],
  ])("with %s", async (_, text, rows) => {
    expect(await tableOf(text)).toBe(`name,email\n${rows}`);
    expect(await tableOf(text.replaceAll("\r\n", "\n").replace(/\n$/, ""))).toBe(`name,email\n${rows}`);
    expect(await tableOf(`\ufeff${text}`.replaceAll("\r\n", "\r"), 3)).toBe(`name,email\n${rows}`);
  });

  test("gives back any names and addresses, wherever its lines are folded and it is cut", async () => {
    const word = fc.stringMatching(/^[a-zé,;\\]{1,12}$/);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(word, fc.array(fc.emailAddress(), { maxLength: 3 })), { minLength: 1 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 40 }),
        async (people, width, size) => {
          const fold = (line: string) => line.match(new RegExp(`.{1,${width + 8}}`, "gs"))!.join("\r\n ");
          const cards = people.map(([name, addresses]) => {
            const lines = [`FN:${name.replace(/[,;\\]/g, "\\$&")}`, ...addresses.map((each) => `EMAIL:${each}`)];
            return card(...lines.map(fold));
          });
          const rows = people.flatMap(([name, addresses]) => {
            const written = name.includes(",") ? `"${name}"` : name;
            return (addresses.length > 0 ? addresses : [""]).map((address) => `${written},${address}`);
          });
          expect(await tableOf(cards.join(""), size)).toBe(["name,email", ...rows, ""].join("\n"));
        },
      ),
    );
  });
});

test.each<[string, string, string]>([
  ["persons", "dn: a\ncn: Ann\nmail: a@b.net\nmail: c@d.net\n\ndn: b\nsn: Bo\n", "Ann,a@b.net\nAnn,c@d.net\n,\n"],
  ["the best name", "dn: x\ncn: Lee\ndisplayName: Ann Lee\nmail;lang-en: a@b.net", "Ann Lee,a@b.net\n"],
  ["text in Base64", "version: 1\n\ndn:: eA==\ncn:: SsO8cmdlbg==\nmail: a@b.net\n", "Jürgen,a@b.net\n"],
  ["folded lines and comments", "# x\ndn: x\n# cn: no\ncn: An\n n\nmail: a\n @b.net\n", "Ann,a@b.net\n"],
  ["a folded comment at its start", "# Ann, some\n thing\ndn: x\ncn: Ann\nmail: a@b.net\n", "Ann,a@b.net\n"],
  ["proxy addresses", "dn: x\nproxyAddresses: SMTP:a@b.net\n", ",a@b.net\n"],
  ["a byte order mark", "\ufeffdn: cn=a\ncn: Ann\nmail: a@b.net\n\ndn: cn=b\ncn: Bob\n", "Ann,a@b.net\nBob,\n"],
])("an LDIF file with %s", async (_, text, rows) => {
  expect(await tableOf(text)).toBe(`name,email\n${rows}`);
});

test.each<[string, string]>([
  ['Ann Lee <a@b.net>, "Lee, \\"Bob\\"" <c@d.net>; <e@f.net>,', 'Ann Lee,a@b.net\n"Lee, ""Bob""",c@d.net\n,e@f.net\n'],
  ["Ann <a@b.net>,\n Bob <c@d.net>,\n\tEva <e@f.net>\n", "Ann,a@b.net\nBob,c@d.net\nEva,e@f.net\n"],
  ["Ann <a@b.net>, Bob <c@d.net>\r\nEva <e@f.net>\r\n", "Ann,a@b.net\nBob,c@d.net\nEva,e@f.net\n"],
  ["Jürgen <j@b.net>;Bob <c@d.net>", "Jürgen,j@b.net\nBob,c@d.net\n"],
  ["Lee, Ann <a@b.net>; Roe, Bob <c@d.net>\n", '"Lee, Ann",a@b.net\n"Roe, Bob",c@d.net\n'],
  ["Ann <a@b.net>, c@d.net\n", "Ann,a@b.net\n,c@d.net\n"],
  ["a@b.net, c@d.net", ",a@b.net\n,c@d.net\n"],
  ["a@b.net c@d.net\n", ",a@b.net\n,c@d.net\n"],
  ["['a@b.net', 'c@d.net']", ",'a@b.net'\n,'c@d.net'\n"],
  ["A <a@b.net>, B <c@d.net>\nE <e@f.net>, D <g@h.net>\n", "A,a@b.net\nB,c@d.net\nE,e@f.net\nD,g@h.net\n"],
])("a list of items is a table: %j", async (text, rows) => {
  expect(await tableOf(text)).toBe(`name,email\n${rows}`);
});

test.each([
  "Ann <a@b.net>\nBob <c@d.net>\n",
  " a@b.net\n c@d.net\n",
  "name, Bob <c@d.net>",
  "a@b.net,Ann\nc@d.net,e@f.net\n",
  '["a@b.net", "c@d.net"]',
  "",
])("other text does not count as a list of items: %j", (text) => {
  expect(addressBookIn(Buffer.from(text), true, profiles.email)).toBeUndefined();
});

test("all items of a long list are in its table, in order, wherever its pieces end", async () => {
  const entry = fc.tuple(
    fc.constantFrom("", "Ann", "Lee, Ann", '"Lee, \\"A\\""', "Jürgen"),
    fc.constantFrom(", ", "; ", ",\n ", "\n", "\r\n"),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(entry, { minLength: 2, maxLength: 30 }),
      fc.integer({ min: 1, max: 90 }),
      async (entries, size) => {
        const items = entries.map((_, nth) => `u${nth}@b.net`);
        const text = entries.map(([name, end], nth) => (name === "" ? items[nth]! : `${name} <${items[nth]}>`) + end);
        // The first line has two items.
        const rows = (await tableOf(`x@b.net; y@b.net\n${text.join("")}`, size)).split("\n").slice(3, -1);
        expect(rows.map((row) => row.slice(row.lastIndexOf(",") + 1))).toEqual(items);
      },
    ),
  );
  const long = Array.from({ length: 20_000 }, (_, nth) => `Lee, Ann <user${nth}@b.net>`);
  const rows = (await tableOf(long.join("; "), 4096)).split("\n").slice(1, -1);
  expect(rows).toEqual(long.map((_, nth) => `"Lee, Ann",user${nth}@b.net`));
});

test("an address book is validated as a table, and not replaced by one", async () => {
  const text = card("FN:Ann", "EMAIL:ann@larch-and-oak.com", "EMAIL:x@mailinator.com");
  const output = "name,email,status\nAnn,ann@larch-and-oak.com,ok\nAnn,x@mailinator.com,disposable\n";
  const home = folderOf({ "l.vcf": text });
  expect((await idv(["emails", "-q", "l.vcf"], { home })).stdout).toBe(output);
  const stderr = "idv: l.vcf: a vCard file cannot be replaced; write a table with -o FILE.csv\n";
  expect(await idv(["emails", "-I", "l.vcf"], { home })).toMatchObject({ code: 2, stderr });
  expect((await idv(["emails", "l.vcf", "-o", "o.csv"], { home })).stderr).toContain(
    "idv: l.vcf: a vCard file; the output is a table of its names and addresses\n",
  );
});

test("a list as Python prints it, of any length, has no item with a bracket", async () => {
  for (const count of [2, 9000]) {
    const items = Array.from({ length: count }, (_, i) => `u${i}@larch-and-oak.com`);
    const stdin = `[${items.map((item) => `'${item}'`).join(", ")}]\n`;
    const { stdout } = await idv(["emails", "-q"], { stdin });
    expect(stdout.match(/,ok$/gm)).toHaveLength(count);
  }
});

test.each([
  `["joe.oneil@gmail.com", 'jane.doe@gmail.com']`,
  `["ann@larch-and-oak.com", "bob@larch-and-oak.com",]`,
  `["ann@larch-and-oak.com"; "bob@larch-and-oak.com"]`,
  `["Smith, J" <ann@larch-and-oak.com>, "K" <bob@larch-and-oak.com>]`,
  `{"ann@larch-and-oak.com","bob@larch-and-oak.com"}`,
])("a list that only starts as JSON does is a list: %s", async (line) => {
  for (const stdin of [line, `${line}\n${line}\n`]) {
    const { code, stdout } = await idv(["emails", "-q"], { stdin });
    expect({ code, bad: stdout.match(/fake/g) }).toEqual({ code: 0, bad: null });
    expect(stdout.match(/,(?:ok|alias)$/gm)).toHaveLength(stdin === line ? 2 : 4);
  }
});

test("comments with blank lines at the start of a list take no time", async () => {
  const text = `${"# x\n \n".repeat(60)}email\nann@larch-and-oak.com\n`;
  expect(addressBookIn(Buffer.from(text), true, profiles.email)).toBeUndefined();
});
