/** The number of items at each disposable domain, in the memory that the threads of a run share. */
import * as layout from "./layout.js";

export function resetCounts(memory: ArrayBufferLike): void {
  if (isAny(memory)) new Int32Array(memory, layout.domainCounts, layout.mostDomains).fill(0);
}

export interface DomainCount {
  readonly domain: string;
  readonly items: number;
}

/**
 * Returns the number of items at each disposable domain that has any. Approximate for lists with more than about 100,000
 * domains, where one domain may replace another and its count.
 */
export function countsOf(memory: ArrayBufferLike): ReadonlyMap<string, number> {
  if (!isAny(memory)) return new Map();
  const counts = new Int32Array(memory, layout.domainCounts, layout.mostDomains);
  const names = new Int32Array(memory, layout.domainNames, layout.mostDomains);
  const bytes = Buffer.from(memory);
  const found = new Map<string, number>();
  for (let number = 0; number < layout.mostDomains; number++) {
    const start = names[number]!;
    if (counts[number]! <= 0 || start === 0) continue;
    const name = bytes.toString("latin1", start + 1, start + 1 + bytes[start]!);
    found.set(name, (found.get(name) ?? 0) + counts[number]!);
  }
  return found;
}

/** Returns whether there are counts at all: reading all of them takes milliseconds. */
const isAny = (memory: ArrayBufferLike): boolean =>
  Atomics.load(new Int32Array(memory, layout.names, 1), 0) !== 0;
