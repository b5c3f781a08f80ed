// Adds columns to a sheet of a workbook (.xlsx): cells to its rows, and the columns to the ranges that end at its last
// one. Takes rows out, unless something refers to them that could not be adjusted. Other parts are copied as compressed
// bytes; a library would lose charts, comments or styles, which it does not understand.

import type { ChangedPart } from "../zip/archive.js";
import { AddedRows, SheetColumns } from "./added-cells.js";
import { type AddedColumns, bookPath, type SheetChange, SheetFault, sheetPattern } from "./sheet.js";
import { firstFreeColumn, formulas, type RowReference, withCells } from "./sheet-xml.js";
import { attributeOf, dereferenced, escapeXml, nameOf, tokensOf, withAttribute } from "./xml.js";

interface SheetParts {
  readonly sheet: { readonly name: string; readonly path: string };
  readonly related: (type: string) => readonly string[];
  readonly paths: readonly string[];
  readonly read: (path: string) => AsyncIterable<Uint8Array>;
}

/** Reads all parts, so that their faults are found before a run begins. @throws SheetFault */
export async function addColumns(parts: SheetParts, added: AddedColumns): Promise<SheetChange> {
  const { sheet, related, read } = parts;
  const tables = related("table");
  const { firstRemovable } = added;
  const references = firstRemovable === undefined ? undefined : new References(parts, firstRemovable);
  const free = await firstFreeColumn(read(sheet.path), references?.check);
  await references?.checkOthers();
  const columns = new SheetColumns(sheet.name, added, free);
  for (const path of [...tables, bookPath]) {
    for await (const _ of tokensOf(read(path))) {
      // Read for its faults only.
    }
  }
  return async function* changed(batches) {
    const rows = new AddedRows(sheet.name, added, columns, batches);
    yield { path: sheet.path, bytes: withCells(read(sheet.path), rows) };
    await rows.end();
    for (const path of tables) yield* ifChanged(path, read(path), tableChange(rows, added));
    yield* ifChanged(bookPath, read(bookPath), bookChange(rows, sheet.name));
  };
}

type Change = (token: string) => string;

/** Kept in memory, because these parts are small. */
async function* ifChanged(path: string, bytes: AsyncIterable<Uint8Array>, change: Change): AsyncGenerator<ChangedPart> {
  let [before, after] = ["", ""];
  for await (const tokens of tokensOf(bytes)) {
    before += tokens.join("");
    after += tokens.map(change).join("");
  }
  async function* changed() {
    yield Buffer.from(after);
  }
  if (after !== before) yield { path, bytes: changed() };
}

/** The names of the columns of a table must be those in its header. */
function tableChange(rows: AddedRows, { names, indices, width }: AddedColumns): Change {
  const { widened } = rows.columns;
  const added = names.filter((_, i) => indices[i]! >= width);
  let isWidened = false;
  let lastId = 0;
  return (token) => {
    const [end, prefix = "", name] = nameOf(token);
    if (name === "table" && end === "") {
      const range = attributeOf(token, "ref") ?? "";
      const isAtHeader = Number(/^\$?[A-Z]+\$?(\d+):/.exec(range)?.[1]) === rows.headerRow;
      isWidened = isAtHeader && widened(range) !== range;
    }
    if (!isWidened) return token;
    if ((name === "table" || name === "autoFilter") && end === "") return withAttribute(token, "ref", widened);
    if (name === "tableColumn" && end === "") lastId = Math.max(lastId, Number(attributeOf(token, "id")));
    if (name !== "tableColumns") return token;
    if (end === "") return withAttribute(token, "count", (count) => String(Number(count) + added.length));
    const columns = added.map(
      (text) => `<${prefix}tableColumn id="${++lastId}" name="${escapeXml(text).replace(/[\n\t]/g, escaped)}"/>`,
    );
    return `${columns.join("")}${token}`;
  };
}

/** Line breaks and tabs in attributes would be read as spaces. */
const escaped = (character: string): string => (character === "\n" ? "_x000a_" : "_x0009_");

/** Widens the print area and the range of the filter, and shortens them by the rows that are taken out. */
function bookChange({ removed, columns }: AddedRows, sheet: string): Change {
  let isRange = false;
  return (token) => {
    const [end, , name] = nameOf(token);
    if (name === "definedName") {
      isRange = end === "" && /^_xlnm\.(?:Print_Area|_FilterDatabase)$/.test(attributeOf(token, "name") ?? "");
    }
    if (!isRange || name !== undefined) return token;
    return token.replace(printRange, (whole, quoted?: string, plain?: string, range = "") => {
      const name = quoted === undefined ? plain : dereferenced(quoted).replaceAll("''", "'");
      if (dereferenced(name ?? "") !== sheet) return whole;
      return `${whole.slice(0, -range.length)}${removed.without(columns.widened(range)) || range}`;
    });
  };
}

