/**
 * Adds columns to a sheet of a workbook of Excel (.xlsx, ECMA-376 part 1, SpreadsheetML): the cells to its rows, and the
 * columns to the ranges that end at its last column: its dimension, its filter, its tables and its print area.
 */
import { buffer } from "node:stream/consumers";
import { type AddedColumns, type ChangedPart, columnLetters, columnOf } from "./sheet.js";
import {
  type AddedCell,
  attributeOf,
  escapeXml,
  type SheetChanges,
  tokensOf,
  withAttribute,
  withCells,
} from "./sheet-xml.js";
import { dereferenced } from "./xml.js";

export interface SheetParts {
  readonly sheet: { readonly name: string; readonly path: string };
  readonly tables: readonly string[];
  readonly read: (path: string) => AsyncIterable<Uint8Array>;
}

const bookPath = "xl/workbook.xml";

/** Yields the parts that change, the sheet first. */
export async function* changedParts(
  { sheet, tables, read }: SheetParts,
  added: AddedColumns,
): AsyncGenerator<ChangedPart> {
  const rows = new AddedRows(added);
  yield { path: sheet.path, bytes: withCells(read(sheet.path), rows) };
  await rows.end();
  for (const path of tables) yield* ifChanged(path, read(path), () => tableChange(rows, added));
  yield* ifChanged(bookPath, read(bookPath), () => bookChange(rows, sheet.name));
}

type Change = (token: string) => string;

/** Yields a small part, if it changes. */
async function* ifChanged(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  open: () => Change,
): AsyncGenerator<ChangedPart> {
  const change = open();
  const whole = await buffer(bytes);
  async function* inOne() {
    yield whole;
  }
  let [before, after] = ["", ""];
  // In one piece, so that texts are whole.
  for await (const tokens of tokensOf(inOne())) {
    for (const token of tokens) {
      before += token;
      after += change(token);
    }
  }
  async function* changed() {
    yield Buffer.from(after);
  }
  if (after !== before) yield { path, bytes: changed() };
}

class AddedRows implements SheetChanges {
  /** Number of the row with the names, from 1; 0 if there is none. */
  headerRow = 0;
  readonly #added: AddedColumns;
  readonly #rows: AsyncIterator<readonly string[]>;
  /** Indices of the added columns, in the order of the columns. */
  readonly #order: readonly number[];
  readonly #lastBefore: number;
  readonly #last: number;
  #number = 0;

  constructor(added: AddedColumns) {
    const { places, rows, width } = added;
    this.#added = added;
    this.#rows = rows[Symbol.asyncIterator]();
    this.#order = [...places.keys()].sort((a, b) => places[a]! - places[b]!);
    this.#lastBefore = width - 1;
    this.#last = Math.max(this.#lastBefore, ...places);
    this.widened = this.widened.bind(this);
  }

  async cellsOf(number: number): Promise<readonly AddedCell[]> {
    let row: readonly string[] = [];
    while (this.#number < number) {
      const { value, done } = await this.#rows.next();
      row = done ? [] : value;
      this.#number++;
    }
    const { names, places, width } = this.#added;
    const isHeader = this.headerRow === 0 && names.every((name, i) => row[places[i]!] === name);
    if (isHeader) this.headerRow = number;
    const cells: AddedCell[] = [];
    for (const i of this.#order) {
      const column = places[i]!;
      const text = row[column];
      if (text === undefined || (text === "" && column >= width)) continue;
      cells.push({ column, text, isHeader });
    }
    return cells;
  }

  /** Returns a range with the added columns if it ends at the last column of the sheet. */
  widened(range: string): string {
    const [, start, last = "", end] = /^(\$?[A-Z]+\$?\d*:\$?)([A-Z]+)(\$?\d*)$/.exec(range) ?? [];
    return columnOf(last) === this.#lastBefore ? `${start}${columnLetters(this.#last)}${end}` : range;
  }

  /** Reads the rows that are left. */
  async end(): Promise<void> {
    while (!(await this.#rows.next()).done) {
      // Rows without cells.
    }
  }
}

/**
 * Adds the columns to a table that starts with the header and ends at the last column. The names of its columns must be
 * those in the header.
 */
function tableChange(rows: AddedRows, { names, places, width }: AddedColumns): Change {
  const added = names.filter((_, i) => places[i]! >= width);
  let isWidened = false;
  let lastId = 0;
  return (token) => {
    const [, end, prefix = "", name] = nameOf(token);
    if (name === "table" && end === "") {
      const range = attributeOf(token, "ref") ?? "";
      const isAtHeader = Number(/^\$?[A-Z]+\$?(\d+):/.exec(range)?.[1]) === rows.headerRow;
      isWidened = added.length > 0 && isAtHeader && rows.widened(range) !== range;
    }
    if (!isWidened) return token;
    if ((name === "table" || name === "autoFilter") && end === "")
      return withAttribute(token, "ref", rows.widened);
    if (name === "tableColumn" && end === "") {
      lastId = Math.max(lastId, Number(attributeOf(token, "id")));
    }
    if (name !== "tableColumns") return token;
    if (end === "") return withAttribute(token, "count", (count) => String(Number(count) + added.length));
    const columns = added.map((text) => `<${prefix}tableColumn id="${++lastId}" name="${escapeXml(text)}"/>`);
    return `${columns.join("")}${token}`;
  };
}

/** Widens the print area of a sheet, and the range of its filter. */
function bookChange(rows: AddedRows, sheet: string): Change {
  let isRange = false;
  return (token) => {
    const [, end, , name] = nameOf(token);
    if (name === "definedName") {
      isRange =
        end === "" && /^_xlnm\.(?:Print_Area|_FilterDatabase)$/.test(attributeOf(token, "name") ?? "");
    }
    if (!isRange || name !== undefined) return token;
    const [, quoted, plain, range] =
      /^(?:'((?:[^']|'')+)'|([^'!]+))!([^!,]+)$/.exec(dereferenced(token)) ?? [];
    if (range === undefined || (quoted?.replaceAll("''", "'") ?? plain) !== sheet) return token;
    return `${token.slice(0, -range.length)}${rows.widened(range)}`;
  };
}

const nameOf = (token: string) => /^<(\/?)([\w.-]+:)?([\w.-]+)/.exec(token) ?? [];
