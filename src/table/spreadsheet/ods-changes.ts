/**
 * Adds columns to a sheet of an OpenDocument spreadsheet (.ods, OpenDocument 1.3 part 3): the cells to its rows, and the columns
 * to the ranges that end at its last column: its filters and its print ranges. Takes rows out, if nothing refers to them that
 * could not follow. Everything else in `content.xml` is copied as it is.
 */
import { type AddedCell, AddedRows, removalFault, SheetColumns } from "./added-cells.js";
import {
  type AddedColumns,
  cellName,
  type SheetChange,
  SheetFault,
  type SheetPlace,
  sheetPattern,
} from "./sheet.js";
import {
  attributeOf,
  dereferenced,
  endOfMarkup,
  escapeMarkup,
  isEmpty,
  nameOf,
  split,
  tokensOf,
  withAttribute,
} from "./xml.js";

export const contentPath = "content.xml";
const rowsRepeated = "number-rows-repeated";
const columnsRepeated = "number-columns-repeated";

/**
 * Returns the change of the part with the sheets. Reads all of it, so that its faults are found before a run begins.
 *
 * @throws SheetFault if there is no room for the columns, something refers to rows that may be taken out, or the XML cannot be
 *   changed
 */
export async function addColumns(
  content: () => AsyncIterable<Uint8Array>,
  { index, name }: SheetPlace,
  added: AddedColumns,
): Promise<SheetChange> {
  const inspector = new Inspector(name, added.firstRemovable);
  for await (const _ of visited(content(), index, inspector)) {
    // Only what the inspector finds is needed.
  }
  if (inspector.rows === 0) throw new SheetFault(`sheet "${name}": its XML is unusual; use -o FILE.csv`);
  const columns = new SheetColumns(name, added, inspector.free);
  return {
    paths: [contentPath],
    async *changed(batches) {
      const rows = new AddedRows(name, added, columns, batches);
      const changes = new ContentChanges(name, inspector.definedColumns, columns, rows);
      yield { path: contentPath, bytes: visited(content(), index, changes) };
      await rows.end();
    },
  };
}

interface SheetVisitor {
  /** Takes a whole row of the sheet. */
  row(xml: string): string | Promise<string>;
  /** Takes a token of the sheet outside its rows; the first one is its start. */
  inside(token: string, name: string): string;
  /** Takes a token outside the sheet. A row of another sheet is one token. */
  outside(token: string): string;
}

/** Yields the XML with what a visitor makes of its tokens. */
async function* visited(
  bytes: AsyncIterable<Uint8Array>,
  sheet: number,
  visitor: SheetVisitor,
): AsyncGenerator<Uint8Array> {
  const path = new SheetPath(sheet);
  for await (const tokens of tokensOf(bytes, endOfRow)) {
    let out = "";
    for (const token of tokens) {
      if (isRow(token)) out += path.isAroundRows ? await visitor.row(token) : visitor.outside(token);
      else {
        const started = path.take(token);
        out += path.isInSheet ? visitor.inside(token, started) : visitor.outside(token);
      }
    }
    yield Buffer.from(out);
  }
}

/** Elements that rows may be in, within a sheet. */
const containers: ReadonlySet<string> = new Set(["table-header-rows", "table-rows", "table-row-group"]);

/** The open elements around a token, and whether they are in one sheet. */
class SheetPath {
  readonly #sheet: number;
  readonly #names: string[] = [];
  #count = 0;
  /** Number of elements around the sheets, and around the contents of this one; 0 outside. */
  #around = 0;
  #within = 0;

  /** @param sheet index of the sheet */
  constructor(sheet: number) {
    this.#sheet = sheet;
  }

  get isInSheet(): boolean {
    return this.#within > 0;
  }

  get isAroundRows(): boolean {
    return this.isInSheet && this.#names.slice(this.#within).every((name) => containers.has(name));
  }