/** A range with the name of its sheet. In XML, apostrophes may be written as references. */
const printRange =
  /(?:(?:'|&apos;)((?:(?!'|&apos;)[^!]|''|&apos;&apos;)+)(?:'|&apos;)|([^'!,&]+(?:&amp;[^'!,&]*)*))!([$A-Z\d:]+)/g;

/** Parts that may refer to the cells of a sheet, and kinds of parts that are bound to cells of their sheet. */
const referring = /^xl\/(?:worksheets|charts|pivotCache|drawings)\/[^/]+\.xml$/;
const bound: ReadonlyMap<string, string> = new Map([
  ["table", "a table"],
  ["pivotTable", "a pivot table"],
  ["ctrlProp", "a control"],
]);

const elsewhere = /(?:'(?:[^']|'')*'|[\p{L}\d_.]+)!\$?[A-Z]{0,3}\$?\d*(?::\$?[A-Z]{0,3}\$?\d*)?/giu;
const cellReference = /(?<![A-Z\d_.$])\$?[A-Z]{1,3}(\$?)(\d+)(?![\d(A-Z_])/gi;
const rowsReference = /(?<![A-Z\d_.$])\$?\d+:\$?\d+/i;
const overSheets = /'(?:[^']|'')*:(?:[^']|'')*'!|[\p{L}\d_.]+:[\p{L}\d_.]+!/u;

class References {
  readonly #mention: RegExp;

  constructor(
    private readonly parts: SheetParts,
    private readonly first: number,
  ) {
    this.#mention = new RegExp(`(?:^|[^\\p{L}\\d_.'\\]])${sheetPattern(parts.sheet.name)}!`, "iu");
    this.check = this.check.bind(this);
  }

  check({ element, cells, formula }: RowReference): void {
    if (formula !== undefined) {
      const isInCell = element === "f";
      if (isInCell ? /^(?:TRUE|FALSE)\(\)$/.test(formula) : !this.#isBound(dereferenced(formula), cells)) return;
      throw this.#fault(`a formula (${isInCell ? cells : dereferenced(formula)})`);
    }
    const rows = cells.match(/\d+/g) ?? [this.first];
    if (rows.every((row) => Number(row) < this.first)) return;
    const names: Readonly<Record<string, string>> = { mergeCell: "merged cells", brk: "a page break" };
    throw this.#fault(`${names[element] ?? "a range"} (${cells || "in a format of newer versions"})`);
  }

  /** Whether the formula of a format would be wrong if the cells that it applies to moved up. */
  #isBound(formula: string, cells: string): boolean {
    if (overSheets.test(formula)) return true;
    const own = formula.replace(elsewhere, (reference) =>
      this.#mention.test(reference) ? reference.slice(reference.lastIndexOf("!") + 1) : "",
    );
    const references = [...own.matchAll(cellReference)];
    const top = Math.min(...Array.from(cells.matchAll(/\d+/g), ([row]) => Number(row)));
    // A relative reference counts from the first cell, which stays in its row only if that is the first one.
    const isWrong = ([, sign, row]: RegExpExecArray) =>
      sign === "" ? !(top <= this.first) : Number(row) >= this.first;
    return rowsReference.test(own) || references.some(isWrong);
  }

  async checkOthers(): Promise<void> {
    const { sheet, related, paths } = this.parts;
    for (const [type, what] of bound) if (related(type).length > 0) throw this.#fault(what);
    for (const path of related("comments")) await this.#each(path, (token) => this.#checkNote(token));
    for (const path of related("drawing")) await this.#each(path, this.#anchorCheck());
    await this.#each(bookPath, this.#nameCheck());
    for (const path of paths) {
      if (referring.test(path) && path !== sheet.path) await this.#each(path, this.#mentionCheck(path));
    }
  }

  async #each(path: string, see: (token: string) => void): Promise<void> {
    for await (const tokens of tokensOf(this.parts.read(path))) tokens.forEach(see);
  }

  #checkNote(token: string): void {
    const cell = attributeOf(token, "ref") ?? "";
    if (Number(/\d+$/.exec(cell)?.[0] ?? 0) >= this.first) throw this.#fault(`a note (${cell})`);
  }

  /** Rows of pictures and charts count from 0. */
  #anchorCheck(): (token: string) => void {
    let [isStart, isRow] = [false, false];
    return (token) => {
      const [end, , name] = nameOf(token);
      if (name === "from") isStart = end === "";
      if (name !== undefined) isRow = isStart && name === "row" && end === "";
      else if (isRow && Number(token) + 1 >= this.first) throw this.#fault("a picture or a chart beside them");
    };
  }

  #nameCheck(): (token: string) => void {
    let defined: string | undefined;
    return (token) => {
      const [end, , name] = nameOf(token);
      if (name === "definedName") defined = end === "" ? (attributeOf(token, "name") ?? "") : undefined;
      const isOurs = defined === undefined || /^_xlnm\.(?:Print_Area|Print_Titles|_FilterDatabase)$/.test(defined);
      if (name !== undefined || isOurs) return;
      if (this.#isMentioned(token)) throw this.#fault(`the name ${dereferenced(defined!)}`);
    };
  }

  #isMentioned(text: string): boolean {
    const formula = dereferenced(text);
    return this.#mention.test(formula) || overSheets.test(formula);
  }

  #mentionCheck(path: string): (token: string) => void {
    const what = path.startsWith("xl/worksheets/") ? "a formula in another sheet" : "a chart or a pivot table";
    let element = "";
    return (token) => {
      const [end, , name] = nameOf(token);
      if (name !== undefined) element = end === "" ? name : "";
      const formula = formulas.has(element) && name === undefined ? token : attributeOf(token, "textlink");
      const source = name === "worksheetSource" ? attributeOf(token, "sheet") : undefined;
      const isSource = dereferenced(source ?? "") === this.parts.sheet.name;
      if (this.#isMentioned(formula ?? "") || isSource) throw this.#fault(what);
    };
  }

  #fault(what: string): SheetFault {
    const { name } = this.parts.sheet;
    const needed = `sheet "${name}": rows that may be left out are needed by ${what}`;
    return new SheetFault(needed, "use -o FILE.csv, or --split");
  }
}
