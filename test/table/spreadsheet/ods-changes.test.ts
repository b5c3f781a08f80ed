/** Covers how columns are added to an OpenDocument spreadsheet, and rows taken out: repeated rows and cells above all. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inMemory, listParts, unpack } from "../../../src/files/archive.js";
import { profiles } from "../../../src/run/profiles.js";
import { newWorkbook } from "../../../src/table/spreadsheet/new-workbook.js";
import { type AddedColumns, removedRow } from "../../../src/table/spreadsheet/sheet.js";
import { openSheet } from "../../../src/table/spreadsheet/workbook.js";
import { emptyCells, odsOf, odsRow } from "../../support/workbooks.js";

async function* inOne(bytes: Uint8Array) {
  yield bytes;
}

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

async function* each(rows: readonly (readonly string[])[]) {
  yield rows.slice(0, 1);
  yield rows.slice(1);
}

const open = (file: Uint8Array, sheet?: string) =>
  openSheet("l.ods", inOne(file), profiles.email, sheet, new AbortController().signal);

async function returned(file: Uint8Array, added: AddedColumns, rows: readonly (readonly string[])[]) {
  const write = await (await open(file)).addColumns!(added);
  return bytesOf(write(each(rows)));
}

async function contentOf(file: Buffer): Promise<string> {
  const part = listParts(inMemory(file))!.find(({ name }) => name === "content.xml")!;
  return (await bytesOf(unpack(inMemory(file), part))).toString();
}

const status = { names: ["status"], indices: [1], width: 1, column: 0 };
const ann = "ann@larch-and-oak.com";
const cell = (text: string, style = "") =>
  `<table:table-cell${style && ` table:style-name="${style}"`} office:value-type="string"><text:p>${text}</text:p></table:table-cell>`;
const line = (cells: string, attributes = "") => `<table:table-row${attributes}>${cells}</table:table-row>`;
const gap = (count: number) => `<table:table-cell table:number-columns-repeated="${count}"/>`;

describe("cells", () => {
  const header = line(cell("email", "h"));
  const changedRow = async (row: string, ...texts: readonly string[]) => {
    const rows = [["email", "status"], ...texts.map((text) => [ann, text])];
    const content = await contentOf(await returned(odsOf({ L: header + row }), status, rows));
    expect(content).toContain(line(cell("email", "h") + cell("status", "h")));
    const start = content.indexOf("</table:table-row>") + "</table:table-row>".length;
    return content.slice(start, content.lastIndexOf("</table:table-row>") + "</table:table-row>".length);
  };

  test.each<[string, string, string]>([
    ["behind the last one", line(cell(ann)), line(cell(ann) + cell("ok"))],
    [
      "in empty cells to the end of the sheet",
      line(cell(ann) + emptyCells(9)),
      line(
        `${cell(ann)}${cell("ok", "ce1")}<table:table-cell table:style-name="ce1" table:number-columns-repeated="8"/>`,
      ),
    ],
    [
      "in place of the only empty cell",
      line(`${cell(ann)}<table:table-cell/>`),
      line(cell(ann) + cell("ok")),
    ],
    [
      "without changing what is between",
      line(`${cell(ann)}\n <!-- x -->`, ' table:style-name="ro1"'),
      line(`${cell(ann)}\n <!-- x -->${cell("ok")}`, ' table:style-name="ro1"'),
    ],
    [
      "beside notes and tables in cells",
      line(`<table:table-cell>${line(cell("inner"))}<office:annotation/></table:table-cell>`),
      line(`<table:table-cell>${line(cell("inner"))}<office:annotation/></table:table-cell>${cell("ok")}`),
    ],
    ["in a row without cells", line("<table:table-cell/>"), line(`<table:table-cell/>${cell("ok")}`)],
  ])("go %s", async (_, row, expected) => {
    expect(await changedRow(row, "ok")).toBe(expected);
  });

  test("go into repeated rows, which stay together as far as they are equal", async () => {
    const row = line(cell(ann), ' table:number-rows-repeated="5"');
    const counted = (count: number, text: string) =>
      line(cell(ann) + cell(text), ` table:number-rows-repeated="${count}"`);
    expect(await changedRow(row, "ok", "ok", "ok", "ok", "ok")).toBe(counted(5, "ok"));
    expect(await changedRow(row, "ok", "ok", "ok", "quota_exceeded", "quota_exceeded")).toBe(
      counted(3, "ok") + counted(2, "quota_exceeded"),
    );
  });

  test("go behind merged cells, but not behind those of the title", async () => {
    const title = line(
      `<table:table-cell table:number-columns-spanned="4"><text:p>x</text:p></table:table-cell><table:covered-table-cell table:number-columns-repeated="3"/>`,
    );
    const merged = line(
      `<table:table-cell table:number-columns-spanned="3"><text:p>${ann}</text:p></table:table-cell><table:covered-table-cell table:number-columns-repeated="2"/>`,
    );
    const rows = [["x"], ["email", "status"], [ann, "ok"]];
    const behind = await contentOf(await returned(odsOf({ L: header + merged }), status, rows.slice(1)));
    expect(behind).toContain(cell("email", "h") + gap(2) + cell("status", "h"));
    const below = await contentOf(
      await returned(odsOf({ L: title + header + line(cell(ann)) }), status, rows),
    );
    expect(below).toContain(cell("email", "h") + cell("status", "h"));
  });

  test("replace those of an earlier run", async () => {
    const file = odsOf({ L: odsRow(["email", "status"]) + line(cell(ann) + cell("quota_exceeded", "s")) });
    const content = await contentOf(
      await returned(file, { ...status, width: 2 }, [
        ["email", "status"],
        [ann, "ok"],
      ]),
    );
    expect(content).toContain(line(cell(ann) + cell("ok", "s")));
  });

  test("keep their spaces, without characters that XML does not allow", async () => {
    const written = await changedRow(line(cell(ann)), " a  <b>\tc\u0001 \nd");
    expect(written).toContain(
      "<text:p><text:s/>a<text:s/> &lt;b&gt;<text:tab/>c\ufffd<text:s/></text:p><text:p>d</text:p>",
    );
  });
});

describe("a spreadsheet with added columns", () => {
  const list = odsRow(["email"]) + odsRow([ann]);
  const rows = [
    ["email", "status"],
    [ann, "ok"],
  ];
  /** Returns a file with two sheets, and XML behind them. */
  const spreadsheet = (columns: string, attributes = "", end = "") =>
    `<office:document-content><office:body><office:spreadsheet><table:table table:name="Notes">${odsRow(["x"])}</table:table><table:table table:name="My 'list'"${attributes}>${columns}${list}</table:table>${end}</office:spreadsheet></office:body></office:document-content>`;
  const changed = async (content: string) => contentOf(await returned(odsOf({}, "", content), status, rows));

  test.each<[string, string, string]>([
    [
      "defines the columns that it lacks",
      "<table:table-column/>",
      "<table:table-column/><table:table-column/>",
    ],
    [
      "shows them where all unused columns are hidden",
      '<table:table-column/><table:table-column table:visibility="collapse" table:number-columns-repeated="9"/>',
      '<table:table-column/><table:table-column table:visibility="visible" table:number-columns-repeated="1"/><table:table-column table:visibility="collapse" table:number-columns-repeated="8"/>',
    ],
  ])("%s", async (_, before, after) => {
    expect(await changed(spreadsheet(before))).toContain(`${after}<table:table-row`);
  });

  test("takes them into its filter and print range, not into those of other sheets", async () => {
    const end = (last: string) =>
      `<table:database-range table:target-range-address="'My ''list'''.A1:'My ''list'''.${last}2"/><table:database-range table:target-range-address="Notes.A1:Notes.A2"/><table:named-range table:name="_xlnm.Print_Area" table:cell-range-address="$'My ''list'''.$A$1:.$${last}$2"/><table:named-range table:name="Mine" table:cell-range-address="$'My ''list'''.$A$1:.$A$2"/>`;
    const print = (last: string) => ` table:print-ranges="'My ''list'''.A1:'My ''list'''.${last}2"`;
    const content = await changed(spreadsheet("", print("A"), end("A")));
    // Apostrophes are written as references where a range has changed.
    const plain = content.replaceAll("&apos;", "'");
    expect(plain).toContain(end("B"));
    expect(plain).toContain(print("B"));
    const escaped = spreadsheet("", print("A").replaceAll("'", "&apos;"), end("A").replaceAll("'", "&apos;"));
    expect((await changed(escaped)).replaceAll("&apos;", "'")).toContain(end("B"));
  });

  test("leaves tables elsewhere as they are", async () => {
    const shapes = `<table:shapes><table:table table:name="inner">${odsRow(["y@b.net"])}</table:table></table:shapes>`;
    const content = await changed(spreadsheet(shapes));
    expect(content).toContain(shapes);
    expect(content).toContain(odsRow(["x"]));
  });

  test("keeps the rows that are left", async () => {
    const removing = { ...status, firstRemovable: 2 };
    const file = odsOf({ L: odsRow(["email"]) + odsRow([ann], "", 3) + odsRow(["b@c.net"]) });
    const all = [["email", "status"], [ann, "ok"], [removedRow], [removedRow], ["b@c.net", "alias"]];
    const lines = (await bytesOf((await open(await returned(file, removing, all))).bytes)).toString();
    expect(lines).toBe(`email,status\n${ann},ok\nb@c.net,alias\n`);
  });

  test("moves its formats, and leaves out those of rows that are gone", async () => {
    const format = (ranges: string) =>
      `<calcext:conditional-format calcext:target-range-address="${ranges}"><calcext:condition calcext:value="&gt;1"/></calcext:conditional-format>`;
    const formats = format("L.A2:L.A5") + format("L.A3 L.A4") + format("L.A3 L.A5");
    const xml = odsRow(["email"]) + odsRow([ann], "", 3) + odsRow(["b@c.net"]) + formats;
    const all = [["email", "status"], [ann, "ok"], [removedRow], [removedRow], ["b@c.net", "alias"]];
    const content = await contentOf(await returned(odsOf({ L: xml }), { ...status, firstRemovable: 2 }, all));
    expect(content.slice(content.indexOf("<calcext"), content.indexOf("</table:table>"))).toBe(
      format("L.A2:L.A3") + format("L.A3"),
    );
  });

  test("fails before the run if its XML is unusual", async () => {
    const content = spreadsheet("").replaceAll("table:", "t:");
    const sheet = await open(odsOf({}, "", content), "My 'list'");
    await expect(sheet.addColumns!(status)).rejects.toThrow("its XML is unusual; use -o FILE.csv");
  });

  test.each<[string, string, string]>([
    [
      "a chart",
      line(`<table:table-cell><draw:object draw:notify-on-update-of-ranges="L.A1"/></table:table-cell>`),
      "a picture or a chart (A3)",
    ],
    ["a formula", line('<table:table-cell table:formula="of:=[.A2]"/>'), "a formula (A3)"],
    [
      "merged cells",
      line('<table:table-cell table:number-rows-spanned="2"><text:p>x</text:p></table:table-cell>'),
      "merged cells (from A3)",
    ],
  ])("fails if rows may be taken out that are needed by %s", async (_, row, what) => {
    const sheet = await open(odsOf({ L: list + row }));
    await expect(sheet.addColumns!({ ...status, firstRemovable: 2 })).rejects.toThrow(
      `l.ods: sheet "L": rows that --only, --drop or --dedupe may take out are needed by ${what}`,
    );
    await sheet.addColumns!(status);
  });

  test.each([
    `<table:named-range table:name="All" table:cell-range-address="$'My ''list'''.$A$1:.$A$2"/>`,
    `<draw:object draw:notify-on-update-of-ranges="&apos;My &apos;&apos;list&apos;&apos;&apos;.A1:'My ''list'''.A2"/>`,
    `<table:table table:name="Sum">${line(`<table:table-cell table:formula="of:=SUM(['My ''list'''.A1:.A2])"/>`)}</table:table>`,
    '<table:content-validation table:condition="of:cell-content-is-in-list([.$G$2:.$G$5])"/>',
    `<table:table table:name="Sum">${line(`<table:table-cell table:formula="of:=COUNTA(['My ''list'''.$2:.$9])"/>`)}</table:table>`,
    `<table:table table:name="Sum">${line('<table:table-cell table:formula="of:=SUM([$Jan.A5:Mar.A6])"/>')}</table:table>`,
  ])("keeps its rows if this needs them: %s", async (end) => {
    const sheet = await open(odsOf({}, "", spreadsheet("", "", end)));
    await expect(sheet.addColumns!({ ...status, firstRemovable: 2 })).rejects.toThrow("elsewhere");
  });
});

