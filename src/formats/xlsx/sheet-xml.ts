/** Changes the XML of a sheet (ECMA-376 part 1) as it is read: adds cells, takes rows out, copies everything else. */
import { type AddedCell, RemovedRows, type SheetColumns } from "./added-cells.js";
import { cellName, columnLetters, columnOf } from "./sheet.js";
import { attributeOf, endOfMarkup, escapeXml, isEmpty, nameOf, split, tokensOf, withAttribute } from "./xml.js";

export interface SheetChanges {
  /** Those from `first` to `last` are new to the sheet. They become visible. */
  readonly columns: Pick<SheetColumns, "first" | "last" | "widened">;
  readonly removed: RemovedRows;
  /** Cells of a row, from 1, by column; undefined to take the row out. Called with rising numbers. */
  cellsOf(row: number): readonly AddedCell[] | undefined | Promise<readonly AddedCell[] | undefined>;
}

/** @throws Error from the iteration if the XML is not UTF-8, or its rows are not in order */
export async function* withCells(bytes: AsyncIterable<Uint8Array>, changes: SheetChanges): AsyncGenerator<Uint8Array> {
  for await (const piece of written(bytes, new ChangedSheet(changes))) yield Buffer.from(piece);
}

async function* written(bytes: AsyncIterable<Uint8Array>, sheet: ChangedSheet): AsyncGenerator<string> {
  for await (const tokens of tokensOf(bytes, endOfRow)) {
    let piece = "";
    for (const token of tokens) {
      const text = isWholeRow(token) ? sheet.takeRow(token) : sheet.take(token);
      piece += typeof text === "string" ? text : await text;
    }
    yield piece;
  }
}

export interface RowReference {
  readonly element: string;
  /** The cells or the row that it refers to; for a formula, the cells that it applies to. */
  readonly cells: string;
  readonly formula?: string;
}

type OnReference = (reference: RowReference) => void;

/** `onReference` gets what removed rows might break. @throws Error */
export async function firstFreeColumn(bytes: AsyncIterable<Uint8Array>, onReference?: OnReference): Promise<number> {
  const columns = { first: 0, last: -1, widened: (range: string) => range };
  const sheet = new ChangedSheet({ columns, removed: new RemovedRows(), cellsOf: () => [] }, onReference);
  for await (const _ of written(bytes, sheet)) {
    // The text is not needed.
  }
  return sheet.free;
}

/** Calls `use` at once unless the value is a promise: most rows wait for nothing. */
const after = <Value, Result>(
  value: Value | Promise<Value>,
  use: (value: Value) => Result,
): Result | Promise<Result> => (value instanceof Promise ? value.then(use) : use(value));

const rowEnd = "</row>";
const isWholeRow = (token: string): boolean => token.endsWith(rowEnd) && token.length > rowEnd.length;

class ChangedSheet {
  /** Column behind the last one with content. */
  free = 0;
  #isData = false;
  #leftOut: string | undefined;
  /** Start tag of a list whose elements refer to rows, held back until one of them is kept. */
  #list: string | undefined;
  #element = "";
  #ranges = "";
  #breaks = "";
  #row = 0;
  /** Number in the written sheet; `#row` is that in the original. */
  #number = 0;
  #column = -1;
  /** Cells that are still to be put into the row, the last one first. */
  #left: AddedCell[] = [];
  #style = "";
  #prefix = "";

  constructor(
    private readonly changes: SheetChanges,
    private readonly onReference?: OnReference,
  ) {}

