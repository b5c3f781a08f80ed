// Classifies the records of blocks in any thread: scan, keep (placed-rows.ts), judge (the kernel, then judge.ts),
// render (block-renderer.ts). Each further column with items is found by another scan, the cheapest step.
import type { Classifier } from "../../classifier/classifier.js";
import type { ItemHash } from "../../classifier/tables/item-hash.js";
import { Kernel, type KernelSettings } from "../../kernel/kernel.js";
import { askCode } from "../../kernel/layout.js";
import { isFrame } from "../../table/json/marks.js";
import { emptyField } from "../../table/records.js";
import { scanAlone } from "../../table/scan/chunk-assembler.js";
import { scanShape } from "../../table/scan/scan-shape.js";
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import { recordWords } from "../../table/scan/scanner.js";
import type { ItemTest } from "../../table/sniff/item-profile.js";
import { type FoundHeader, otherHeader } from "../../table/sniff/second-header.js";
import { type RecordReader, readerOf } from "../../table/writers/writer-of.js";
import { Cells, itemTest } from "../items/cells.js";
import { severalItems } from "../rows/shard.js";
import { hasItem, notARowCode, otherShardCode, StatusCodes } from "../status-codes.js";
import type { BlockKernel } from "./block-kernel.js";
import { type BlockOptions, isFirstShard, itemColumnsOf, looksAtRows, wantsMailboxes } from "./block-options.js";
import { BlockRenderer, tailsOf } from "./block-renderer.js";
import { type BlockResult, type ChunkVerdicts, countsOf, type Explain, type MainThread } from "./chunk-verdicts.js";
import { type Elsewhere, ElsewhereFinder } from "./elsewhere.js";
import { createFactFinder, type SlotFacts } from "./fact-finder.js";
import { createFieldItems, type FieldItems } from "./field-items.js";
import { emptyVerdicts, type ItemVerdicts } from "./item-verdicts.js";
import { Judge } from "./judge.js";
import { type ColumnPlace, judgeWithout } from "./kept-rows.js";
import { PlacedRows } from "./placed-rows.js";
import { type Slot, slotRows } from "./threads/block-memory.js";

const comma = 0x2c;

export class BlockClassifier {
  readonly items: FieldItems;
  readonly judge: Judge;
  readonly rows: PlacedRows;
  readonly #options: BlockOptions;
  readonly #kernel: BlockKernel | undefined;
  readonly #main: MainThread;
  readonly #cells: Cells;
  readonly #facts: ReturnType<typeof createFactFinder>;
  readonly renderer: BlockRenderer;
  readonly #read: RecordReader;
  readonly #itemTest: ItemTest;
  readonly #columns: readonly number[];
  readonly #isPlain: boolean;
  readonly #isFirstShard: boolean;
  readonly #elsewhere: ElsewhereFinder;
  /** Whether domains are read apart from the verdicts: the kernel judges only some of the items. */
  readonly #readsDomainsApart: boolean;
  /** Whether an item was found in an earlier chunk; and a header at its end, whose rows may follow in the next one. */
  #isBelowItems = false;
  #lastHeader: FoundHeader | undefined;

