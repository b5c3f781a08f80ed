/** Covers how columns are added to a workbook: the cells, the ranges that are widened, and that nothing else changes. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { profiles } from "../../../src/core/run/items/profiles.js";
import { type AddedCell, RemovedRows } from "../../../src/formats/xlsx/added-cells.js";
import { type AddedColumns, removedRow } from "../../../src/formats/xlsx/sheet.js";
import { withCells } from "../../../src/formats/xlsx/sheet-xml.js";
import { openSheet } from "../../../src/formats/xlsx/workbook.js";
import { inMemory, listParts, unpack } from "../../../src/formats/zip/archive.js";
import { xlsxOf } from "../../support/workbooks.js";

async function* inPieces(bytes: Uint8Array, sizes: readonly number[] = []) {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  yield bytes.subarray(at);
}

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Puts a text into column C of each row, or into the columns given; the text is the number of the row. */
function changed(xml: string, columns: readonly number[] = [2], sizes: readonly number[] = []) {
  const cellsOf = async (row: number): Promise<readonly AddedCell[]> =>
    columns.map((column) => ({ column, text: String(row), isHeader: row === 1 }));
  const widened = (range: string) => `${range}+`;
  const changes = { columns: { first: 2, last: 2, widened }, removed: new RemovedRows(), cellsOf };
  return textOf(withCells(inPieces(Buffer.from(xml), sizes), changes));
}

const cell = (place: string, text = place.slice(1), style = "") =>
  `<c r="${place}"${style} t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;
const data = (rows: string) => `<worksheet><sheetData>${rows}</sheetData></worksheet>`;

describe("cells", () => {
  const styled = '<c r="Z2" s="1"/>';
  const misleading = '<!-- <c r="C2"> --><c r="A2" x="a>b"><v><![CDATA[</row>]]></v></c>';

  test.each<[string, string, string, (readonly number[])?]>([
    ["after the cells of a row", '<row r="2"><c r="A2"/></row>', `<row r="2"><c r="A2"/>${cell("C2")}</row>`],
    ["in a row without cells", '<row r="3" ht="9"/>', `<row r="3" ht="9">${cell("C3")}</row>`],
    [
      "in a row without a number",
      '<row r="4"/><row><c><v>1</v></c></row>',
      `<row r="4">${cell("C4")}</row><row><c><v>1</v></c>${cell("C5")}</row>`,
    ],
    ["before a cell with only a style", `<row r="2">${styled}</row>`, `<row r="2">${cell("C2")}${styled}</row>`],
    [
      "in place of a cell, with its style",
      '<row r="2"><c r="C2" s="7" t="s"><v>1</v></c><c r="D2"/></row>',
      `<row r="2">${cell("C2", "2", ' s="7"')}<c r="D2"/></row>`,
    ],
    ["in place of an empty cell", "<row r='2'><c r='C2'/></row>", `<row r='2'>${cell("C2")}</row>`],
    [
      "around and in place of others",
      '<row r="2"><c r="B2"/><c r="D2"><f>A1&gt;B1</f></c></row>',
      `<row r="2">${cell("A2")}<c r="B2"/>${cell("C2")}${cell("D2")}${cell("E2")}</row>`,
      [0, 2, 3, 4],
    ],
    [
      "into the header with the style of the cell before",
      '<row r="1"><c r="A1" s="4"/><c r="B1" s="5"/></row>',
      `<row r="1"><c r="A1" s="4"/><c r="B1" s="5"/>${cell("C1", "1", ' s="5"')}</row>`,
    ],
    [
      "without the old extent of the row",
      '<row r="2" spans="1:2" x="y"></row>',
      `<row r="2" x="y">${cell("C2")}</row>`,
    ],
    [
      "around comments and text that look like rows",
      `<row r="2">${misleading}</row>`,
      `<row r="2">${misleading}${cell("C2")}</row>`,
    ],
  ])("go %s", async (_, rows, expected, columns) => {
    expect(await changed(data(rows), columns)).toBe(data(expected));
  });

  test("take the prefix of the sheet's elements", async () => {
    const xml = '<x:worksheet><x:sheetData><x:row r="2"><x:c r="A2"/></x:row></x:sheetData></x:worksheet>';
    const added = '<x:c r="C2" t="inlineStr"><x:is><x:t xml:space="preserve">2</x:t></x:is></x:c>';
    expect(await changed(xml)).toBe(xml.replace("</x:row>", `${added}</x:row>`));
  });

  test("stay out of rows elsewhere, and widen the ranges of the sheet", async () => {
    const xml = (end: string) =>
      `<w><dimension ref="A1:${end}9"/><sheetData/><autoFilter ref='A1:B2'/><row r="2"/><c r="C2"/></w>`;
    expect(await changed(xml("B"))).toBe(xml("C").replace("A1:B2'", "A1:B2+'"));
    expect(await changed(xml("D"))).toBe(xml("D").replace("A1:B2'", "A1:B2+'"));
  });

  test("come out the same wherever the XML is cut", async () => {
    const xml = `<?xml version="1.0" encoding="UTF-8"?>${data(
      '<row r="1"><c r="A1"><v>é</v></c></row><!-- é --><row r="2"><c r="C2" t="str"><v>ü</v></c></row><row r="5"/>',
    )}`;
    const whole = await changed(xml);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 40 }), async (sizes) => {
        expect(await changed(xml, [2], sizes)).toBe(whole);
      }),
    );
  });

  test.each([
    ["rows out of order", data('<row r="3"/><row r="2"/>'), "not in the order"],
    ["another encoding", '<?xml version="1.0" encoding="ISO-8859-1"?><w/>', "not UTF-8"],
    ["endless markup", `<row ${"x".repeat(2_000_000)}`, "an element of over 1 MiB"],
  ])("cannot go into %s", (_, xml, message) => expect(changed(xml)).rejects.toThrow(message));

  test("escape what XML does not allow", async () => {
    const text = `<&"'> _x000D_ \u0001\r\n\tend`;
    const cellsOf = async () => [{ column: 0, text, isHeader: false }];
    const xml = await textOf(
      withCells(inPieces(Buffer.from(data('<row r="1"/>'))), {
        columns: { first: 0, last: 0, widened: (range) => range },
        removed: new RemovedRows(),
        cellsOf,
      }),
    );
    expect(xml).toContain(`&lt;&amp;&quot;'&gt; _x005F_x000D_ _x0001__x000D_\n\tend`);
  });
});

