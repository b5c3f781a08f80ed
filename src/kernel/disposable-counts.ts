/** The number of items at each disposable domain, in the memory that the threads of a run share. */
import * as layout from "./layout.js";

/** A disposable domain, as it is listed, and a number of items. */
export interface DomainCount {
  readonly domain: string;
  readonly items: number;
}

/**
 * Keeps the name of a disposable domain under its number.
 *
 * @param domain in ASCII, at most 253 characters; empty for a domain that is not disposable
 */
export function keepName(memory: ArrayBufferLike, number: number, domain: string): void {
  const used = new Int32Array(memory, layout.names, 1);
  const room = layout.namesEnd - layout.names - 1024;
  const names = new Int32Array(memory, layout.domainNames, layout.mostDomains);
  if (domain === "" || Atomics.load(used, 0) > room) {
    // Without a name, the domain is counted, but not shown.
    Atomics.store(names, number, 0);
    return;
  }
  const start = layout.names + 4 + Atomics.add(used, 0, 1 + domain.length);
  const bytes = new Uint8Array(memory, start, 1 + domain.length);
  bytes[0] = domain.length;
  for (let i = 0; i < domain.length; i++) bytes[i + 1] = domain.charCodeAt(i);
  Atomics.store(names, number, start);
}

/**
 * Returns the number of items at each disposable domain that has any. Approximate for lists with more than some 100,000
 * domains: then one domain may replace another one and its count.
 */
export function countsOf(memory: ArrayBufferLike): ReadonlyMap<string, number> {
  // To look at all counts takes milliseconds.
  if (Atomics.load(new Int32Array(memory, layout.names, 1), 0) === 0) return new Map();
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