  #use(column: number): void {
    this.free = Math.max(this.free, column + 1);
  }

  /** In most rows, the added cells follow the last one. */
  takeRow(token: string): string | Promise<string> {
    if (!this.#isData) return token;
    const start = token.slice(0, endOfMarkup(token, 0));
    return after(this.#startRow(start), (before) =>
      before === undefined ? "" : before + this.#cellsOfRow(token.slice(start.length, -rowEnd.length)) + rowEnd,
    );
  }

  #cellsOfRow(cells: string): string {
    const next = this.#left.at(-1);
    const at = cells.lastIndexOf("<c");
    const last = at === -1 ? "" : cells.slice(at, endOfMarkup(cells, at));
    const address = attributeOf(last, "r");
    if (address !== undefined && !isEmpty(last) && next === undefined) this.#use(columnOf(address));
    const isKept = this.changes.removed.count === 0 && this.onReference === undefined;
    if (isKept && address !== undefined && (next === undefined ? !isEmpty(last) : columnOf(address) < next.column)) {
      this.#style = attributeOf(last, "s") ?? "";
      return `${cells}${this.#rest()}`;
    }
    const tokens: string[] = [];
    split(cells, tokens);
    return `${tokens.map((cell) => this.take(cell)).join("")}${this.#rest()}`;
  }

  take(token: string): string | Promise<string> {
    const [end, prefix = "", name] = nameOf(token);
    if (this.#leftOut !== undefined) {
      if (name === this.#leftOut && end === "/") this.#leftOut = undefined;
      return "";
    }
    if (this.onReference) this.#findReferences(token, end, name);
    if (name === "sheetData") {
      this.#isData = end === "" && !isEmpty(token);
      this.#prefix = prefix;
      return token;
    }
    if (!this.#isData) return this.#takeOutside(token, end, name);
    if (name === "row") return end === "" ? this.#takeStart(token) : `${this.#rest()}${token}`;
    return name === "c" && end === "" ? this.#cell(token) : token;
  }

  #takeOutside(token: string, end: string | undefined, name = ""): string {
    if (this.changes.removed.count > 0) {
      if (lists.has(name)) return this.#takeList(token, end);
      const attribute = followers.get(name);
      if (attribute !== undefined && end === "") return this.#follow(token, name, attribute);
    }
    if (name === "dimension") return withAttribute(token, "ref", (range) => this.#including(range));
    if (name === "autoFilter" && end === "") return withAttribute(token, "ref", this.changes.columns.widened);
    if (name === "col") return this.#shown(token);
    if (name === "mergeCell") {
      const [from, to = ""] = (attributeOf(token, "ref") ?? "").split(":");
      // A title may be merged beyond the columns of the table.
      if (from !== "A1") this.#use(columnOf(to));
    }
    return token;
  }

  #takeStart(token: string): string | Promise<string> {
    return after(this.#startRow(token), (start) => {
      if (start === undefined && !isEmpty(token)) this.#leftOut = "row";
      return start ?? "";
    });
  }

  /** Returns undefined if the row is taken out. */
  #startRow(written: string): string | undefined | Promise<string | undefined> {
    const row = Number(attributeOf(written, "r") ?? this.#row + 1);
    if (!(row > this.#row)) throw new Error("its rows are not in the order of their numbers");
    this.#row = row;
    this.#column = -1;
    this.#style = "";
    return after(this.changes.cellsOf(row), (cells) => this.#started(written, row, cells));
  }

  #started(written: string, row: number, cells: readonly AddedCell[] | undefined): string | undefined {
    const { removed } = this.changes;
    if (cells === undefined) {
      removed.add(row);
      return undefined;
    }
    this.#number = row - removed.count;
    const token = removed.count === 0 ? written : numbered(written, this.#number);
    if (cells.length === 0) return token;
    this.#left = cells.toReversed();
    // `spans`, the columns that a row says it uses, is only a hint for speed.
    const start = token.replace(/\sspans\s*=\s*(?:"[^"]*"|'[^']*')/, "");
    if (!isEmpty(token)) return start;
    return `${start.replace(/\s*\/>$/, ">")}${this.#rest()}</${this.#prefix}row>`;
  }

  #including(range: string): string {
    const [, start, last = "", end] = /^([A-Z]+\d+:)([A-Z]+)(\d+)$/.exec(range) ?? [];
    const { first, last: lastAdded } = this.changes.columns;
    if (start === undefined || lastAdded < first || columnOf(last) >= lastAdded) return range;
    return `${start}${columnLetters(lastAdded)}${end}`;
  }

  #shown(token: string): string {
    const { first, last } = this.changes.columns;
    const [from, to] = ["min", "max"].map((name) => Number(attributeOf(token, name)) - 1) as [number, number];
    const isHidden = /^(?:1|true)$/.test(attributeOf(token, "hidden") ?? "");
    if (!isHidden || last < first || !(from <= last && to >= first) || !isEmpty(token)) return token;
    const part = (min: number, max: number) => {
      const started = withAttribute(token, "min", () => String(min + 1));
      return min > max ? "" : withAttribute(started, "max", () => String(max + 1));
    };
    return `${part(from, first - 1)}${part(last + 1, to)}`;
  }

  /** A list without elements would be invalid, so it is left out. */
  #takeList(token: string, end: string | undefined): string {
    const isLeft = this.#list === undefined;
    this.#list = end === "" && !isEmpty(token) ? withoutCount(token) : undefined;
    return end === "/" && isLeft ? token : "";
  }

  #follow(token: string, name: string, attribute: string): string {
    let isLeft = true;
    const followed = withAttribute(token, attribute, (ranges) => {
      const wide = name === "autoFilter" ? this.changes.columns.widened(ranges) : ranges;
      const found = this.changes.removed.without(wide);
      isLeft = found !== "";
      return found;
    });
    if (!isLeft) {
      if (!isEmpty(token)) this.#leftOut = name;
      return "";
    }
    const list = this.#list ?? "";
    this.#list = undefined;
    return `${list}${followed}`;
  }

  #findReferences(token: string, end: string | undefined, name = ""): void {
    const isFormula = name === "" ? this.#element === "f" : name === "f" && end === "" && isEmpty(token);
    if (!this.#isData) this.#findOutside(token, end, name);
    else if (isFormula) {
      const cells = cellName(this.#column, this.#row);
      this.onReference!({ element: "f", cells, formula: name === "" ? token : "" });
    }
    if (name !== "") this.#element = end === "" ? name : "";
  }

  #findOutside(token: string, end: string | undefined, name: string): void {
    const found = (cells: string | undefined) => cells !== undefined && this.onReference!({ element: name, cells });
    if (name === "") {
      if (formulas.has(this.#element))
        this.onReference!({ element: this.#element, cells: this.#ranges, formula: token });
      return;
    }
    if (end !== "" || name === "dimension" || name === "selection") return;
    if (name.endsWith("Breaks")) this.#breaks = name;
    if (followers.has(name)) this.#ranges = attributeOf(token, "sqref") ?? "";
    else if (name === "sqref") found("");
    else if (name === "brk") found(this.#breaks === "rowBreaks" ? attributeOf(token, "id") : undefined);
    else if (name === "cellWatch" || name === "inputCells") found(attributeOf(token, "r"));
    else found(attributeOf(token, "ref") ?? attributeOf(token, "sqref"));
  }

  #cell(token: string): string {
    const address = attributeOf(token, "r");
    this.#column = address === undefined ? this.#column + 1 : columnOf(address);
    if (!isEmpty(token)) this.#use(this.#column);
    const before = this.#rest(this.#column);
    this.#style = attributeOf(token, "s") ?? "";
    const added = this.#left.at(-1);
    if (added?.column !== this.#column) {
      if (this.#number === this.#row) return `${before}${token}`;
      return `${before}${withAttribute(token, "r", () => cellName(this.#column, this.#number))}`;
    }
    this.#left.pop();
    if (!isEmpty(token)) this.#leftOut = "c";
    return `${before}${this.#written(added, this.#style)}`;
  }

  #rest(column = Number.POSITIVE_INFINITY): string {
    let out = "";
    for (let cell = this.#left.at(-1); cell !== undefined && cell.column < column; cell = this.#left.at(-1)) {
      this.#left.pop();
      if (cell.text !== "") out += this.#written(cell, cell.isHeader ? this.#style : "");
    }
    return out;
  }

  #written({ column, text }: AddedCell, style: string): string {
    const p = this.#prefix;
    const attributes = `r="${cellName(column, this.#number)}"${style && ` s="${style}"`}`;
    if (text === "") return `<${p}c ${attributes}/>`;
    return `<${p}c ${attributes} t="inlineStr"><${p}is><${p}t xml:space="preserve">${escapeXml(text)}</${p}t></${p}is></${p}c>`;
  }
}

/** Elements after the cells whose ranges are adjusted, with their attribute; and lists of such elements. */
const followers: ReadonlyMap<string, string> = new Map([
  ...["autoFilter", "sortState", "sortCondition", "hyperlink"].map((name) => [name, "ref"] as const),
  ...["conditionalFormatting", "dataValidation"].map((name) => [name, "sqref"] as const),
  ...["ignoredError", "protectedRange"].map((name) => [name, "sqref"] as const),
]);
const lists: ReadonlySet<string> = new Set(["hyperlinks", "dataValidations", "ignoredErrors", "protectedRanges"]);
export const formulas: ReadonlySet<string> = new Set(["formula", "formula1", "formula2", "f"]);

/** A row without a number would follow the row before it, which may be taken out. */
const numbered = (token: string, number: number): string =>
  attributeOf(token, "r") === undefined
    ? token.replace(/[\s/>]/, (end) => ` r="${number}"${end}`)
    : withAttribute(token, "r", () => String(number));

const withoutCount = (token: string): string => token.replace(/\scount\s*=\s*(?:"[^"]*"|'[^']*')/, "");

/** Returns -1 for a row that is incomplete, or has comments or sections. */
function endOfRow(xml: string, start: number): number {
  if (!xml.startsWith("<row", start) || !/[\s>]/.test(xml[start + 4] ?? "")) return -1;
  const end = xml.indexOf(rowEnd, start);
  if (end === -1 || xml[xml.indexOf(">", start) - 1] === "/") return -1;
  return xml.slice(start, end).includes("<!") ? -1 : end + rowEnd.length;
}
