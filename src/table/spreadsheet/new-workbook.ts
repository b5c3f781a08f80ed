/** Makes workbooks with one sheet of rows. */
import { inMemory, listParts, rebuilt, unpack } from "../../files/archive.js";
import type { WorkbookFormat } from "../../files/format-by-name.js";
import { piecesOf } from "../../files/web-stream.js";
import { contentPath, paragraphsOf } from "./ods-xml.js";
import { mostRows, type RowBatches } from "./sheet.js";
import type { WriteRows } from "./workbook.js";
import { escapeMarkup } from "./xml.js";

/**
 * All cells are text: numbers such as post codes keep their zeros. If a table has more rows than a sheet can have, it
 * continues in another sheet.
 */
export async function newWorkbook(format: WorkbookFormat, sheet: string): Promise<WriteRows> {
  const name = sheetName(sheet);
  if (format === "ods") return newOds(name);
  const { writeXlsxStream } = await import("./writing.js");
  async function* each(batches: RowBatches) {
    for await (const rows of batches) yield* rows as Iterable<string[]>;
  }
  return (batches) => piecesOf(writeXlsxStream(each(batches), { name }));
}

/** The library keeps all rows in memory, so it only writes an empty sheet. */
async function newOds(sheet: string): Promise<WriteRows> {
  const { writeOds } = await import("./writing.js");
  const empty = inMemory(Buffer.from(await writeOds({ sheets: [{ name: sheet, rows: [] }] })));
  const parts = listParts(empty)!;
  const pieces: Uint8Array[] = [];
  for await (const piece of unpack(empty, parts.find(({ name }) => name === contentPath)!))
    pieces.push(piece);
  const content = Buffer.concat(pieces).toString();
  const [before = "", after = ""] = content.split(/<table:table [^>]*\/>/);
  async function* filled(batches: RowBatches) {
    let piece = before + startOf(sheet);
    let number = 0;
    for await (const rows of batches) {
      for (const row of rows) {
        if (number > 0 && number % mostRows === 0)
          piece += `</table:table>${startOf(`${sheet} (${number / mostRows + 1})`)}`;
        number++;
        piece += rowOf(row);
      }
      yield Buffer.from(piece);
      piece = "";
    }
    // A sheet has at least one row.
    yield Buffer.from(`${piece}${number === 0 ? rowOf([""]) : ""}</table:table>${after}`);
  }
  async function* change(batches: RowBatches) {
    yield { path: contentPath, bytes: filled(batches) };
  }
  return (batches) => rebuilt(empty, parts, [contentPath], change(batches));
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
