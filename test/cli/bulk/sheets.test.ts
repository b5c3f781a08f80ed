/** Covers `--sheet "*"`: each sheet with items is a file of the run, and the workbook comes back with all of them. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inMemory, listParts, unpack } from "../../../src/formats/zip/archive.js";
import { readQuota, setQuota } from "../../support/quota.js";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";
import { xlsxOf } from "../../support/workbooks.js";
import { zip } from "../../support/zip.mjs";

const row = (number: number, ...texts: string[]) =>
  `<row r="${number}">${texts.map((text, i) => `<c r="${"ABC"[i]}${number}" t="inlineStr"><is><t>${text}</t></is></c>`).join("")}</row>`;
const sheets = {
  People: row(1, "id", "email") + row(2, "1", "ann@larch-and-oak.com") + row(3, "2", "b@mailinator.com"),
  Notes: row(1, "call them") + row(2, "later"),
  Firms: row(1, "mail") + row(2, "b@mailinator.com") + row(3, "cat@gmial.com"),
};
const book = xlsxOf(sheets);
const checked = [
  ["id", "email", "status", "1", "ann@larch-and-oak.com", "ok", "2", "b@mailinator.com", "disposable"],
  ["call them", "later"],
  ["mail", "status", "b@mailinator.com", "disposable", "cat@gmial.com", "fake"],
];

const run = (home: string, ...args: string[]) => idv(["emails", ...args, "--sheet", "*"], { home });

async function partOf(path: string, name: string): Promise<Buffer> {
  const file = inMemory(readFileSync(path));
  const pieces: Buffer[] = [];
  for await (const piece of unpack(file, listParts(file)!.find((part) => part.name === name)!)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Returns the texts of each sheet of a workbook, cell by cell. */
async function textsIn(path: string): Promise<string[][]> {
  const file = inMemory(readFileSync(path));
  const found: string[][] = [];
  for (const part of listParts(file)!.filter(({ name }) => /^xl\/worksheets\/|^content\.xml$/.test(name))) {
    const xml = (await partOf(path, part.name)).toString();
    found.push([...xml.matchAll(/<(?:t|text:p)(?: [^>]*)?>([^<]*)</g)].map(([, text]) => text!));
  }
  return found;
}

test("a workbook comes back with statuses in each sheet, and an item in two is charged once", async () => {
  const home = folderOf({ "book.xlsx": book });
  const { code, stderr } = await run(home, "book.xlsx", "-o", "out.xlsx");
  expect(code, stderr).toBe(0);
  expect(stderr).toContain("idv: book.xlsx: not validated: Notes\n");
  expect(stderr).toContain("book.xlsx/Firms: 2 rows, 1 distinct e-mail address in column 1");
  expect(await textsIn(join(home, "out.xlsx"))).toEqual(checked);
  expect((await readQuota(home)).used).toBe(3);
  expect(readdirSync(home).filter((name) => /xlsx|tmp/.test(name))).toEqual(["book.xlsx", "out.xlsx"]);
});

test("-I.bak replaces the workbook when all sheets are there, and --update leaves it as it is then", async () => {
  const home = folderOf({ "book.xlsx": book });
  expect((await run(home, "book.xlsx", "-I.bak", "-q")).code).toBe(0);
  expect(await textsIn(join(home, "book.xlsx"))).toEqual(checked);
  expect(readFileSync(join(home, "book.xlsx.bak"))).toEqual(book);
  const once = readFileSync(join(home, "book.xlsx"));
  expect((await run(home, "book.xlsx", "-I", "--update", "-q")).code).toBe(0);
  expect(readFileSync(join(home, "book.xlsx"))).toEqual(once);
});

