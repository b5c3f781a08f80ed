/** The distinct items of a run, in the compact table of the kernel; see kernel/assembly/distinct.ts. */
import { randomFillSync } from "node:crypto";
import type { ItemHash } from "../classifier/tables/item-hash.js";
import { type AddedItems, DistinctTable } from "../kernel/distinct-table.js";
import { withKernel } from "../kernel/kernel.js";
import { hasItem } from "./status-codes.js";

/**
 * A seeded 64-bit hash and a byte of state: 11 to 17 bytes an item, where a `Map` takes 200 and throws at 16.7
 * million. Two items share a hash with a probability of n²/2^65: 3 in a million for 10 million items. Methods that add
 * items throw TooManyItems when they need more than 4 GiB, enough for 240 million.
 */
export class DistinctItems {
  readonly seed = randomFillSync(new Int32Array(2));

  /** `table` is for many rows at a time, with two words of hash each; rows without an item are skipped. */
  constructor(readonly table: Table = withKernel((module) => new DistinctTable(module)) ?? new PlainTable()) {}

  get size(): number {
    return this.table.size;
  }

  get({ low, high }: ItemHash): number {
    return this.table.get(low, high);
  }

  /** Sets the state of an item, 1 to 255, adding the item if it is new; 0 forgets it. */
  set({ low, high }: ItemHash, state: number): void {
    this.table.set(low, high, state);
  }
}

type Table = Pick<DistinctTable, "size" | "expect" | "get" | "set" | "giveStates" | "takeStates" | "addAll">;

/** The same table where the kernel cannot run, or for few items. It takes about 200 bytes an item. */
export class PlainTable implements Table {
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
      const low = hashes[2 * row]!;
      const high = hashes[2 * row + 1]!;
      if (!hasItem(code) || this.get(low, high) !== 0) return 0;
      this.set(low, high, code);
      count++;
      return 1;
    });
    return { isNew, count };
  }
}