  constructor(
    options: BlockOptions,
    classifier: Classifier | undefined,
    kernel?: BlockKernel,
    main: MainThread = { codes: new StatusCodes() },
  ) {
    const { cells, shape } = options;
    this.#main = main;
    this.#options = options;
    this.#kernel = kernel;
    this.#cells = new Cells(cells);
    this.#columns = itemColumnsOf(shape);
    const statusOf = classifier && ((item: string) => classifier.classify(cells.kind, item).status);
    this.items = createFieldItems(this.#columns, this.#cells, statusOf);
    this.judge = new Judge(options, { classifier, kernel, main, cells: this.#cells, items: this.items });
    const hashOf = (key: string): ItemHash => this.judge.hashOf(key);
    const isRendered = () => this.renderer.wantsDomains;
    this.#facts = createFactFinder(options, kernel, this.#cells, { hashOf, isRendered });
    const hashOfMailbox = (item: string) => this.#facts.hashOfMailbox(item);
    this.rows = new PlacedRows(options, this.#cells, { hashOf, hashOfMailbox });
    this.#itemTest = itemTest(cells);
    this.#elsewhere = new ElsewhereFinder(options);
    this.#read = readerOf(shape, options.target, options.columns);
    const explain: Explain = main.explain ?? ((item) => classifier!.classify(options.kind, item));
    this.renderer = new BlockRenderer(options, main.codes, this.#cells, {
      explain,
      explainsAll: main.explain !== undefined,
      domainsIn: (chunk) => this.#facts.domainsIn(chunk),
    });
    this.#isPlain = Kernel.takes(tailsOf(options));
    this.#isFirstShard = isFirstShard(options);
    this.#readsDomainsApart = options.keeps !== undefined || this.#cells.hasItemWords;
  }

  // Leaves verdicts and rows in the slot. Undefined if the main thread has to take the block: it cannot be scanned
  // alone, has bad rows, an unknown status or the header of another table, or does not fit.
  classifySlot(slot: Slot, length: number): BlockResult | undefined {
    const kernel = this.#kernel!;
    const { isFinal } = this.#options;
    const scanned = this.#scanSlot(slot, length, { items: this.#itemTest, isCopied: !isFinal });
    if (scanned === undefined) return undefined;
    const chunk = this.#read(scanned.chunk);
    if (chunk === undefined) return undefined;
    const { lines } = scanned;
    const rows = chunk.count;
    const fields = rows * this.#columns.length;
    const kept = fields > slotRows ? undefined : this.rows.kept(chunk, undefined);
    if (kept === undefined) return undefined;
    const codes = slot.codes.subarray(0, fields);
    const { hashes } = slot;
    const memory = this.#columns.length === 1 ? { codes, hashes } : kernel.own;
    const domains = this.#readsDomainsApart ? undefined : this.#facts.memoryOf(rows, slot);
    this.#judgeColumns(chunk, kept, { codes, hashes }, memory, (column, nth) => {
      if (this.#cells.hasItemWords) this.#askAll(chunk, memory.codes);
      else kernel.judge(column, { codes: memory.codes, hashes: memory.hashes, domains: domains?.[nth] }, nth === 0);
    });
    const verdicts = this.#judgeTheRest(chunk, codes, hashes, { slot, isBelowItems: true, domains });
    const takesItems = verdicts.header === 0 && this.#takesItems(slot, fields, verdicts.items);
    const outputLength = takesItems ? (isFinal ? this.#renderInto(slot, chunk, verdicts) : 0) : -1;
    if (outputLength !== -1) {
      const items = verdicts.items?.fields.length ?? 0;
      return { lines, rows, items, outputLength, ...countsOf(verdicts), ...(!isFinal && { chunk }) };
    }
    // The main thread judges the block again and counts its domains.
    this.judge.takeBack(() => chunk, verdicts);
    return undefined;
  }

  records(slot: Slot, length: number, line: number): ScannedChunk {
    return this.#read(this.#scanSlot(slot, length, { line, isCopied: true })!.chunk)!;
  }

  #scanSlot(
    slot: Slot,
    length: number,
    { isCopied, ...options }: { readonly line?: number; readonly items?: ItemTest; readonly isCopied: boolean },
  ) {
    const kernel = this.#kernel!;
    const { column } = this.#options.shape;
    return scanAlone(this.#options.shape, slot.block.subarray(0, length), {
      ...options,
      scan: (wanted) => {
        if (wanted !== column) return kernel.rescan(slot, length, wanted);
        const found = kernel.scan(slot, length, column);
        return found === undefined || !isCopied ? found : { ...found, at: found.at.slice() };
      },
    });
  }

  #takesItems(slot: Slot, fields: number, items: ItemVerdicts | undefined): boolean {
    if (items === undefined) return true;
    const count = items.fields.length;
    const isElsewhere = this.#options.shard !== undefined || wantsMailboxes(this.#options);
    if (isElsewhere || fields + count > slot.codes.length) return false;
    slot.codes.set(items.codes, fields);
    slot.hashes.set(items.hashes, 2 * fields);
    slot.itemFields.set(items.fields);
    return true;
  }

  /** Classifies a chunk that is in no slot. @throws TableError when a record has several items in a run with shards */
  classify(chunk: ScannedChunk): ChunkVerdicts {
    const { shard } = this.#options;
    const width = this.#columns.length;
    const codes = new Uint8Array(width * chunk.count);
    const hashes = new Int32Array(2 * codes.length);
    const memory = width === 1 ? { codes, hashes } : emptyVerdicts(chunk.count);
    const kept = this.rows.kept(chunk, this.#main.otherStatus)!;
    const placed = looksAtRows(this.#options) ? this.rows.place(chunk, kept) : undefined;
    // The kernel decides about the shard of each item alone, not about that of a row with several columns.
    const isForKernel = !this.#cells.hasItemWords && (width === 1 || shard === undefined);
    const domains = isForKernel && !this.#readsDomainsApart ? this.#facts.memoryOf(chunk.count) : undefined;
    this.#judgeColumns(chunk, placed?.codes ?? kept, { codes, hashes }, memory, (column, nth) => {
      this.#askAll(chunk, memory.codes);
      if (isForKernel) this.#kernel?.judge(column, { ...memory, domains: domains?.[nth] }, nth === 0);
    });
    const isBelowItems = this.#isBelowItems;
    const isPlaced = placed !== undefined;
    const verdicts = this.#judgeTheRest(chunk, codes, hashes, { isBelowItems, isPlaced, domains });
    const several = verdicts.items?.fields.find((field, index, all) => field === all[index - 1]);
    if (shard && several !== undefined) throw severalItems(shard, chunk.lineOf(several));
    return placed?.keys ? { ...verdicts, keys: placed.keys } : verdicts;
  }