test("what names the sheets keeps the changes of all of them", async () => {
  const area = (sheet: string, last: string) =>
    `<definedName name="_xlnm.Print_Area">${sheet}!$A$1:$${last}$3</definedName>`;
  const names = area("People", "B") + area("Firms", "A") + area("Notes", "A");
  const home = folderOf({ "book.xlsx": xlsxOf(sheets, { names }) });
  const { code, stderr } = await run(home, "book.xlsx", "-I", "-q");
  expect(code, stderr).toBe(0);
  const xml = (await partOf(join(home, "book.xlsx"), "xl/workbook.xml")).toString();
  expect(xml).toContain(area("People", "C") + area("Firms", "B") + area("Notes", "A"));
});

test("a template does not come back", async () => {
  const type = "application/vnd.openxmlformats-officedocument.spreadsheetml.template.main+xml";
  const types = `<Types><Override PartName="/xl/workbook.xml" ContentType="${type}"/></Types>`;
  const home = folderOf({ "book.xlsx": xlsxOf(sheets, { parts: { "[Content_Types].xml": types } }) });
  const { code, stderr } = await run(home, "book.xlsx", "-o", "out.xlsx");
  expect(stderr).toContain("book.xlsx: a template does not come back; write its sheets to a folder with -o FOLDER/\n");
  expect([code, readdirSync(home).includes("out.xlsx")]).toEqual([2, false]);
  expect((await run(home, "book.xlsx", "-o", "out.xlsx", "--dry-run")).code).toBe(2);
  expect((await run(home, "book.xlsx", "-o", "out/", "-q")).code).toBe(0);
});

test.each(["book.xlsx", "lists.zip"])("nothing stays beside %s if its backup cannot be", async (name) => {
  const lists = zip({ "a.csv": "email\nann@larch-and-oak.com\n", "b.csv": "email\nb@larch-and-oak.com\n" });
  const home = folderOf({ "book.xlsx": book, "lists.zip": lists });
  mkdirSync(join(home, `${name}.bak`));
  const sheet = name.endsWith(".zip") ? [] : ["--sheet", "*"];
  const { code, stderr } = await idv(["emails", name, "-I.bak", ...sheet], { home });
  expect(stderr).toContain(`${name}.bak: is a folder; choose another name for the copy`);
  expect(code).toBe(6);
  expect(readdirSync(home).filter((each) => each.endsWith(".tmp"))).toEqual([]);
});

test("rows are taken out of each sheet", async () => {
  const home = folderOf({ "book.xlsx": book });
  expect((await run(home, "book.xlsx", "-o", "out.xlsx", "-q", "--drop", "disposable")).code).toBe(0);
  expect(await textsIn(join(home, "out.xlsx"))).toEqual([
    checked[0]!.slice(0, 6),
    checked[1],
    ["mail", "status", "cat@gmial.com", "fake"],
  ]);
});

test("sheets become CSV files in a folder, from a file and from standard input", async () => {
  const home = folderOf({ "book.xlsx": book });
  expect((await run(home, "book.xlsx", "-q", "-o", "o/")).code).toBe(0);
  expect(readdirSync(join(home, "o"))).toEqual(["book-Firms.csv", "book-People.csv"]);
  expect(readFileSync(join(home, "o/book-Firms.csv"), "utf8")).toBe(
    "mail,status\nb@mailinator.com,disposable\ncat@gmial.com,fake\n",
  );
  const piped = await idv(["emails", "--sheet", "*", "-q", "-o", "p/"], { home, stdin: book });
  expect(piped.code, piped.stderr).toBe(0);
  expect(readdirSync(join(home, "p"))).toEqual(["Firms.csv", "People.csv"]);
  const { stdout } = await run(
    folderOf({ "one.xlsx": xlsxOf({ A: sheets.Notes, B: sheets.Firms }) }),
    "one.xlsx",
    "-q",
  );
  expect(stdout).toBe("mail,status\nb@mailinator.com,disposable\ncat@gmial.com,fake\n");
});

test("the quota ends in the middle of a workbook", async () => {
  const home = folderOf({ "book.xlsx": book });
  await setQuota(home, { limit: 2 });
  expect((await run(home, "book.xlsx", "-o", "out.xlsx", "-q")).code).toBe(4);
  expect((await textsIn(join(home, "out.xlsx")))[2]).toEqual(
    checked[2]!.map((text) => (text === "fake" ? "quota_exceeded" : text)),
  );
});

