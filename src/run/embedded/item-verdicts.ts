/** The verdicts on the items of some records, where a field may have several, and which of them decides. */
import { type CellOptions, decidesBefore, isGood } from "../cells.js";
import { offlineStatuses } from "../status-codes.js";
import { statusesWithKept } from "./kept-rows.js";

/** Verdicts on items, where a field may have several. */
export interface ItemVerdicts {
  readonly codes: Uint8Array;
  readonly hashes: Int32Array;
  /** The field of each item, numbered row by row over the columns with items; fields without an item are listed once. */
  readonly fields: Int32Array;
}

/** Gives each field the status of the item that decides. */
export function takeDeciding(
  codes: Uint8Array,
  items: ItemVerdicts,
  deciding: CellOptions["deciding"],
): void {
  let last = -1;
  for (let place = 0; place < items.fields.length; place++) {
    const field = items.fields[place]!;
    const code = items.codes[place]!;
    const isFirst = field !== last;
    last = field;
    if (isFirst || decidesBefore(offlineStatuses[code]!, offlineStatuses[codes[field]!]!, deciding)) {
      codes[field] = code;
    }
  }
}

const isGoodCode = statusesWithKept().map(isGood);

/**
 * Returns 1 for each row of which an item is good.
 *
 * @param columns number of columns with items
 */
export function goodRows(
  columns: number,
  codes: Uint8Array,
  { codes: all, fields }: Pick<ItemVerdicts, "codes"> & Partial<ItemVerdicts> = { codes },
): Uint8Array {
  const good = new Uint8Array(codes.length / columns);
  for (let place = 0; place < all.length; place++) {
    if (!isGoodCode[all[place]!]) continue;
    const field = fields ? fields[place]! : place;
    good[columns === 1 ? field : Math.floor(field / columns)] = 1;
  }
  return good;
}

/** Returns for each field which of its items has its status, from 0. */
export function decidingPlaces(codes: Uint8Array, items: ItemVerdicts): Uint32Array {
  const found = new Uint32Array(codes.length);
  let nth = 0;
  let last = -1;
  let isFound = false;
  for (let place = 0; place < items.fields.length; place++) {
    const field = items.fields[place]!;
    nth = field === last ? nth + 1 : 0;
    isFound = field === last && isFound;
    last = field;
    if (isFound || items.codes[place] !== codes[field]) continue;
    found[field] = nth;
    isFound = true;
  }
  return found;
}
