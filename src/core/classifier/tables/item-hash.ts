/** Seeded 64-bit hashes of items and domains, for runs and DNS checks; the kernel has a hash function of its own. */
import { mix } from "./mix.js";

export type ItemHash = { readonly low: number; readonly high: number };

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
