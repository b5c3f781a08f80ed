/** The hashes of items that a run with a cache has. */
import type { ItemHash } from "../../src/core/classifier/tables/item-hash.js";
import { Kernel, kernelModule, prepareMemory } from "../../src/core/kernel/kernel.js";
import { BlockMemory } from "../../src/core/run/blocks/threads/block-memory.js";
import { ItemLedger } from "../../src/core/run/item-ledger.js";
import { itemKey } from "../../src/core/run/items/item.js";

/** @param secret secret of the cache */
export const itemHashes = (secret: Uint8Array): ((items: readonly string[]) => ItemHash[]) =>
  seededHashes(new ItemLedger("", secret).seed);

export function seededHashes(seed: Int32Array): (items: readonly string[]) => ItemHash[] {
  const memory = new BlockMemory(1, 1);
  prepareMemory(memory.memory, {
    shape: { delimiter: 0x2c, column: 0 },
    ...{ width: 1, padding: 0, columns: 1, tails: [], seed },
  });
  const kernel = new Kernel(kernelModule(), memory.memory, memory.scratchOf(0), undefined, "email");
  return (items) => items.map((item) => kernel.hash(itemKey(item)));
}

/** Hashes for tests that only need different items to have different ones. */
export const anyHashes = (...items: readonly string[]): ItemHash[] =>
  items.map((item) => {
    const bytes = Buffer.from(item.padEnd(8, "\0"));
    return { low: bytes.readInt32LE(0), high: bytes.readInt32LE(bytes.length - 4) };
  });
