/** Finds the items of fields again, once their verdicts are known: in a chunk, by the numbers of its fields. */
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import { knownStatuses, type Status } from "../../validator/validator.js";
import type { Cells } from "../items/cells.js";
import { firstKeptCode, hasItem, isKept } from "../status-codes.js";
import { itemsInField } from "./block-renderer.js";
import type { Judged } from "./chunk-verdicts.js";
import { mayBeMarked } from "./plain-address.js";

type FieldItemsFound = ReturnType<typeof itemsInField>;

/** `statusOf` is that of the offline classifier; undefined with a service. */
export function createFieldItems(columns: readonly number[], cells: Cells, statusOf?: (item: string) => Status) {
  let last: { readonly records: ScannedChunk; readonly field: number; readonly found: FieldItemsFound } | undefined;

  /** All items of a long list are asked for one by one. */
  function itemsAt(records: ScannedChunk, field: number): FieldItemsFound {
    if (last?.records !== records || last.field !== field)
      last = { records, field, found: itemsInField(records, columns, field, cells) };
    return last.found;
  }

  const itemAt = (records: ScannedChunk, field: number, nth: number): string | undefined =>
    itemsAt(records, field)[nth]?.item;

  function columnOf(records: ScannedChunk, field: number) {
    const width = columns.length;
    const row = width === 1 ? field : Math.floor(field / width);
    return { column: records.withColumn(columns[field - row * width]!), row };
  }

  return {
    /** Calls `use` in order, by the index among the verdicts. `chunk` is called only if an item is wanted. */
    each(
      chunk: () => ScannedChunk,
      { codes, items }: Judged,
      isWanted: (index: number, isFirstColumn: boolean) => boolean,
      use: (item: string, index: number) => void,
    ): void {
      const width = columns.length;
      const count = (items?.codes ?? codes).length;
      let nth = 0;
      let last = -1;
      let records: ScannedChunk | undefined;
      for (let index = 0; index < count; index++) {
        const field = items ? items.fields[index]! : index;
        nth = field === last ? nth + 1 : 0;
        last = field;
        if (!isWanted(index, field % width === 0)) continue;
        records ??= chunk();
        use(itemAt(records, field, nth)!, index);
      }
    },
    /** Returns the item of the first column that decided; undefined if that is not known. */
    deciding(records: ScannedChunk, row: number, { codes, items }: Judged): string | undefined {
      const field = row * columns.length;
      const code = codes[field]!;
      if (!hasItem(code)) return undefined;
      if (isKept(code)) {
        const found = itemsAt(records, field);
        const status = knownStatuses[code - firstKeptCode];
        return (found.length > 1 ? found.find(({ item }) => statusOf?.(item) === status) : found[0])?.item;
      }
      if (items === undefined) return itemAt(records, field, 0);
      const first = firstPosition(items.fields, field);
      let nth = 0;
      while (items.fields[first + nth] === field && items.codes[first + nth] !== code) nth++;
      return itemAt(records, field, items.fields[first + nth] === field ? nth : 0);
    },
    itemAt,
    mayBeMarked(records: ScannedChunk, field: number): boolean {
      const { column, row } = columnOf(records, field);
      return mayBeMarked(column, row);
    },
    textsOf(records: ScannedChunk, field: number) {
      const { column, row } = columnOf(records, field);
      const texts = column.texts(row).map((text) => ({ text, items: cells.find(text.text) }));
      const value = column.value(row);
      if (texts.length === 1 && texts[0]!.text.text === value) return texts;
      const own = cells.itemsIn(value);
      const found = texts.flatMap(({ items }) => items.map(({ item }) => item));
      return own.length === found.length && own.every((item, nth) => item === found[nth]) ? texts : [];
    },
    inText(text: string): readonly string[] {
      const { emptied, marked } = cells;
      const items = cells.itemsIn(text);
      Object.assign(cells, { emptied, marked });
      return items;
    },
  };
}

export type FieldItems = ReturnType<typeof createFieldItems>;

function firstPosition(fields: Int32Array, field: number): number {
  let from = 0;
  let to = fields.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (fields[middle]! < field) from = middle + 1;
    else to = middle;
  }
  return from;
}
