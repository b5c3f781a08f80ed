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

  top(most: number): readonly NamedCounts[] {
    const limit = this.#limitOf(most);
    return Array.from(this.#totals(), (total, number) => ({ total, number }))
      .filter(({ total }) => total >= limit)
      .map(({ total, number }) => {
        return { name: this.nameOf(number), counts: [...this.#countsOf(number)], total };
      })
      .sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1))
      .slice(0, most);
  }

  #countsOf(number: number): Uint32Array {
    return this.#counts.subarray(number * this.#series, (number + 1) * this.#series);
  }

  #totals(): Float64Array {
    const totals = new Float64Array(this.names.size);
    for (let i = 0; i < totals.length * this.#series; i++) {
      totals[Math.floor(i / this.#series)]! += this.#counts[i]!;
    }
    return totals;
  }

  #limitOf(most: number): number {
    return this.#totals().sort().at(-most) ?? 0;
  }

  #drop(): void {
    this.isApproximate = true;
    const totals = this.#totals();
    const most = mostNames / 2;
    const limit = this.#limitOf(most);
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
