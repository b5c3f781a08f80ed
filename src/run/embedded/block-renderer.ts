/** Renders the records of blocks with their statuses, in JavaScript: whatever the kernel does not write. Runs in any thread. */
import type { Classifier } from "../../classifier/classifier.js";
import type { TableShape } from "../../table/records.js";
import { writeReplacing } from "../../table/scan/reread-records.js";
import {
  type ScannedChunk,
  tailOf,
  type WriteMemory,
  type WrittenRecords,
} from "../../table/scan/scanned-chunk.js";
import type { Cells } from "../cells.js";
import { type Columns, ourFields } from "../columns.js";
import {
  hasItem,
  notARowCode,
  notCheckedCode,
  offlineReasons,
  offlineStatuses,
  otherShardCode,
} from "../status-codes.js";
import { type BlockOptions, itemColumnsOf } from "./block-options.js";
import { decidingPlaces, type ItemVerdicts } from "./item-verdicts.js";
import { isKept } from "./kept-rows.js";

const noTail = Buffer.of();

/** Renders records in one thread. */
export class BlockRenderer {
  readonly #options: BlockOptions;
  readonly #classifier: Classifier;
  readonly #cells: Cells;
  readonly #columns: readonly number[];
  /** Bytes to append to a record, by every code: none for records that are no rows, undefined for those of other shards. */
  readonly #tailsByCode: readonly (Uint8Array | undefined)[];

  /** @param cells finds the items in values */
  constructor(options: BlockOptions, classifier: Classifier, cells: Cells) {
    this.#options = options;
    this.#classifier = classifier;
    this.#cells = cells;
    this.#columns = itemColumnsOf(options.shape);
    const tails = tailsOf(options);
    this.#tailsByCode = Array.from({ length: notARowCode + 1 }, (_, code) =>
      code === notARowCode ? noTail : tails[code],
    );
  }

  /**
   * Renders the records of a chunk with their statuses.
   *
   * @param codes the code of each field with items, row by row
   * @param items the verdicts on all items, if a field has several
   * @param memory takes the bytes if they fit; otherwise new memory does
   */
  render(chunk: ScannedChunk, codes: Uint8Array, items?: ItemVerdicts, memory?: WriteMemory): WrittenRecords {
    const { shape, columns, keeps } = this.#options;
    const nth = items === undefined ? undefined : decidingPlaces(codes, items);
    if (keeps !== undefined) {
      const fieldsOf = (row: number) => this.#replacedFields(chunk, row, codes, nth);
      return writeReplacing(shape, chunk, columns.places, fieldsOf, memory);
    }
    const isExplained = columns.withReasons || columns.withCanonical;
    if (!isExplained && this.#columns.length === 1) return chunk.write(this.#tailsByCode, codes, memory);
    const tails = this.#tailsOf(chunk, codes, nth);
    const choice = Uint32Array.from(tails, (_, row) => row);
    return chunk.write(tails, choice, memory);
  }

  /** Returns the bytes to append to each record. */
  #tailsOf(
    chunk: ScannedChunk,
    codes: Uint8Array,
    nth: Uint32Array | undefined,
  ): readonly (Uint8Array | undefined)[] {
    const { shape } = this.#options;
    const width = this.#columns.length;
    const tailOfCell = (cell: number) => {
      const code = codes[cell]!;
      return this.#isExplained(code)
        ? tailOf(shape, this.#explain(chunk, cell, code, nth))
        : this.#tailsByCode[code];
    };
    return Array.from({ length: chunk.count }, (_, row) => {
      const first = row * width;
      if (width === 1 || codes[first] === otherShardCode) return tailOfCell(first);
      return Buffer.concat(Array.from({ length: width }, (_, column) => tailOfCell(first + column)!));
    });
  }

  /** Returns whether the added fields of rows with a code depend on their items. */
  #isExplained(code: number): boolean {
    const { withReasons, withCanonical } = this.#options.columns;
    if (!hasItem(code) || code === notCheckedCode) return false;
    return withCanonical || (withReasons && offlineReasons[code] !== undefined);
  }

  /** Returns the added fields of a row of an update; undefined if it keeps its own, null if it is left out. */
  #replacedFields(
    chunk: ScannedChunk,
    row: number,
    codes: Uint8Array,
    nth: Uint32Array | undefined,
  ): readonly string[] | undefined | null {
    const width = this.#columns.length;
    const first = row * width;
    if (codes[first] === otherShardCode) return null;
    if (codes[first] === notARowCode) return undefined;
    if (width === 1 && isKept(codes[first]!)) return undefined;
    const { kind, columns } = this.#options;
    const { names, places } = columns;
    const each = names.length / width;
    return this.#columns.flatMap((_, column) => {
      const code = codes[first + column]!;
      if (isKept(code)) {
        const own = places.slice(column * each, (column + 1) * each);
        return own.map((place) => (place === undefined ? "" : chunk.field(row, place)));
      }
      if (this.#isExplained(code)) return this.#explain(chunk, first + column, code, nth);
      return ourFields(columns, { status: offlineStatuses[code]! }, kind);
    });
  }

  /**
   * Returns the added fields for a field with items, with what explains the status of the item that decides.
   *
   * @param cell number of the field, row by row
   * @param nth which of the items in each field decides
   */
  #explain(chunk: ScannedChunk, cell: number, code: number, nth: Uint32Array | undefined): readonly string[] {
    const { kind, columns } = this.#options;
    const item = this.#cells.itemsIn(fieldValue(chunk, this.#columns, cell))[nth?.[cell] ?? 0]!;
    const status = offlineStatuses[code]!;
    const verdict = columns.withReasons ? this.#classifier.classify(kind, item) : { status };
    return ourFields(columns, verdict, kind, item);
  }
}

/** Returns the value of a field with items, by its number, row by row. */
export function fieldValue(chunk: ScannedChunk, columns: readonly number[], cell: number): string {
  const row = columns.length === 1 ? cell : Math.floor(cell / columns.length);
  return chunk.withColumn(columns[cell - row * columns.length]!).value(row);
}

/** Returns the bytes to append to a record for a column with items, by the codes of offline verdicts. */
export const tailsOf = ({
  kind,
  shape,
  columns,
}: {
  readonly kind: BlockOptions["kind"];
  readonly shape: TableShape;
  readonly columns: Columns;
}): readonly Uint8Array[] =>
  offlineStatuses.map((status) => tailOf(shape, ourFields(columns, { status }, kind)));
