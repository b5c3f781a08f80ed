/** The verdicts on the items of some records, where a record may have several, and which of them decides. */
import { type CellOptions, decidesBefore, isGood } from "../cells.js";
import { offlineStatuses } from "../status-codes.js";

/** Verdicts on items, where a record may have several. */
export interface ItemVerdicts {
  readonly codes: Uint8Array;
  readonly hashes: Int32Array;
  /** The record of each item; records without an item are listed once. */
  readonly rows: Int32Array;
}

/** Gives each record the status of the item that decides. */
export function takeDeciding(
  codes: Uint8Array,
  items: ItemVerdicts,
  deciding: CellOptions["deciding"],
): void {
  for (let place = 0; place < items.rows.length; place++) {
    const [row, code] = [items.rows[place]!, items.codes[place]!];
    const isFirst = place === 0 || items.rows[place - 1] !== row;
    if (isFirst || decidesBefore(offlineStatuses[code]!, offlineStatuses[codes[row]!]!, deciding)) {
      codes[row] = code;
    }
  }
}

const isGoodCode = offlineStatuses.map(isGood);

/** Returns 1 for each record of which an item is good. */
export function goodRows(count: number, { codes, rows }: ItemVerdicts): Uint8Array {
  const good = new Uint8Array(count);
  for (let place = 0; place < rows.length; place++) {
    if (isGoodCode[codes[place]!]) good[rows[place]!] = 1;
  }
  return good;
}

/** Returns for each record which of its items has its status, from 0. */
export function decidingPlaces(codes: Uint8Array, items: ItemVerdicts): Uint32Array {
  const found = new Uint32Array(codes.length);
  let [nth, last] = [0, -1];
  let isFound = false;
  for (const [place, row] of items.rows.entries()) {
    [nth, isFound] = row === last ? [nth + 1, isFound] : [0, false];
    last = row;
    if (isFound || items.codes[place] !== codes[row]) continue;
    found[row] = nth;
    isFound = true;
  }
  return found;
}
