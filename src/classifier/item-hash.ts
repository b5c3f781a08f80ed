import { mix } from "./mix.js";

/**
 * A 64-bit hash of an item as two signed words, seeded anew for each run. What is before the domain of an
 * address, with the `@`, and the domain are hashed apart, so that whoever goes over its characters has the domain's hash too.
 */
export interface ItemHash {
  readonly low: number;
  readonly high: number;
}

/** One step of the two words that are carried over the characters, by FNV-1a and by rotation. */
export const stepLow = (word: number, code: number): number => Math.imul(word ^ code, 0x01000193);
export const stepHigh = (word: number, code: number): number =>
  Math.imul(((word << 5) | (word >>> 27)) ^ code, 0x9e3779b1);

/** A word of an item's hash, from the words of what is before the domain and of the domain. */
export function join(localWord: number, domainWord: number): number {
  return mix(mix(localWord) + domainWord);
}

/**
 * The hash of an item.
 *
 * @param seed two random words
 * @param key the item as `itemKey` gives it
 */
export function hashItem(seed: Int32Array, key: string): ItemHash {
  const domainStart = key.lastIndexOf("@") + 1;
  const [localLow, localHigh] = walk(seed, key, 0, domainStart);
  const [domainLow, domainHigh] = walk(seed, key, domainStart, key.length);
  return { low: join(localLow, domainLow), high: join(localHigh, domainHigh) };
}

function walk(seed: Int32Array, key: string, start: number, end: number): readonly [number, number] {
  let low = seed[0]!;
  let high = seed[1]!;
  for (let i = start; i < end; i++) {
    const code = key.charCodeAt(i);
    low = stepLow(low, code);
    high = stepHigh(high, code);
  }
  return [low, high];
}
