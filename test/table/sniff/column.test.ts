/** Covers how a header is recognised and how the column is chosen. */
import { describe, expect, test } from "vitest";
import { profiles } from "../../../src/core/run/items/profiles.js";
import { chooseColumn, findColumn, isHeader } from "../../../src/core/table/sniff/column.js";
import { ChoiceError } from "../../../src/files/errors.js";
import { open } from "../../support/tables.js";

const rows = (table: string) => table.split("\n").map((line) => line.split(","));

test.each([
  ["emial", "email"],
  ["E-Mail", "email"],
  ["email adress", "Email Address"],
  ["creatd", "created"],
  ["phone", undefined],
])("for the unknown column %s, %s is suggested", (wanted, meant) => {
  const header = ["id", meant === "Email Address" ? meant : "email", "created", "note"];
  const message = meant === undefined ? /^no column "phone"; the columns are/ : `(did you mean "${meant}"?)`;
  expect(() => findColumn(wanted, header, 4)).toThrow(message);
});

describe("header detection", () => {
  test.each<["email" | "domain", string, boolean]>([
    ["email", "email", true],
    ["email", "a@example.net", false],
    ["email", "id,contact", true],
    ["email", "1,a@example.net", false],
    ["email", "1,Ann <a@example.net>", false],
    ["email", "email,ann.lee@gmail.com", false],
    ["email", "name,user.email", true],
    ["domain", "domain", true],
    ["domain", "example.net", false],
    ["domain", "id,user.name,website", true],
    ["domain", "id,user.domain", true],
    ["domain", "id,user.name", false],
    ["domain", "Acme,acme.site", false],
    ["domain", "1,acme.website", false],
    ["domain", "website,https://example.net", false],
    ["domain", "acme.website", false],
    ["domain", "https://example.net/x", false],
  ])("for kind %s, takes %j for a header: %s", (kind, record, expected) => {
    expect(isHeader(record.split(","), profiles[kind])).toBe(expected);
  });
});

describe("named columns", () => {
  const header = ["id", "Email", "email", "Note", "note", "Note", "2024", "a[1]", " Padded "];
  test.each([
    ["1", 0],
    ["9", 8],
    ["id", 0],
    ["ID", 0],
    ["Email", 1],
    ["email", 2],
    ["Note[1]", 3],
    ["Note[2]", 5],
    ["note", 4],
    ["2024", 6],
    ["a[1]", 7],
    ["padded", 8],
  ])("%s is found at index %i", (wanted, column) => expect(findColumn(wanted, header, header.length)).toBe(column));

  test.each([
    ["missing", 'no column "missing"; the columns are 1 "id", 2 "Email"'],
    ["0", 'no column "0"'],
    ["10", 'no column "10"'],
    ["Note", '2 columns are named "Note": 4 "Note", 6 "Note"; choose one with -c "Note[1]" or by its index'],
    ["EMAIL", '2 columns are named "EMAIL"'],
    ["Note[3]", 'no column "Note[3]"'],
    ["Note[0]", 'no column "Note[0]"'],
  ])("%s is rejected", (wanted, message) => {
    expect(() => findColumn(wanted, header, header.length)).toThrow(message);
    expect(() => findColumn(wanted, header, header.length)).toThrow(ChoiceError);
  });

  test("several columns that fit equally well are no mistake if all are wanted", () => {
    const found = chooseColumn(["a", "b"], [["a@larch.com", "b@larch.com"]], 2, profiles.email, true);
    expect(found).toEqual({ column: 0, others: [1] });
  });

  test.each([
    ["email", 'no column "email": the table has no header'],
    ["4", "no column 4: the table has 3"],
  ])("%s is rejected without a header", (wanted, message) => {
    expect(() => findColumn(wanted, undefined, 3)).toThrow(message);
  });

  test("match in Latin-1 and UTF-8", () => {
    expect(findColumn("Prénom", ["x", "Pr\u00e9nom"], 2)).toBe(1);
    expect(findColumn("Prénom", ["x", Buffer.from("Prénom").toString("latin1")], 2)).toBe(1);
  });
});

