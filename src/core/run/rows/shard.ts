// One part of a list shared by several runs. Each item is in one shard, so the shards charge as much as one run. Rows
// without an item are in the first shard.
import { mix } from "../../classifier/tables/mix.js";
import { TableError } from "../../table/errors.js";
import { itemKey } from "../items/item.js";

export type Shard = { readonly index: number; readonly count: number; readonly list: string };

/** 32-bit FNV-1a of the key's UTF-16 units, mixed, modulo `count`. Never change this: machines may differ in version. */
export function isInShard({ index, count }: Shard, item: string): boolean {
  const key = itemKey(item);
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return (mix(hash) >>> 0) % count === index - 1;
}

export function severalItems({ list }: Shard, line: number | undefined): TableError {
  const where = line === undefined ? list : `${list}:${line}`;
  return new TableError(
    `${where}: a field with several items, which may be in different shards; add --set cell=first, or leave out --shard`,
  );
}
