// Hash tables of host names in bytes; one walk hashes a name and the domains above it for all tables. Open addressing:
// a slot is a 64-bit hash as two words, low and high, with flags in the lowest bits; two zero words are empty.
import { dot } from "../../ascii.js";
import type { ItemHash } from "./item-hash.js";
import { mix } from "./mix.js";

/** Most labels of a host name of 253 characters: each has a character and a dot. */
const mostLabels = 127;

const words = () => new Int32Array(mostLabels);
const hashed = { count: 0, starts: words(), lows: words(), highs: words() };
let hashedName: string | undefined;

/** Valid until the next call: shared, because new arrays would cost more than the rest; cached for several tables. */
export function hashSuffixes(name: string): Readonly<typeof hashed> {
  if (name === hashedName) return hashed;
  hashedName = name;
  const { starts, lows, highs } = hashed;
  let a = 0x2c1b3c6d;
  let b = 0x297a2d39;
  let count = 0;
  for (let i = name.length - 1; i >= -1; i--) {
    const charCode = i === -1 ? dot : name.charCodeAt(i);
    if (charCode === dot) {
      starts[count] = i + 1;
      lows[count] = mix(a ^ (b >>> 15));
      highs[count] = mix(b + Math.imul(a, 0x85ebca6b));
      count++;
    }
    a = Math.imul(a ^ charCode, 0x01000193);
    b = Math.imul((b << 5) ^ (b >>> 27) ^ charCode, 0x9e3779b1);
  }
  hashed.count = count;
  return hashed;
}

export const hashedWhole = { low: 0, high: 0 };

export function hashName(bytes: Uint8Array, start: number, end: number): void {
  let a = 0x2c1b3c6d;
  let b = 0x297a2d39;
  for (let i = end - 1; i >= start; i--) {
    const charCode = bytes[i]!;
    a = Math.imul(a ^ charCode, 0x01000193);
    b = Math.imul((b << 5) ^ (b >>> 27) ^ charCode, 0x9e3779b1);
  }
  hashedWhole.low = mix(a ^ (b >>> 15));
  hashedWhole.high = mix(b + Math.imul(a, 0x85ebca6b));
}

export class NameTable {
  readonly slots: Int32Array;
  readonly #mask: number;
  readonly #flags: number;

  constructor(slots: Int32Array, flagBits: number) {
    this.slots = slots;
    this.#mask = (slots.length >> 1) - 1;
    this.#flags = (1 << flagBits) - 1;
  }

  find(low: number, high: number): number {
    const slot = this.slotOf(low, high);
    return slot === -1 ? -1 : this.slots[2 * slot]! & this.#flags;
  }

  /** Returns -1 for a name that is not in the table. */
  flagsOf(name: string): number {
    const { low, high } = hashOf(name);
    return this.find(low, high);
  }

  slotOf(lowWord: number, high: number): number {
    const low = lowWord & ~this.#flags;
    for (let slot = high & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const entryLow = this.slots[2 * slot]!;
      const entryHigh = this.slots[2 * slot + 1]!;
      if (entryLow === 0 && entryHigh === 0) return -1;
      if (entryHigh === high && (entryLow & ~this.#flags) === low) return slot;
    }
  }
}

/** The table has one flag, which is 1 for names that stand only for those below them. */
export function findListed(names: NameTable, ascii: string): string | undefined {
  const { count, starts, lows, highs } = hashSuffixes(ascii);
  for (let label = count - 1; label >= 0; label--) {
    const flag = names.find(lows[label]!, highs[label]!);
    if (flag === 0 || (flag === 1 && label < count - 1)) return ascii.slice(starts[label]);
  }
  return undefined;
}

export function hashOf(name: string): ItemHash {
  const { count, lows, highs } = hashSuffixes(name);
  return { low: lows[count - 1]!, high: highs[count - 1]! };
}

/** @throws Error when two names share a hash: 1 in 10^9 for 138,000 names with one flag */
export const fillSlots = (flags: ReadonlyMap<string, number>, flagBits: number): Int32Array =>
  fillHashes(
    Array.from(flags, ([name, flags]) => ({ ...hashOf(name), flags, name })),
    flagBits,
  );

export function fillHashes(
  entries: readonly (ItemHash & { readonly flags: number; readonly name?: string })[],
  flagBits: number,
): Int32Array {
  const flagMask = (1 << flagBits) - 1;
  let slots = 16;
  while (slots < 1.5 * entries.length) slots *= 2;
  const table = new Int32Array(2 * slots);
  const sorted = [...entries].sort((a, b) => a.high - b.high || a.low - b.low);
  for (const { low: lowWord, high, flags, name = "a name" } of sorted) {
    const low = (lowWord & ~flagMask) | flags;
    let slot = high & (slots - 1);
    while (table[2 * slot] !== 0 || table[2 * slot + 1] !== 0) {
      if (table[2 * slot + 1] === high && ((table[2 * slot]! ^ low) & ~flagMask) === 0) {
        throw new Error(`${name} shares its hash with another name`);
      }
      slot = (slot + 1) & (slots - 1);
    }
    table.set([low, high], 2 * slot);
  }
  return table;
}
