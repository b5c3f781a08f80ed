/** The items of a chunk that no chunk before it has. */
import type { ItemHash } from "../../classifier/tables/item-hash.js";
import type { NumberedChunk } from "./settler.js";

export function newHashes({ hashes, items, isNew, newItems }: NumberedChunk): Int32Array {
  const all = items?.hashes ?? hashes;
  const found = new Int32Array(2 * newItems);
  let at = 0;
  for (let index = 0; index < isNew.length; index++) {
    if (isNew[index] === 0) continue;
    found[at++] = all[2 * index]!;
    found[at++] = all[2 * index + 1]!;
  }
  return found;
}

export function* itemsOf(hashes: Int32Array, from = 0): Iterable<ItemHash> {
  for (let at = 2 * from; at < hashes.length; at += 2) yield { low: hashes[at]!, high: hashes[at + 1]! };
}
