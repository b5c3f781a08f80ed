/** Covers the shapes of files that other programs export: what is read, what is written, and what is refused. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readXlsx } from "hucre/xlsx";
import { describe, expect, test } from "vitest";
import { readQuota, setQuota } from "../../support/quota.js";
import { idv } from "../../support/run-here.js";
import { runOver } from "../../support/run-over.js";
import { folderOf } from "../../support/temporary-folder.js";
import { zip } from "../../support/zip.mjs";

const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => `${line(i)}\n`).join("");

describe("a file in which nothing looks like an item", () => {
  const ods = { mimetype: "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<x/>" };
  const domains = "acme.com\nlarch-and-oak.com\nann@willowbank.ie\n";

  test.each<[string, string | Uint8Array, string]>([
    ["domains", domains, "l.csv holds few e-mail addresses; 2 of 3 are domains: idv domains l.csv"],
    ["names", "Ann Lee\nBob Ray\n", "no line of l.csv looks like an e-mail address; check the file, or name"],
    ["OpenDocument", zip(ods), "l.csv: an OpenDocument file (.ods); save it as .xlsx or CSV in the program that"],
  ])("is refused: %s", async (_, content, message) => {
    const { code, output, stderr, files } = await runOver(content, "emails -o out.csv");
    expect({ code, output, files }).toEqual({ code: 2, output: "", files: ["l.csv"] });
    expect(stderr).toContain(`idv: ${message}`);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  const passwords = lines(4, (i) => `ann${i}@larch-and-oak.com:secret${i}`);
  const noneOfFour =
    'l.csv: 4 of the first 4 items are not valid e-mail addresses: "ann0@larch-and-oak.com:...", "ann1@larch-and-oak.com:...", "ann2@larch-and-oak.com:..."; if the fields are separated by ":", pass -d ":"; to go on all the same, pass --force';
  const fixed = lines(2, (i) => `Ann${" B.".repeat(i)} Lee      ann${i}@larch-and-oak.com   2026-01-01`);
  const log = lines(1200, (i) => `2026-01-01 12:00 GET /x?u=ann${i}@larch-and-oak.com HTTP/1.1 200`);
  const other = `id,email\n${lines(500, (i) => `${i},written @ ${i}`)}`;
  const noneOfOther =
    'l.csv: 500 of the first 500 items in column 2 "email" are not valid e-mail addresses: "written @ 0", "written @ 1", "written @ 2"; name the column of the items with -c';
  const json = lines(40, (i) => `{"id":${i},"email":"ann${i} at larch-and-oak"}`);

  test.each<[string, string, number, string]>([
    ["passwords after addresses", passwords, 1, noneOfFour],
    ["columns of a fixed width", fixed, 1, "put commas or tabs between the fields, which spaces align"],
    ["a log", log, 1, "l.csv: 1,000 of the first 1,000 items are not valid e-mail addresses"],
    ["another column called email", other, 2, noneOfOther],
    ["such a field in JSON lines", json, 2, "l.csv: 40 of the first 40 items in column 2"],
  ])("is refused unless the user insists: %s", async (_, content, column, message) => {
    const { code, stderr, files, home } = await runOver(content, "emails -I.bak");
    expect({ code, files }).toEqual({ code: 2, files: ["l.csv"] });
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).not.toContain("secret");
    expect(await readQuota(home)).toMatchObject({ used: 0 });
    for (const way of ["--force", `-c ${column}`]) {
      expect((await runOver(content, `emails -q ${way}`)).code).toBe(0);
    }
  });

  test.each([
    ["windows-1252", "email,city\nann@web.de,Z\u00fcrich\n"],
    ["utf-16", "email\nann@web.de\n"],
    ["koi8-r", "email,city\nann@web.de,\u0420\u0438\u0433\u0430\n"],
  ])("with an encoding that would garble UTF-8, is refused unless the user insists: %s", async (encoding, content) => {
    const { code, stderr, files } = await runOver(content, `emails -I --encoding ${encoding}`);
    const message = `idv: l.csv: is UTF-8, not ${encoding}; leave out --encoding, or pass --force\n`;
    expect([code, stderr, files]).toEqual([2, message, ["l.csv"]]);
    if (encoding !== "utf-16")
      expect((await runOver(content, `emails -q --force --encoding ${encoding}`)).code).toBe(0);
  });

  test("with an encoding of two bytes, is read as it, though it may be UTF-8 by chance", async () => {
    const gbk = Buffer.concat([Buffer.from("email,city\nann@web.de,"), Buffer.from([0xcc, 0xab, 0xd4, 0xad, 0x0a])]);
    const { code, output } = await runOver(gbk, "emails -q --encoding gbk");
    expect([code, output]).toEqual([0, "email,city,status\nann@web.de,\u592a\u539f,ok\n"]);
  });

  test("with a delimiter that its rows and not all have an address, is refused", async () => {
    const { code, stderr } = await runOver("id,email,note\n1,ann@web.de,a\n2,bob@web.de,b\n3,,c\n", "emails -d |");
    expect([code, stderr]).toEqual([2, expect.stringContaining('if the fields are separated by ",", pass -d ","')]);
  });

  test("in windows-1252, keeps the signs that Latin-1 does not have, in JSON and in counts", async () => {
    const table = Buffer.from("email,name\nann@web.de,O\x92Neil 5 \x80\n", "latin1");
    const { code, output } = await runOver(table, "emails -q --format jsonl");
    expect([code, output]).toEqual([0, '{"email":"ann@web.de","name":"O\u2019Neil 5 \u20ac","status":"ok"}\n']);
    expect((await runOver(table, "emails --by name")).stderr).toContain("O\u2019Neil 5 \u20ac  1 row");
  });

  test("with a field of more addresses than 16 KiB hold, has the status of all of them", async () => {
    const list = Array.from({ length: 3000 }, (_, i) => `u${i}@larch-and-oak.com`);
    const table = (members: readonly string[]) => `id,members\n1,"${members.join("; ")}"\n2,ann@web.de\n`;
    const good = await runOver(table(list), "emails -c members --log json");
    expect(good.output).toMatch(/com",ok\n2,ann@web.de,ok\n$/);
    expect(good.stderr).toContain('"distinct":3001');
    const bad = await runOver(table([...list, "x@mailinator.com"]), "emails -c members --explain -q");
    expect(bad.output).toContain('com",disposable,disposable-domain: mailinator.com,\n');
  });

  test("of very many columns, is read, and a first line over 1 MiB is named", async () => {
    const wide = (columns: number) => {
      const names = Array.from({ length: columns }, (_, i) => `c${i}`).join(",");
      return `email,${names}\nann@web.de${",x".repeat(columns)}\n`;
    };
    const { code, output } = await runOver(wide(140_000), "emails -q");
    expect([code, output!.split("\n")[1]!.slice(-4)]).toEqual([0, "x,ok"]);
    const { stderr } = await runOver(wide(300_000), "emails -q");
    expect(stderr).toContain("the first line is over 1 MiB, too long to find its columns; check its line ends and its");
  });

  test.each([
    ["a document whose list begins in its first line", '{"users":[{"email":"ann@web.de"},\n{"email":"bob@web.de"}]}\n'],
    ["a preamble like the fields of a message", "From: 2024-01-01\nTo: 2024-01-31\n\nid,email\n1,ann@web.de\n"],
  ])("that is %s, is read", async (_, text) => {
    expect((await idv(["emails", "-q"], { stdin: text })).code).toBe(0);
  });

  test.each([
    ["JSON objects with commas", '{"email":"ann@web.de"},\n{"email":"bob@web.de"}\n'],
    ["an e-mail message", "Subject: x\nFrom: Ann <ann@web.de>\n\nHello\n"],
    ["an e-mail message", "Subject: x\nReceived: by a\n\nHello\n"],
    ["UTF-16 text; leave out --encoding", Buffer.from("\ufeffemail\nann@web.de\n", "utf16le")],
    ["a zip archive without tables", Buffer.from(`PK\x05\x06${"\0".repeat(18)}`, "latin1")],
  ])("that is %s, is refused as that", async (what, table) => {
    const { code, stderr } = await runOver(
      table,
      `emails -q ${what.startsWith("UTF") ? "--encoding utf-8" : ""}`.trim(),
    );
    expect([code, stderr]).toEqual([2, expect.stringContaining(what)]);
  });

  test.each(["-d ;", "-d none"])("with %s and two or three short columns, is refused", async (words) => {
    const { code, stderr } = await runOver("id,email,n\n1,ann@web.de,a\n2,bob@web.de,b\n", `emails ${words}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining('if the fields are separated by ",", pass -d ","')]);
  });

  test("with a delimiter that its rows of two columns do not have, is refused", async () => {
    const { code, stderr } = await runOver("id,email\n1,ann@web.de\n2,bob@web.de\n", "emails -d ;");
    expect([code, stderr]).toEqual([2, expect.stringContaining('if the fields are separated by ",", pass -d ","')]);
  });

  test("with a delimiter that its rows do not have, is refused with the one that they have", async () => {
    const { code, stderr } = await runOver("id;email\n1;ann@web.de\n2;bob@web.de\n", "emails -d ,");
    expect([code, stderr]).toEqual([2, expect.stringContaining('if the fields are separated by ";", pass -d ";"')]);
  });

  const invalid = lines(100, (i) => `@${i}`);
  const checked = `email,status\n${invalid.replaceAll("\n", ",fake\n")}`;

  test.each<[string, string, string?]>([
    ["only the first hundred do not", `email\n${invalid}${lines(900, (i) => `ann${i}@larch-and-oak.com`)}`],
    ["the items are few", "email\nann@@x\nbob@\n"],
    ["an earlier run has said so", checked],
    ["an update says so again", checked, "--update"],
    ["the column has a known name", "email\nasdf\n"],
    ["the column is blank so far", "id,email\n1,\n"],
  ])("is read if %s", async (_, content, option = "-q") => {
    expect((await runOver(content, `emails ${option}`)).code).toBe(0);
  });
});

const contacts =
  "Name,E-mail 1 - Type,E-mail 1 - Value,E-mail 2 - Value\nAnn,Work,ann@larch-and-oak.com,b@mailinator.com\nBob,,b@mailinator.com,\n";
const one =
  "Name,E-mail 1 - Type,E-mail 1 - Value,E-mail 2 - Value,status\nAnn,Work,ann@larch-and-oak.com,b@mailinator.com,ok\nBob,,b@mailinator.com,,disposable\n";
const all =
  "Name,E-mail 1 - Type,E-mail 1 - Value,E-mail 2 - Value,status,status_E-mail 2 - Value\nAnn,Work,ann@larch-and-oak.com,b@mailinator.com,ok,disposable\nBob,,b@mailinator.com,,disposable,\n";
const titled = "Customers of the north\n\nExported in May\nname,email\nAnn,ann@larch-and-oak.com\n";
const untitled = '{"name":"Ann","email":"ann@larch-and-oak.com","status":"ok"}\n';
const leftOut = "left out: 2 lines above the table, which the output format cannot hold\n";
const twice = "id,email,email\n1,ann@larch-and-oak.com,bob@mailinator.com\n";
const second = "id,email,email,status\n1,ann@larch-and-oak.com,bob@mailinator.com,disposable\n";
const cells =
  'id,contact\n1,"{""id"":1,""email"":""ann@larch-and-oak.com""}"\n2,"[""b@mailinator.com"",""c@larch-and-oak.com""]"\n3,{}\n';
const judgedCells = cells
  .replace("contact", "contact,status")
  .replace('}"', '}",ok')
  .replace(']"', ']",disposable')
  .replace("{}", "{},");
const noItems = "email\nn/a\nann@larch-and-oak.com\n-\nEmail\nunknown\n";
const judgedNoItems = "email,status\nn/a,\nann@larch-and-oak.com,ok\n-,\nEmail,\nunknown,\n";
const emptied = "4 fields count as empty: n/a, a column's name or the like (--set emptyValues)";
const plain = "b@mailinator.com\nann@x.org,group1;group2\nc@mailinator.com\n";
const judgedPlain = 'b@mailinator.com,disposable\n"ann@x.org,group1;group2",ok\nc@mailinator.com,disposable\n';
const latin1 = Buffer.from("n,email\nJos\xe9,jose@m\xfcller.de\nB,b\xe9@mailinator.com\nC,c\xe9@nowhere\n", "latin1");
const judgedLatin1 =
  "n,email,status\nJos\ufffd,jose@m\ufffdller.de,ok\nB,b\ufffd@mailinator.com,disposable\nC,c\ufffd@nowhere,fake\n";
const user = '{"id":1,"user":{"email":"b@mailinator.com","tags":["x"]}}\n';
const judgedUser = user.replace("}}", '},"status":"disposable"}');
const foreign = "email,status\nb@mailinator.com,active\n";
const judgedForeign = "email,status,idv_status\nb@mailinator.com,active,disposable\n";
const ofService = lines(3, (i) => `{"email":"u${i}@gmial.com","status":"${["", "alias", "catch-all"][i]}"}`);
const judgedOfService = ofService.replace('""', '"fake"');

test.each<[string, string, string | Buffer, string, string?]>([
  ["one column, and names another", "--offline", contacts, one, 'not validated: 4 "E-mail 2 - Value"; -c "*" does'],
  ["all columns", "-c *", contacts, all, 'column "E-mail 2 - Value":\n  disposable'],
  ["lines above a table, without a place in JSON", "--format jsonl", titled, untitled, leftOut],
  ["the second column of a name", "-c email[2]", twice, second],
  ["a header as a row without an item", "-n", "email\nx@mailinator.com\n", "email,\nx@mailinator.com,disposable\n"],
  ["JSON in a cell as in JSON lines", "--offline", cells, judgedCells],
  ["words for no item as empty", "--offline", noItems, judgedNoItems, emptied],
  ["words for no item at no cost", "--offline", noItems, judgedNoItems, "1 unit used"],
  ["own words", "--set emptyValues=keine,nichts", "email\nn/a\nkeine\n", "email,status\nn/a,fake\nkeine,\n"],
  ["the first field of lines in a plain list that have more", "--offline", plain, judgedPlain],
  ["bytes that are not UTF-8", "--log json", latin1, judgedLatin1, '"notUtf8":3'],
  ["objects in JSON Lines", "--offline", user, judgedUser],
  ["a named member of objects", "-c user.email", user, judgedUser],
  ["no item in an object", "-c email", '{"email":{"x":"y"}}\n', '{"email":{"x":"y"},"status":""}\n'],
  ["no status in a column of somebody else's", "--update", foreign, judgedForeign],
  ["statuses of a service where the first is missing", "--update", ofService, judgedOfService],
  ["them beside a named column", "--update -c email", ofService, judgedOfService],
])("a run reads %s", async (_, words, content, expected, said = "") => {
  const { code, output, stderr } = await runOver(content, `emails ${words}`);
  expect({ code, output }, stderr).toEqual({ code: 0, output: expected });
  expect(stderr).toContain(said);
});

test("rows with one item that is ok and one that is not appear in the summary, in JSON and in the report", async () => {
  const table =
    "email,second\nann@larch-and-oak.com; b@mailinator.com,\nb@mailinator.com,c@larch-and-oak.com\nfoo@,\nd@larch-and-oak.com,x@mailinator.com\n";
  const said = "left out or bad although another of its items is ok or alias";
  const row = await runOver(table, "emails -c email --drop disposable,fake");
  expect(row.stderr).toContain(`1 row is ${said} (line 2); --set cell=best keeps them`);
  const beside = "--log json:log.jsonl --report r.html";
  const rows = await runOver(table, `emails -c email -c second --fail-on disposable ${beside}`);
  expect(rows.code).toBe(1);
  expect(rows.stderr).toContain(`2 rows are ${said} (lines 2, 3)`);
  expect(JSON.parse(rows.read("log.jsonl"))).toMatchObject({ inputs: [{ outvoted: { count: 2, lines: [2, 3] } }] });
  expect(rows.read("r.html")).toContain("2 for one entry, though another is ok or alias; first lines: 2, 3");
});

test.each([
  ["'", "id,email,note\n1,ann@larch-and-oak.com,'a,b \"c''d'\n"],
  ['"\\', 'id,email,note\n1,ann@larch-and-oak.com,"a,b \\"c\'d"\n'],
])("a spreadsheet file holds the fields of a table with the quotes %s", async (quotes, table) => {
  const { code, home } = await runOver(table, `emails -o o.xlsx --quote ${quotes}`);
  expect(code).toBe(0);
  expect((await readXlsx(readFileSync(join(home, "o.xlsx")))).sheets[0]?.rows).toEqual([
    ["id", "email", "note", "status"],
    ["1", "ann@larch-and-oak.com", "a,b \"c'd", "ok"],
  ]);
});

test("with --set cell=best, a good item does not decide before one that waits for units", async () => {
  const home = folderOf({});
  await setQuota(home, { limit: 1 });
  const stdin = "email\nsecond+tag@larch-and-oak.com\nfirst@larch-and-oak.com; second+tag@larch-and-oak.com\n";
  const { stdout } = await idv(["emails", "--offline", "-q", "--set", "cell=best"], { home, stdin });
  const statuses = stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(",").at(-1));
  expect(statuses).toEqual(["status", "alias", "quota_exceeded"]);
});
