/** Counts by name in bounded memory, for lists of the most frequent names. */
import { ByteNames } from "./byte-names.js";

/** Number of names at which half of them are dropped. */
const mostNames = 50_000;

/** A name and its counts. */
export interface NamedCounts {
  readonly name: string;
  /** One count for each series. */
  readonly counts: readonly number[];
  readonly total: number;
}

/**
 * Counts names in one or several series. Exact below 50,000 names. At that number, the half with the lowest totals is
 * dropped: names that are rare until then may be counted too low.
 */
export class TopCounts {
  /** Whether names were dropped. */
  isApproximate = false;
  readonly #series: number;
  readonly #names = new ByteNames(mostNames);
  #counts: Float64Array;

  /** @param series number of counts of each name */
  constructor(series = 1) {
    this.#series = series;
    this.#counts = new Float64Array(64 * series);
  }

  /** Adds to a count of a name. */
  add(name: string, series = 0, count = 1): void {
    const bytes = Buffer.from(name);
    this.addBytes(bytes, bytes.length, series, count);
  }

  /** Adds to a count of the name in the first `length` bytes. */
  addBytes(bytes: Uint8Array, length: number, series = 0, count = 1): void {
    const place = this.#names.numberOf(bytes, length) * this.#series + series;
    if (place >= this.#counts.length) {
      const counts = new Float64Array(2 * (place + this.#series));
      counts.set(this.#counts);
      this.#counts = counts;
    }
    this.#counts[place]! += count;
    if (this.#names.size >= mostNames) this.#drop();
  }

  /** Adds the counts of another counter with the same series. */
  addAll(other: TopCounts): void {
    this.isApproximate ||= other.isApproximate;
    for (const { name, counts } of other.#all()) {
      for (const [series, count] of counts.entries()) this.add(name, series, count);
    }
  }

  /** Returns the names with the highest totals, the highest first. */
  top(most: number): readonly NamedCounts[] {
    return this.#all()
      .sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1))
      .slice(0, most);
  }

  #all(): NamedCounts[] {
    return Array.from(this.#totals(), (total, number) => {
      const counts = [...this.#counts.subarray(number * this.#series, (number + 1) * this.#series)];
      return { name: this.#names.nameOf(number), counts, total };
    });
  }

  #totals(): Float64Array {
    const totals = new Float64Array(this.#names.size);
    for (let i = 0; i < totals.length * this.#series; i++) {
      totals[Math.floor(i / this.#series)]! += this.#counts[i]!;
    }
    return totals;
  }

  /** Drops the half of the names with the lowest totals. */
  #drop(): void {
    this.isApproximate = true;
    const totals = this.#totals();
    const most = mostNames / 2;
    const limit = totals.slice().sort()[totals.length - most]!;
    let equal = most - totals.filter((total) => total > limit).length;
    const isKept = new Uint8Array(totals.length);
    for (let number = 0; number < totals.length; number++) {
      const total = totals[number]!;
      if (total > limit || (total === limit && equal-- > 0)) isKept[number] = 1;
    }
    this.#names.keep((number) => isKept[number] === 1);
    let to = 0;
    for (let from = 0; from < isKept.length; from++) {
      if (isKept[from] === 0) continue;
      this.#counts.copyWithin(to, from * this.#series, (from + 1) * this.#series);
      to += this.#series;
    }
    this.#counts.fill(0, to);
  }
}
