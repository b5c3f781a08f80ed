/** A compact hash table of the distinct items of a run, over typed arrays. */
import { randomFillSync } from "node:crypto";
import type { ItemHash } from "../classifier/item-hash.js";
import { hasItem } from "./status-codes.js";

/** Number of shards. Only one is reallocated at a time, so growth causes no memory spike. */
const shardCount = 64;
const initialSlots = 64;
/** Share of used slots above which a shard doubles. With 9 bytes per slot, an item takes 11.25 to 22.5 bytes. */
const maximumLoad = 0.8;

/**
 * The distinct items of a run, each with one byte of state. Items are represented by 64-bit hashes with a new seed for
 * each run. A `Map` of strings would take 200 bytes per item and throw at 16.7 million items.
 *
 * Two different items share a hash with a probability of n²/2^65: 3 in a million for 10 million items.
 */
export class DistinctItems {
  /** Number of items. */
  size = 0;
  /** The seed of the hashes, for `hashItem`. */
  readonly seed = randomFillSync(new Int32Array(2));
  readonly #shards = Array.from({ length: shardCount }, () => new Shard());

  /** Returns the state of an item, 1 to 255, or 0 when it is not in the table. */
  get({ low, high }: ItemHash): number {
    return this.#shard(high).get(low, high);
  }

  /**
   * Sets the state of an item. Adds the item if it is new.
   *
   * @param state 1 to 255
   */
  set({ low, high }: ItemHash, state: number): void {
    if (this.#shard(high).set(low, high, state)) this.size++;
  }

  /**
   * Adds the items of some rows. Items that are already in the table keep their state.
   *
   * @param hashes two words for each row, low and high
   * @param codes status codes of the rows, which tell the rows without an item
   * @param state state of the new items, 1 to 255
   * @returns `isNew`, which is 1 for each row that added its item; `count`, the number of those rows
   */
  addAll(
    hashes: Int32Array,
    codes: Uint8Array,
    state: number,
  ): { readonly isNew: Uint8Array; readonly count: number } {
    const isNew = new Uint8Array(codes.length);
    const before = this.size;
    for (let i = 0; i < codes.length; i++) {
      if (!hasItem(codes[i]!)) continue;
      const low = hashes[2 * i]!;
      const high = hashes[2 * i + 1]!;
      if (!this.#shard(high).add(low, high, state)) continue;
      isNew[i] = 1;
      this.size++;
    }
    return { isNew, count: this.size - before };
  }

  #shard(high: number): Shard {
    return this.#shards[high >>> 26]!;
  }
}

class Shard {
  #hashes = new Int32Array(2 * initialSlots);
  #states = new Uint8Array(initialSlots);
  #size = 0;

  get(low: number, high: number): number {
    return this.#states[this.#find(low, high)]!;
  }

  /** Sets the state of an item and returns whether the item is new. */
  set(low: number, high: number, state: number): boolean {
    const slot = this.#find(low, high);
    if (this.#states[slot] === 0) return this.#put(slot, low, high, state);
    this.#states[slot] = state;
    return false;
  }

  /** Adds an item and returns whether it is new. A known item keeps its state. */
  add(low: number, high: number, state: number): boolean {
    const slot = this.#find(low, high);
    return this.#states[slot] === 0 && this.#put(slot, low, high, state);
  }

  #put(slot: number, low: number, high: number, state: number): true {
    this.#states[slot] = state;
    this.#hashes[2 * slot] = low;
    this.#hashes[2 * slot + 1] = high;
    this.#size++;
    if (this.#size > maximumLoad * this.#states.length) this.#grow();
    return true;
  }

  /** Returns the slot of an item, or the empty slot where it belongs. */
  #find(low: number, high: number): number {
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
      const low = hashes[2 * i]!;
      const high = hashes[2 * i + 1]!;
      const slot = this.#find(low, high);
      this.#hashes[2 * slot] = low;
      this.#hashes[2 * slot + 1] = high;
      this.#states[slot] = states[i]!;
    }
  }
}
