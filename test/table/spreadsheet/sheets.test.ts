/** Covers runs over spreadsheet files: missing texts, charts, formulas without a value, and rows that are wider than others. */
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";
import { isFull } from "../../support/tier.js";
import { xlsxOf } from "../../support/workbooks.js";
import { zip } from "../../support/zip.mjs";

const inline = (place: string, text: string) => `<c r="${place}" t="inlineStr"><is><t>${text}</t></is></c>`;
const ann = "ann@larch-and-oak.com";
const row = (number: number, text: string) => `<row r="${number}">${inline(`A${number}`, text)}</row>`;

/** A row whose undefined cells are formulas without a stored value. */
const cells = (number: number, ...texts: (string | undefined)[]) =>
  `<row r="${number}">${texts
    .map((text, i) => {
      const place = `${"ABC"[i]}${number}`;
      return text === undefined ? `<c r="${place}"><f>LOWER(A1)</f></c>` : inline(place, text);
    })
    .join("")}</row>`;

/** Runs over a file in a new folder. */
const run = (name: string, content: Uint8Array, ...args: string[]) =>
  idv(["emails", name, ...args], { home: folderOf({ [name]: content }) });

test("a text that is missing is an error that names the cell", async () => {
  const missing = '<row r="3"><c r="A3" t="s"><v>99</v></c></row>';
  const { code, stderr } = await run("l.xlsx", xlsxOf({ S: row(1, "email") + row(2, ann) + missing }));
  expect(code).toBe(6);
  expect(stderr).toContain('l.xlsx: sheet "S", cell A3: its text, number 99, is missing; repair the workbook');
});

test("charts and empty sheets are passed over", async () => {
  const file = xlsxOf({ Chart: undefined, Empty: '<row r="1"><c r="A1" s="1"/></row>', List: row(1, ann) });
  const { code, stdout, stderr } = await run("l.xlsx", file);
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: `${ann},ok\n` });
  expect(stderr).toContain('l.xlsx: sheet "List"');
});

describe("formulas without a stored value", () => {
  const advice = "open the workbook in a spreadsheet program, recalculate it and save it";

  test("appear in the summary with their number and the first of them", async () => {
    const file = xlsxOf({ S: cells(1, "id", "email") + cells(2, "1", ann) + cells(3, "2") + cells(4, "3", undefined) });
    const text = await run("l.xlsx", file);
    expect(text).toMatchObject({ code: 0, stdout: `id,email,status\n1,${ann},ok\n2\n3,,\n` });
    expect(text.stderr).toContain(`\n1 formula without a stored value, the first in B4: ${advice}\n`);
    const json = await run("l.xlsx", file, "--log", "json");
    const formulas = { emptyFormulas: { count: 1, first: "B4" } };
    expect(JSON.parse(json.stderr.split("\n").at(-2)!)).toMatchObject({ inputs: [formulas] });
  });

  const rows = Array.from({ length: 9 }, (_, i) => cells(i + 2, "Ann", undefined)).join("");
  const lists = cells(1, "email", "b") + rows.replaceAll("Ann", ann);
  const noValues = "the formulas in column 2 have no stored value";
  test.each<[string, string, string[], string]>([
    ["in the column", cells(1, "name", "email") + rows, [], noValues],
    ["in a named column", lists, ["-c", "1", "-c", "b"], noValues],
    ["in the only column", cells(1, "email") + cells(2, undefined) + cells(3, undefined), [], "in column 1 have no"],
    ["without a header", cells(1, undefined) + cells(2, undefined), [], "in column 1 have no"],
    [
      "in columns of other names",
      cells(1, "name", "b") + rows,
      [],
      "9 formulas without a stored value, the first in B2",
    ],
  ])("end the run if nothing else is %s", async (_, sheet, args, message) => {
    const { code, stdout, stderr } = await run("l.xlsx", xlsxOf({ S: sheet }), ...args);
    expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).toContain(advice);
  });

  test("do not end the run if an address follows far below", async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => cells(i + 2, "Ann", undefined)).join("");
    const file = xlsxOf({ S: cells(1, "name", "email") + many + cells(20_002, "Ann", ann) });
    const { code, stdout, stderr } = await run("l.xlsx", file);
    expect(code, stderr).toBe(0);
    expect(stdout.endsWith(`Ann,${ann},ok\n`)).toBe(true);
    expect(stderr).toContain("\n20,000 formulas without a stored value, the first in B2");
  });
});

test.each([
  ["no range", ""],
  ["its range", '<dimension ref="A1:D3000"/>'],
  ["a single cell", '<dimension ref="A1"/>'],
])("the last row may be the widest, where the sheet states %s", async (_, dimension) => {
  const fields = Array.from({ length: 3000 }, (_, i) =>
    i === 0 ? ["id", "email"] : i < 2999 ? [String(i), ann] : ["9", ann, "", "more"],
  );
  const cells = (row: readonly string[]) =>
    row.map((text) => (text === "" ? "<c/>" : `<c t="inlineStr"><is><t>${text}</t></is></c>`)).join("");
  const content = xlsxOf({ S: fields.map((row) => `<row>${cells(row)}</row>`).join("") }, { dimension });
  const { code, stdout, stderr } = await run("l.xlsx", content, "-q");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.split("\n").slice(-3, -1)).toEqual([`2998,${ann},,,ok`, `9,${ann},,more,ok`]);
});

