// Reads workbooks of Excel (.xlsx, ECMA-376 part 1, SpreadsheetML) in one pass over a sheet. Our own reader: a few
// bytes of XML can stand for a million rows or 16,384 columns, and memory grows with the texts that cells share, not
// with the sheet.

import { posix } from "node:path";
import { decoded } from "../../core/run/items/item.js";
import type { SheetKind } from "../format.js";
import type { AddedColumns, SheetChange, SheetRow, SheetSample } from "./sheet.js";
import { bookPath, columnIn, mostCharacters, RowCells, repair, SheetFault } from "./sheet.js";
import { hasCellsBeyond, usedWidthOf } from "./sheet-columns.js";
import { readTexts, type TextList } from "./text-list.js";
import type { PartReader, XmlEvent, XmlReader } from "./xml.js";
import { dereferenced, eachElement, open, readXml, unescapeText } from "./xml.js";

const longestFormat = 255;
/** Number of rows of a sheet that are searched for items. */
const sampleRows = 100;

type Relationship = { readonly id: string; readonly type: string; readonly target: string };

export type Workbook = Awaited<ReturnType<typeof openXlsx>>;

export async function openXlsx(part: PartReader, paths: readonly string[]) {
  const relationships = await readRelationships(part, bookPath);
  const { sheets, startsIn1904 } = await readBook(part, relationships);
  const related = (type: string) => {
    const found = relationships.find((relationship) => relationship.type === type);
    return found && part(resolve(found.target));
  };
  const readShared = async () => ({
    texts: await readTexts(related("sharedStrings")),
    isDate: await readStyles(related("styles")),
  });
  let shared: ReturnType<typeof readShared> | undefined;
  async function* rows(index: number): AsyncGenerator<SheetRow> {
    const { name, path } = sheets[index]!;
    shared ??= readShared();
    const taker = new SheetRows(name, { ...(await shared), startsIn1904, addresses: await readLinks(part, path) });
    for await (const xml of readXml(open(part, path))) {
      for (let event = xml.next(); event !== undefined; event = xml.next()) {
        const row = taker.take(xml, event);
        if (row !== undefined) yield row;
      }
    }
  }
  async function relatedTo(path: string) {
    const { dir } = posix.parse(`/${path}`);
    const relationships = await readRelationships(part, path);
    return (type: string) =>
      relationships
        .filter((relationship) => relationship.type === type)
        .map(({ target }) => posix.resolve(dir, target).slice(1))
        .filter((path) => part(path) !== undefined);
  }
  /** @throws SheetFault if there is no room */
  async function addColumns(index: number, added: AddedColumns): Promise<SheetChange> {
    const sheet = sheets[index]!;
    const related = await relatedTo(sheet.path);
    const changes = await import("./xlsx-changes.js");
    return changes.addColumns({ sheet, related, paths, read: (path) => open(part, path) }, added);
  }
  const format = await formatOf(part);
  return {
    format: format ?? "xlsx",
    /** Searches the first rows for items, unless `isItem` is undefined. */
    async *sheets(isItem: ((field: string) => boolean) | undefined): AsyncGenerator<SheetSample> {
      for (const [index, { name, isHidden }] of sheets.entries()) {
        let count = 0;
        let hasItems = false;
        for await (const { fields } of isItem ? rows(index) : []) {
          count++;
          hasItems = fields.some((field) => isItem?.(field));
          if (hasItems || count === sampleRows) break;
        }
        yield { name, index, isHidden, hasItems, hasRows: count > 0 };
      }
    },
    /** Columns with values below a row, which counts from 1; at least `known`. */
    async usedWidth(index: number, row: number, known: number) {
      const { name, path } = sheets[index]!;
      if (!(await hasCellsBeyond(open(part, path), known))) return known;
      return Math.max(known, await usedWidthOf(open(part, path), name, row));
    },
    /** Paths of the parts that may change with these sheets. */
    async changeable(names: readonly string[]): Promise<readonly string[]> {
      const wanted = sheets.filter(({ name }) => names.includes(name));
      const own = wanted.map(async ({ path }) => [path, ...(await relatedTo(path))("table")]);
      return [...(await Promise.all(own)).flat(), bookPath];
    },
    rows,
    addColumns: format && addColumns,
  };
}

/** Undefined for a template. Excel refuses a file under the name of another format. */
async function formatOf(part: PartReader): Promise<SheetKind | undefined> {
  const types = part("[Content_Types].xml");
  if (types === undefined) return undefined;
  let type = "";
  await eachElement(types, (xml) => {
    if (xml.attribute("PartName") === "/xl/workbook.xml") type = xml.attribute("ContentType") ?? "";
  });
  if (/template/i.test(type)) return undefined;
  return /macroEnabled/i.test(type) ? "xlsm" : "xlsx";
}