const row = (number: number, ...texts: readonly string[]) =>
  `<row r="${number}">${texts
    .map((text, i) => `<c r="${"ABCDEF"[i]}${number}" t="inlineStr"><is><t>${text}</t></is></c>`)
    .join("")}</row>`;

/** Returns the parts of an archive, as they are stored and as text. */
async function partsOf(archive: Buffer) {
  const parts = listParts(inMemory(archive))!;
  const texts = await Promise.all(parts.map((part) => textOf(unpack(inMemory(archive), part))));
  return new Map(parts.map(({ name }, i) => [name, texts[i]!]));
}

const { signal } = new AbortController();

const open = (file: Buffer, wanted?: string) => openSheet("l.xlsx", inPieces(file), profiles.email, wanted, signal);

async function returned(file: Buffer, added: AddedColumns, rows: readonly (readonly string[])[]) {
  const sheet = await open(file);
  async function* each() {
    yield rows.slice(0, 1);
    yield rows.slice(1);
  }
  const pieces: Uint8Array[] = [];
  const write = await sheet.addColumns!(added);
  for await (const piece of write(each())) pieces.push(piece);
  return partsOf(Buffer.concat(pieces));
}

const added = { names: ["status", "why"], indices: [2, 3], width: 2, column: 1 };
const rows = [["id", "email", "status", "why"], ["1", "a@b.net", "ok", ""], [""], ["2", "c@d.net", "fake", "x<y"]];

