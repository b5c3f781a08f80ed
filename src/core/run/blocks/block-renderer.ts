/** Renders the records of blocks with their statuses: all that the kernel does not write. Runs in any thread. */
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import { CopyingWriter } from "../../table/writers/copying-writer.js";
import type { WriteMemory, WrittenRecords } from "../../table/writers/output.js";
import { type AddedFields, type RecordWriter, unchanged } from "../../table/writers/record-writer.js";
import { writerOf } from "../../table/writers/writer-of.js";
import type { Status, Verdict } from "../../validator/validator.js";
import type { Cells } from "../items/cells.js";
import { fixedReason } from "../items/fixes.js";
import type { FoundItem } from "../items/item.js";
import { isExplained, needsVerdicts, ourFields } from "../rows/columns.js";
import type { StatusCodes } from "../status-codes.js";
import { hasItem, isKept, notARowCode, notCheckedCode, offlineStatuses, otherShardCode } from "../status-codes.js";
import { type BlockOptions, itemColumnsOf } from "./block-options.js";
import { decidingIndices, type ItemVerdicts } from "./item-verdicts.js";
import { mayBeMarked, plainAddress } from "./plain-address.js";

export type Explain = (item: string, status: Status) => Verdict;

const mostPrepared = 1000;

export class BlockRenderer {
  readonly #columns: readonly number[];
  readonly #needsVerdicts: boolean;
  readonly #hasCanonical: boolean;
  readonly #hasSuggestion: boolean;
  /** The number of the field `was` among those of a column; 0 without one. */
  readonly #was: number;
  readonly #writer: RecordWriter;
  readonly #byCodes = new Map<number | string, AddedFields>();
  readonly #byFields = new Map<string, AddedFields>();

  constructor(
    private readonly options: BlockOptions,
    private readonly codes: StatusCodes,
    private readonly cells: Cells,
    private readonly explain: Explain,
    private readonly explainsAll: boolean,
  ) {
    this.#columns = itemColumnsOf(options.shape);
    this.#needsVerdicts = needsVerdicts(options.columns, explainsAll);
    const { details } = options.columns;
    this.#hasCanonical = details.includes("canonical");
    this.#hasSuggestion = details.includes("suggestion");
    this.#was = 1 + details.indexOf("was");
    this.#writer = writerOf(options.shape, options.target, options.columns);
  }

  /** `codes`: of each field with items, row by row. `was`: replaced items by field. `memory`: used if large enough. */
  render(
    chunk: ScannedChunk,
    codes: Uint8Array,
    items?: ItemVerdicts,
    was?: ReadonlyMap<number, string>,
    memory?: WriteMemory,
  ): WrittenRecords {
    const nth = items === undefined ? undefined : decidingIndices(codes, items);
    return this.#writer.write(chunk, (row) => this.#addedTo(chunk, row, { codes, nth, was }), memory);
  }

  #addedTo(chunk: ScannedChunk, row: number, rows: RenderedRows): AddedFields | null | undefined {
    const { codes } = rows;
    const width = this.#columns.length;
    const first = row * width;
    const code = codes[first]!;
    if (code === otherShardCode) return undefined;
    if (code === notARowCode) return unchanged;
    if (width === 1 && isKept(code)) return null;
    const own = width === 1 ? undefined : codes.subarray(first, first + width);
    for (let nth = 0; nth < width; nth++) if (this.#isOwn(chunk, row, nth, rows)) return this.#ownOf(chunk, row, rows);
    const key = own?.join() ?? code;
    let added = this.#byCodes.get(key);
    if (added === undefined) {
      added = this.#writer.prepare(Array.from(own ?? [code]).flatMap((each) => this.#usualFields(each)));
      this.#byCodes.set(key, added);
    }
    return added;
  }

  /** Whether the fields of a column depend on more than its code. */
  #isOwn(chunk: ScannedChunk, row: number, nth: number, rows: RenderedRows): boolean {
    const code = rows.codes[row * this.#columns.length + nth]!;
    return (
      isKept(code) ||
      this.#isExplained(code) ||
      this.#isMarked(chunk, row, nth, rows) ||
      this.#earlierWas(nth) !== undefined
    );
  }

  #ownOf(chunk: ScannedChunk, row: number, rows: RenderedRows): AddedFields {
    if (this.#columns.length === 1) return this.#prepared(this.#fieldsOf(chunk, row, 0, rows));
    return this.#prepared(this.#columns.flatMap((_, column) => this.#fieldsOf(chunk, row, column, rows)));
  }