const isTrue = (value: string | undefined): boolean => value === "1" || value === "true";

const resolve = (target: string): string => posix.resolve("/xl", target).slice(1);

async function readRelationships(part: PartReader, path: string): Promise<readonly Relationship[]> {
  const { dir, base } = posix.parse(path);
  const found: Relationship[] = [];
  await eachElement(part(`${dir}/_rels/${base}.rels`), (xml) => {
    const target = xml.attribute("Target");
    if (xml.name !== "Relationship" || target === undefined) return;
    // The start of a type differs between the editions of the standard.
    const type = xml.attribute("Type")?.replace(/^.*\//, "") ?? "";
    found.push({ id: xml.attribute("Id") ?? "", type, target });
  });
  return found;
}

async function readBook(part: PartReader, relationships: readonly Relationship[]) {
  const sheets: { readonly name: string; readonly path: string; readonly isHidden: boolean }[] = [];
  let startsIn1904 = false;
  await eachElement(open(part, bookPath), (xml) => {
    if (xml.name === "workbookPr") startsIn1904 = isTrue(xml.attribute("date1904"));
    if (xml.name !== "sheet") return;
    const id = xml.attribute("id");
    const found = relationships.find((relationship) => relationship.id === id);
    if (found?.type !== "worksheet") return;
    const isHidden = /hidden$/i.test(xml.attribute("state") ?? "");
    sheets.push({ name: xml.attribute("name") ?? "", path: resolve(found.target), isHidden });
  });
  return { sheets, startsIn1904 };
}

async function readStyles(bytes: AsyncIterable<Uint8Array> | undefined): Promise<readonly boolean[]> {
  const formats = new Map<string, string>();
  const isDate: boolean[] = [];
  let list = "";
  await eachElement(bytes, (xml) => {
    if (xml.depth === 2) list = xml.name;
    const id = xml.attribute("numFmtId") ?? "";
    if (list === "numFmts" && xml.name === "numFmt") formats.set(id, xml.attribute("formatCode") ?? "");
    if (list === "cellXfs" && xml.name === "xf") isDate.push(isDateFormat(Number(id), formats.get(id)));
  });
  return isDate;
}

/** Built-in formats (18.8.30 of the standard) have only an `id`, those of the workbook a `format`. */
function isDateFormat(id: number, format: string | undefined): boolean {
  const isIn = (first: number, last: number) => id >= first && id <= last;
  if (format === undefined) return isIn(14, 22) || isIn(27, 36) || isIn(45, 47) || isIn(50, 58);
  // Remove colours, languages, escapes, texts and widths. One or two `m` may mean minutes, or be an odd letter.
  const letters = format.slice(0, longestFormat).replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]|\\.|"[^"]*"|[*_]./gi, "");
  return /[dhsy]|mmm|\[m/i.test(letters);
}

async function readLinks(part: PartReader, path: string): Promise<ReadonlyMap<string, string>> {
  const links = new Map<string, string>();
  const addresses = new Map<string, string>();
  for (const { id, target } of await readRelationships(part, path)) {
    const [, all = ""] = /^mailto:([^?]+)/i.exec(target) ?? [];
    const recipients = all.split(",").flatMap((address) => decoded(address).trim() || []);
    // They come between angle brackets.
    if (recipients.length > 0) addresses.set(id, recipients.join(">, <"));
  }
  if (addresses.size === 0) return links;
  // The links follow the cells in the part.
  await eachElement(open(part, path), (xml) => {
    if (xml.name !== "hyperlink") return;
    const address = addresses.get(xml.attribute("id") ?? "");
    const [cell = ""] = (xml.attribute("ref") ?? "").split(":");
    if (address !== undefined) links.set(cell, address);
  });
  return links;
}

interface SheetContext {
  readonly texts: TextList;
  readonly isDate: readonly boolean[];
  readonly addresses: ReadonlyMap<string, string>;
  readonly startsIn1904: boolean;
}

class SheetRows {
  readonly #context: SheetContext;
  readonly #cells: RowCells;
  #isData = false;
  #address = "";
  #type = "";
  #style = "";
  #value = "";
  #hasValue = false;
  #hasFormula = false;
  #isText = false;
  #isHint = false;

  constructor(sheet: string, context: SheetContext) {
    this.#context = context;
    this.#cells = new RowCells(sheet);
  }

