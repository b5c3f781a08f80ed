/**
 * Adds columns to a sheet of an OpenDocument spreadsheet (.ods, OpenDocument 1.3 part 3): the cells to its rows, and
 * the columns to the ranges that end at its last column, which are its filters and print ranges. Takes rows out, unless
 * something refers to them that could not be adjusted. Everything else in `content.xml` is copied unchanged.
 */
import { AddedRows, removalFault, SheetColumns } from "./added-cells.js";
import {
  columnsRepeated,
  containers,
  contentPath,
  counted,
  countIn,
  isRow,
  isUsed,
  type RowPiece,
  rowsRepeated,
  type SheetVisitor,
  splitRow,
  visited,
  withAdded,
} from "./ods-xml.js";
import {
  type AddedColumns,
  cellName,
  type SheetAddress,
  type SheetChange,
  SheetFault,
  sheetPattern,
} from "./sheet.js";
import { attributeOf, dereferenced, escapeMarkup, isEmpty, split, withAttribute } from "./xml.js";

/**
 * Returns the change of the part with the sheets. Reads all of it, so that its faults are found before a run begins.
 *
 * @throws SheetFault if there is no room for the columns, something refers to rows that may be taken out, or the XML
 *   cannot be changed
 */
export async function addColumns(
  content: () => AsyncIterable<Uint8Array>,
  { index, name }: SheetAddress,
  added: AddedColumns,
): Promise<SheetChange> {
  const inspector = new Inspector(name, added.firstRemovable);
  for await (const _ of visited(content(), index, inspector)) {
    // Only the findings of the inspector are needed.
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

/** Matches the ranges of a sheet in attributes: its name, and a dot. */
const mentionOf = (sheet: string): RegExp =>
  new RegExp(`(?<!#\\$?)(?:^|[^\\p{L}\\d_.'])${sheetPattern(sheet)}\\.\\$?[A-Z\\d]`, "iu");

/** Attributes with ranges that are adjusted when rows are taken out, or that do not depend on rows. */
const following =
  /\s[a-z]+:(?:target-range-address|print-ranges|base-cell-address)=(?:"[^"]*"|'[^']*')|\sxlink:href=(?:"[^"]*"|'[^']*')/g;

/**
 * Conditions with cells of their own sheet: absolute ones in formats, any in lists of allowed values; and ranges over
 * several sheets in formulas.
 */
const ownReference =
  /(?:calcext:value|style:condition)="[^"]*\$\d|<table:content-validation\s[^>]*table:condition="[^"]*\[\./;
const overSheets = /\[[^\]"]*\.[^\]":.]*:[^\]".]+\./;

class Inspector implements SheetVisitor {
  /** The first free column, after all cells with content and all merged cells, except for a title over the table. */
  free = 0;
  definedColumns = 0;
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
    const cell = cellName(column, this.#row);
    const formula = attributeOf(tag, "formula");
    if (formula !== undefined && !/^of:=(?:TRUE|FALSE)\(\)$/.test(formula)) {
      throw removalFault(this.#sheet, `a formula (${cell})`);
    }
    const isBeside = this.#row >= this.#firstRemovable && rest.includes(" table:end-cell-address=");
    if (isBeside || rest.includes(" draw:notify-on-update-of-ranges=")) {
      throw removalFault(this.#sheet, `a picture or a chart (${cell})`);
    }
    const last = this.#row + countIn(tag, "number-rows-spanned") - 1;
    if (last > this.#row && last >= this.#firstRemovable) {
      throw removalFault(this.#sheet, `merged cells (from ${cell})`);
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
  #missing: number;
  #row = 1;
  #column = 0;
  /** Whether the tokens belong to a conditional format of which no cell is left. */
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
    /**
     * Contents of the rows to write, with their counts: equal rows get equal cells, unless the quota ends among them.
     */
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

function nameIn(address: string): string {
  const name = address.replace(/^\$/, "");
  return name.startsWith("'") ? name.slice(1, -1).replaceAll("''", "'") : name;
}

/** Makes the added columns in a range of hidden columns visible. */
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
