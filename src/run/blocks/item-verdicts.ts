/** The verdicts on the items of some records, where a field may have several, and which of them decides. */
import type { Status } from "../../validator/validator.js";
import { type CellOptions, decidesBefore, isGood } from "../cells.js";

/** Verdicts on items, where a field may have several. */
export interface ItemVerdicts {
  readonly codes: Uint8Array;
  readonly hashes: Int32Array;
  /** The field of each item, numbered row by row over the columns with items; fields without an item are listed once. */
  readonly fields: Int32Array;
}

/**
 * Gives each field the status of the item that decides.
 *
 * @param statuses the statuses by their codes
 */
export function takeDeciding(
  codes: Uint8Array,
  items: ItemVerdicts,
  deciding: CellOptions["deciding"],
  statuses: readonly Status[],
): void {
  let last = -1;
  for (let place = 0; place < items.fields.length; place++) {
    const field = items.fields[place]!;
    const code = items.codes[place]!;
    const isFirst = field !== last;
    last = field;
    if (isFirst || decidesBefore(statuses[code]!, statuses[codes[field]!]!, deciding)) {
      codes[field] = code;
    }
  }
}

/**
 * Returns 1 for each row of which an item is good.
 *
 * @param columns number of columns with items
 */
export function goodRows(
  statuses: readonly Status[],
  columns: number,
  codes: Uint8Array,
  { codes: all, fields }: Pick<ItemVerdicts, "codes"> & Partial<ItemVerdicts> = { codes },
): Uint8Array {
  const isGoodCode = statuses.map(isGood);
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
