/**
 * The XML of an OpenDocument spreadsheet (OpenDocument 1.3 part 3): finds its sheets and rows, splits rows into cells,
 * and puts cells into them.
 */
import type { AddedCell } from "./added-cells.js";
import {
  attributeOf,
  endOfMarkup,
  escapeMarkup,
  isEmpty,
  nameOf,
  split,
  tokensOf,
  withAttribute,
} from "./xml.js";

export const contentPath = "content.xml";
export const rowsRepeated = "number-rows-repeated";
export const columnsRepeated = "number-columns-repeated";

export interface SheetVisitor {
  row(xml: string): string | Promise<string>;
  /** Takes a token of the sheet outside its rows; the first one is its start. */
  inside(token: string, name: string): string;
  /** Takes a token outside the sheet. A row of another sheet is one token. */
  outside(token: string): string;
}

export async function* visited(
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
export const containers: ReadonlySet<string> = new Set([
  "table-header-rows",
  "table-rows",
  "table-row-group",
]);

class SheetPath {
  readonly #sheet: number;
  readonly #names: string[] = [];
  #count = 0;
  /** Number of elements around the sheets, and around the contents of this one; 0 outside. */
  #around = 0;
  #within = 0;

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

export const isRow = (token: string): boolean => /^<table:table-row[\s/>]/.test(token);

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

/** A cell of a row: its tag, and the markup up to its end. Markup between cells has an empty tag. */
export interface RowPiece {
  readonly tag: string;
  readonly rest: string;
  /** Number of columns. */
  readonly count: number;
  readonly isCovered: boolean;
}

export function splitRow(row: string): {
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

export const countIn = (tag: string, name: string): number => {
  const count = Math.floor(Number(attributeOf(tag, name) ?? 1));
  return count >= 1 ? count : 1;
};

export function counted(tag: string, name: string, count: number): string {
  if (attributeOf(tag, name) !== undefined) return withAttribute(tag, name, () => String(count));
  return count === 1 ? tag : tag.replace(/[\s/>]/, (end) => ` table:${name}="${count}"${end}`);
}

export const isUsed = ({ tag, rest, isCovered }: RowPiece): boolean =>
  isCovered || (tag !== "" && rest !== "") || /\s(?:office:value-type|table:formula)=/.test(tag);

export function withAdded(pieces: readonly RowPiece[], added: readonly AddedCell[]): string {
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

/**
 * Returns text as paragraphs. Replaces characters that XML does not allow, and keeps spaces (6.1.2 of the standard).
 */
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