  take(xml: XmlReader, event: XmlEvent): SheetRow | undefined {
    if (event === "text") {
      if (this.#isText) this.#value += xml.text;
      if (this.#value.length > mostCharacters) throw this.#cells.tooLong();
      return undefined;
    }
    const isStart = event === "open";
    if (xml.name === "sheetData") this.#isData = isStart;
    if (!this.#isData) return undefined;
    if (xml.name === "row") return isStart ? this.#startRow(xml) : this.#cells.take();
    if (xml.name === "c") {
      if (isStart) this.#startCell(xml);
      else this.#endCell(xml);
    } else this.#takePart(xml.name, isStart);
    return undefined;
  }

  #startRow(xml: XmlReader): undefined {
    this.#cells.number = rowNumber(xml.attribute("r"), this.#cells);
    this.#cells.isHidden = isTrue(xml.attribute("hidden"));
    xml.takeUsual(usualCell, this.#addUsual);
  }

  #startCell(xml: XmlReader): void {
    this.#address = xml.attribute("r") ?? "";
    this.#type = xml.attribute("t") ?? "";
    this.#style = xml.attribute("s") ?? "";
    this.#value = "";
    this.#hasValue = false;
    this.#hasFormula = false;
    if (this.#address !== "") this.#cells.column = columnIn(this.#address, this.#cells.sheet);
  }

  #endCell(xml: XmlReader): void {
    // The text of a formula may be empty; an empty number was never calculated.
    const isStored = this.#value !== "" || (this.#type === "str" && this.#hasValue);
    this.#add(this.#address, this.#type, this.#style, this.#value, this.#hasFormula && !isStored);
    xml.takeUsual(usualCell, this.#addUsual);
  }

  #takePart(name: string, isStart: boolean): void {
    if (name === "f") this.#hasFormula = true;
    else if (name === "v") {
      this.#hasValue = true;
      this.#isText = isStart;
    } else if (name === "t") this.#isText = isStart && !this.#isHint;
    else if (name === "rPh") this.#isHint = isStart;
  }

  readonly #addUsual = ([, address = "", style = "", type = "", value = "", text = ""]: RegExpExecArray) => {
    this.#cells.column = columnIn(address, this.#cells.sheet);
    this.#add(address, type, style, dereferenced(value || text), false);
  };

  #add(address: string, type: string, style: string, value: string, isEmptyFormula: boolean): void {
    const text = textOf(type, value, style, this.#context, this.#cells);
    const target = this.#context.addresses.get(address);
    const isLinked = target !== undefined && !text.includes("@");
    this.#cells.add(isLinked ? `${text} <${target}>`.trimStart() : text, isEmptyFormula);
  }
}

/** A cell as most programs write it. A formula does not matter, unless the value is missing. */
const usualCell =
  /<c r="([A-Z]{1,3}\d+)"(?: s="(\d+)")?(?: t="(\w+)")?(?:\/>|>(?:(?:<f>[^<]*<\/f>)?<v>([^<]+)<\/v>|<is><t(?: xml:space="preserve")?>([^<]*)<\/t><\/is>)<\/c>)/y;

/** A row without a number follows the row before it. */
function rowNumber(number: string | undefined, { number: next, sheet }: RowCells): number {
  if (number === undefined) return next;
  if (/^\d{1,15}$/.test(number)) return Number(number);
  throw new SheetFault(`sheet "${sheet}": there is no row "${number.slice(0, 20)}"; ${repair}`);
}

/** Types are those of 18.18.11 of the standard. */
function textOf(type: string, value: string, style: string, context: SheetContext, cells: RowCells): string {
  if (value === "") return "";
  if (type === "s") {
    const text = context.texts.at(Number(value));
    if (text !== undefined) return text;
    throw cells.fault(cells.column, `its text, number ${value.slice(0, 20)}, is missing; ${repair}`);
  }
  if (type === "str" || type === "inlineStr") return unescapeText(value);
  if (type === "b") return /^(?:1|true)$/i.test(value) ? "TRUE" : "FALSE";
  const isDated = context.isDate[Number(style || "-1")];
  if (!isDated && /^[1-9]\d{0,14}$/.test(value)) return value;
  const number = Number(value);
  if ((type !== "" && type !== "n") || Number.isNaN(number)) return value;
  return (isDated && dateText(number, context.startsIn1904)) || String(number);
}

/** ISO 8601, without a time at midnight, or with nothing else on day 0; undefined if it is invalid. */
function dateText(days: number, startsIn1904: boolean): string | undefined {
  if (days > 0 && days < 1)
    return new Date(Math.round(days * 86_400_000))
      .toISOString()
      .slice(11)
      .replace(/(?:\.000)?Z$/, "");
  // In Excel, 1900 has a 29 February, the 60th day.
  const start = startsIn1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days >= 60 ? 30 : 31);
  const date = new Date(start + Math.round(days * 86_400_000));
  if (Number.isNaN(date.getTime())) return undefined;
  return date
    .toISOString()
    .replace(/(?:T00:00:00)?\.000Z$/, "")
    .replace("T", " ");
}
