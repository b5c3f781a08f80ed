/**
 * Seeded 64-bit hashes of items. A run uses them to count distinct items and to find domains in a cache.
 */
import { mix } from "./mix.js";

/**
 * 64-bit hash of an item as two signed 32-bit words. Each run has a new seed. The part up to and including the `@` and
 * the domain are hashed separately and then joined, so one pass over an address also yields the hash of its domain.
 */
export interface ItemHash {
  readonly low: number;
  readonly high: number;
}

/** Adds a character to the low word, as FNV-1a does. */
export const stepLow = (word: number, code: number): number => Math.imul(word ^ code, 0x01000193);
/** Adds a character to the high word, by rotation and multiplication. */
export const stepHigh = (word: number, code: number): number =>
  Math.imul(((word << 5) | (word >>> 27)) ^ code, 0x9e3779b1);

/** Joins the word of the part before the domain and the word of the domain into a word of the hash. */
export function join(localWord: number, domainWord: number): number {
  return mix(mix(localWord) + domainWord);
}

/**
 * Returns the hash of an item.
 *
 * @param seed two random words
 * @param key key of an item or of a mailbox, from `itemKey` or `mailboxKey`
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
