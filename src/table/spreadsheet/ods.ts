/**
 * Reads OpenDocument spreadsheets (.ods, OpenDocument 1.3 part 3), whose sheets follow each other in one part.
 * LibreOffice fills rows and sheets to their ends with repeated empty cells and rows. Therefore repetitions are
 * counted, not expanded.
 */
import { dateText, mostCharacters, RowCells, Sampler, type SheetRow, type Workbook } from "./sheet.js";
import { readXml, type XmlReader } from "./xml.js";

const mostSpaces = 32_768;
const mostRepetitions = 2 ** 31;
/** Elements of a cell that hold its text. Other elements are notes and drawings. */
const textElements: ReadonlySet<string> = new Set(["p", "h", "list"]);

/** @param content opens the part `content.xml` */
export function openOds(content: () => AsyncIterable<Uint8Array>): Workbook {
  return {
    isInParts: false,
    async *sheets(isItem) {
      let sample: Sampler | undefined;
      for await (const found of read(content(), () => sample?.isDone === false)) {
        if (typeof found !== "string") sample?.add(found);
        else {
          if (sample !== undefined) yield sample;
          sample = new Sampler(found, isItem);
        }
      }
      if (sample !== undefined) yield sample;
    },
    // The file has column formats up to the end of a sheet, which do not tell its width.
    statedWidth: async () => undefined,
    addColumns: async (sheet, added) => {
      const { addColumns } = await import("./ods-changes.js");
      return addColumns(content, sheet, added);
    },
    async *rows(index) {
      let sheet = -1;
      for await (const found of read(content(), () => sheet === index)) {
        if (typeof found !== "string") yield found;
        else if (sheet++ === index) return;
      }
    },
  };
}

/**
 * Yields the names of the sheets, each followed by its rows.
 *
 * @param wantsRow called at the start of each row
 */
async function* read(
  bytes: AsyncIterable<Uint8Array>,
  wantsRow: () => boolean,
): AsyncGenerator<string | SheetRow> {
  let cells: RowCells | undefined;
  // Depths of the open elements; 0 if there is none.
  let [spreadsheet, cell, paragraph, skipped] = [0, 0, 0, 0];
  let [rowCount, cellCount] = [1, 1];
  let isRow = false;
  let [hasFormula, hasParagraph] = [false, false];
  let stored: string | undefined;
  let otherText = "";
  let text = "";
  for await (const xml of readXml(bytes)) {
    for (let event = xml.next(); event !== undefined; event = xml.next()) {
      if (skipped > 0) {
        if (event === "close" && xml.depth < skipped) skipped = 0;
      } else if (event === "text") {
        if (paragraph > 0) text += xml.text;
        if (text.length > mostCharacters) throw cells!.tooLong();
      } else if (event === "open") {
        if (cell > 0) {
          const isText = paragraph > 0 ? xml.name !== "annotation" : textElements.has(xml.name);
          if (!isText && (paragraph > 0 || xml.depth === cell + 1)) skipped = xml.depth;
          else if (paragraph > 0) text += spaceOf(xml);
          else if (xml.name === "p" || xml.name === "h") {
            if (hasParagraph) text += "\n";
            hasParagraph = true;
            paragraph = xml.depth;
          }
        } else if (xml.name === "spreadsheet") spreadsheet = xml.depth;
        // Tables elsewhere are copies of tables in other files.
        else if (xml.name === "table" && spreadsheet > 0 && xml.depth === spreadsheet + 1) {
          cells = new RowCells(xml.attribute("name") ?? "");
          cells.number = 1;
          yield cells.sheet;
        } else if (cells === undefined) continue;
        else if (xml.name === "shapes") skipped = xml.depth;
        else if (xml.name === "table-row") {
          rowCount = countOf(xml, "number-rows-repeated");
          cells.isHidden = /^(?:collapse|filter)$/.test(xml.attribute("visibility") ?? "");
          isRow = wantsRow();
        } else if (!isRow) continue;
        else if (xml.name === "covered-table-cell") {
          cells.add("", countOf(xml, "number-columns-repeated"));
          skipped = xml.depth;
        } else if (xml.name === "table-cell") {
          cell = xml.depth;
          cellCount = countOf(xml, "number-columns-repeated");
          hasFormula = xml.attribute("formula") !== undefined;
          stored = storedValue(xml);
          otherText = xml.attribute("string-value") ?? "";
          text = "";
          hasParagraph = false;
        }
      } else if (xml.depth < cell) {
        cell = 0;
        const isEmptyFormula = hasFormula && stored === undefined && text === "";
        cells!.add(stored || text || otherText, cellCount, isEmptyFormula);
      } else if (xml.depth < paragraph) paragraph = 0;
      else if (xml.name === "table-row" && isRow) {
        isRow = false;
        const row = cells!.take(rowCount);
        if (row !== undefined) yield row;
      } else if (xml.name === "table" && xml.depth === spreadsheet) cells = undefined;
    }
  }
}

function countOf(xml: XmlReader, name: string): number {
  const count = Number(xml.attribute(name) ?? 1);
  return count >= 1 ? Math.min(Math.floor(count), mostRepetitions) : 1;
}

function spaceOf(xml: XmlReader): string {
  if (xml.name === "s") return " ".repeat(Math.min(countOf(xml, "c"), mostSpaces));
  if (xml.name === "tab") return "\t";
  return xml.name === "line-break" ? "\n" : "";
}

/** Returns the stored value of a cell, as text; empty if the cell's text is the value, undefined if there is none. */
function storedValue(xml: XmlReader): string | undefined {
  switch (xml.attribute("value-type")) {
    case undefined:
      return undefined;
    case "float":
    case "currency":
    case "percentage": {
      const value = xml.attribute("value");
      return value && String(Number(value));
    }
    case "boolean":
      return xml.attribute("boolean-value")?.toUpperCase();
    case "date": {
      const value = xml.attribute("date-value") ?? "";
      // Times without a zone are read and written as UTC.
      const isLocal = value.includes("T") && !/(?:Z|[+-]\d\d:?\d\d)$/.test(value);
      return dateText(new Date(isLocal ? `${value}Z` : value)) ?? value;
    }
    default:
      return "";
  }
}
