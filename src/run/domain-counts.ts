/** Counts the items at each disposable domain, in bounded memory. */
import type { DomainCount } from "../kernel/disposable-counts.js";
import { mostTopDomains } from "./run-options.js";

/** Most domains that are counted side by side. */
const mostDomains = 100_000;

/** Returns the domains with the most items, the largest first. */
export function topDomains(counts: ReadonlyMap<string, number>): readonly DomainCount[] {
  return Array.from(counts, ([domain, items]) => ({ domain, items }))
    .sort((a, b) => b.items - a.items || (a.domain < b.domain ? -1 : 1))
    .slice(0, mostTopDomains);
}

/** Counters for runs over strings. Exact for up to 50,000 domains; beyond, rare ones are forgotten now and then. */
export class DomainCounts {
  readonly #counts = new Map<string, number>();

  add(domain: string): void {
    this.#counts.set(domain, (this.#counts.get(domain) ?? 0) + 1);
    if (this.#counts.size < mostDomains) return;
    const rare = Array.from(this.#counts).sort((a, b) => a[1] - b[1]);
    for (const [name] of rare.slice(0, mostDomains / 2)) this.#counts.delete(name);
  }

  top(): readonly DomainCount[] {
    return topDomains(this.#counts);
  }
}
