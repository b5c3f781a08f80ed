/** The table of distinct items for JavaScript; assembly/distinct.ts has the table itself. */
import { newMemory } from "./kernel.js";
import { distinctCodes, distinctHashes, distinctIsNew, distinctLines, distinctRows } from "./layout.js";

export class TooManyItems extends Error {
  override readonly name = "TooManyItems";
  override readonly message = "too many distinct items for the memory; split the list";
}

export type AddedItems = { readonly isNew: Uint8Array; readonly count: number };

interface Exports {
  expect(items: number): void;
  addAll(count: number): number;
  giveStates(count: number): void;
  takeStates(count: number): void;
  get(low: number, high: number): number;
  set(low: number, high: number, state: number): number;
  readonly size: { readonly value: number };
}

export class DistinctTable {
  readonly #exports: Exports;
  readonly #memory: WebAssembly.Memory;
  readonly #hashes: Int32Array;
  readonly #codes: Uint8Array;
  readonly #isNew: Uint8Array;

  /** @throws RangeError when there are not enough addresses; `mostBytes` is by default the limit of WebAssembly */
  constructor(module: WebAssembly.Module, mostBytes?: number) {
    const memory = newMemory(distinctLines, mostBytes);
    // With few addresses, Node.js 24 and newer return memory that cannot grow.
    memory.grow(1);
    this.#memory = memory;
    const domains = { factsOf: () => 0 };
    const { exports } = new WebAssembly.Instance(module, { env: { memory }, domains });
    this.#exports = exports as unknown as Exports;
    this.#hashes = new Int32Array(memory.buffer, distinctHashes, 2 * distinctRows);
    this.#codes = new Uint8Array(memory.buffer, distinctCodes, distinctRows);
    this.#isNew = new Uint8Array(memory.buffer, distinctIsNew, distinctRows);
  }

  get size(): number {
    return this.#exports.size.value >>> 0;
  }

  get bytes(): number {
    return this.#memory.buffer.byteLength;
  }

  expect(hashes: number): void {
    this.#exports.expect(Math.min(hashes, 0xffff_ffff));
  }

  get(low: number, high: number): number {
    return this.#exports.get(low, high);
  }

  /** Sets a state of 1 to 255; 0 forgets the hash. @throws TooManyItems when there is no memory for it */
  set(low: number, high: number, state: number): void {
    if (this.#exports.set(low, high, state) === 0) throw new TooManyItems();
  }

  /** Adds codes as states; known hashes keep theirs. @throws TooManyItems when there is no memory for them */
  addAll(hashes: Int32Array, codes: Uint8Array): AddedItems {
    const isNew = new Uint8Array(codes.length);
    let count = 0;
    for (let from = 0; from < codes.length; from += distinctRows) {
      const to = this.#copyPiece(hashes, codes, from);
      const added = this.#exports.addAll(to - from);
      if (added === -1) throw new TooManyItems();
      count += added;
      isNew.set(this.#isNew.subarray(0, to - from), from);
    }
    return { isNew, count };
  }

  takeStates(hashes: Int32Array, codes: Uint8Array): void {
    for (let from = 0; from < codes.length; from += distinctRows) {
      const to = this.#copyPiece(hashes, codes, from);
      this.#exports.takeStates(to - from);
      codes.set(this.#codes.subarray(0, to - from), from);
    }
  }

  giveStates(hashes: Int32Array, states: Uint8Array): void {
    for (let from = 0; from < states.length; from += distinctRows) {
      const to = this.#copyPiece(hashes, states, from);
      this.#exports.giveStates(to - from);
    }
  }

  #copyPiece(hashes: Int32Array, codes: Uint8Array, from: number): number {
    const to = Math.min(codes.length, from + distinctRows);
    this.#hashes.set(hashes.subarray(2 * from, 2 * to));
    this.#codes.set(codes.subarray(from, to));
    return to;
  }
}