  /** Many rows have the same fields, such as the same flags; canonical forms are all different. */
  #prepared(fields: readonly string[]): AddedFields {
    if (this.#hasCanonical) return this.#writer.prepare(fields);
    const key = fields.join("\0");
    const known = this.#byFields.get(key);
    if (known !== undefined) return known;
    const added = this.#writer.prepare(fields);
    if (this.#byFields.size < mostPrepared) this.#byFields.set(key, added);
    return added;
  }

  #earlierWas(column: number): number | undefined {
    const { names, indices } = this.options.columns;
    if (this.#was === 0) return undefined;
    return indices[(column * names.length) / this.#columns.length + this.#was];
  }

  /** Returns whether an item was replaced, or differs from its field by marks, whose removal is suggested. */
  #isMarked(chunk: ScannedChunk, row: number, nth: number, { codes, was }: RenderedRows): boolean {
    const field = row * this.#columns.length + nth;
    if (was?.has(field)) return true;
    const isSuggested = this.#hasSuggestion && hasItem(codes[field]!);
    return isSuggested && mayBeMarked(chunk.withColumn(this.#columns[nth]!).rawValue(row));
  }

  #isExplained(code: number): boolean {
    if (!hasItem(code) || code === notCheckedCode) return false;
    return isExplained(this.options.columns, this.#hasReason(code));
  }

  #hasReason(code: number): boolean {
    return this.explainsAll || this.codes.reasons[code] !== undefined;
  }

  #usualFields(code: number): readonly string[] {
    const { kind, columns } = this.options;
    return ourFields(columns, { status: this.codes.statuses[code]! }, kind);
  }

  #fieldsOf(chunk: ScannedChunk, row: number, column: number, rows: RenderedRows): readonly string[] {
    const { columns } = this.options;
    const field = row * this.#columns.length + column;
    if (isKept(rows.codes[field]!)) {
      const each = columns.names.length / this.#columns.length;
      return chunk.fields(row, columns.indices.slice(column * each, (column + 1) * each));
    }
    return this.#withEarlierWas(chunk, row, column, this.#judgedFields(chunk, field, rows));
  }

  #judgedFields(chunk: ScannedChunk, field: number, { codes, nth, was }: RenderedRows): readonly string[] {
    const { kind, columns } = this.options;
    const code = codes[field]!;
    const status = this.codes.statuses[code]!;
    const before = was?.get(field);
    if (!hasItem(code) || code === notCheckedCode) {
      // Of several items, some were replaced before the quota ran out.
      return before === undefined ? this.#usualFields(code) : ourFields(columns, { status, was: before }, kind, "");
    }
    const { item, isMarked } = itemsInField(chunk, this.#columns, field, this.cells)[nth?.[field] ?? 0]!;
    const isFixed = this.codes.reasons[code] === fixedReason;
    const isExplained = !isFixed && this.#needsVerdicts && this.#hasReason(code);
    const verdict = isExplained ? this.explain(item, status) : { status, ...(isFixed && { reason: fixedReason }) };
    const suggestion = verdict.suggestion ?? (isMarked && status !== "fake" ? item : undefined);
    const added = { ...(suggestion !== undefined && { suggestion }), ...(before !== undefined && { was: before }) };
    return ourFields(columns, { ...verdict, ...added }, kind, item);
  }

  /** What an earlier run has replaced stays in its column, which has the only copy. */
  #withEarlierWas(chunk: ScannedChunk, row: number, column: number, fields: readonly string[]) {
    const earlier = this.#earlierWas(column);
    if (earlier === undefined || fields[this.#was] !== "") return fields;
    return fields.with(this.#was, chunk.field(row, earlier));
  }
}

interface RenderedRows {
  readonly codes: Uint8Array;
  readonly nth: Uint32Array | undefined;
  readonly was: ReadonlyMap<number, string> | undefined;
}

export function itemsInField(chunk: ScannedChunk, columns: readonly number[], field: number, cells: Cells) {
  const row = columns.length === 1 ? field : Math.floor(field / columns.length);
  const column = chunk.withColumn(columns[field - row * columns.length]!);
  const address = cells.takesPlainAddresses ? plainAddress(column, row) : undefined;
  if (address === undefined) return cells.find(column.value(row));
  return [{ item: address, start: 0, end: address.length, isMarked: false }] satisfies readonly FoundItem[];
}

export function tailsOf({ kind, shape, target, keeps, columns }: BlockOptions): readonly Uint8Array[] {
  const hasTails = keeps === undefined && columns.details.length === 0;
  if (!hasTails || target.format !== undefined || shape.json) return [];
  const writer = new CopyingWriter(shape, [undefined]);
  return offlineStatuses.map((status) => writer.prepare(ourFields(columns, { status }, kind)).parts[0]!);
}
