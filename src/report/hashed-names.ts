/** Names found by their hashes: a table in which rows find theirs without making strings. */
import type { ItemHash } from "../classifier/item-hash.js";

/** Longest name in bytes; longer ones are cut. Domains have at most 253 (RFC 1035 section 2.3.4). */
const longestName = 255;
/** Words of a slot: the hash in two words, and the number of the name from 1, which is 0 if the slot is free. */
const slotWords = 3;

/**
 * Numbers names from 0. Names are told apart by 64 bits of a hash: of 100,000 names, two share one with a probability of 1 in 4
 * thousand million.
 */
export class HashedNames {
  /** Number of names. */
  size = 0;
  /** At least twice as many slots as names, a power of two. */
  #slots = new Int32Array(slotWords * 128);
  /** The slot and the end in {@link #bytes} of each name. */
  #places = new Int32Array(2 * 64);
  #bytes = Buffer.alloc(1024);

  /** Returns the number of the name with this hash; -1 if there is none. */
  find(low: number, high: number): number {
    return this.#slots[this.#slotOf(low, high) + 2]! - 1;
  }

  /**
   * Finds many names: the processor fetches their slots side by side.
   *
   * @param hashes the hash of a name at the start of every `step` words
   * @param numbers gets the number of each; -1 for those that are not there
   */
  findAll(hashes: Int32Array, step: number, numbers: Int32Array): void {
    const slots = this.#slots;
    const mask = slots.length / slotWords - 1;
    for (let i = 0; i < numbers.length; i++) {
      const [low, high] = [hashes[step * i]!, hashes[step * i + 1]!];
      const slot = slotWords * ((low ^ (high >>> 15)) & mask);
      const isHere = slots[slot] === low && slots[slot + 1] === high;
      numbers[i] = (isHere ? slots[slot + 2]! : this.#slots[this.#slotOf(low, high) + 2]!) - 1;
    }
  }

  /** Adds a name, which must be new, in the lower case of ASCII. Returns its number. */
  add(low: number, high: number, name: Uint8Array, start = 0, length = name.length): number {
    if (this.size === this.#places.length / 2) this.#grow();
    const number = this.size++;
    let end = this.#startOf(number);
    const bytes = Math.min(length, longestName);
    if (end + bytes > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * (end + bytes));
    for (let from = start; from < start + bytes; from++) {
      const byte = name[from]!;
      this.#bytes[end++] = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
    }
    const slot = this.#slotOf(low, high);
    this.#slots[slot] = low;
    this.#slots[slot + 1] = high;
    this.#slots[slot + 2] = this.size;
    this.#places[2 * number] = slot;
    this.#places[2 * number + 1] = end;
    return number;
  }

  /** Returns a name. */
  nameOf(number: number): Buffer {
    return this.#bytes.subarray(this.#startOf(number), this.#places[2 * number + 1]);
  }

  /** Returns the hash of a name. */
  hashOf(number: number): ItemHash {
    const slot = this.#places[2 * number]!;
    return { low: this.#slots[slot]!, high: this.#slots[slot + 1]! };
  }

  /** Returns a table of some of the names, which have the numbers from 0 in their order. */
  filter(isWanted: (number: number) => boolean): HashedNames {
    const wanted = new HashedNames();
    for (let number = 0; number < this.size; number++) {
      if (!isWanted(number)) continue;
      const { low, high } = this.hashOf(number);
      wanted.add(low, high, this.nameOf(number));
    }
    return wanted;
  }

  /** Returns the slot of a hash, or the free one in which it belongs. */
  #slotOf(low: number, high: number): number {
    const slots = this.#slots;
    let slot = slotWords * ((low ^ (high >>> 15)) & (slots.length / slotWords - 1));
    while (slots[slot + 2] !== 0 && (slots[slot] !== low || slots[slot + 1] !== high)) {
      slot += slotWords;
      if (slot === slots.length) slot = 0;
    }
    return slot;
  }

  #startOf(number: number): number {
    return number === 0 ? 0 : this.#places[2 * number - 1]!;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(2 * before.length);
    const places = new Int32Array(2 * this.#places.length);
    places.set(this.#places);
    this.#places = places;
    for (let number = 0; number < this.size; number++) {
      const old = places[2 * number]!;
      const slot = this.#slotOf(before[old]!, before[old + 1]!);
      for (let word = 0; word < slotWords; word++) this.#slots[slot + word] = before[old + word]!;
      places[2 * number] = slot;
    }
  }
}
