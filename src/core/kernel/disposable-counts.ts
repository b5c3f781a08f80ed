/** The number of items at each disposable domain, in the memory that the threads of a run share. */
import * as layout from "./layout.js";

export type DomainCount = { readonly domain: string; readonly items: number };

/** Returns approximate counts above about 100,000 domains, where one may replace another and its count. */
export function countsOf(memory: ArrayBufferLike): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const bytes = Buffer.from(memory);
  const counts = countsIn(memory);
  for (const { number, start, end } of namesIn(memory)) {
    const items = counts[number]!;
    if (items <= 0) continue;
    const name = bytes.toString("latin1", start, end);
    found.set(name, (found.get(name) ?? 0) + items);
  }
  return found;
}

export function resetCounts(memory: ArrayBufferLike): void {
  const counts = countsIn(memory);
  for (const { number } of namesIn(memory)) counts[number] = 0;
}

const countsIn = (memory: ArrayBufferLike) => new Int32Array(memory, layout.domainCounts, layout.mostDomains);

/** Reading the words of all domains instead takes 20 ms, most of what a small run takes. */
function* namesIn(memory: ArrayBufferLike) {
  const view = new DataView(memory);
  const names = new Int32Array(memory, layout.domainNames, layout.mostDomains);
  const first = layout.names + 4;
  const last = first + Atomics.load(new Int32Array(memory, layout.names, 1), 0);
  for (let at = first; at < last; ) {
    const number = view.getUint32(at, true);
    const start = at + layout.nameHead;
    const end = start + view.getUint8(at + 4);
    if (names[number] === at) yield { number, start, end };
    at = end;
  }
}
