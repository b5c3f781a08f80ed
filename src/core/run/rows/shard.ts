// One part of a list shared by several runs. Each item is in one shard, so the shards charge as much as one run. Rows
// without an item are in the first shard.
import { mix } from "../../classifier/tables/mix.js";
import { TableError } from "../../table/errors.js";
import { itemKey } from "../items/item.js";

export type Shard = { readonly index: number; readonly count: number; readonly list: string };

/** Odd numbers, which the hashes xxHash and MurmurHash3 multiply by as well: for four words, and for those before. */
const factors = [0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f, 0x165667b1] as const;
const factorBefore = 0x9e3779b1;

/**
 * Decides by a hash of the key's UTF-16 units, with zeros up to a multiple of 16: the kernel takes 16 bytes at once.
 * Never change this: machines may differ in version.
 */
export function isInShard({ index, count }: Shard, item: string): boolean {
  const key = itemKey(item);
  const byte = (at: number) => key.charCodeAt(at) << (8 * (at % 4));
  let hash = key.length;
  for (let at = 0; at < key.length; at += 16) {
    hash = Math.imul(hash, factorBefore);
    for (const [word, factor] of factors.entries()) {
      const from = at + 4 * word;
      hash += Math.imul(byte(from) ^ byte(from + 1) ^ byte(from + 2) ^ byte(from + 3), factor);
    }
    hash ^= hash >>> 15;
  }
  return (mix(hash) >>> 0) % count === index - 1;
}

export function severalItems({ list }: Shard, line: number | undefined): TableError {
  const where = line === undefined ? list : `${list}:${line}`;
  return new TableError(
    `${where}: a field with several items, which may be in different shards; add --set cell=first, or leave out --shard`,
  );
}