  /** Takes the next token. Returns the name of the element that it starts; empty for others. */
  take(token: string): string {
    const [end, , name = ""] = nameOf(token);
    if (end === "/") {
      if (this.#names.length === this.#within) this.#within = 0;
      this.#names.pop();
      return "";
    }
    if (name === "" || isEmpty(token)) return name;
    const depth = this.#names.push(name);
    if (name === "spreadsheet") this.#around = depth;
    // Tables elsewhere are copies of tables in other files.
    const isSheet = name === "table" && this.#around > 0 && depth === this.#around + 1;
    if (isSheet && this.#count++ === this.#sheet) this.#within = depth;
    return name;
  }
}

const isRow = (token: string): boolean => /^<table:table-row[\s/>]/.test(token);

/** Returns the index after a row; see {@link split}. Rows may be in cells of other rows. */
function endOfRow(xml: string, start: number): number | undefined {
  if (!xml.startsWith("<table:table-row", start)) return -1;
  const tag = endOfMarkup(xml, start);
  if (tag === -1) return undefined;
  if (!isRow(xml.slice(start, tag)) || xml[tag - 2] === "/") return -1;
  let depth = 1;
  for (let at = tag; ; ) {
    const end = xml.indexOf("</table:table-row>", at);
    if (end === -1) return undefined;
    const inner = innerRow.exec(xml.slice(at, end));
    depth += inner ? 1 : -1;
    at = inner ? at + inner.index + inner[0].length : end + "</table:table-row>".length;
    if (depth === 0) return at;
  }
}

const innerRow = /<table:table-row[\s>]/;

/** A cell of a row, or what is between cells, with no tag. */
interface RowPiece {
  readonly tag: string;
  /** What is behind the tag. */
  readonly rest: string;
  /** Number of columns. */
  readonly count: number;
  readonly isCovered: boolean;
}

function splitRow(row: string): {
  readonly start: string;
  readonly pieces: readonly RowPiece[];
  readonly end: string;
} {
  const tokens: string[] = [];
  split(row, tokens);
  const [start = "", ...inner] = tokens;
  if (isEmpty(start)) return { start: start.replace(/\s*\/>$/, ">"), pieces: [], end: "</table:table-row>" };
  const end = inner.pop()!;
  const pieces: RowPiece[] = [];
  let [depth, tag, rest] = [0, "", ""];
  for (const token of inner) {
    const [slash, , name = ""] = nameOf(token);
    if (depth === 0 && name.endsWith("table-cell")) tag = token;
    else rest += token;
    if (slash === "/") depth--;
    else if (name !== "" && !isEmpty(token)) depth++;
    if (depth > 0) continue;
    const count = tag === "" ? 0 : countIn(tag, columnsRepeated);
    pieces.push({ tag, rest, count, isCovered: tag.startsWith("<table:covered") });
    [tag, rest] = ["", ""];
  }
  return { start, pieces, end };
}

const countIn = (tag: string, name: string): number => {
  const count = Math.floor(Number(attributeOf(tag, name) ?? 1));
  return count >= 1 ? count : 1;
};

/** Returns a tag for a number of rows or columns. */
function counted(tag: string, name: string, count: number): string {
  if (attributeOf(tag, name) !== undefined) return withAttribute(tag, name, () => String(count));
  return count === 1 ? tag : tag.replace(/[\s/>]/, (end) => ` table:${name}="${count}"${end}`);
}

const isUsed = ({ tag, rest, isCovered }: RowPiece): boolean =>
  isCovered || (tag !== "" && rest !== "") || /\s(?:office:value-type|table:formula)=/.test(tag);

/** Matches the ranges of a sheet in attributes: its name, and a dot. */
const mentionOf = (sheet: string): RegExp =>
  new RegExp(`(?<!#\\$?)(?:^|[^\\p{L}\\d_.'])${sheetPattern(sheet)}\\.\\$?[A-Z\\d]`, "iu");

/** Attributes with ranges that follow the rows, or say nothing about them. */
const following =
  /\s[a-z]+:(?:target-range-address|print-ranges|base-cell-address)=(?:"[^"]*"|'[^']*')|\sxlink:href=(?:"[^"]*"|'[^']*')/g;

/** Conditions with cells of their own sheet: absolute ones in formats, any in lists of allowed values. */
const ownReference =
  /(?:calcext:value|style:condition)="[^"]*\$\d|<table:content-validation\s[^>]*table:condition="[^"]*\[\./;
/** A range in a formula that goes over several sheets. */
const overSheets = /\[[^\]"]*\.[^\]":.]*:[^\]".]+\./;

/** Finds where columns can be added to a sheet, and what refers to rows that may be taken out. */
class Inspector implements SheetVisitor {
  /** The first free column. Cells with content and merged cells are before it, but for a title over the table. */
  free = 0;
  /** Number of columns that the sheet defines. */
  definedColumns = 0;
  /** Number of rows that were found. */
  rows = 0;
  readonly #sheet: string;
  readonly #firstRemovable: number;
  readonly #mention: RegExp;
  #row = 1;

  constructor(sheet: string, firstRemovable = Number.POSITIVE_INFINITY) {
    this.#sheet = sheet;
    this.#firstRemovable = firstRemovable;
    this.#mention = mentionOf(sheet);
  }

  row(xml: string): string {
    const { start, pieces } = splitRow(xml);
    let column = 0;
    let isTitle = false;
    for (const piece of pieces) {
      const { tag, count, isCovered } = piece;
      if (column === 0) isTitle = this.#row === 1 && attributeOf(tag, "number-columns-spanned") !== undefined;
      isTitle &&= column === 0 || isCovered || tag === "";
      if (this.#mayRemove) this.#checkCell(piece, column);
      column += count;
      if (isUsed(piece) && !(isTitle && isCovered)) this.free = Math.max(this.free, column);
    }
    this.#row += countIn(start, rowsRepeated);
    this.rows++;
    return "";
  }

  inside(token: string, name: string): string {
    if (name === "table-column") this.definedColumns += countIn(token, columnsRepeated);
    return this.outside(token);
  }

  outside(token: string): string {
    if (this.#mayRemove && this.#refers(token)) {
      throw removalFault(this.#sheet, "a formula elsewhere, a chart, a name or a filter");
    }
    return "";
  }

  get #mayRemove(): boolean {
    return this.#firstRemovable !== Number.POSITIVE_INFINITY;
  }

  #checkCell({ tag, rest }: RowPiece, column: number): void {
    const place = cellName(column, this.#row);
    const formula = attributeOf(tag, "formula");
    if (formula !== undefined && !/^of:=(?:TRUE|FALSE)\(\)$/.test(formula)) {
      throw removalFault(this.#sheet, `a formula (${place})`);
    }
    const isBeside = this.#row >= this.#firstRemovable && rest.includes(" table:end-cell-address=");
    if (isBeside || rest.includes(" draw:notify-on-update-of-ranges=")) {
      throw removalFault(this.#sheet, `a picture or a chart (${place})`);
    }
    const last = this.#row + countIn(tag, "number-rows-spanned") - 1;
    if (last > this.#row && last >= this.#firstRemovable) {
      throw removalFault(this.#sheet, `merged cells (from ${place})`);
    }
  }

  /** Returns whether a token, which may be a row of another sheet, refers to cells of the sheet. */
  #refers(token: string): boolean {
    const tokens: string[] = [];
    split(token, tokens);
    return tokens.some((tag) => {
      if (!tag.startsWith("<") || isPrintRange(tag)) return false;
      if (ownReference.test(tag) || overSheets.test(tag)) return true;
      return this.#mention.test(dereferenced(tag.replace(following, "")));
    });
  }
}

/** Whether an element is the name that LibreOffice gives to a print range of Excel. */
const isPrintRange = (tag: string): boolean => attributeOf(tag, "name")?.startsWith("_xlnm.") === true;

class ContentChanges implements SheetVisitor {
  readonly #rows: AddedRows;
  readonly #columns: SheetColumns;
  readonly #sheet: string;
  /** Number of columns that the sheet lacks. */
  #missing: number;
  #row = 1;
  #column = 0;
  /** Whether the tokens belong to a format of which no cell is left. */
  #leftOut = false;

  constructor(sheet: string, definedColumns: number, columns: SheetColumns, rows: AddedRows) {
    this.#sheet = sheet;
    this.#columns = columns;
    this.#rows = rows;
    this.#missing = Math.max(0, columns.last + 1 - definedColumns);
  }

  async row(xml: string): Promise<string> {
    const before = this.#missingColumns();
    if (this.#rows.isDone) return before + xml;
    const { start, pieces, end } = splitRow(xml);
    const count = countIn(start, rowsRepeated);
    /** What repeated rows have in them, and how many: equal rows get equal cells, unless the quota ends among them. */
    const written: { readonly content: string; count: number }[] = [];
    let isChanged = false;
    for (let nth = 0; nth < count; nth++) {
      const cells = this.#rows.isDone ? [] : await this.#rows.cellsOf(this.#row + nth);
      isChanged ||= cells === undefined || cells.length > 0;
      if (cells === undefined) {
        this.#rows.removed.add(this.#row + nth);
        continue;
      }
      const content = withAdded(pieces, cells);
      const rest = this.#rows.isDone ? count - nth : 1;
      if (written.at(-1)?.content === content) written.at(-1)!.count += rest;
      else written.push({ content, count: rest });
      nth += rest - 1;
    }
    this.#row += count;
    if (!isChanged) return before + xml;
    const rows = written.map((row) => `${counted(start, rowsRepeated, row.count)}${row.content}${end}`);
    return before + rows.join("");
  }

  inside(token: string, name: string): string {
    if (this.#leftOut) {
      this.#leftOut = !token.startsWith("</calcext:conditional-format>");
      return "";
    }
    if (name === "conditional-format") {
      const written = this.outside(token);
      this.#leftOut = attributeOf(written, "target-range-address") === "";
      return this.#leftOut ? "" : written;
    }
    if (name === "table") return this.outside(token);
    if (name === "table-column") {
      const first = this.#column;
      this.#column += countIn(token, columnsRepeated);
      return shown(token, first, this.#columns);
    }
    return (containers.has(name) ? this.#missingColumns() : "") + this.outside(token);
  }

  outside(token: string): string {
    if (isRow(token) || !/-(?:address|ranges)=/.test(token)) return token;
    const isFormat = token.startsWith("<calcext:");
    const names = [
      "target-range-address",
      "print-ranges",
      ...(isPrintRange(token) ? ["cell-range-address"] : []),
    ];
    return names.reduce(
      (changed, name) => withAttribute(changed, name, (ranges) => this.#changed(ranges, !isFormat)),
      token,
    );
  }

  /** Returns ranges, such as `People.A1:People.B9`, with the added columns and without the rows that are taken out. */
  #changed(written: string, isWidened: boolean): string {
    const ranges = dereferenced(written);
    const changed = ranges
      .replace(range, (whole, sheet: string, first: string, middle = "", last = "") => {
        if (nameIn(sheet) !== this.#sheet) return whole;
        const cells = last === "" ? first : `${first}:${last}`;
        const wide = isWidened ? this.#columns.widened(cells) : cells;
        const [from, to = ""] = this.#rows.removed.without(wide).split(":");
        return from === "" ? "" : `${sheet}.${from}${middle}${to}`;
      })
      .replace(/ {2,}/g, " ")
      .trim();
    return changed === ranges ? written : escapeMarkup(changed).replaceAll("'", "&apos;");
  }

  #missingColumns(): string {
    const count = this.#missing;
    this.#missing = 0;
    return count === 0 ? "" : counted("<table:table-column/>", columnsRepeated, count);
  }
}

/** A cell or a range: the sheet, the first cell, a colon with or without the sheet, and the last cell. */
const range =
  /(\$?(?:'(?:[^']|'')*'|[^\s'.:$]+))\.(\$?[A-Z]+\$?\d+)(?:(:(?:\$?(?:'(?:[^']|'')*'|[^\s'.:$]+))?\.)(\$?[A-Z]+\$?\d+))?/g;

/** Returns the name of a sheet in an address. */
function nameIn(address: string): string {
  const name = address.replace(/^\$/, "");
  return name.startsWith("'") ? name.slice(1, -1).replaceAll("''", "'") : name;
}

/** Returns the contents of a row with cells in their columns. */
function withAdded(pieces: readonly RowPiece[], added: readonly AddedCell[]): string {
  const left = added.toReversed();
  let out = "";
  let column = 0;
  let style = "";
  for (const piece of pieces) {
    const { tag, rest } = piece;
    const own = attributeOf(tag, "style-name") ?? "";
    const end = column + piece.count;
    let at = column;
    for (let cell = left.at(-1); cell !== undefined && cell.column < end; cell = left.at(-1)) {
      left.pop();
      if (cell.column > at) out += counted(tag, columnsRepeated, cell.column - at) + rest;
      out += written(cell, cell.isHeader && rest === "" && own === "" ? style : own);
      at = cell.column + 1;
    }
    if (at === column) out += tag + rest;
    else if (at < end) out += counted(tag, columnsRepeated, end - at) + rest;
    column = end;
    if (isUsed(piece)) style = own;
  }
  for (const cell of added.slice(added.length - left.length)) {
    if (cell.text === "") continue;
    if (cell.column > column) out += counted("<table:table-cell/>", columnsRepeated, cell.column - column);
    out += written(cell, cell.isHeader ? style : "");
    column = cell.column + 1;
  }
  return out;
}

function written({ text }: AddedCell, style: string): string {
  const attribute = style && ` table:style-name="${style}"`;
  if (text === "") return `<table:table-cell${attribute}/>`;
  return `<table:table-cell${attribute} office:value-type="string">${paragraphsOf(text)}</table:table-cell>`;
}

/** Returns text as paragraphs. Characters that XML does not allow are replaced, and spaces kept (6.1.2 of the standard). */
export const paragraphsOf = (text: string): string =>
  text
    .split("\n")
    .map((line) => `<text:p>${textOf(line)}</text:p>`)
    .join("");

const textOf = (line: string): string =>
  escapeMarkup(line)
    .replace(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g, "\ufffd")
    .replace(/\t/g, "<text:tab/>")
    .replace(/^ | (?= )| $/g, "<text:s/>");

/** Takes the added columns out of a range of hidden columns. */
function shown(token: string, from: number, { first, last }: SheetColumns): string {
  const count = countIn(token, columnsRepeated);
  const isHidden = /^(?:collapse|filter)$/.test(attributeOf(token, "visibility") ?? "");
  if (!isHidden || !isEmpty(token) || last < first || from > last || from + count <= first) return token;
  const part = (start: number, end: number, tag: string) =>
    start >= end ? "" : counted(tag, columnsRepeated, end - start);
  const [start, end] = [Math.max(from, first), Math.min(from + count, last + 1)];
  const visible = withAttribute(token, "visibility", () => "visible");
  return part(from, start, token) + part(start, end, visible) + part(end, from + count, token);
}