  /** Call this on the main thread, in input order. @throws ChoiceError for the header of another table */
  checkHeaders(found: Elsewhere, codes: Uint8Array, records: () => ScannedChunk): void {
    const { name } = this.#options.shape;
    const last = this.#lastHeader;
    const headerAt = (row: number) => {
      return { line: records().lineOf(row), fields: this.#elsewhere.fieldsOf(records(), row) };
    };
    if (found.header > 0) throw otherHeader(name, headerAt(found.header - 1));
    if (found.isOpen === 1 && last !== undefined) {
      const column = this.#elsewhere.columnOf(records(), found.elsewhereRow - 1);
      if (this.#elsewhere.isHeaderOf(last.fields, column)) throw otherHeader(name, last);
    }
    if (found.lastHeader > 0) this.#lastHeader = headerAt(found.lastHeader - 1);
    else if (codes.length > 0) this.#lastHeader = undefined;
    this.#isBelowItems ||= codes.some(hasItem);
  }

  elsewhereIn(records: ScannedChunk, row: number): string {
    return this.#elsewhere.nameOf(records, row);
  }

  /** `kept` has the codes of fields that are not judged, else 0; `memory` gets the verdicts on a column. */
  #judgeColumns(
    chunk: ScannedChunk,
    kept: Uint8Array,
    all: ColumnVerdicts,
    memory: ColumnVerdicts,
    judge: (column: ScannedChunk, nth: number) => void,
  ): void {
    const width = this.#columns.length;
    for (const [nth, index] of this.#columns.entries()) {
      const column = chunk.withColumn(index);
      judgeWithout(kept, { nth, width }, column, memory.codes, () => judge(column, nth));
      if (width > 1) spread(memory, chunk.count, { nth, width }, all);
    }
    if (this.#options.shape.json?.isDocument && !this.#isFirstShard) takeFrames(chunk, all.codes, width);
  }

  #judgeTheRest(
    chunk: ScannedChunk,
    codes: Uint8Array,
    hashes: Int32Array,
    { slot, isBelowItems, isPlaced = false, domains }: ChunkPlace,
  ): ChunkVerdicts {
    const columns = this.#columns.map((column) => chunk.withColumn(column));
    const { notUtf8, ...found } = this.judge.judgeRest(columns, codes, hashes, isPlaced);
    const kept = this.#options.keeps === undefined ? 0 : this.rows.count(columns, codes, notUtf8);
    const elsewhere = this.#elsewhere.find(chunk, codes, isBelowItems);
    const counts = { notUtf8: notUtf8.size, kept, ...elsewhere };
    const judged = { columns: columns.length, codes, hashes, ...found, ...counts };
    return { ...judged, ...this.#facts.find(chunk, judged, domains, slot) };
  }

  #askAll(chunk: ScannedChunk, codes: Uint8Array): void {
    const notARow = this.#isFirstShard ? notARowCode : otherShardCode;
    for (let row = 0; row < chunk.count; row++) codes[row] = chunk.isRow(row) ? askCode : notARow;
  }

  #renderInto(slot: Slot, chunk: ScannedChunk, verdicts: ChunkVerdicts): number {
    // The lines of a plain list become fields, and those with commas have to be quoted.
    const needsNoQuotes = this.#options.shape.dialect.delimiter !== null || !chunk.bytes.includes(comma);
    if (needsNoQuotes && this.#isPlain) return this.#kernel!.write(slot, chunk.count);
    const { bytes } = this.renderer.render(chunk, verdicts, undefined, slot);
    // Rows that did not fit were rendered in memory that other threads cannot see.
    return bytes.buffer === slot.output.buffer ? bytes.length : -1;
  }
}

interface ChunkPlace {
  readonly slot?: SlotFacts;
  readonly isBelowItems: boolean;
  readonly isPlaced?: boolean;
  /** Words about domains that came with the verdicts. */
  readonly domains?: readonly Int32Array[] | undefined;
}

type ColumnVerdicts = Pick<ItemVerdicts, "codes" | "hashes">;

function takeFrames(chunk: ScannedChunk, codes: Uint8Array, width: number): void {
  for (let row = 0; row < chunk.count; row++) {
    const start = chunk.at[row * recordWords]!;
    if (!chunk.isRow(row) && isFrame(chunk.bytes, start)) codes.fill(notARowCode, row * width, (row + 1) * width);
  }
}

function spread(column: ColumnVerdicts, rows: number, { nth, width }: ColumnPlace, all: ColumnVerdicts): void {
  const { codes, hashes } = all;
  for (let row = 0, field = nth; row < rows; row++, field += width) {
    codes[field] = column.codes[row]!;
    hashes[2 * field] = column.hashes[2 * row]!;
    hashes[2 * field + 1] = column.hashes[2 * row + 1]!;
  }
}

export function kernelSettings(options: BlockOptions): KernelSettings {
  const { shape, seed, shard } = options;
  const field = emptyField(shape.dialect);
  const padding = field.length === 1 ? field.charCodeAt(0) : 0;
  const columns = itemColumnsOf(shape).length;
  const own = {
    shape: scanShape(shape),
    width: shape.width,
    isJson: shape.json !== undefined,
    tails: tailsOf(options),
  };
  return { ...own, padding, seed, shard, columns };
}
