/** Covers runs over spreadsheet files: missing texts, charts, formulas without a value, and rows that are wider than others. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { isFull } from "../../support/tier.js";
import { xlsxOf, zip } from "../../support/workbooks.js";

const inline = (place: string, text: string) => `<c r="${place}" t="inlineStr"><is><t>${text}</t></is></c>`;
const ann = "ann@larch-and-oak.com";
const row = (number: number | string, text: string) => `<row r="${number}">${inline(`A1`, text)}</row>`;

/** A row whose undefined cells are formulas without a stored value. */
const cells = (number: number, ...texts: (string | undefined)[]) =>
  `<row r="${number}">${texts
    .map((text, i) => {
      const place = `${"ABC"[i]}${number}`;
      return text === undefined ? `<c r="${place}"><f>LOWER(A1)</f></c>` : inline(place, text);
    })
    .join("")}</row>`;

/** Runs over a file in a new folder. */
function run(name: string, content: Uint8Array, ...args: string[]) {
  const home = temporaryFolder();
  writeFileSync(join(home, name), content);
  return idv(["emails", name, ...args], { home });
}

test("a text that is missing is an error that names the cell", async () => {
  const file = xlsxOf(
    { S: `${row(1, "email")}${row(2, ann)}<row r="3"><c r="A3" t="s"><v>99</v></c></row>` },
    { texts: ["<t>a</t>"] },
  );
  const { code, stderr } = await run("l.xlsx", file);
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
    expect({ code: text.code, stdout: text.stdout }, text.stderr).toEqual({
      code: 0,
      stdout: `id,email,status\n1,${ann},ok\n2\n3,,\n`,
    });
    expect(text.stderr).toContain(`\n1 formula without a stored value, the first in B4: ${advice}\n`);
    const json = await run("l.xlsx", file, "--log", "json");
    expect(JSON.parse(json.stderr.split("\n").at(-2)!)).toMatchObject({
      inputs: [{ emptyFormulas: { count: 1, first: "B4" } }],
    });
  });

  const rows = Array.from({ length: 9 }, (_, i) => cells(i + 2, "Ann", undefined)).join("");
  test.each<[string, string, string[], string]>([
    ["in the column", cells(1, "name", "email") + rows, [], "the formulas in column 2 have no stored value"],
    [
      "in a named column",
      cells(1, "email", "b") + rows.replaceAll("Ann", ann),
      ["-c", "1", "-c", "b"],
      "the formulas in column 2 have no stored value",
    ],
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
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout.split("\n").at(-3)).toBe(`2998,${ann},,,ok`);
  expect(stdout.split("\n").at(-2)).toBe(`9,${ann},,more,ok`);
});

