/** The cells that a run adds to a sheet: their columns, their rows, and the rows that are taken out. */
import type { AddedColumns, RowBatches } from "./sheet.js";
import { columnLetters, columnOf, mostColumns, mostRows, removedRow, SheetFault } from "./sheet.js";

export interface AddedCell {
  /** From 0. */
  readonly column: number;
  readonly text: string;
  /** Whether the cell gets the style of the last cell before it. */
  readonly isHeader: boolean;
}

export class SheetColumns {
  /** Columns that are new to the sheet, from 0. */
  readonly first: number;
  readonly last: number;
  readonly #added: AddedColumns;

  /** `free` may be beyond the table. @throws SheetFault if there is no room for the columns */
  constructor(sheet: string, added: AddedColumns, free: number) {
    const { indices, width } = added;
    this.#added = added;
    this.first = Math.max(free, width);
    this.last = this.first + indices.filter((index) => index >= width).length - 1;
    this.widened = this.widened.bind(this);
    if (this.last < mostColumns) return;
    throw new SheetFault(`sheet "${sheet}": there is no free column behind its last one`, "use -o FILE.csv");
  }

  columnOf(index: number): number {
    const { width } = this.#added;
    return index < width ? index : index - width + this.first;
  }

  /** Adds the columns to a range that includes the column of the items and ends right before the new ones. */
  widened(range: string): string {
    const [, start, from = "", middle, to = "", end] = /^(\$?)([A-Z]+)(\$?\d*:\$?)([A-Z]+)(\$?\d*)$/.exec(range) ?? [];
    const { column } = this.#added;
    const hasItems = start !== undefined && columnOf(from) <= column && column <= columnOf(to);
    if (!hasItems || columnOf(to) !== this.first - 1 || this.last < this.first) return range;
    return `${start}${from}${middle}${columnLetters(this.last)}${end}`;
  }
}

export class AddedRows {
  /** From 1; 0 if there is none. */
  headerRow = 0;
  readonly removed = new RemovedRows();
  isDone = false;
  readonly #batches: AsyncIterator<Iterable<readonly string[]>>;
  #batch: Iterator<readonly string[]> = [][Symbol.iterator]();
  #row: readonly string[] = [];
  readonly #order: readonly { readonly index: number; readonly was?: number }[];
  #number = 0;

  constructor(
    private readonly sheet: string,
    private readonly added: AddedColumns,
    readonly columns: SheetColumns,
    batches: RowBatches,
  ) {
    const { indices, fixes = [] } = added;
    this.#batches = batches[Symbol.asyncIterator]();
    const repaired = fixes.map(({ item, was }) => ({ index: item, was }));
    this.#order = [...indices.map((index) => ({ index })), ...repaired].sort((a, b) => a.index - b.index);
  }

  /** Cells of a row, from 1, by column; undefined to take it out. Rows must rise. @throws SheetFault if one is lost */
  cellsOf(number: number): readonly AddedCell[] | undefined | Promise<readonly AddedCell[] | undefined> {
    while (this.#number < number && !this.isDone) {
      if (!this.#takeRow()) return this.#takeBatch().then(() => this.cellsOf(number));
    }
    const row = this.#number === number ? this.#row : [];
    this.#row = [];
    if (row[0] === removedRow) return undefined;
    const { names, indices, width } = this.added;
    const isHeader = this.headerRow === 0 && names.every((name, i) => row[indices[i]!] === name);
    if (isHeader) this.headerRow = number;
    const cells: AddedCell[] = [];
    for (const { index, was } of this.#order) {
      const text = row[index];
      if (text === undefined || (text === "" && index >= width)) continue;
      if (was !== undefined && (isHeader || !row[was])) continue;
      cells.push({ column: this.columns.columnOf(index), text, isHeader });
    }
    return cells;
  }

  /** Reads the rows that are left. @throws SheetFault if one of them has cells */
  async end(): Promise<void> {
    while (!this.isDone) if (!this.#takeRow()) await this.#takeBatch();
    this.#checkLost();
  }

  async #takeBatch(): Promise<void> {
    const { value = [], done } = await this.#batches.next();
    this.#batch = value[Symbol.iterator]();
    this.isDone = done === true;
  }

  #takeRow(): boolean {
    const { value, done } = this.#batch.next();
    if (done) return false;
    this.#checkLost();
    this.#row = value;
    this.#number++;
    return true;
  }

  /** The last row has been used, or has no cells. A blank row that is taken out may be missing in the file. */
  #checkLost(): void {
    if (this.#row[0] === removedRow) this.removed.add(this.#number);
    else if (this.#row.some((field) => field !== "")) {
      throw new SheetFault(`sheet "${this.sheet}", row ${this.#number}: is not where it was read`, "use -o FILE.csv");
    }
  }
}

/** A cell, or a range of cells. */
const cells = /^(\$?[A-Z]{1,3}\$?)(\d+)(?:(:\$?[A-Z]{1,3}\$?)(\d+))?$/;

/**
 * Rows that are taken out of a sheet, from 1, and the new numbers of the others. They are known only after the
 * verdicts, which are charged: a run whose sums or charts could not follow any removal is refused before it costs
 * anything.
 */
export class RemovedRows {
  readonly #rows: number[] = [];

  get count(): number {
    return this.#rows.length;
  }

  /** Only below the rows that are taken out already. */
  add(row: number): void {
    this.#rows.push(row);
  }

  /** Ranges are separated by spaces; empty if nothing is left of them. */
  without(ranges: string): string {
    if (this.count === 0) return ranges;
    return ranges
      .split(" ")
      .map((range) => this.#rangeWithout(range))
      .filter((range) => range !== "")
      .join(" ");
  }

  #rangeWithout(range: string): string {
    const [, start, first, middle = "", last = first] = cells.exec(range) ?? [];
    if (start === undefined) return range;
    const from = Number(first) - this.#countAbove(Number(first));
    // A range to the end of the sheet is one of whole columns.
    const to = Number(last) === mostRows ? mostRows : Number(last) - this.#countAbove(Number(last) + 1);
    if (from > to) return "";
    return `${start}${from}${middle}${middle === "" ? "" : to}`;
  }

  #countAbove(row: number): number {
    let [from, to] = [0, this.#rows.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#rows[middle]! < row) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
