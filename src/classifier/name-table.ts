/**
 * Hash tables of host names, which can be kept in files: fills them, and hashes a name and the domains above it in one walk for
 * all of them. Reads and writes no files itself.
 *
 * A table has open addressing. A slot is two 32-bit words: the 64-bit hash of a name, whose lowest bits are replaced by flags.
 * Two zero words are an empty slot.
 */
import { mix } from "./mix.js";

/** Most labels of a host name: each has a character and a dot. */
const mostLabels = 127;

/** The hashes of a name and the names above it, from the top-level domain down, and where each of them starts in the name. */
interface SuffixHashes {
  /** Number of labels. */
  count: number;
  readonly starts: Int32Array;
  readonly lows: Int32Array;
  readonly highs: Int32Array;
}

const hashed: SuffixHashes = {
  count: 0,
  starts: new Int32Array(mostLabels),
  lows: new Int32Array(mostLabels),
  highs: new Int32Array(mostLabels),
};
let hashedName: string | undefined;

/**
 * Returns the hashes of a name and the names above it. They are valid until the next call: several tables are asked about
 * one name, and arrays would take longer than all the rest.
 *
 * @param name a host name, lower case, A-labels
 */
export function hashSuffixes(name: string): SuffixHashes {
  if (name === hashedName) return hashed;
  hashedName = name;
  const { starts, lows, highs } = hashed;
  let [a, b] = [0x2c1b3c6d, 0x297a2d39];
  let count = 0;
  for (let i = name.length - 1; i >= -1; i--) {
    const code = i === -1 ? dot : name.charCodeAt(i);
    if (code === dot) {
      starts[count] = i + 1;
      lows[count] = mix(a ^ (b >>> 15));
      highs[count] = mix(b + Math.imul(a, 0x85ebca6b));
      count++;
    }
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul((b << 5) ^ (b >>> 27) ^ code, 0x9e3779b1);
  }
  hashed.count = count;
  return hashed;
}
const dot = 0x2e;

/** The hash of the name that {@link hashName} was called for. */
export const hashedWhole = { low: 0, high: 0 };

/** Hashes a name in some bytes; for a host name, {@link hashSuffixes} gives the same hash as its last. */
export function hashName(bytes: Uint8Array, start: number, end: number): void {
  let a = 0x2c1b3c6d;
  let b = 0x297a2d39;
  for (let i = end - 1; i >= start; i--) {
    const code = bytes[i]!;
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul((b << 5) ^ (b >>> 27) ^ code, 0x9e3779b1);
  }
  hashedWhole.low = mix(a ^ (b >>> 15));
  hashedWhole.high = mix(b + Math.imul(a, 0x85ebca6b));
}

/** Flags of names, found by their hashes. */
export class NameTable {
  /** The slots, for tables in other memory. */
  readonly slots: Int32Array;
  readonly #mask: number;
  readonly #flags: number;

  /**
   * @param slots words made by {@link fillSlots}
   * @param flagBits number of bits for the flags
   */
  constructor(slots: Int32Array, flagBits: number) {
    this.slots = slots;
    this.#mask = (slots.length >> 1) - 1;
    this.#flags = (1 << flagBits) - 1;
  }

  /** Returns the flags of the name with this hash, of two words; -1 when there is no such name. */
  find(lowWord: number, high: number): number {
    const low = lowWord & ~this.#flags;
    for (let slot = high & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const entryLow = this.slots[2 * slot]!;
      const entryHigh = this.slots[2 * slot + 1]!;
      if (entryLow === 0 && entryHigh === 0) return -1;
      if (entryHigh === high && (entryLow & ~this.#flags) === low) return entryLow & this.#flags;
    }
  }
}

/**
 * Returns the slots of a table. The order of the names does not change them.
 *
 * @param flags the flags of each name, below 2 to the power of `flagBits`
 * @throws Error when two names share their hash. For 138,000 names with one flag the probability is 1 in 10^9
 */
export function fillSlots(flags: ReadonlyMap<string, number>, flagBits: number): Int32Array {
  const flagMask = (1 << flagBits) - 1;
  let slots = 16;
  while (slots < 1.5 * flags.size) slots *= 2;
  const table = new Int32Array(2 * slots);
  for (const name of [...flags.keys()].sort()) {
    const { count, lows, highs } = hashSuffixes(name);
    const low = (lows[count - 1]! & ~flagMask) | flags.get(name)!;
    const high = highs[count - 1]!;
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