describe("chosen columns", () => {
  test.each<["email" | "domain", string, string, number]>([
    ["email", "id,email", "1,a@example.net", 1],
    ["email", "id,E-Mail", "1,a@example.net", 1],
    ["email", "Mail,id", "a@example.net,1", 0],
    ["email", "id,Email Address", "1,a@example.net", 1],
    ["email", "id,email_address", "1,a@example.net", 1],
    ["email", "id,work_email", "1,a@example.net", 1],
    ["email", "id,user.email", "1,a@example.net", 1],
    ["email", "email,work_email", "a@example.net,b@example.net", 0],
    ["email", "owner_email,email", "a@example.net,", 0],
    ["email", "agent,email", "a@example.net,", 0],
    ["email", "Email,Owner", "ann(at)x.de,boss@example.net", 0],
    ["email", "newsletter mail,contact", "yes,a@example.net", 1],
    ["email", "id,contact", "1,a@example.net", 1],
    ["email", "id,contact", "1,Ann <a@example.net>", 1],
    ["email", "id,email", "1,not an address", 1],
    ["email", "id,correo electrónico", "1,a@example.net", 1],
    ["domain", "id,domain", "1,example.net", 1],
    ["domain", "id,Website URL", "1,https://example.net", 1],
    ["domain", "email,domain", "a@example.org,example.net", 1],
    ["domain", "contact,company", "a@example.org,example.net", 1],
    ["domain", "id,contact", "1,a@example.org", 1],
  ])("for kind %s, with header %s and row %s, have index %i", (kind, header, record, column) => {
    const names = header.split(",").map((name) => Buffer.from(name).toString("latin1"));
    expect(chooseColumn(names, rows(record), names.length, profiles[kind]).column).toBe(column);
  });

  const choice = 'choose one with -c, or all with -c "*"';
  const missing = 'no column looks like e-mail addresses; the columns are 1 "id", 2 "name"; name one with -c';
  test.each([
    [["from", "to"], "a@x.net,b@x.net", `2 columns fit equally well: 1 "from", 2 "to"; ${choice}`],
    [undefined, "a@x.net,b@x.net", `2 columns fit equally well: 1, 2; ${choice}`],
    [["id", "name"], "1,Ann", missing],
    [Array.from({ length: 30 }, (_, i) => `c${i}`), "1", "and 10 more"],
  ])("fail as ambiguous or missing: header $0, row $1", (header, record, message) => {
    const width = header?.length ?? 2;
    expect(() => chooseColumn(header, rows(record), width, profiles.email)).toThrow(message);
    expect(() => chooseColumn(header, rows(record), width, profiles.email)).toThrow(ChoiceError);
  });

  test.each<[string, string, number, number[]]>([
    ["email,mail", "a@x.net,b@x.net", 0, [1]],
    ["home email,work email", "a@x.net,b@x.net", 1, [0]],
    ["E-mail 2 - Value,E-mail 1 - Value,E-mail 1 - Type", "a@x.net,b@x.net,Work", 1, [0]],
    ["Secondary Email,Primary Email", "a@x.net,b@x.net", 1, [0]],
    ["E-mail 2 Address,E-mail Address", "a@x.net,b@x.net", 1, [0]],
    ["Email,Work email", "a@x.net,b@x.net", 0, [1]],
    ["old email,new email", "a@x.net,b@x.net", 1, [0]],
    ["email a,email b", "-,b@x.net", 1, []],
    ["email,notes", "a@x.net,text", 0, []],
  ])("with header %s and row %s, have index %i and alternatives %j", (header, record, column, others) => {
    const names = header.split(",");
    expect(chooseColumn(names, rows(record), names.length, profiles.email)).toEqual({ column, others });
  });

  test.each<[string, string, number]>([
    ["SITE,WEBSITE", "Main shop,https://x.net", 1],
    ["WEBSITE,SITE", "https://x.net,Main shop", 0],
  ])("for domains, with header %s and row %s, have index %i", (header, record, column) => {
    expect(chooseColumn(header.split(","), rows(record), 2, profiles.domain).column).toBe(column);
  });

  test("need no item in a table of one column", () => {
    expect(chooseColumn(undefined, [["x"]], 1, profiles.email)).toEqual({ column: 0, others: [] });
  });
});

test.each([
  ["in the last rows", ["name", "login", "web"], (i: number) => `"Lee, Ann ${i}",ann${i}@larch-and-oak.com,www.a.com`],
  ["everywhere", ['"name"', '"login"', '"web"'], (i: number) => `"Lee, Ann","ann${i}@larch-and-oak.com","www.a.com"`],
])("a table with quotes %s has the same column and names wherever it is cut off", async (_, names, row) => {
  for (const count of [3, 30]) {
    const text = `${names.join()}\n${Array.from({ length: count }, (_, i) => `${row(i)}\n`).join("")}`;
    const last = text.lastIndexOf("\n", text.length - 2);
    for (let end = last; end <= text.length; end++) {
      const { column, header } = await open(text.slice(0, end), { badRows: "skip" });
      expect([end, column, header]).toEqual([end, 1, ["name", "login", "web"]]);
    }
  }
});
