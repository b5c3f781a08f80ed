/** Counts by name in bounded memory, for lists of the most frequent names. */

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
  readonly #counts = new Map<string, number[]>();

  /** @param series number of counts of each name */
  constructor(series = 1) {
    this.#series = series;
  }

  /** Adds to a count of a name. */
  add(name: string, series = 0, count = 1): void {
    let counts = this.#counts.get(name);
    if (counts === undefined) {
      counts = new Array<number>(this.#series).fill(0);
      this.#counts.set(name, counts);
    }
    counts[series]! += count;
    if (this.#counts.size >= mostNames) this.#drop();
  }

  /** Adds the counts of another counter with the same series. */
  addAll(other: TopCounts): void {
    this.isApproximate ||= other.isApproximate;
    for (const [name, counts] of other.#counts) {
      for (const [series, count] of counts.entries()) this.add(name, series, count);
    }
  }

  /** Returns the names with the highest totals, the highest first. */
  top(most: number): readonly NamedCounts[] {
    return Array.from(this.#counts, ([name, counts]) => ({ name, counts, total: sum(counts) }))
      .sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1))
      .slice(0, most);
  }

  #drop(): void {
    this.isApproximate = true;
    const rare = Array.from(this.#counts, ([name, counts]) => ({ name, total: sum(counts) }));
    rare.sort((a, b) => a.total - b.total);
    for (const { name } of rare.slice(0, mostNames / 2)) this.#counts.delete(name);
  }
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
