/**
 * Seeded 64-bit hashes, as two signed 32-bit words. Runs and DNS checks tell items and domains apart by them; the kernel has a
 * hash function of its own.
 */
import { mix } from "./mix.js";

export interface ItemHash {
  readonly low: number;
  readonly high: number;
}

/**
 * Hashes a key: FNV-1a for the low word, rotations and multiplications for the high one.
 *
 * @param seed random words, of which the first two are used
 * @param key a domain, or the key of an item or mailbox from run/item.ts
 */
export function hashItem(seed: Int32Array, key: string): ItemHash {
  let low = seed[0]!;
  let high = seed[1]!;
  for (let i = 0; i < key.length; i++) {
    const charCode = key.charCodeAt(i);
    low = Math.imul(low ^ charCode, 0x01000193);
    high = Math.imul(((high << 5) | (high >>> 27)) ^ charCode, 0x9e3779b1);
  }
  return { low: mix(low), high: mix(high) };
}
