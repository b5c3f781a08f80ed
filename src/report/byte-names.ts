/** Names given as bytes, each with a number: a table in which rows find theirs without making strings. */
import { randomInt } from "node:crypto";

/** Longest name in bytes; longer ones are cut. Domains have at most 253 (RFC 1035 section 2.3.4). */
const longestName = 255;

/**
 * Numbers names from 0. Names are told apart by 64 bits of a hash with a new seed for each table: of 50,000 names, two share one
 * with a probability of 1 in 15 thousand million.
 */
export class ByteNames {
  /** Number of names. */
  size = 0;
  readonly #seeds = [randomInt(2 ** 32), randomInt(2 ** 32)] as const;
  /** For each slot the number of the name there, from 1; 0 if it is free. */
  readonly #slots: Int32Array;
  /** Two words of the hash of each name, and its end in {@link #bytes}. */
  #entries = new Int32Array(3 * 64);
  #bytes = Buffer.alloc(1024);

  /** @param most number of names that it may have at a time */
  constructor(most: number) {
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * most)));
  }

  /** Returns the number of the name in the first `length` bytes, which is added if it is new. */
  numberOf(name: Uint8Array, length: number): number {
    const end = Math.min(length, longestName);
    let [low, high]: [number, number] = [this.#seeds[0] | 0, this.#seeds[1] | 0];
    for (let i = 0; i < end; i++) {
      low = Math.imul(low ^ name[i]!, 0x01000193);
      high = Math.imul(high ^ name[i]!, 0x5bd1e995);
    }
    low ^= high >>> 15;
    const mask = this.#slots.length - 1;
    let slot = low & mask;
    for (let found = this.#slots[slot]!; found !== 0; found = this.#slots[slot]!) {
      const entry = 3 * (found - 1);
      if (this.#entries[entry] === low && this.#entries[entry + 1] === high) return found - 1;
      slot = (slot + 1) & mask;
    }
    return this.#add(name, end, slot, low, high);
  }

  /** Returns a name. */
  nameOf(number: number): string {
    const entry = 3 * number;
    return this.#bytes.toString(
      "utf8",
      number === 0 ? 0 : this.#entries[entry - 1],
      this.#entries[entry + 2],
    );
  }

  /** Removes all names but those wanted, which get the numbers from 0 in their order. */
  keep(isWanted: (number: number) => boolean): void {
    const count = this.size;
    this.size = 0;
    this.#slots.fill(0);
    let [start, length] = [0, 0];
    for (let from = 0; from < count; from++) {
      const [low, high, end] = this.#entries.subarray(3 * from, 3 * from + 3) as unknown as [
        number,
        number,
        number,
      ];
      if (isWanted(from)) {
        this.#bytes.copyWithin(length, start, end);
        length += end - start;
        this.#entries.set([low, high, length], 3 * this.size++);
        let slot = low & (this.#slots.length - 1);
        while (this.#slots[slot] !== 0) slot = (slot + 1) & (this.#slots.length - 1);
        this.#slots[slot] = this.size;
      }
      start = end;
    }
  }

  #add(name: Uint8Array, length: number, slot: number, low: number, high: number): number {
    const number = this.size++;
    const start = number === 0 ? 0 : this.#entries[3 * number - 1]!;
    if (3 * this.size > this.#entries.length) {
      const entries = new Int32Array(6 * this.size);
      entries.set(this.#entries);
      this.#entries = entries;
    }
    if (start + length > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * (start + length));
    this.#bytes.set(name.subarray(0, length), start);
    this.#entries.set([low, high, start + length], 3 * number);
    this.#slots[slot] = this.size;
    return number;
  }
}
