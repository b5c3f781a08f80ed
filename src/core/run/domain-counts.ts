/** Counts the items at each disposable domain, in bounded memory. */
import type { DomainCount } from "../kernel/kernel.js";
import { mostTopDomains } from "./run-options.js";

const mostDomains = 100_000;

export function topDomains(counts: ReadonlyMap<string, number>): readonly DomainCount[] {
  const top: DomainCount[] = [];
  // Sorting all of them, tens of thousands in a large list, would take a twentieth of the run.
  for (const [domain, items] of counts) {
    const isBefore = (other: DomainCount) => items > other.items || (items === other.items && domain < other.domain);
    if (top.length === mostTopDomains && !isBefore(top.at(-1)!)) continue;
    const index = top.findIndex(isBefore);
    top.splice(index === -1 ? top.length : index, 0, { domain, items });
    top.splice(mostTopDomains);
  }
  return top;
}

/** Exact below 100,000 domains; at that number, the half with the fewest items is dropped. */
export class DomainCounts {
  readonly #counts = new Map<string, number>();

  add(domain: string, items = 1): void {
    const count = (this.#counts.get(domain) ?? 0) + items;
    if (count > 0) this.#counts.set(domain, count);
    else this.#counts.delete(domain);
    if (this.#counts.size < mostDomains) return;
    const rare = Array.from(this.#counts).sort((a, b) => a[1] - b[1]);
    for (const [name] of rare.slice(0, mostDomains / 2)) this.#counts.delete(name);
  }

  top(): readonly DomainCount[] {
    return topDomains(this.#counts);
  }
}
