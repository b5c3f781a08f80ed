/**
 * Hash tables of host names that are kept in files: compiles them, and finds a name and the domains above it in one walk. Reads
 * and writes no files itself.
 *
 * A table has open addressing. A slot is two 32-bit words: the 64-bit hash of a name, whose lowest bits are replaced by flags.
 * Two zero words are an empty slot.
 */
import { mix } from "./mix.js";

/** Hash of a name that is read from its end. Its value at the start of each label is the hash of that suffix. */
export class SuffixHash {
  #a = 0x2c1b3c6d;
  #b = 0x297a2d39;

  add(code: number): void {
    this.#a = Math.imul(this.#a ^ code, 0x01000193);
    this.#b = Math.imul((this.#b << 5) ^ (this.#b >>> 27) ^ code, 0x9e3779b1);
  }

  low(): number {
    return mix(this.#a ^ (this.#b >>> 15));
  }

  high(): number {
    return mix(this.#b + Math.imul(this.#a, 0x85ebca6b));
  }
}

/** Flags of names, found by their hashes. */
export class NameTable {
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #flags: number;

  /**
   * @param slots words made by {@link fillSlots}
   * @param flagBits number of bits for the flags
   */
  constructor(slots: Int32Array, flagBits: number) {
    this.#slots = slots;
    this.#mask = (slots.length >> 1) - 1;
    this.#flags = (1 << flagBits) - 1;
  }

  /** Returns the flags of the name with this hash; -1 when there is no such name. */
  find(hash: SuffixHash): number {
    const low = hash.low() & ~this.#flags;
    const high = hash.high();
    for (let slot = high & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const entryLow = this.#slots[2 * slot]!;
      const entryHigh = this.#slots[2 * slot + 1]!;
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
    const hash = new SuffixHash();
    for (let i = name.length - 1; i >= 0; i--) hash.add(name.charCodeAt(i));
    const low = (hash.low() & ~flagMask) | flags.get(name)!;
    const high = hash.high();
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
