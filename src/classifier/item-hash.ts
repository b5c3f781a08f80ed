/** Seeded 64-bit hashes of items. A run uses them to count distinct items. */
import { mix } from "./mix.js";

/** 64-bit hash of an item as two signed 32-bit words. Each run has a new seed. */
export interface ItemHash {
  readonly low: number;
  readonly high: number;
}

/**
 * Returns the hash of an item: FNV-1a for the low word, rotations and multiplications for the high one.
 *
 * @param seed two random words
 * @param key key of an item or of a mailbox, from `itemKey` or `mailboxKey`
 */
export function hashItem(seed: Int32Array, key: string): ItemHash {
  let low = seed[0]!;
  let high = seed[1]!;
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(((high << 5) | (high >>> 27)) ^ code, 0x9e3779b1);
  }
  return { low: mix(low), high: mix(high) };
}
