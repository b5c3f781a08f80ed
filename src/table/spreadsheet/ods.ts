/**
 * Reads OpenDocument spreadsheets (.ods, OpenDocument 1.3 part 3), whose sheets follow each other in one part.
 * LibreOffice fills rows and sheets to their ends with repeated empty cells and rows. Therefore repetitions are
 * counted, not expanded.
 */
import { dateText, mostCharacters, RowCells, Sampler, type SheetRow, type Workbook } from "./sheet.js";
import { readXml, type XmlEvent, type XmlReader } from "./xml.js";

const mostSpaces = 32_768;
const mostRepetitions = 2 ** 31;
/** Elements of a cell that hold its text. Other elements are notes and drawings. */
const textElements: ReadonlySet<string> = new Set(["p", "h", "list"]);

export function openOds(content: () => AsyncIterable<Uint8Array>): Workbook {
  async function* rows(index: number): AsyncGenerator<SheetRow> {
    let sheet = -1;
    for await (const found of read(content(), () => sheet === index)) {
      if (typeof found !== "string") yield found;
      else if (sheet++ === index) return;
    }
  }
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
    async usedWidth(index, row, known) {
      let width = known;
      for await (const { number, count, fields } of rows(index))
        if (number + count - 1 > row) width = Math.max(width, fields.length);
      return width;
    },
    addColumns: async (sheet, added) => {
      const { addColumns } = await import("./ods-changes.js");
      return addColumns(content, sheet, added);
    },
    rows,
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
  const content = new Content(wantsRow);
  for await (const xml of readXml(bytes)) {
    for (let event = xml.next(); event !== undefined; event = xml.next()) {
      const found = content.take(xml, event);
      if (found !== undefined) yield found;
    }
  }
}

class Content {
  readonly #wantsRow: () => boolean;
  #cells: RowCells | undefined;
  /** Depths of the open elements; 0 if there is none. */
  #spreadsheet = 0;
  #cell = 0;
  #paragraph = 0;
  #skipped = 0;
  #isRow = false;
  #rowCount = 1;
  #cellCount = 1;
  #hasFormula = false;
  #hasParagraph = false;
  #stored: string | undefined;
  #otherText = "";
  #text = "";

  constructor(wantsRow: () => boolean) {
    this.#wantsRow = wantsRow;
  }

  /** Takes an event. Returns the name of a sheet that starts, or a row that ends. */
  take(xml: XmlReader, event: XmlEvent): string | SheetRow | undefined {
    if (this.#skipped > 0) {
      if (event === "close" && xml.depth < this.#skipped) this.#skipped = 0;
      return undefined;
    }
    if (event === "close") return this.#close(xml);
    if (event === "text") this.#takeText(xml.text);
    else if (this.#cell > 0) this.#openInCell(xml);
    else if (this.#cells !== undefined && this.#isRow) this.#openCell(xml, this.#cells);
    else return this.#open(xml);
    return undefined;
  }

  #takeText(text: string): void {
    if (this.#paragraph > 0) this.#text += text;
    if (this.#text.length > mostCharacters) throw this.#cells!.tooLong();
  }

  #openInCell(xml: XmlReader): void {
    const isInText = this.#paragraph > 0;
    const isText = isInText ? xml.name !== "annotation" : textElements.has(xml.name);
    if (!isText && (isInText || xml.depth === this.#cell + 1)) this.#skipped = xml.depth;
    else if (isInText) this.#text += spaceOf(xml);
    else if (xml.name === "p" || xml.name === "h") {
      if (this.#hasParagraph) this.#text += "\n";
      this.#hasParagraph = true;
      this.#paragraph = xml.depth;
    }
  }

  #openCell(xml: XmlReader, cells: RowCells): void {
    if (xml.name === "covered-table-cell") {
      cells.add("", countOf(xml, "number-columns-repeated"));
      this.#skipped = xml.depth;
    } else if (xml.name === "table-cell") {
      this.#cell = xml.depth;
      this.#cellCount = countOf(xml, "number-columns-repeated");
      this.#hasFormula = xml.attribute("formula") !== undefined;
      this.#stored = storedValue(xml);
      this.#otherText = xml.attribute("string-value") ?? "";
      this.#text = "";
      this.#hasParagraph = false;
    }
  }

  #open(xml: XmlReader): string | undefined {
    if (xml.name === "spreadsheet") this.#spreadsheet = xml.depth;
    // Tables elsewhere are copies of tables in other files.
    else if (xml.name === "table" && this.#spreadsheet > 0 && xml.depth === this.#spreadsheet + 1) {
      this.#cells = new RowCells(xml.attribute("name") ?? "");
      this.#cells.number = 1;
      return this.#cells.sheet;
    } else if (this.#cells === undefined) return undefined;
    else if (xml.name === "shapes") this.#skipped = xml.depth;
    else if (xml.name === "table-row") {
      this.#rowCount = countOf(xml, "number-rows-repeated");
      this.#cells.isHidden = /^(?:collapse|filter)$/.test(xml.attribute("visibility") ?? "");
      this.#isRow = this.#wantsRow();
    }
    return undefined;
  }

  #close(xml: XmlReader): SheetRow | undefined {
    if (xml.depth < this.#cell) {
      this.#cell = 0;
      const isEmptyFormula = this.#hasFormula && this.#stored === undefined && this.#text === "";
      this.#cells!.add(this.#stored || this.#text || this.#otherText, this.#cellCount, isEmptyFormula);
    } else if (xml.depth < this.#paragraph) this.#paragraph = 0;
    else if (xml.name === "table-row" && this.#isRow) {
      this.#isRow = false;
      return this.#cells!.take(this.#rowCount);
    } else if (xml.name === "table" && xml.depth === this.#spreadsheet) this.#cells = undefined;
    return undefined;
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
