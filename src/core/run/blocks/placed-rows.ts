// Rows that are not judged: those of other shards, and those that keep the status of an earlier run (`--update`), which
// `--dedupe` compares with the others all the same.
import type { ItemHash } from "../../classifier/tables/item-hash.js";
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import type { Cells } from "../items/cells.js";
import { itemKey } from "../items/item.js";
import type { RowKeys } from "../rows/row-writer.js";
import { severalItems } from "../rows/shard.js";
import { hasItem, isKept, isRow, otherShardCode } from "../status-codes.js";
import { type BlockOptions, isFirstShard, isHere, itemColumnsOf } from "./block-options.js";
import type { ChunkVerdicts } from "./chunk-verdicts.js";
import { findKept, type OtherStatus } from "./kept-rows.js";

const noneKept = new Uint8Array(0);

type Hashes = { readonly hashOf: (key: string) => ItemHash; readonly hashOfMailbox: (item: string) => ItemHash };

export class PlacedRows {
  readonly #columns: readonly number[];
  readonly #isFirstShard: boolean;

  constructor(
    private readonly options: BlockOptions,
    private readonly cells: Cells,
    private readonly hashes: Hashes,
  ) {
    this.#columns = itemColumnsOf(options.shape);
    this.#isFirstShard = isFirstShard(options);
  }

  kept(chunk: ScannedChunk, otherStatus: OtherStatus | undefined): Uint8Array | undefined {
    const { keeps, columns, shape, asksUndecided } = this.options;
    if (keeps === undefined) return noneKept;
    const each = columns.indices.length / this.#columns.length;
    const reason = asksUndecided ? 1 + columns.details.indexOf("reason") : 0;
    const earlier = this.#columns.map((_, nth) => ({
      status: columns.indices[nth * each],
      reason: reason === 0 ? undefined : columns.indices[nth * each + reason],
    }));
    const quote = shape.json ? '"' : shape.dialect.quote;
    return findKept(chunk, quote, earlier, keeps, otherStatus);
  }

  /** A row's first item decides its shard. @throws TableError when a record has several items in a run with shards */
  place(chunk: ScannedChunk, kept: Uint8Array): { readonly codes: Uint8Array; readonly keys?: RowKeys } {
    const { shard, keys } = this.options;
    const width = this.#columns.length;
    const chunks = this.#columns.map((column) => chunk.withColumn(column));
    const codes = kept === noneKept ? new Uint8Array(width * chunk.count) : kept.slice();
    const compared: { readonly row: number; readonly hash: ItemHash }[] = [];
    // These values are counted when they are judged.
    const counted = { emptied: this.cells.emptied, marked: this.cells.marked };
    for (let row = 0, first = 0; row < chunk.count; row++, first += width) {
      if (!chunk.isRow(row)) continue;
      if (!isRow(codes[first]!)) {
        if (!this.#isFirstShard) codes.fill(otherShardCode, first, first + width);
        continue;
      }
      const read = shard === undefined ? chunks.slice(0, 1) : chunks;
      const fields = read.map((column) => this.cells.itemsIn(column.value(row)));
      const [item, second] = fields.flat();
      if (shard && second !== undefined) throw severalItems(shard, chunk.lineOf(row));
      if (!isHere(this.options, item)) codes.fill(otherShardCode, first, first + width);
      else if (keys) for (const each of fields[0]!) compared.push({ row, hash: this.keyOf(each) });
    }
    Object.assign(this.cells, counted);
    if (!keys) return { codes };
    const hashes = Int32Array.from(compared.flatMap(({ hash: { low, high } }) => [low, high]));
    const rows = Int32Array.from(compared, ({ row }) => row);
    return { codes, keys: { hashes, codes: new Uint8Array(compared.length).fill(1), rows } };
  }

  /** Counts the rows that keep a status and have no other item. Adds rows whose kept value is not UTF-8 to `notUtf8`. */
  count(chunks: readonly ScannedChunk[], codes: Uint8Array, notUtf8: Set<number>): number {
    const width = chunks.length;
    let count = 0;
    for (let row = 0, first = 0; first < codes.length; row++, first += width) {
      let isAny = false;
      let hasOthers = false;
      for (let nth = 0; nth < width; nth++) {
        const code = codes[first + nth]!;
        if (isKept(code)) {
          isAny = true;
          if (!chunks[nth]!.isUtf8(row)) notUtf8.add(row);
        } else if (hasItem(code)) hasOthers = true;
      }
      if (isAny && !hasOthers) count++;
    }
    return count;
  }

  keysOf(verdicts: ChunkVerdicts): RowKeys | undefined {
    const { keys } = this.options;
    const { hashes, mailboxes, items, columns, codes } = verdicts;
    if (keys === undefined || verdicts.keys) return verdicts.keys;
    const all = keys === "items" ? (items?.hashes ?? hashes) : mailboxes!;
    if (columns === 1) return { ...items, hashes: all, rows: items?.fields };
    const indices = Array.from((items ?? verdicts).codes.keys()).filter(
      (index) => (items?.fields[index] ?? index) % columns === 0,
    );
    return {
      hashes: Int32Array.from(indices.flatMap((index) => [all[2 * index]!, all[2 * index + 1]!])),
      codes: Uint8Array.from(indices, (index) => (items?.codes ?? codes)[index]!),
      rows: Int32Array.from(indices, (index) => (items?.fields[index] ?? index) / columns),
    };
  }

  keyOf(item: string): ItemHash {
    return this.options.keys === "mailboxes" ? this.hashes.hashOfMailbox(item) : this.hashes.hashOf(itemKey(item));
  }
}