describe("a workbook with added columns", () => {
  const list = row(1, "id", "email") + row(2, "1", "a@b.net") + row(4, "2", "c@d.net");
  const book = (parts: Readonly<Record<string, string>> = {}, names = "") =>
    xlsxOf({ Notes: row(1, "nothing"), "My &apos;list&apos;": list }, { parts, names });

  test("differs from the old one in the sheet only", async () => {
    const file = book({ "xl/media/image1.png": "\u0000\u0001" });
    const before = await partsOf(file);
    const after = await returned(file, added, rows);
    expect([...after.keys()]).toEqual([...before.keys()]);
    const differing = [...after].filter(([name, text]) => text !== before.get(name)).map(([name]) => name);
    expect(differing).toEqual(["xl/worksheets/rId2.xml"]);
    const sheet = after.get("xl/worksheets/rId2.xml")!;
    expect([...sheet.matchAll(/<c r="([CD]\d)".*?>([^<]*)<\/t>/g)].map(([, place, text]) => [place, text])).toEqual([
      ["C1", "status"],
      ["D1", "why"],
      ["C2", "ok"],
      ["C4", "fake"],
      ["D4", "x&lt;y"],
    ]);
    // Without what was added, it is the old one.
    expect(sheet.replace(/<c r="[CD]\d".*?<\/c>/g, "")).toBe(before.get("xl/worksheets/rId2.xml"));
  });

  const table = (ref: string, count: number, columns = "") =>
    `<table id="1" ref="${ref}"><autoFilter ref="${ref}"/><tableColumns count="${count}"><tableColumn id="4" name="id"/><tableColumn id="2" name="email"/>${columns}</tableColumns></table>`;
  const relation = `<Relationships><Relationship Id="t" Type="http://x/table" Target="../tables/table1.xml"/></Relationships>`;
  const withTable = (xml: string) =>
    book({ "xl/worksheets/_rels/rId2.xml.rels": relation, "xl/tables/table1.xml": xml });

  /** Returns a table after columns were added. */
  const tableIn = async (xml: string, changes = added, changed = rows) =>
    (await returned(withTable(xml), changes, changed)).get("xl/tables/table1.xml");

  test("takes them into a table that starts with the header and ends at the last column", async () => {
    const columns = '<tableColumn id="5" name="status"/><tableColumn id="6" name="why"/>';
    expect(await tableIn(table("A1:B4", 2))).toBe(table("A1:D4", 4, columns));
  });

  test.each(["A2:B4", "A1:A4", "C1:D4"])("leaves a table at %s as it is", async (ref) => {
    expect(await tableIn(table(ref, 2))).toBe(table(ref, 2));
  });

  test("takes them into its print area and filter, not into those of other sheets", async () => {
    const name = (kind: string, range: string) => `<definedName name="${kind}">${range}</definedName>`;
    const names = (last: string) =>
      [
        name("_xlnm.Print_Area", `'My ''list'''!$A$1:$${last}$4`),
        name("_xlnm._FilterDatabase", `'My ''list'''!$A$1:$${last}$4`),
        name("_xlnm.Print_Area", `&apos;My &apos;&apos;list&apos;&apos;&apos;!$A$1:$${last}$4`),
        name("_xlnm.Print_Area", "Notes!$A$1:$B$4"),
        name("Mine", "'My ''list'''!$A$1:$B$4"),
      ].join("");
    const parts = await returned(book({}, names("B")), added, rows);
    expect(parts.get("xl/workbook.xml")).toContain(names("D"));
  });

  test("replaces the fields of an earlier run", async () => {
    const file = xlsxOf({ L: row(1, "email", "status") + row(2, "a@b.net", "quota_exceeded") + row(3, "x", "ok") });
    const update = { names: ["status"], indices: [1], width: 2, column: 0 };
    const read = ["email,status", "a@b.net,fake", "x,"].map((line) => line.split(","));
    const parts = await returned(file, update, read);
    const sheet = parts.get("xl/worksheets/rId1.xml")!;
    expect(sheet).toContain("fake</t>");
    expect(sheet).not.toContain("quota_exceeded");
    expect(sheet).toContain('<c r="B3"/>');
  });

  test.each([
    ["sheet.main+xml", "xlsx", true],
    ["sheet.macroEnabled.main+xml", "xlsm", true],
    ["template.main+xml", "xlsx", false],
    ["template.macroEnabled.main+xml", "xlsx", false],
  ])("takes from the type %s the format %s, and comes back: %s", async (type, format, isReturned) => {
    const types = `<Types><Override PartName="/xl/workbook.xml" ContentType="application/x.${type}"/></Types>`;
    const sheet = await open(book({ "[Content_Types].xml": types }));
    expect([sheet.format, sheet.addColumns !== undefined]).toEqual([format, isReturned]);
  });

  const one = { names: ["status"], indices: [1], width: 1, column: 0 };
  const oneColumn = ["email,status", "a@b.net,ok", "c@d.net,fake"].map((line) => line.split(","));
  const sheetOf = (cells: string) =>
    row(1, "email") + row(2, "a@b.net").replace("</row>", `${cells}</row>`) + row(3, "c@d.net");
  const statusPlaces = (parts: ReadonlyMap<string, string>) =>
    [...parts.get("xl/worksheets/rId1.xml")!.matchAll(/r="([A-Z]+\d)"(?: s="1")? t="inlineStr"><is><t xml/g)].map(
      ([, place]) => place,
    );

  test.each<[string, string, string, string]>([
    ["formulas without a header and a value", '<c r="B2" t="str"><f>IF(1,"","")</f><v></v></c>', "", "C"],
    ["cells that only have a style", '<c r="B2" s="1"/>', "", "B"],
    ["merged cells", "", '<mergeCells><mergeCell ref="A2:C2"/></mergeCells>', "D"],
    ["the cells of a merged title", "", '<mergeCells><mergeCell ref="A1:F1"/></mergeCells>', "B"],
  ])("takes them behind or in place of %s", async (_, cells, end, letter) => {
    const file = xlsxOf({ L: sheetOf(cells) }, { end });
    const parts = await returned(file, one, oneColumn);
    expect(statusPlaces(parts)).toEqual([1, 2, 3].map((number) => `${letter}${number}`));
    if (cells.includes("<f>")) expect(parts.get("xl/worksheets/rId1.xml")).toContain(cells);
  });

  test("shows them where all unused columns are hidden", async () => {
    const cols = (ranges: string) => `<cols>${ranges}</cols>`;
    const file = xlsxOf({ L: sheetOf("") }, { dimension: cols('<col min="2" max="16384" hidden="1" width="0"/>') });
    const parts = await returned(file, one, oneColumn);
    expect(parts.get("xl/worksheets/rId1.xml")).toContain(cols('<col min="3" max="16384" hidden="1" width="0"/>'));
  });

  test("leaves the range of an empty sheet as it is", async () => {
    const empty = xlsxOf({ L: "" }, { dimension: '<dimension ref="A1"/>' });
    const parts = await returned(empty, { ...one, indices: [0], width: 0 }, []);
    expect(parts.get("xl/worksheets/rId1.xml")).toContain('<dimension ref="A1"/>');
  });

  test("does not mistake the name of a table's column for an attribute", async () => {
    const named = table("A1:B4", 2).replace('id="2" name="email"', `name="an id='9' b" id="4"`);
    expect(await tableIn(named)).toContain('<tableColumn id="5" name="status"/>');
  });

  test("escapes line breaks in the names of a table's columns", async () => {
    const names = ["status_a\nb", "why"];
    const changedRows = [["id", "email", ...names], ...rows.slice(1)];
    expect(await tableIn(table("A1:B4", 2), { ...added, names }, changedRows)).toContain('name="status_a_x000a_b"');
  });

  const lastCell = '<row r="2"><c r="XFD2"><v>1</v></c></row>';
  test.each<[string, Buffer, string]>([
    ["there is no room", xlsxOf({ L: row(1, "email") + lastCell }), "no free column"],
    ["rows are not in order", xlsxOf({ L: row(2, "a@b.net") + row(1, "email") }), "not in the order"],
    ["a table is not UTF-8", withTable('<?xml version="1.0" encoding="UTF-16"?><table/>'), "not UTF-8"],
  ])("fails before the run if %s", async (_, file, message) => {
    await expect((await open(file)).addColumns!(one)).rejects.toThrow(message);
  });
});