test("whatever is repeated, added and taken out, a reader finds it", async () => {
  const shape = fc.record({
    count: fc.integer({ min: 1, max: 4 }),
    after: fc.integer({ min: 0, max: 3 }),
    isBlank: fc.boolean(),
    isGone: fc.boolean(),
    isSplit: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(shape, { maxLength: 8 }), async (shapes) => {
      let xml = odsRow(["email"]);
      const rows: string[][] = [["email", "status"]];
      const expected: string[] = ["email,status"];
      for (const [i, { count, after, isBlank, isGone, isSplit }] of shapes.entries()) {
        const item = `${i}@b.net`;
        xml += isBlank
          ? odsRow([], emptyCells(5), count)
          : odsRow([item], after > 0 ? emptyCells(after) : "", count);
        for (let nth = 0; nth < count; nth++) {
          const text = isSplit ? `ok${nth}` : "ok";
          if (isBlank) {
            rows.push([""]);
            expected.push("");
          } else if (isGone && nth % 2 === 1) rows.push([removedRow]);
          else {
            rows.push([item, text]);
            expected.push(`${item},${text}`);
          }
        }
      }
      while (expected.at(-1) === "") expected.pop();
      const file = await returned(odsOf({ L: xml }), { ...status, firstRemovable: 2 }, rows);
      expect((await bytesOf((await open(file, "L")).bytes)).toString()).toBe(`${expected.join("\n")}\n`);
    }),
  );
});

test.each([[[]], [[["email"], ["007"], ["", " x"]]], [Array.from({ length: 3 }, () => [ann])]])(
  "a new spreadsheet has the rows %j",
  async (rows: readonly (readonly string[])[]) => {
    const file = await bytesOf((await newWorkbook("ods", "a 'b' & c"))(each(rows)));
    const sheet = await open(file);
    expect(sheet.name).toBe("a 'b' & c");
    const lines = rows.map((row) => `${row.join(",")}\n`);
    expect((await bytesOf(sheet.bytes)).toString()).toBe(lines.join(""));
  },
);
