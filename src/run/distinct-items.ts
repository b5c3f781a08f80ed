/** The distinct items of a run, in a compact table that the kernel keeps; see kernel/assembly/distinct.ts. */
import { randomFillSync } from "node:crypto";
import type { ItemHash } from "../classifier/item-hash.js";
import { type AddedItems, DistinctTable } from "../kernel/distinct-table.js";
import { withKernel } from "../kernel/kernel.js";
import { hasItem } from "./status-codes.js";

/**
 * The distinct items of a run, each with one byte of state. Items are represented by 64-bit hashes with a new seed for
 * each run. An item takes 11 to 17 bytes; a `Map` of strings would take 200, and throw at 16.7 million items.
 *
 * Two different items share a hash with a probability of n²/2^65: 3 in a million for 10 million items. All methods that
 * add items throw TooManyItems when they need more than 4 GiB, which is enough for 240 million.
 */
export class DistinctItems {
  /** The seed of the hashes, for `hashItem`. */
  readonly seed = randomFillSync(new Int32Array(2));
  readonly #table = withKernel((module) => new DistinctTable(module)) ?? new PlainTable();

  /** Number of items, with those that were forgotten. */
  get size(): number {
    return this.#table.size;
  }

  /** Says how many items there will be, so that the table grows to the right size; 0 if that is not known. */
  expect(items: number): void {
    this.#table.expect(items);
  }

  /** Returns the state of an item, 1 to 255, or 0 when it is not in the table. */
  get({ low, high }: ItemHash): number {
    return this.#table.get(low, high);
  }

  /**
   * Sets the state of an item. Adds the item if it is new.
   *
   * @param state 1 to 255; 0 forgets the item, which is new when it comes again
   */
  set({ low, high }: ItemHash, state: number): void {
    this.#table.set(low, high, state);
  }

  /**
   * Adds the items of some rows. Items that are already in the table keep their state.
   *
   * @param hashes two words for each row, low and high
   * @param codes status codes of the rows: the states of new items, and those that tell the rows without an item
   */
  addAll(hashes: Int32Array, codes: Uint8Array): AddedItems {
    return this.#table.addAll(hashes, codes);
  }

  /** Asks for marks at numbers of items; see {@link DistinctTable.wantMarks}. */
  wantMarks(items: readonly number[]): void {
    this.#table.wantMarks(items);
  }

  /** Begins a new digest, of the items that are added from now on. */
  restartDigest(): void {
    this.#table.restartDigest();
  }

  /** Gives items, which were added before, new states, each 1 to 255. */
  giveStates(hashes: Int32Array, states: Uint8Array): void {
    this.#table.giveStates(hashes, states);
  }

  /** Replaces the codes of rows that have an item by the states of their items, which were added before. */
  takeStates(hashes: Int32Array, codes: Uint8Array): void {
    this.#table.takeStates(hashes, codes);
  }
}

/** The same table where the kernel cannot run. Takes some 200 bytes an item. */
class PlainTable implements Omit<DistinctTable, "bytes"> {
  readonly #states = new Map<string, number>();

  get size(): number {
    return this.#states.size;
  }

  expect(): void {}

  get(low: number, high: number): number {
    return this.#states.get(`${low} ${high}`) ?? 0;
  }

  set(low: number, high: number, state: number): void {
    this.#states.set(`${low} ${high}`, state);
  }

  wantMarks(): void {}

  restartDigest(): void {}

  giveStates(hashes: Int32Array, states: Uint8Array): void {
    for (const [row, state] of states.entries()) this.set(hashes[2 * row]!, hashes[2 * row + 1]!, state);
  }

  takeStates(hashes: Int32Array, codes: Uint8Array): void {
    for (const [row, code] of codes.entries()) {
      if (hasItem(code)) codes[row] = this.get(hashes[2 * row]!, hashes[2 * row + 1]!);
    }
  }

  addAll(hashes: Int32Array, codes: Uint8Array): AddedItems {
    let count = 0;
    const isNew = codes.map((code, row) => {
      const [low, high] = [hashes[2 * row]!, hashes[2 * row + 1]!];
      if (!hasItem(code) || this.get(low, high) !== 0) return 0;
      this.set(low, high, code);
      count++;
      return 1;
    });
    return { isNew, count, marks: [] };
  }
}