describe("rows taken out of a workbook", () => {
  const removing = { names: ["status"], indices: [2], width: 2, column: 1, firstRemovable: 2 };
  const gone = [removedRow];
  const texts = [["id", "email", "status"], ["1", "a@b.net", "ok"], gone, ["3", "c@d.net", "alias"], gone];
  const ids = [1, 2, 3, 4];
  const list = row(1, "id", "email") + ids.map((id) => row(id + 1, `${id}`, `${id}@b.net`)).join("");
  const sheetPath = "xl/worksheets/rId1.xml";

  test("disappear, and the others follow each other", async () => {
    const parts = await returned(xlsxOf({ L: list }), removing, texts);
    const sheet = parts.get(sheetPath)!;
    const places = [...sheet.matchAll(/r="(\w+)"/g)].map(([, place]) => place);
    expect(places.join(" ")).toBe("1 A1 B1 C1 2 A2 B2 C2 3 A3 B3 C3");
    expect(sheet).toContain("3@b.net");
    expect(sheet).not.toContain("2@b.net");
  });

  const links = (...of: readonly string[]) =>
    `<hyperlinks>${of.map((link) => `<hyperlink ref="${link.replace(" ", '" r:id="')}"/>`).join("")}</hyperlinks>`;
  const formatOf = (cells: string) =>
    `<conditionalFormatting sqref="${cells}"><cfRule><formula>LEN(B2)&gt;3</formula></cfRule></conditionalFormatting>`;

  test.each<[string, string, string]>([
    ["a filter", '<autoFilter ref="A1:B5"/>', '<autoFilter ref="A1:C3"/>'],
    ["links", links("B2 x", "B3 y", "B4 z"), links("B2 x", "B3 z")],
    ["links of which none is left", '<hyperlinks count="1"><hyperlink ref="B3"/></hyperlinks>', ""],
    ["conditional formats", formatOf("B2:B5 A5"), formatOf("B2:B3")],
    [
      "validations",
      '<dataValidations count="2"><dataValidation sqref="A3"><formula1>1</formula1></dataValidation><dataValidation sqref="A1:A1048576"/></dataValidations>',
      '<dataValidations><dataValidation sqref="A1:A1048576"/></dataValidations>',
    ],
    ["columns", '<ignoredErrors><ignoredError sqref="A:B"/></ignoredErrors>', ""],
  ])("disappear from %s", async (_, end, expected) => {
    const parts = await returned(xlsxOf({ L: list }, { end }), removing, texts);
    const sheet = parts.get(sheetPath)!;
    expect(sheet.slice(sheet.indexOf("</sheetData>"))).toContain(expected || "</worksheet>");
    if (expected === "") expect(sheet.includes("<hyperlink")).toBe(false);
  });

  test("disappear from the print area", async () => {
    for (const [before, after] of [
      ["$A$1:$B$5", "$A$1:$C$3"],
      ["$A$1:$B$2,'L'!$A$3:$B$5", "$A$1:$C$2,'L'!$A$3:$C$3"],
    ]) {
      const name = (ranges: string) => `<definedName name="_xlnm.Print_Area">L!${ranges}</definedName>`;
      const parts = await returned(xlsxOf({ L: list }, { names: name(before!) }), removing, texts);
      expect(parts.get("xl/workbook.xml")).toContain(name(after!));
    }
  });

  /** A part that the sheet refers to. */
  const related = (type: string, path: string, xml: string) => ({
    "xl/worksheets/_rels/rId1.xml.rels": `<Relationships><Relationship Id="t" Type="http://x/${type}" Target="../${path}"/></Relationships>`,
    [`xl/${path}`]: xml,
  });
  const drawing = (row: number) =>
    related("drawing", "drawings/d.xml", `<xdr:from><xdr:col>9</xdr:col><xdr:row>${row}</xdr:row></xdr:from>`);
  const formulaIn = (text: string) => ({ "xl/worksheets/rId2.xml": `<c><f>${text}</f></c>` });
  const chart = (range: string) => ({ "xl/charts/chart1.xml": `<c:val><c:f>${range}</c:f></c:val>` });
  const pivot = { "xl/pivotCache/d1.xml": '<worksheetSource ref="A1:B5" sheet="L"/>' };
  const notes = '<comments><comment ref="B1"/><comment ref="B2"/></comments>';
  const formatBelow = '<conditionalFormatting sqref="B9 B3:B4"><formula>LEN(B3)</formula></conditionalFormatting>';
  const criteria = '<definedName name="_xlnm.Criteria">L!$A$2:$B$3</definedName>';

  test.each<[string, Parameters<typeof xlsxOf>[1], string]>([
    ["merged cells", { end: '<mergeCell ref="A4:B5"/>' }, "merged cells (A4:B5)"],
    ["a format", { end: "<formula>B$2</formula>" }, "a formula (B$2)"],
    ["a format of rows", { end: "<formula>SUM($2:$9)</formula>" }, "a formula (SUM($2:$9))"],
    ["a format that starts below", { end: formatBelow }, "a formula (LEN(B3))"],
    ["a format of newer versions", { end: "<x:sqref>B2</x:sqref>" }, "a range (in a format of newer versions)"],
    ["a page break", { end: '<rowBreaks><brk id="4"/></rowBreaks>' }, "a page break (4)"],
    ["a picture", { parts: drawing(2) }, "a picture or a chart beside them"],
    ["a control", { parts: related("ctrlProp", "ctrlProps/c.xml", "<x/>") }, "a control"],
    ["a sum over sheets", { parts: formulaIn("SUM(A:Z!A2)") }, "a formula in another sheet"],
    ["a criteria range", { names: criteria }, "the name _xlnm.Criteria"],
    ["a table", { parts: related("table", "tables/t.xml", "<table/>") }, "a table"],
    ["a note", { parts: related("comments", "comments1.xml", notes) }, "a note (B2)"],
    ["a name", { names: "<definedName name='All'>'L'!$B$2:$B$5</definedName>" }, "the name All"],
    ["a chart", { parts: chart("L!$B$2:$B$5") }, "a chart or a pivot table"],
    ["a pivot table", { parts: pivot }, "a chart or a pivot table"],
    ["another sheet", { parts: formulaIn("SUM(1,L!A2)") }, "a formula in another sheet"],
  ])("end the run before it starts if %s refers to them", async (_, options, what) => {
    const sheet = await open(xlsxOf({ L: list }, options));
    await expect(sheet.addColumns!(removing)).rejects.toThrow(
      `l.xlsx: sheet "L": rows that may be left out are needed by ${what}; use -o FILE.csv, or --split`,
    );
    // Without removals, nothing is wrong.
    await sheet.addColumns!({ ...removing, firstRemovable: undefined });
  });

  test("end the run wherever a piece of the file ends inside the reference", async () => {
    for (let before = 65_520; before <= 65_536; before++) {
      const chart = `<!--${"x".repeat(before - 7 - "<f>".length)}--><f>L!A2</f>`;
      const sheet = await open(xlsxOf({ L: list }, { parts: { "xl/charts/chart1.xml": chart } }));
      await expect(sheet.addColumns!(removing)).rejects.toThrow("a chart");
    }
  });

  test("end the run for a formula in any row", async () => {
    const sheet = await open(xlsxOf({ L: `${list}<row r="9"><c r="A9"><f>SUM(A2:A5)</f><v>1</v></c></row>` }));
    await expect(sheet.addColumns!(removing)).rejects.toThrow("a formula (A9)");
  });

  test("do not end the run for what only looks like a reference", async () => {
    const file = xlsxOf(
      { L: list.replace("</row>", '<c r="F1"><f>TRUE()</f><v>1</v></c></row>'), Other: row(1, "L!A2 is text") },
      {
        end:
          '<mergeCell ref="A1:B1"/><colBreaks><brk id="9"/></colBreaks>' +
          '<conditionalFormatting sqref="B2:B9"><formula>LEN(B2)&gt;LOG10(B1)</formula></conditionalFormatting>' +
          '<dataValidation sqref="B3"><formula1>Lists!$A$5:$A$9</formula1><formula2>B$1</formula2></dataValidation>',
        names: "<definedName name='x'>'All L'!$A$1</definedName>",
        parts: { "xl/charts/chart1.xml": "<c:f>XL!$B$2</c:f><c:f>[1]L!$B$2</c:f>", ...drawing(0) },
      },
    );
    expect((await returned(file, removing, texts)).get(sheetPath)).not.toContain("2@b.net");
  });

  test("leave the rows that a reader then finds, whatever their XML looks like", async () => {
    const anyRow = fc.record({
      gap: fc.nat(2),
      isGone: fc.boolean(),
      shape: fc.constantFrom("plain", "comment", "quotes", "unnumbered"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { maxLength: 12 }), async (shapes) => {
        let number = 1;
        let xml = row(1, "id", "email");
        const read: string[][] = [["id", "email", "status"]];
        const expected: string[][] = [["id", "email", "status"]];
        for (const [i, { gap, isGone, shape }] of shapes.entries()) {
          const blank = shape === "unnumbered" ? 0 : gap;
          number += 1 + blank;
          // A blank row that the file does not have may be taken out, too.
          for (let j = 0; j < blank; j++) {
            read.push(isGone ? [removedRow] : [""]);
            if (!isGone) expected.push([]);
          }
          const plain = row(number, `${i}`, `${i}@b.net`);
          if (shape === "comment") xml += plain.replace("<c ", "<!-- </row> --><c ");
          else if (shape === "quotes") xml += plain.replaceAll('"', "'");
          else xml += shape === "unnumbered" ? plain.replaceAll(/ r="\w+"/g, "") : plain;
          read.push(isGone ? [removedRow] : [`${i}`, `${i}@b.net`, "ok"]);
          if (!isGone) expected.push([`${i}`, `${i}@b.net`, "ok"]);
        }
        const parts = await returned(xlsxOf({ L: xml }), removing, read);
        const sheet = parts.get(sheetPath)!;
        const rowsXml = sheet.slice(sheet.indexOf("<sheetData>") + 11, sheet.indexOf("</sheetData>"));
        const opened = await open(xlsxOf({ L: rowsXml }), "L");
        const lines = (await textOf(opened.bytes)).split("\n").slice(0, -1);
        while (expected.at(-1)?.length === 0) expected.pop();
        expect(lines).toEqual(expected.map((fields) => fields.join(",")));
      }),
    );
  });
});
