/** Digests of sets of items by their hashes, in any order. Their seed is secret, so hashes cannot be chosen. */
import { mix } from "../../classifier/tables/mix.js";

export class ItemDigest {
  #sums = new Int32Array(4);
  #count = 0;
  #prefixes = new Map<number, Uint8Array>();
  #before: { readonly sums: Int32Array; readonly count: number } = { sums: new Int32Array(4), count: 0 };

  begin(): void {
    this.#before = { sums: this.#sums.slice(), count: this.#count };
  }

  add(hashes: Int32Array, count: number, marks: ReadonlySet<number>): void {
    const sums = this.#sums;
    for (let at = 0; at < 2 * count; at += 2) {
      const low = hashes[at]!;
      const high = hashes[at + 1]!;
      sums[0]! += low;
      sums[1]! += high;
      sums[2]! += mix(low ^ Math.imul(high, 0x9e3779b1));
      sums[3]! += mix(high + Math.imul(low, 0x85ebca6b));
      if (marks.has(++this.#count)) this.#prefixes.set(this.#count, bytesOf(sums));
    }
  }

  forget(): void {
    const { sums, count } = this.#before;
    this.#sums = sums.slice();
    this.#count = count;
    for (const items of this.#prefixes.keys()) if (items > count) this.#prefixes.delete(items);
  }

  digests() {
    return { digest: bytesOf(this.#sums), prefixes: this.#prefixes };
  }

  clear(): void {
    this.#sums = new Int32Array(4);
    this.#count = 0;
    this.#prefixes = new Map();
    this.begin();
  }
}

const bytesOf = (sums: Int32Array): Uint8Array => new Uint8Array(sums.slice().buffer);