test("a row wider than the header is no bad row in a sheet, and cells are believed whatever they hold", async () => {
  const home = temporaryFolder();
  const cell = (place: string, text: string) =>
    `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;
  const rows = [
    cell("A1", "id") + cell("B1", "email"),
    cell("A2", "1") + cell("B2", "ann@larch-and-oak.com"),
    cell("A3", "2") + cell("B3", "x@mailinator.com") + cell("E3", "pasted:\n3,bob@larch-and-oak.com,,,"),
    cell("A4", "3"),
    cell("C5", "eve@larch-and-oak.com"),
  ];
  const sheet = rows.map((cells, i) => `<row r="${i + 1}">${cells}</row>`).join("");
  writeFileSync(join(home, "l.xlsx"), xlsxOf({ S: sheet }));
  const { code, stdout } = await idv(["emails", "-q", "l.xlsx"], { home });
  expect(code).toBe(0);
  expect(stdout).toBe(
    `id,email,,,,status\n1,ann@larch-and-oak.com,,,,ok\n2,x@mailinator.com,,,"pasted:\n3,bob@larch-and-oak.com,,,",disposable\n3\n,,eve@larch-and-oak.com\n`,
  );
});

test.each<[string, Uint8Array]>([
  [
    "l.xlsx",
    xlsxOf(
      {
        Secret: cells(1, "email") + cells(2, ann),
        People: [
          cells(1, "id", "email"),
          cells(2, "1", ann).replace("<row", '<row hidden="1"'),
          cells(3, "2", ann).replace("<row", '<row hidden="0"'),
          cells(4, "3", ann).replace("<row", '<row hidden="true"'),
        ].join(""),
      },
      {
        parts: {
          "xl/workbook.xml": `<workbook xmlns:r="r"><sheets><sheet name="Secret" state="veryHidden" r:id="rId1"/><sheet name="People" r:id="rId2"/></sheets></workbook>`,
        },
      },
    ),
  ],
])("hidden rows are judged and counted, and a hidden sheet is the last choice: %s", async (name, file) => {
  const { code, stdout, stderr } = await run(name, file);
  expect(code, stderr).toBe(0);
  expect(stdout.match(/,ok$/gm)).toHaveLength(3);
  const others = name === "l.xlsx" ? '; "Secret" has items, too: choose one with --sheet, or all with --sheet "*"' : "";
  expect(stderr).toContain(`idv: ${name}: sheet "People"${others}\n`);
  expect(stderr).toContain("\n2 rows of the sheet are hidden\n");
  const json = await run(name, file, "--log", "json");
  expect(JSON.parse(json.stderr.split("\n").at(-2)!)).toMatchObject({ inputs: [{ hiddenRows: 2 }] });
  const secret = await run(name, file, "--sheet", "Secret");
  expect(secret.stderr).toContain('idv: l.xlsx: sheet "Secret", which is hidden\n');
});

test("blank rows that a workbook does not have are taken out like others", async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "l.xlsx"), xlsxOf({ S: row(1, "email") + row(3, ann).replace("A1", "A3") }));
  const { code, stderr } = await idv(["emails", "l.xlsx", "-o", "o.xlsx", "--only", "ok"], { home });
  expect(code, stderr).toBe(0);
  const { stdout } = await idv(["emails", "-q", "--update", "o.xlsx"], { home });
  expect(stdout).toBe(`email,status\n${ann},ok\n`);
});

test("--skip-lines counts the rows of a sheet, whose cells may have line breaks", async () => {
  const home = temporaryFolder();
  const title = '<row r="1"><c r="A1" t="inlineStr"><is><t>a "title"&#10;of&#10;lines</t></is></c></row>';
  const place = (number: number, text: string) => row(number, text).replace("A1", `A${number}`);
  writeFileSync(join(home, "l.xlsx"), xlsxOf({ S: title + place(2, "email") + place(3, ann) }));
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
  const home = temporaryFolder();
  const names = ["1.xlsx", "2.xlsx", "3.xlsx", "4.xlsx"];
  for (const name of names) writeFileSync(join(home, name), xlsxOf({ S: row(1, ann) }));
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
  const { code, stderr } = await run("l.xlsx", zip({ [part]: "x" }));
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `idv: l.xlsx: ${what}; save it as .xlsx or CSV in the program that made it\n`,
  });
  const other = await run("l.zip", zip({ [part]: "x" }));
  expect(other).toMatchObject({
    code: 2,
    stderr: `idv: l.zip: ${what}; save it as .xlsx or CSV in the program that made it\n`,
  });
});

test("an archive with more parts than it can list is refused, since it would lose some", async () => {
  const count = isFull ? 65_535 : 1;
  const parts = Object.fromEntries(Array.from({ length: count }, (_, i) => [`x/${i}`, ""]));
  const file = xlsxOf({ S: row(1, "email") + row(2, ann).replace("A1", "A2") }, { parts });
  // As an archive with so many parts says it.
  if (!isFull) file.writeUInt16LE(0xffff, file.length - 12);
  const { code, stderr } = await run("l.xlsx", file, "-o", "o.xlsx");
  expect({ code, stderr }).toEqual({
    code: 6,
    stderr: "idv: l.xlsx: a damaged spreadsheet file: it has over 65,534 parts; export it as CSV\n",
  });
});
