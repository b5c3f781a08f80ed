import { randomFillSync } from "node:crypto";

/** So many tables, chosen by hash, that the memory of one that grows does not show. */
const shardCount = 64;
const initialSlots = 64;
/** Full to 80 % before it doubles: between 11.25 and 22.5 bytes an item, at 9 bytes a slot. */
const maximumLoad = 0.8;

/**
 * The distinct items of a run, each with one byte of state: a hash table over typed arrays, keyed by 64-bit
 * hashes that are seeded anew for each run. A `Map` of strings takes 200 bytes an item and ends at 16.7 million.
 *
 * Two different items share a hash with a probability of n²/2^65: 3 in a million for 10 million items.
 */
export class DistinctItems {
  /** How many items are in the table. */
  size = 0;
  readonly #seed = randomFillSync(new Int32Array(2));
  readonly #shards = Array.from({ length: shardCount }, () => new Shard());

  /**
   * The hash that stands for an item in this run.
   *
   * @param key the item as `itemKey` gives it
   */
  hash(key: string): ItemHash {
    let a = this.#seed[0]!;
    let b = this.#seed[1]!;
    for (let i = 0; i < key.length; i++) {
      const code = key.charCodeAt(i);
      a = Math.imul(a ^ code, 0x01000193);
      b = Math.imul(((b << 5) | (b >>> 27)) ^ code, 0x9e3779b1);
    }
    return { low: mix(a ^ (b >>> 15)), high: mix(b + Math.imul(a, 0x85ebca6b) + key.length) };
  }

  /** The item's state, 1 to 255; 0 when it is not in the table. */
  get(hash: ItemHash): number {
    return this.#shard(hash).get(hash);
  }

  /**
   * Sets the item's state, and puts it into the table if it is not there yet.
   *
   * @param state 1 to 255
   */
  set(hash: ItemHash, state: number): void {
    if (this.#shard(hash).set(hash, state)) this.size++;
  }

  #shard({ high }: ItemHash): Shard {
    return this.#shards[high >>> 26]!;
  }
}

/** A 64-bit hash as two signed words. */
export interface ItemHash {
  readonly low: number;
  readonly high: number;
}

class Shard {
  #hashes = new Int32Array(2 * initialSlots);
  #states = new Uint8Array(initialSlots);
  #size = 0;

  get(hash: ItemHash): number {
    return this.#states[this.#find(hash)]!;
  }

  set(hash: ItemHash, state: number): boolean {
    const slot = this.#find(hash);
    const isNew = this.#states[slot] === 0;
    this.#states[slot] = state;
    if (!isNew) return false;
    this.#hashes[2 * slot] = hash.low;
    this.#hashes[2 * slot + 1] = hash.high;
    this.#size++;
    if (this.#size > maximumLoad * this.#states.length) this.#grow();
    return true;
  }

  /** The slot of the item, or the empty one where it would be. */
  #find({ low, high }: ItemHash): number {
    const mask = this.#states.length - 1;
    let slot = low & mask;
    while (
      this.#states[slot] !== 0 &&
      (this.#hashes[2 * slot] !== low || this.#hashes[2 * slot + 1] !== high)
    ) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #grow(): void {
    const hashes = this.#hashes;
    const states = this.#states;
    this.#hashes = new Int32Array(2 * hashes.length);
    this.#states = new Uint8Array(2 * states.length);
    for (let i = 0; i < states.length; i++) {
      if (states[i] === 0) continue;
      const hash = { low: hashes[2 * i]!, high: hashes[2 * i + 1]! };
      const slot = this.#find(hash);
      this.#hashes[2 * slot] = hash.low;
      this.#hashes[2 * slot + 1] = hash.high;
      this.#states[slot] = states[i]!;
    }
  }
}

/** The finaliser of MurmurHash3: every bit of the input changes half of the output. */
function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
