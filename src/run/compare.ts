/** Compares the statuses of two checked tables by their items. Memory grows with distinct items, as in a run. */
import { hashItem } from "../classifier/item-hash.js";
import { nameText } from "../table/bytes.js";
import { TableError } from "../table/errors.js";
import type { Table } from "../table/table.js";
import { readerOf } from "../table/writers/writer-of.js";
import type { Kind } from "../validator/validator.js";
import { DistinctItems } from "./distinct-items.js";
import { isStatus } from "./earlier-fields.js";
import { extractItem, itemKey } from "./item.js";

/** Distinct items by what became of them. */
export interface Comparison {
  readonly before: Counts;
  readonly now: Counts;
  /** Bad now: ok before, or not there before. */
  readonly worsened: number;
  readonly newAndBad: number;
  /** Bad before: ok now, or not there any more. */
  readonly recovered: number;
  readonly goneAndBad: number;
  /** Items of both tables that had no units before and have a verdict now. None of them was or became anything. */
  readonly firstChecked: Counts;
}

export interface Counts {
  /** Items with a verdict. */
  readonly items: number;
  readonly bad: number;
}

/** States of an item of the older table; a seen one is in the newer table, too. */
const good = 1;
const bad = 2;
const unchecked = 3;
const seen = 4;

function stateOf(isBad: boolean | undefined): number {
  if (isBad === undefined) return unchecked;
  return isBad ? bad : good;
}

/** @throws TableError when a table has no status column of idv, or cannot be read */
export async function compareTables(kind: Kind, before: Table, now: Table): Promise<Comparison> {
  const items = new DistinctItems();
  const older = { items: 0, bad: 0 };
  for await (const [key, isBad] of verdictsIn(kind, before)) {
    const hash = hashItem(items.seed, key);
    if (items.get(hash) !== 0) continue;
    items.set(hash, stateOf(isBad));
    if (isBad === undefined) continue;
    older.items++;
    older.bad += Number(isBad);
  }
  const newer = { items: 0, bad: 0 };
  const firstChecked = { items: 0, bad: 0 };
  let [worsened, newAndBad, recovered, stillBad] = [0, 0, 0, 0];
  for await (const [key, isBad] of verdictsIn(kind, now)) {
    const hash = hashItem(items.seed, key);
    const state = items.get(hash);
    if (state === seen || isBad === undefined) continue;
    items.set(hash, seen);
    newer.items++;
    newer.bad += Number(isBad);
    if (state === unchecked) {
      firstChecked.items++;
      firstChecked.bad += Number(isBad);
    } else if (isBad && state === good) worsened++;
    else if (isBad && state === 0) newAndBad++;
    else if (isBad) stillBad++;
    else if (state === bad) recovered++;
  }
  const goneAndBad = older.bad - stillBad - recovered;
  return { before: older, now: newer, worsened, newAndBad, recovered, goneAndBad, firstChecked };
}

/** Yields the key of each item, and whether it is fake or disposable; undefined if there were no units for it. */
async function* verdictsIn(
  kind: Kind,
  table: Table,
): AsyncGenerator<readonly [key: string, isBad: boolean | undefined]> {
  const column = statusColumnOf(table);
  const { shape, target, first, blocks, assembler, onBadRow } = table.scanned;
  const read = readerOf(shape, target, { names: [], indices: [] }, onBadRow);
  async function* chunks() {
    yield* first.pieces();
    for await (const { bytes } of blocks()) yield* assembler.assemble(bytes).pieces();
    yield* assembler.assemble(undefined).pieces();
  }
  for await (const piece of chunks()) {
    const chunk = read(piece);
    if (chunk === undefined) continue;
    for (let row = 0; row < chunk.count; row++) {
      if (!chunk.isRow(row)) continue;
      const status = chunk.field(row, column);
      if (status === "") continue;
      const item = extractItem(kind, chunk.value(row));
      const isBad = status === "fake" || status === "disposable";
      yield [itemKey(item), status === "quota_exceeded" ? undefined : isBad];
    }
  }
}

function statusColumnOf(table: Table): number {
  const names = (table.header ?? []).map(nameText);
  const found = ["status", "idv_status"]
    .map((name) => names.indexOf(name))
    .find((index) => index !== -1 && table.firstValues(index).every(isStatus));
  if (found === undefined)
    throw new TableError(`${table.scanned.shape.name}: has no status column of idv; check it first`);
  return found;
}