test("nothing is written if a sheet fails", async () => {
  const broken = `${sheets.Firms}<row r="4"><c r="A4" t="s"><v>99</v></c></row>`;
  const home = folderOf({ "book.xlsx": xlsxOf({ ...sheets, Firms: broken }) });
  expect(await run(home, "book.xlsx", "-o", "out.xlsx", "-q")).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("its text, number 99, is missing"),
  });
  expect(readdirSync(home).filter((name) => /xlsx|tmp/.test(name))).toEqual(["book.xlsx"]);
});

test("nothing is charged if a later sheet cannot lose rows", async () => {
  const sum = '<row r="1"><c r="A1"><f>COUNTA(Firms!A2:A3)</f><v>2</v></c></row>';
  const home = folderOf({ "book.xlsx": xlsxOf({ ...sheets, Sum: sum }) });
  const { code, stderr } = await run(home, "book.xlsx", "-o", "out.xlsx", "-q", "--drop", "disposable");
  expect({ code, stderr }).toMatchObject({ code: 6, stderr: expect.stringContaining("formula in another sheet") });
  expect((await readQuota(home)).used).toBe(0);
});

test.each<[string, string[], string]>([
  ["two sheets to one place", ["book.xlsx", "-o", "out.csv"], "the 2 sheets of book.xlsx cannot share one output"],
  ["another workbook", ["book.xlsx", "-o", "out.xlsm"], "to one file with -o FILE.xlsx"],
  ["the input as the output", ["book.xlsx", "-o", "book.xlsx"], "is the input itself"],
  ["a table", ["l.csv"], 'l.csv: --sheet "*" is for spreadsheet files, and this is not one'],
  ["an archive", ["l.zip"], "l.zip: a zip archive without a workbook in it"],
  ["a missing file", ["none.xlsx"], "none.xlsx: cannot be read: no such file"],
  [
    "bad rows that are left out",
    ["book.xlsx", "-o", "out.xlsx", "--bad-rows", "skip"],
    "out.xlsx: it would be reduced to one sheet of text; write the sheets to a folder with -o FOLDER/",
  ],
])("%s is refused", async (_, args, message) => {
  const home = folderOf({ "book.xlsx": book, "l.csv": "a@x.net\n", "l.zip": zip({ "a.csv": "a@x.net\n" }) });
  const { code, stderr } = await run(home, ...args);
  expect(code).not.toBe(0);
  expect(stderr).toContain(message);
  expect(readdirSync(home).filter((name) => name.startsWith("out"))).toEqual([]);
});

test("texts that look like escaped characters, and marks at any start, come back from a new workbook", async () => {
  const rows = ["_x0041_,ann@larch-and-oak.com", "z_x00e9_z,b@larch-and-oak.com", "\ufeffx,c@larch-and-oak.com"];
  const home = folderOf({ "list.csv": `note,email\n${rows.join("\n")}\n` });
  expect((await idv(["emails", "list.csv", "-o", "a.xlsx", "-q"], { home })).code).toBe(0);
  expect((await idv(["emails", "a.xlsx", "-o", "b.csv", "-q", "--update"], { home })).code).toBe(0);
  const checked = rows.map((row) => `${row},ok\n`).join("");
  expect(readFileSync(join(home, "b.csv"), "utf8")).toBe(`note,email,status\n${checked}`);
});

test("a spreadsheet file is not compressed again", async () => {
  const home = folderOf({ "list.csv": "email\nann@larch-and-oak.com\n" });
  expect(await idv(["emails", "list.csv", "-o", "a.xlsx.gz"], { home })).toMatchObject({
    code: 2,
    stderr: "idv: a.xlsx.gz: a spreadsheet file is compressed already; leave its last ending out\n",
  });
});
