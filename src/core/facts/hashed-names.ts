/** Names found by their hashes, so that rows look up their names without creating strings. */
import type { ItemHash } from "../classifier/tables/item-hash.js";

/** Longest name in bytes; longer names are cut. Domains have at most 253 (RFC 1035 section 2.3.4). */
const longestName = 255;
/** Words of a slot: the hash in two words, then the number of the name plus 1; 0 marks a free slot. */
const slotWords = 3;
const mostByHash = 10_000;

/** By 64 bits of a hash: two of 100,000 names share one with a probability of 1 in 4 thousand million. */
export class HashedNames {
  size = 0;
  /** At least twice as many slots as names; a power of two. */
  #slots = new Int32Array(slotWords * 128);
  #slotsAndEnds = new Int32Array(2 * 64);
  #bytes = Buffer.alloc(1024);

  find(low: number, high: number): number {
    return this.#slots[this.#slotOf(low, high) + 2]! - 1;
  }

  findAll(hashes: Int32Array, step: number, numbers: Int32Array): void {
    for (let i = 0; i < numbers.length; i++) numbers[i] = this.find(hashes[step * i]!, hashes[step * i + 1]!);
  }

  add(low: number, high: number, name: Uint8Array, start = 0, length = name.length): number {
    if (this.size === this.#slotsAndEnds.length / 2) this.#grow();
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
    this.#slotsAndEnds[2 * number] = slot;
    this.#slotsAndEnds[2 * number + 1] = end;
    return number;
  }

  nameOf(number: number): Buffer {
    return this.#bytes.subarray(this.#startOf(number), this.#slotsAndEnds[2 * number + 1]);
  }

  hashOf(number: number): ItemHash {
    const slot = this.#slotsAndEnds[2 * number]!;
    return { low: this.#slots[slot]!, high: this.#slots[slot + 1]! };
  }

  filter(isWanted: (number: number) => boolean): HashedNames {
    const wanted = new HashedNames();
    for (let number = 0; number < this.size; number++) {
      if (!isWanted(number)) continue;
      const { low, high } = this.hashOf(number);
      wanted.add(low, high, this.nameOf(number));
    }
    return wanted;
  }

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
    return number === 0 ? 0 : this.#slotsAndEnds[2 * number - 1]!;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(2 * before.length);
    const grown = new Int32Array(2 * this.#slotsAndEnds.length);
    grown.set(this.#slotsAndEnds);
    this.#slotsAndEnds = grown;
    for (let number = 0; number < this.size; number++) {
      const old = grown[2 * number]!;
      const slot = this.#slotOf(before[old]!, before[old + 1]!);
      for (let word = 0; word < slotWords; word++) this.#slots[slot + word] = before[old + word]!;
      grown[2 * number] = slot;
    }
  }
}

const noName = new Uint8Array(0);

/** What was made of texts, by their hashes, so that each is read once. Starts over when it is full. */
export class ByHash<Value> {
  #hashes = new HashedNames();
  #values: Value[] = [];

  /** Returns undefined for a value that is not known. */
  get(low: number, high: number): Value | undefined {
    const known = low === 0 && high === 0 ? -1 : this.#hashes.find(low, high);
    return known === -1 ? undefined : this.#values[known];
  }

  /** The hash is zero if it is not known. */
  of(low: number, high: number, make: () => Value): Value {
    if (low === 0 && high === 0) return make();
    const known = this.#hashes.find(low, high);
    if (known !== -1) return this.#values[known]!;
    // Rarely needed: most lists have far fewer days and values than rows.
    if (this.#hashes.size === mostByHash) {
      this.#hashes = new HashedNames();
      this.#values = [];
    }
    const number = this.#hashes.add(low, high, noName);
    this.#values[number] = make();
    return this.#values[number]!;
  }
}

/** Hashes in the order in which they were added, two words each. */
export class Hashes {
  #words = new Int32Array(1024);
  #end = 0;

  get all(): Int32Array {
    return this.#words.subarray(0, this.#end);
  }

  add(low: number, high: number): void {
    if (this.#end === this.#words.length) this.#grow(2 * this.#end);
    this.#words[this.#end++] = low;
    this.#words[this.#end++] = high;
  }

  addAll(hashes: Int32Array): void {
    const end = this.#end + hashes.length;
    if (end > this.#words.length) this.#grow(2 * end);
    this.#words.set(hashes, this.#end);
    this.#end = end;
  }

  #grow(words: number): void {
    const before = this.all;
    this.#words = new Int32Array(words);
    this.#words.set(before);
  }
}
