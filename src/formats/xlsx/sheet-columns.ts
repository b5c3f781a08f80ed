/** The columns of a sheet of a workbook: how many are used, and those that a run adds. */
import type { Columns } from "../../core/run/rows/columns.js";
import type { RowFilter } from "../../core/run/run-options.js";
import type { Table } from "../../core/table/table.js";
import { type AddedColumns, columnIn, columnLetters } from "./sheet.js";
import { eachElement, longestTag } from "./xml.js";

/** Columns of an earlier run keep their indices, new ones are after the table. */
export function columnsInSheet(
  { names, indices, details }: Columns,
  { width, column, otherColumns, rowsAbove = 0 }: Pick<Table, "width" | "column" | "otherColumns" | "rowsAbove">,
  { keeps, dedupe }: RowFilter,
): AddedColumns {
  let next = width;
  const all = indices.map((index) => index ?? next++);
  const was = details.indexOf("was");
  const wasOf = (nth: number) => all[nth * (details.length + 1) + was + 1]!;
  const removesRows = keeps !== undefined || dedupe !== undefined;
  return {
    names,
    width,
    column,
    indices: all,
    fixes: was === -1 ? [] : [column, ...otherColumns].map((item, nth) => ({ item, was: wasOf(nth) })),
    firstRemovable: removesRows ? rowsAbove + 1 : undefined,
  };
}

/** The range that a sheet states (`dimension`) is only a hint, and too small in the files of some programs. */
export async function usedWidthOf(bytes: AsyncIterable<Uint8Array>, sheet: string, row: number): Promise<number> {
  let [width, number, column] = [0, 0, -1];
  let isData = false;
  await eachElement(bytes, (xml) => {
    isData ||= xml.name === "sheetData";
    if (!isData) return;
    if (xml.name === "row") {
      number = Number(xml.attribute("r") ?? number + 1);
      column = -1;
    } else if (xml.name === "c") {
      const address = xml.attribute("r");
      column = address === undefined ? column + 1 : columnIn(address, sheet);
    } else if (number > row && (xml.name === "v" || xml.name === "is")) width = Math.max(width, column + 1);
  });
  return width;
}

/** A search takes a fifth of the time of reading. True for a cell that does not tell its column. */
export async function hasCellsBeyond(bytes: AsyncIterable<Uint8Array>, columns: number): Promise<boolean> {
  const last = columnLetters(columns - 1);
  if (columns < 1 || last.length > 2) return true;
  const [first = "", second] = last;
  const before = String.fromCharCode(first.charCodeAt(0) - 1);
  const pairs = second === undefined ? [] : [...(before < "A" ? [] : [`[A-${before}][A-Z]`]), `${first}[A-${second}]`];
  const inside = second === undefined ? `[A-${first}]` : ["[A-Z]", ...pairs].join("|");
  const beyond = new RegExp(`<(?:[\\w.-]+:)?c(?=[\\s/>])(?![^>]*\\sr=["'](?:${inside})\\d)[^>]*>`);
  let rest = "";
  for await (const piece of bytes) {
    const text = rest + Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1");
    if (beyond.test(text)) return true;
    rest = text.slice(text.lastIndexOf("<"));
    if (rest.length > longestTag) return true;
  }
  return false;
}
