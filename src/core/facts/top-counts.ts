/** Counts by name in bounded memory, for lists of the most frequent names. */
import type { NamedCounts } from "./facts-schema.js";
import { HashedNames } from "./hashed-names.js";

export const mostNames = 125_000;

// Exact below 125,000 names; then `trim` drops the half with the lowest totals: names rare at first may count too low.
export class TopCounts {
  isApproximate = false;
  readonly #series: number;
  /** Others after `trim`: keep none of its numbers. */
  names = new HashedNames();
  /** 32-bit counts, so that more fit into the processor's cache; enough for 4,000 million rows. */
  #counts: Uint32Array;

  constructor(series = 1) {
    this.#series = series;
    this.#counts = new Uint32Array(64 * series);
  }

  add(number: number, series = 0, count = 1): void {
    const index = number * this.#series + series;
    if (index >= this.#counts.length) {
      const counts = new Uint32Array(2 * (index + this.#series));
      counts.set(this.#counts);
      this.#counts = counts;
    }
    this.#counts[index]! += count;
  }

  nameOf(number: number): string {
    return this.names.nameOf(number).toString();
  }

  /** Adds the counts of another counter with the same series, whose hashes have the same key. */
  addAll(other: TopCounts): void {
    this.isApproximate ||= other.isApproximate;
    for (let number = 0; number < other.names.size; number++) {
      const { low, high } = other.names.hashOf(number);
      for (const [series, count] of other.#countsOf(number).entries()) {
        const own = this.names.find(low, high);
        this.add(own === -1 ? this.names.add(low, high, other.names.nameOf(number)) : own, series, count);
      }
    }
    this.trim();
  }

  trim(): void {
    if (this.names.size >= mostNames) this.#drop();
  }

  /** Returns the names with the largest sums of the series that count; none with a sum of 0. */
  top(most: number, isCounted?: (series: number) => boolean): readonly NamedCounts[] {
    const sums = this.#sums(isCounted);
    const limit = Math.max(1, limitOf(sums, most));
    return Array.from(sums, (sum, number) => ({ sum, number }))
      .filter(({ sum }) => sum >= limit)
      .map(({ sum, number }) => {
        const counts = [...this.#countsOf(number)];
        return { sum, name: this.nameOf(number), counts, total: counts.reduce((total, count) => total + count, 0) };
      })
      .sort((a, b) => b.sum - a.sum || b.total - a.total || (a.name < b.name ? -1 : 1))
      .slice(0, most)
      .map(({ sum: _, ...named }) => named);
  }

  #countsOf(number: number): Uint32Array {
    return this.#counts.subarray(number * this.#series, (number + 1) * this.#series);
  }

  #sums(isCounted: (series: number) => boolean = () => true): Float64Array {
    const sums = new Float64Array(this.names.size);
    for (let i = 0; i < sums.length * this.#series; i++) {
      if (isCounted(i % this.#series)) sums[Math.floor(i / this.#series)]! += this.#counts[i]!;
    }
    return sums;
  }

  #drop(): void {
    this.isApproximate = true;
    const totals = this.#sums();
    const most = mostNames / 2;
    const limit = limitOf(totals, most);
    let equal = most - totals.filter((total) => total > limit).length;
    const isKept = totals.map((total) => Number(total > limit || (total === limit && equal-- > 0)));
    this.names = this.names.filter((number) => isKept[number] === 1);
    let to = 0;
    for (let from = 0; from < isKept.length; from++) {
      if (isKept[from] === 0) continue;
      this.#counts.copyWithin(to, from * this.#series, (from + 1) * this.#series);
      to += this.#series;
    }
    this.#counts.fill(0, to);
  }
}

const limitOf = (sums: Float64Array, most: number): number => sums.toSorted().at(-most) ?? 0;
