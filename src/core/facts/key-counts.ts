/** Rows counted by what their fields in one column say, such as a month or a source. */
import type { ObservedRows } from "../run/run-options.js";
import { ByHash } from "./hashed-names.js";

/** In the place of the series of a row without an item. */
export const noSeries = 255;
const noKey = -1;

export class KeyCounts {
  readonly keys: string[] = [];
  /** All series of the first key, then those of the next one. */
  readonly #counts: number[] = [];
  readonly #numbers = new ByHash<number>();

  /** `numberOf` returns the number of the key of a text, maybe one that it adds; -1 for none. */
  constructor(
    private readonly column: number,
    private readonly series: number,
    private readonly numberOf: (text: string) => number,
  ) {}

  add(key: string): number {
    for (let nth = 0; nth < this.series; nth++) this.#counts.push(0);
    return this.keys.push(key) - 1;
  }

  countsOf(number: number): readonly number[] {
    return this.#counts.slice(number * this.series, (number + 1) * this.series);
  }

  /** `hashes` are those of the fields. Returns the number of the key of each row; -1 for none. */
  count(rows: ObservedRows, hashes: Int32Array | undefined, seriesOf: Uint8Array): Int32Array {
    const numbers = new Int32Array(seriesOf.length).fill(noKey);
    for (let row = 0; row < seriesOf.length; row++) {
      const nth = seriesOf[row]!;
      if (nth === noSeries) continue;
      // Zero if the field is empty, or the threads have not read the record.
      const low = hashes === undefined ? 0 : hashes[2 * row]!;
      const high = hashes === undefined ? 0 : hashes[2 * row + 1]!;
      const number = this.#numbers.get(low, high) ?? this.#read(rows, row, low, high);
      numbers[row] = number;
      if (number !== noKey) this.#counts[number * this.series + nth]!++;
    }
    return numbers;
  }

  #read(rows: ObservedRows, row: number, low: number, high: number): number {
    return this.#numbers.of(low, high, () => this.numberOf(rows.field(row, this.column)));
  }
}
