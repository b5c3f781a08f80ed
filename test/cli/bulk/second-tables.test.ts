/**
 * Covers items that are not where the first rows have them: below the header of another table, in another column, above the
 * header.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Facts } from "../../../src/core/facts/facts.js";
import { readQuota } from "../../support/quota.js";
import { idv } from "../../support/run-here.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";
import { some, times } from "../../support/tier.js";

const person = (n: number) => `person.${n}@larch-and-oak.com`;

describe("the header of another table", () => {
  const headers = fc.constantFrom(
    ...["email,name > name,email", "id,email,name > name,id,E-Mail", "email,name > email,phone"],
    ...["name,email > id,name,email", "id,name,email > email,name", "Kontakt,Nr > Nr,Kontakt"],
    "Mail,Firma > Firma,Mail",
  );
  const rowOf = (names: readonly string[], n: number) =>
    names.map((name) => (/mail|kontakt/i.test(name) ? person(n) : /id|nr|phone/i.test(name) ? String(n) : `Name ${n}`));

  test("ends the run and gives its line, wherever it comes and whatever is between", async () => {
    await fc.assert(
      fc.asyncProperty(
        headers.map((text) => text.split(" > ").map((header) => header.split(","))),
        fc.constantFrom(1, 2, 9, 40, 90, 120, 3000, 9000),
        fc.integer({ min: 1, max: 30 }),
        fc.constantFrom("", "\n", "Volunteers\n", "\nStaff:\n\n"),
        fc.constantFrom(",", ";", "\t"),
        fc.boolean(),
        async ([first, second], above, below, between, delimiter, isPiped) => {
          const rows = (names: readonly string[], from: number, count: number) =>
            stringify([names, ...Array.from({ length: count }, (_, n) => rowOf(names, from + n))], { delimiter });
          const text = rows(first!, 0, above) + between + rows(second!, above, below);
          const line = 1 + above + between.split("\n").length;
          const home = folderOf({ "list.csv": text });
          const column = String(1 + first!.findIndex((name) => /mail|kontakt/i.test(name)));
          const args = ["emails", "-q", ...(isPiped ? [] : ["list.csv"]), "-c", column];
          const stderr = expect.stringContaining(`line ${line} is another header: ${second!.join(",")}`);
          expect(await idv(args, { home, ...(isPiped && { stdin: text }) })).toMatchObject({ code: 2, stderr });
        },
      ),
      { numRuns: times(60) },
    );
  });

  test.each(some([1, 20_000, 2, 4, 300], 3))(
    "ends the run below a plain list of %i lines, with any delimiter",
    async (count) => {
      for (const [kind, names, row] of [
        ["emails", ["name", "email"], `Bob,${person(1)}`],
        ["domains", ["domain", "owner", "since"], "larch-and-oak.com,Bob,2020"],
      ] as const) {
        const item = (n: number) => (kind === "emails" ? person(n) : `shop${n}.larch-and-oak.com`);
        const lines = Array.from({ length: count }, (_, n) => `${item(n)}\n`).join("");
        for (const delimiter of count > 300 ? [","] : [",", ";", "\t"]) {
          const stdin = `${lines}\n${[names.join(), row].join("\n").replaceAll(",", delimiter)}\n`;
          const stderr = expect.stringContaining(`line ${count + 2} is another header: ${names[0]}`);
          expect(await idv([kind, "-q"], { stdin })).toMatchObject({ code: 2, stderr });
        }
      }
    },
  );

  test("ends the run with names that nobody knows, if the items below it are elsewhere", async () => {
    const rows = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => [`Person ${n}`, person(from + n)]);
    const text = (below: number) =>
      `name,email\n${stringify(rows(0, 20))}adresse,person\n${stringify(rows(30, below).map(([name, item]) => [item, name]))}`;
    const stderr = expect.stringContaining("line 22 is another header: adresse,person");
    expect(await idv(["emails", "-q"], { stdin: text(3) })).toMatchObject({ code: 2, stderr });
    // One row may be out of order.
    expect((await idv(["emails", "-q"], { stdin: text(1) })).code).toBe(0);
    expect((await idv(["emails", "-q", "--force"], { stdin: text(3) })).code).toBe(0);
  });

  test.each([(rows: unknown) => rows, (rows: unknown) => ({ values: rows })])(
    "ends the run among arrays of JSON, but not if it is the same one",
    async (wrap) => {
      const rows = (names: readonly string[]) =>
        JSON.stringify(wrap([["email", "name"], [person(1), "Ann"], names, ["Bob", person(2)], [person(3), "Cid"]]));
      const stderr = expect.stringContaining("is another header: name,email");
      expect(await idv(["emails", "-q"], { stdin: rows(["name", "email"]) })).toMatchObject({ code: 2, stderr });
      expect((await idv(["emails", "-q"], { stdin: rows(["email", "name"]) })).code).toBe(0);
    },
  );

  test("leaves files as they are, and ends a run that skips bad rows", async () => {
    const text = `name,email\nAnn,${person(1)}\nid,name,email\n1,Bob,${person(2)}\n`;
    for (const args of [["-I"], ["-I.bak"], ["--bad-rows", "skip", "-o", "out.csv"], ["--update", "-I"]]) {
      const home = folderOf({ "list.csv": text });
      const stderr = expect.stringContaining("line 3 is another header");
      expect(await idv(["emails", "list.csv", "-q", ...args], { home })).toMatchObject({ code: 2, stderr });
      expect(readFileSync(join(home, "list.csv"), "utf8")).toBe(text);
    }
  });

  test("ends the run where a block ends, too, with and without workers", async () => {
    const row = (n: number) => `${person(n)},${"x".repeat(40)}\n`;
    const home = temporaryFolder();
    for (const above of some([3600, 60_000, 3000, 3001, 7000], 2)) {
      const head = `email,name\n${Array.from({ length: above }, (_, n) => row(n)).join("")}`;
      // The header is the last record of a block, for some of these lengths.
      for (const padding of some([524_288 - (head.length % 524_288) - 11, 131, 0], 1)) {
        const padded = `email,name\n${person(0)},${"y".repeat(Math.max(1, padding))}\n${head.slice(11)}`;
        writeFileSync(join(home, "list.csv"), `${padded}name,email\n${`Bob,${person(1)}\n`.repeat(20_000)}`);
        const stderr = expect.stringContaining(`line ${above + 3} is another header: name,email`);
        expect(await idv(["emails", "list.csv", "-q", "-o", "out.csv"], { home })).toMatchObject({ code: 2, stderr });
      }
    }
  });

  const preferred = (rows: string) => `name,email,preferred\nAnn,${person(1)},Phone\n${rows}\nEve,${person(2)},x\n`;
  test.each([
    ["the same header again", `email,name\n${person(1)},Ann\nEmail, Name \n${person(2)},Bob\n`],
    ["the same header after a byte order mark", `email,name\n${person(1)},Ann\n\ufeffemail,name\n${person(2)},Bob\n`],
    ["a second line of names below the header", `RecipientEmail,Q1\nRecipient Email,How was it?\n${person(1)},x\n`],
    ["a row whose words are names of columns", preferred("Cid,n/a,Email\nDan,,email")],
    ["a preferred way next to a note", preferred("Cid,see notes,Email")],
  ])("does not include %s", async (_, text) => {
    expect(await idv(["emails", "-q"], { stdin: text })).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("a line above the header with an item", () => {
  test.each([
    ["Report for,boss@larch-and-oak.com\nname,email\n", 2],
    ["Customers\nPrepared by: boss@larch-and-oak.com\n\nname,email\n", 4],
    ["ID,User Email,Duration\n1,boss@larch-and-oak.com,60\n\nName,Guest,User Email\n", 4],
  ])("does not count as a title: %j", async (above, line) => {
    const width = above.trim().split("\n").at(-1)!.split(",").length;
    const rows = [1, 2, 3].map((n) => [...Array.from({ length: width - 1 }, () => "x"), person(n)].join(","));
    const stdin = `${above}${rows.join("\n")}\n`;
    const said = new RegExp(`line ${line} is another header: .*pass --skip-lines ${line - 1} if`);
    expect(await idv(["emails", "-q"], { stdin })).toMatchObject({ code: 2, stderr: expect.stringMatching(said) });
    const skipped = await idv(["emails", "-q", "--skip-lines", String(line - 1)], { stdin });
    expect([skipped.code, skipped.stdout.match(/,ok\n/g)?.length]).toEqual([0, 3]);
  });
});

describe("the columns of an earlier run", () => {
  test.each([["--fix"], ["--explain"], ["--add", "canonical"]])(
    "are none of items with -c '*': %s %s",
    async (...words) => {
      const table = "id,email,email2\n1,bob.smith@gmial.com,karl@web.de\n2,bob.smith@gmail.con,ann@gmx.de\n";
      const home = folderOf({ "list.csv": table });
      const run = (...more: string[]) =>
        idv(["emails", "list.csv", "-c", "*", "-I.bak", "--log", "json", ...words, ...more], { home });
      expect((await run()).code).toBe(0);
      const checked = readFileSync(join(home, "list.csv"), "utf8");
      for (const more of [["--update"], ["--update=all"]]) {
        const { code, stderr } = await run(...more);
        expect([code, readFileSync(join(home, "list.csv"), "utf8")]).toEqual([0, checked]);
        expect(stderr).toContain('"passedOver":[]');
      }
      expect((await readQuota(home)).used).toBe(words[0] === "--fix" ? 7 : 8);
    },
  );

  test("are those behind a status: others of such names are validated", async () => {
    const stdin = "url,canonical_url\nhttps://larch-and-oak.com/a,https://mailinator.com/b\n";
    const { stdout } = await idv(["domains", "-c", "*", "-q"], { stdin });
    expect(stdout).toContain("https://mailinator.com/b,ok,disposable\n");
    const { stderr } = await idv(["domains"], { stdin });
    expect(stderr).toContain('not validated: 2 "canonical_url"; -c "*" does');
  });

  test("are not said to be left out", async () => {
    const home = folderOf({ "list.csv": "id,email,backup\n1,bob.smith@gmial.com,karl@web.de\n" });
    await idv(["emails", "list.csv", "-I.bak", "--explain", "-c", "email"], { home });
    const { stderr } = await idv(["emails", "list.csv", "--update"], { home });
    expect(stderr).toContain('not validated: 3 "backup"; -c "*" does');
  });
});

describe("a column without items", () => {
  test("ends the run if it was named, has other texts, and another column has items", async () => {
    const home = folderOf({ "list.csv": "email,alt\nyes,ann@larch-and-oak.com\nno,x@mailinator.com\n" });
    expect(await idv(["emails", "list.csv", "-c", "email"], { home })).toMatchObject({
      code: 2,
      stderr:
        'idv: list.csv: no field in column 1 "email" looks like an e-mail address, but some in column 2 "alt" do; name that one with -c, or pass --force\n',
    });
    expect((await readQuota(home)).used).toBe(0);
    expect((await idv(["emails", "list.csv", "-c", "email", "--force", "-q"], { home })).code).toBe(0);
  });

  test.each([
    [
      "domains",
      ["-c", "plan"],
      'no field in column 3 "plan" looks like a domain, but some in column 2 "email" do; name',
    ],
    ["domains", ["-c", "id"], 'no field in column 1 "id" looks like a domain, but some in column 2 "email" do; name'],
    ["emails", ["-c", "email", "-c", "plan"], 'in column 3 "plan" looks like an e-mail address, but some in column 2'],
    ["emails", ["-c", "email", "-c", "plan"], "do; leave it out, or pass --force"],
  ])("ends the run also as idv %s %j", async (command, words, message) => {
    const rows = [1, 2, 3].map((id) => `${id},ann${id}@larch-and-oak.com,pro\n`).join("");
    const home = folderOf({ "list.csv": `id,email,plan\n${rows}` });
    const { code, stdout, stderr } = await idv([command, "list.csv", "-q", ...words], { home });
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(message)]);
    expect((await readQuota(home)).used).toBe(0);
  });

  test.each([
    [
      "a domain without a dot beside an address",
      "domains",
      ["-c", "site"],
      "site,email\nmyshop,ann@larch-and-oak.com\n",
    ],
    [
      "addresses that come late",
      "emails",
      ["-c", "email", "-c", "backup"],
      `email,backup\n${Array.from({ length: 400 }, (_, i) => `ann${i}@larch-and-oak.com,${i < 300 ? "declined" : `b${i}@larch-and-oak.com`}\n`).join("")}`,
    ],
  ])("runs if it may hold some: %s", async (_, command, words, stdin) => {
    expect(await idv([command, ...words, "-q"], { stdin })).toMatchObject({ code: 0, stderr: "" });
  });

  test("runs beside another if it holds but a few remarks", async () => {
    const stdin = `email,backup\n${person(1)},\n${person(2)},asked\n${person(3)},none yet\n`;
    expect((await idv(["emails", "-c", "email", "-c", "backup", "-q"], { stdin })).code).toBe(0);
  });

  test("runs if its only field has several domains", async () => {
    const stdin = "id,domain,note\n1,gmial.com; oak.net,x\n2,,x\n";
    expect(await idv(["domains", "-c", "domain", "-q"], { stdin })).toMatchObject({ code: 0, stderr: "" });
  });

  test.each([
    ["Email,Work email,name", `,${person(1)},Ann`, 2],
    ["email,email1", `,${person(1)}`, 2],
    ["E-Mail,E-Mail 2", `,${person(1)}`, 2],
    ["email,contact", `,${person(1)}`, 2],
    ["email,contact", `${person(2)},${person(1)}`, 1],
    ["email,note", `,call ${person(1)} back`, 1],
  ])("loses to one with items: %s", async (header, row, column) => {
    const { stderr } = await idv(["emails", "--log", "json"], { stdin: `${header}\n${row}\n` });
    expect(stderr).toContain(`"column":${column},`);
  });

  test("loses in JSON, too", async () => {
    const stdin = `{"email":null,"email1":"${person(1)}"}\n{"email":null,"email1":"${person(2)}"}\n`;
    const { stderr } = await idv(["emails", "--log", "json"], { stdin });
    expect(stderr).toContain('"columnName":"email1"');
  });

  test("ends the run if other columns have items, also if it was named", async () => {
    const table = `email,alt\n,${person(1)}\nn/a,${person(2)}\n`;
    const home = folderOf({ "list.csv": table });
    const run = (...args: string[]) => idv(["emails", "list.csv", "-c", "email", "-q", ...args], { home });
    expect(await run("-o", "out.csv")).toMatchObject({
      code: 2,
      stderr:
        'idv: list.csv: no e-mail addresses in column 1 "email", but 2 rows have one in alt; name the column with -c, or pass --force\n',
    });
    expect(() => readFileSync(join(home, "out.csv"))).toThrow();
    expect((await run("-I")).code).toBe(2);
    expect(readFileSync(join(home, "list.csv"), "utf8")).toBe(table);
    expect((await run("-o", "out.csv", "--force")).code).toBe(0);
  });

  test("counts as an empty export where no column has items: exit code 0 and a note", async () => {
    const home = folderOf({ "list.csv": "email,name\n,Ann\n,Bob\n" });
    const args = ["emails", "list.csv", "-c", "email", "-o", "out.csv"];
    const stderr = expect.stringContaining('idv: list.csv: no e-mail addresses in column 1 "email"\n');
    expect(await idv(args, { home })).toMatchObject({ code: 0, stderr });
    expect(await idv([...args, "-q"], { home })).toMatchObject({ code: 0, stderr: "" });
  });
});

test("addresses in the text above a table are not judged, and that is said", async () => {
  const stdin = `Report for ${person(1)}\n\nid,email\n1,${person(2)}\n2,${person(3)}\n`;
  const { code, stdout, stderr } = await idv(["emails"], { stdin });
  expect(stderr).toContain(
    "idv: standard input: e-mail addresses in the text above the table are not judged: line 1\n",
  );
  expect({ code, rows: stdout.match(/,ok$/gm)?.length }).toEqual({ code: 0, rows: 2 });
});

describe("items in other columns", () => {
  test("appear in the summary with their number, from every thread", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("own", "alt", "both", "none"), { minLength: 200, maxLength: 400 }),
        async (kinds) => {
          const rows = kinds.map((kind, n) => {
            const [own, alt] = [kind === "own" || kind === "both", kind === "alt" || kind === "both"];
            return `${n},${own ? person(n) : ""},${alt ? `other.${n}@larch-and-oak.com` : ""}`;
          });
          const head = Array.from({ length: 100 }, (_, n) => `${n},${person(n)},`);
          const stdin = `id,email,alt\n${[...head, ...rows].join("\n")}\n`;
          const { stderr } = await idv(["emails", "-c", "email", "--log", "json"], { stdin });
          const wanted = kinds.filter((kind) => kind === "alt").length;
          const { inputs } = JSON.parse(stderr.trim().split("\n").at(-1)!) as Facts;
          expect(inputs[0]!.elsewhere).toEqual(wanted === 0 ? null : { rows: wanted, column: "alt", isOnly: true });
        },
      ),
      { numRuns: times(10) },
    );
    const row = (n: number) => (n % 7 === 0 ? `${n},,other.${n}@larch-and-oak.com` : `${n},${person(n)},`);
    const many = Array.from({ length: times(200_000, 70_000) }, (_, n) => row(n + 1)).join("\n");
    const { stderr } = await idv(["emails", "-c", "email"], { stdin: `id,email,alt\n${many}\n` });
    expect(stderr).toContain(
      `${times(28_571, 10_000).toLocaleString("en")} rows without an address have one in alt; to validate both columns, name them with -c\n`,
    );
  });

  test("appear in the summary with their paths in JSON", async () => {
    const lines = [
      ...Array.from({ length: 300 }, (_, n) => `{"email":"${person(n)}"}`),
      ...Array.from({ length: 200 }, (_, n) => `{"contact":{"email":"other.${n}@larch-and-oak.com"}}`),
    ];
    const { stderr } = await idv(["emails"], { stdin: `${lines.join("\n")}\n` });
    expect(stderr).toContain("200 rows without an address have one in contact.email");
  });
});
