// Rows that are taken out of a sheet, from 1, and the new numbers of the others. They are known only after the
// verdicts, which are charged: a run whose sums or charts could not follow any removal is refused before it costs
// anything.
import { mostRows } from "./sheet.js";

const cells = /^(\$?[A-Z]{1,3}\$?)(\d+)(?:(:\$?[A-Z]{1,3}\$?)(\d+))?$/;

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
