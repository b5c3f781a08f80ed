/** Makes workbooks with one sheet of rows. */
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { WorkbookFormat } from "../../files/format-by-name.js";
import { listParts, pack, rebuilt, unpack } from "./archive.js";
import { contentPath, paragraphsOf } from "./ods-changes.js";
import { mostRows } from "./sheet.js";
import type { WriteRows } from "./workbook.js";
import { escapeMarkup } from "./xml.js";

const pieceLength = 65_536;

/**
 * Makes a workbook with one sheet. All cells are text: numbers such as post codes keep their zeros. If a table has more
 * rows than a sheet can have, it continues in another sheet.
 */
export async function newWorkbook(format: WorkbookFormat, sheet: string): Promise<WriteRows> {
  const name = sheetName(sheet);
  if (format === "ods") return newOds(name);
  const { writeXlsxStream } = await import("hucre/xlsx");
  return (rows) => Readable.fromWeb(writeXlsxStream(rows, { name }) as never);
}

/** The library has all rows in memory, so it writes an empty sheet only. */
async function newOds(sheet: string): Promise<WriteRows> {
  const { writeOds } = await import("hucre/ods");
  const empty = Buffer.from(await writeOds({ sheets: [{ name: sheet, rows: [] }] }));
  const parts = listParts(empty)!;
  const content = await text(unpack(empty, parts.find(({ name }) => name === contentPath)!));
  const [before = "", after = ""] = content.split(/<table:table [^>]*\/>/);
  async function* filled(rows: AsyncIterable<readonly string[]>) {
    let piece = before + startOf(sheet);
    let number = 0;
    for await (const row of rows) {
      if (number > 0 && number % mostRows === 0)
        piece += `</table:table>${startOf(`${sheet} (${number / mostRows + 1})`)}`;
      number++;
      piece += rowOf(row);
      if (piece.length < pieceLength) continue;
      yield Buffer.from(piece);
      piece = "";
    }
    // A sheet has at least one row.
    yield Buffer.from(`${piece}${number === 0 ? rowOf([""]) : ""}</table:table>${after}`);
  }
  return async function* write(rows) {
    yield* rebuilt(empty, parts, new Map([[contentPath, await pack(filled(rows))]]));
  };
}

const startOf = (sheet: string): string =>
  `<table:table table:name="${escapeMarkup(sheet)}"><table:table-column/>`;

const rowOf = (fields: readonly string[]): string =>
  `<table:table-row>${fields.map(cellOf).join("")}</table:table-row>`;

const cellOf = (field: string): string =>
  field === ""
    ? "<table:table-cell/>"
    : `<table:table-cell office:value-type="string">${paragraphsOf(field)}</table:table-cell>`;

/** Returns a name that Excel accepts for a sheet: up to 31 characters, without some special characters. */
const sheetName = (name: string): string =>
  name
    .replace(/[\\/?*[\]:]/g, " ")
    .replace(/^[\s']+|[\s']+$/g, "")
    .slice(0, 31) || "Sheet1";