test("a row wider than the header is no bad row in a sheet, and cells are believed whatever they hold", async () => {
  const pasted = "pasted:\n3,bob@larch-and-oak.com,,,";
  const wide = `<row r="3">${inline("A3", "2")}${inline("B3", "x@mailinator.com")}${inline("E3", pasted)}</row>`;
  const below = `${cells(4, "3")}<row r="5">${inline("C5", "eve@larch-and-oak.com")}</row>`;
  const file = xlsxOf({ S: cells(1, "id", "email") + cells(2, "1", ann) + wide + below });
  const { code, stdout } = await run("l.xlsx", file, "-q");
  const output = `id,email,,,,status\n1,${ann},,,,ok\n2,x@mailinator.com,,,"${pasted}",disposable\n3\n`;
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${output},,eve@larch-and-oak.com\n` });
});

test("hidden rows are judged and counted, and a hidden sheet is the last choice", async () => {
  const hidden = (number: number, value: string) =>
    cells(number, String(number - 1), ann).replace("<row", `<row hidden="${value}"`);
  const people = cells(1, "id", "email") + hidden(2, "1") + hidden(3, "0") + hidden(4, "true");
  const sheets = '<sheet name="Secret" state="veryHidden" r:id="rId1"/><sheet name="People" r:id="rId2"/>';
  const workbook = `<workbook xmlns:r="r"><sheets>${sheets}</sheets></workbook>`;
  const file = xlsxOf(
    { Secret: cells(1, "email") + cells(2, ann), People: people },
    { parts: { "xl/workbook.xml": workbook } },
  );
  const { code, stdout, stderr } = await run("l.xlsx", file);
  expect(code, stderr).toBe(0);
  expect(stdout.match(/,ok$/gm)).toHaveLength(3);
  const others = '"Secret" has items, too: choose one with --sheet, or all with --sheet "*"';
  expect(stderr).toContain(`idv: l.xlsx: sheet "People"; ${others}\n`);
  expect(stderr).toContain("\n2 rows of the sheet are hidden\n");
  const json = await run("l.xlsx", file, "--log", "json");
  expect(JSON.parse(json.stderr.split("\n").at(-2)!)).toMatchObject({ inputs: [{ hiddenRows: 2 }] });
  const secret = await run("l.xlsx", file, "--sheet", "Secret");
  expect(secret.stderr).toContain('idv: l.xlsx: sheet "Secret", which is hidden\n');
});

test("blank rows that a workbook does not have are taken out like others", async () => {
  const home = folderOf({ "l.xlsx": xlsxOf({ S: row(1, "email") + row(3, ann) }) });
  const { code, stderr } = await idv(["emails", "l.xlsx", "-o", "o.xlsx", "--only", "ok"], { home });
  expect(code, stderr).toBe(0);
  const { stdout } = await idv(["emails", "-q", "--update", "o.xlsx"], { home });
  expect(stdout).toBe(`email,status\n${ann},ok\n`);
});

test("--skip-lines counts the rows of a sheet, whose cells may have line breaks", async () => {
  const title = '<row r="1"><c r="A1" t="inlineStr"><is><t>a "title"&#10;of&#10;lines</t></is></c></row>';
  const home = folderOf({ "l.xlsx": xlsxOf({ S: title + row(2, "email") + row(3, ann) }) });
  const args = ["emails", "l.xlsx", "--skip-lines", "1"];
  expect((await idv([...args, "-q"], { home })).stdout).toBe(`"a ""title""\nof\nlines"\nemail,status\n${ann},ok\n`);
  const { code, stderr } = await idv([...args, "-o", "o.xlsx"], { home });
  expect(code, stderr).toBe(0);
  expect((await idv(["emails", "o.xlsx", "-q", "--update"], { home })).stdout).toContain(`email,status\n${ann},ok\n`);
  expect((await idv(["emails", "l.xlsx", "--skip-lines", "4"], { home })).stderr).toContain(
    "--skip-lines 4 is more than the 3 lines at its start",
  );
});

test.runIf(process.platform === "linux")("workbooks are closed when they have been read", async () => {
  const names = ["1.xlsx", "2.xlsx", "3.xlsx", "4.xlsx"];
  const home = folderOf(Object.fromEntries(names.map((name) => [name, xlsxOf({ S: row(1, ann) })])));
  const open = () => readdirSync("/proc/self/fd").length;
  const before = open();
  expect((await idv(["emails", "-q", ...names, "-o", "o/"], { home })).code).toBe(0);
  expect(open() - before).toBeLessThan(names.length);
});

test.each([
  ["xl/workbook.bin", "a binary workbook (.xlsb)"],
  ["Index/Document.iwa", "a document of Numbers, Pages or Keynote"],
  ["word/document.xml", "a Word document"],
])("an archive with %s is named", async (part, what) => {
  for (const name of ["l.xlsx", "l.zip"]) {
    const stderr = `idv: ${name}: ${what}; save it as .xlsx or CSV in the program that made it\n`;
    expect(await run(name, zip({ [part]: "x" }))).toMatchObject({ code: 2, stderr });
  }
});

test("an archive with more parts than it can list is refused, since it would lose some", async () => {
  const count = isFull ? 65_535 : 1;
  const parts = Object.fromEntries(Array.from({ length: count }, (_, i) => [`x/${i}`, ""]));
  const file = xlsxOf({ S: row(1, "email") + row(2, ann) }, { parts });
  // As an archive with so many parts says it.
  if (!isFull) file.writeUInt16LE(0xffff, file.length - 12);
  const { code, stderr } = await run("l.xlsx", file, "-o", "o.xlsx");
  expect({ code, stderr }).toEqual({
    code: 6,
    stderr: "idv: l.xlsx: a damaged spreadsheet file: it has over 65,534 parts; export it as CSV\n",
  });
});
