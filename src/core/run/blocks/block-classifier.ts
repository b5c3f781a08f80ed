/**
 * Classifies the records of blocks, and renders them with their statuses. Runs in any thread.
 *
 * Each further column with items is found by a second scan of the block: a scan is the cheapest step, and nothing else has to
 * know of the columns.
 */
import { domainToASCII } from "node:url";
import type { Classifier } from "../../classifier/classifier.js";
import { outcomeCode } from "../../classifier/outcomes.js";
import { listedDomain } from "../../classifier/rules/domain/disposable-domain.js";
import { typoDomain } from "../../classifier/rules/domain/typo-domain.js";
import { withoutRoot } from "../../classifier/syntax/domain-name.js";
import { hashItem, type ItemHash } from "../../classifier/tables/item-hash.js";
import type { Classification } from "../../classifier/verdict.js";
import { Kernel, type KernelSettings } from "../../kernel/kernel.js";
import { askCode, disposableDomainCode } from "../../kernel/layout.js";
import { isFrame } from "../../table/json/marks.js";
import { emptyField } from "../../table/records.js";
import { scanAlone } from "../../table/scan/chunk-assembler.js";
import { scanShape } from "../../table/scan/scan-shape.js";
import type { ScannedChunk, ValueText } from "../../table/scan/scanned-chunk.js";
import { recordWords } from "../../table/scan/scanner.js";
import type { ItemTest } from "../../table/sniff/item-profile.js";
import { type FoundHeader, otherHeader } from "../../table/sniff/second-header.js";
import type { WriteMemory, WrittenRecords } from "../../table/writers/output.js";
import { type RecordReader, readerOf } from "../../table/writers/writer-of.js";
import { DomainCounts } from "../domain-counts.js";
import { Cells, decidesBefore, itemTest } from "../items/cells.js";
import { type FoundItem, itemKey } from "../items/item.js";
import type { RowKeys } from "../rows/row-writer.js";
import { isInShard, severalItems } from "../rows/shard.js";
import type { RowFacts } from "../run-options.js";
import {
  hasItem,
  isKept,
  isRow,
  noItemCode,
  notARowCode,
  notCheckedCode,
  otherShardCode,
  StatusCodes,
} from "../status-codes.js";
import type { BlockKernel } from "./block-kernel.js";
import { type Slot, slotRows } from "./block-memory.js";
import { type BlockOptions, itemColumnsOf, looksAtRows, wantsMailboxes } from "./block-options.js";
import { BlockRenderer, type Explain, itemsInField, tailsOf } from "./block-renderer.js";
import { type Elsewhere, ElsewhereFinder, numbersOf } from "./elsewhere.js";
import { FactFinder, type SlotFacts } from "./fact-finder.js";
import {
  type Decides,
  emptyVerdicts,
  FieldVerdicts,
  goodRows,
  type ItemVerdict,
  type ItemVerdicts,
  takeDeciding,
} from "./item-verdicts.js";
import { findKept, judgeWithout, type OtherStatus } from "./kept-rows.js";
import { mayBeMarked } from "./plain-address.js";

const comma = 0x2c;
const typoCode = outcomeCode({ reason: typoDomain.code });

/**
 * Verdicts on the records of a chunk, whether or not the quota grants them. A record has a verdict for each column with items;
 * verdicts are numbered row by row.
 */
export interface ChunkVerdicts extends Elsewhere {
  readonly columns: number;
  /** The verdicts on all items in order, if a field has several; undefined if each has at most one. */
  readonly items?: ItemVerdicts | undefined;
  readonly emptied: number;
  /** Number of values in which an item has marks around it. */
  readonly marked: number;
  /** Number of fields of the first column with a mistyped item that has a suggestion. */
  readonly repairable: number;
  readonly notUtf8: number;
  readonly kept: number;
  readonly codes: Uint8Array;
  /** Hash of each field's item, two words; meaningless for a field without an item. */
  readonly hashes: Int32Array;
  /** Hashes of the items' mailboxes, in the order of the items, if {@link wantsMailboxes}. */
  readonly mailboxes?: Int32Array;
  readonly facts?: RowFacts | undefined;
  /** The items that `--dedupe` compares; set only if it also compares rows that keep their statuses. */
  readonly keys?: RowKeys;
}

export interface Judged {
  readonly codes: Uint8Array;
  readonly items?: ItemVerdicts | undefined;
}

export interface MainThread {
  readonly codes: StatusCodes;
  /**
   * For an update: returns the code of a row whose status idv does not know. Blocks in slots are refused if they have such
   * rows.
   */
  readonly otherStatus?: OtherStatus | undefined;
  readonly precheck?: ((item: string) => number | undefined) | undefined;
  readonly explain?: Explain | undefined;
}

/** Counts that a thread returns for a block; verdicts and rendered rows are in its slot. */
export interface BlockResult extends Elsewhere {
  /** The records, if their rows are rendered later. Workers cannot pass them to the main thread. */
  readonly chunk?: ScannedChunk;
  readonly lines: number;
  readonly rows: number;
  /** Number of items if a field has several; else 0. */
  readonly items: number;
  readonly outputLength: number;
  readonly emptied: number;
  readonly marked: number;
  readonly repairable: number;
  readonly notUtf8: number;
  readonly kept: number;
}

export class BlockClassifier {
  /** Items at disposable domains, except those that the kernel counts in its memory. */
  readonly domains = new DomainCounts();
  readonly #options: BlockOptions;
  readonly #classifier: Classifier | undefined;
  readonly #kernel: BlockKernel | undefined;
  readonly #main: MainThread;
  readonly #cells: Cells;
  readonly #facts: FactFinder;
  readonly #renderer: BlockRenderer;
  readonly #read: RecordReader;
  readonly #items: ItemTest;
  readonly #columns: readonly number[];
  readonly #isPlain: boolean;
  readonly #isFirstShard: boolean;
  readonly #elsewhere: ElsewhereFinder;
  /** Whether an item was found in an earlier chunk; and a header at its end, whose rows may follow in the next one. */
  #isBelowItems = false;
  #lastHeader: FoundHeader | undefined;

  /**
   * @param classifier judges items; undefined if a service does
   * @param kernel the kernel of this thread; without it, the classifier judges all items
   */
  constructor(
    options: BlockOptions,
    classifier: Classifier | undefined,
    kernel?: BlockKernel,
    main: MainThread = { codes: new StatusCodes() },
  ) {
    const { shard, cells, shape } = options;
    this.#main = main;
    this.#options = options;
    this.#classifier = classifier;
    this.#kernel = kernel;
    this.#cells = new Cells(cells);
    this.#facts = new FactFinder(options, kernel, this.#cells, (key) => this.#hashOf(key));
    this.#items = itemTest(cells);
    this.#elsewhere = new ElsewhereFinder(options);
    this.#columns = itemColumnsOf(shape);
    this.#read = readerOf(shape, options.target, options.columns);
    const explain: Explain = main.explain ?? ((item) => classifier!.classify(options.kind, item));
    this.#renderer = new BlockRenderer(options, main.codes, this.#cells, explain, main.explain !== undefined);
    this.#isPlain = Kernel.takes(tailsOf(options));
    this.#isFirstShard = shard === undefined || shard.index === 1;
  }

  /**
   * Classifies the block in a slot, and leaves verdicts and rendered rows there. Needs the kernel.
   *
   * @returns undefined for a block left to the main thread: it cannot be scanned alone, has bad rows, rows with an unknown
   * status or the header of another table, or does not fit into the slot
   */
  classifySlot(slot: Slot, length: number): BlockResult | undefined {
    const kernel = this.#kernel!;
    const { isFinal } = this.#options;
    const scanned = this.#scanSlot(slot, length, { items: this.#items, isCopied: !isFinal });
    if (scanned === undefined) return undefined;
    const chunk = this.#read(scanned.chunk);
    if (chunk === undefined) return undefined;
    const { lines } = scanned;
    const rows = chunk.count;
    const fields = rows * this.#columns.length;
    const kept = fields > slotRows ? undefined : this.#findKept(chunk, undefined);
    if (kept === undefined) return undefined;
    const codes = slot.codes.subarray(0, fields);
    const memory = this.#columns.length === 1 ? { codes, hashes: slot.hashes } : kernel.own;
    this.#judgeColumns(chunk, kept, codes, slot.hashes, memory, (column, counts) => {
      if (this.#cells.hasItemWords) this.#askAll(chunk, memory.codes);
      else kernel.judge(column, memory.codes, memory.hashes, counts);
    });
    const verdicts = this.#judgeTheRest(chunk, codes, slot.hashes, { slot, isBelowItems: true });
    const takesItems = verdicts.header === 0 && this.#takesItems(slot, fields, verdicts.items);
    const outputLength = takesItems ? (isFinal ? this.#renderInto(slot, chunk, verdicts) : 0) : -1;
    if (outputLength !== -1) {
      const { emptied, marked, repairable, notUtf8, kept } = verdicts;
      const items = verdicts.items?.fields.length ?? 0;
      const counts = { emptied, marked, repairable, notUtf8, kept, ...numbersOf(verdicts) };
      return { lines, rows, items, outputLength, ...counts, ...(!isFinal && { chunk }) };
    }
    // The main thread judges the block again and counts its domains.
    this.takeBack(() => chunk, verdicts);
    return undefined;
  }

  records(slot: Slot, length: number, line: number): ScannedChunk {
    return this.#read(this.#scanSlot(slot, length, { line, isCopied: true })!.chunk)!;
  }

  /** @param isCopied whether the numbers are needed after the next scan, which overwrites those in the kernel's memory */
  #scanSlot(
    slot: Slot,
    length: number,
    {
      isCopied,
      ...options
    }: { readonly line?: number; readonly items?: ItemTest; readonly isCopied: boolean },
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

  /** Writes the verdicts on several items after those on the fields. Returns false if the slot cannot hold them. */
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

  /**
   * Classifies the records of a chunk that is in no slot.
   *
   * @throws TableError when a record has several items in a run with shards
   */
  classify(chunk: ScannedChunk): ChunkVerdicts {
    const { shard } = this.#options;
    const width = this.#columns.length;
    const codes = new Uint8Array(width * chunk.count);
    const hashes = new Int32Array(2 * codes.length);
    const memory = width === 1 ? { codes, hashes } : emptyVerdicts(chunk.count);
    const kept = this.#findKept(chunk, this.#main.otherStatus)!;
    const placed = looksAtRows(this.#options) ? this.#placeRows(chunk, kept) : undefined;
    // The kernel decides about the shard of each item alone, not about that of a row with several columns.
    const isForKernel = !this.#cells.hasItemWords && (width === 1 || shard === undefined);
    this.#judgeColumns(chunk, placed?.codes ?? kept, codes, hashes, memory, (column, counts) => {
      this.#askAll(chunk, memory.codes);
      if (isForKernel) this.#kernel?.judge(column, memory.codes, memory.hashes, counts);
    });
    const isBelowItems = this.#isBelowItems;
    const verdicts = this.#judgeTheRest(chunk, codes, hashes, {
      isBelowItems,
      isPlaced: placed !== undefined,
    });
    const several = verdicts.items?.fields.find((field, index, all) => field === all[index - 1]);
    if (shard && several !== undefined) throw severalItems(shard, chunk.lineOf(several));
    return placed?.keys ? { ...verdicts, keys: placed.keys } : verdicts;
  }

  /**
   * Checks the next chunk of the table, on the main thread and in input order, for headers of other tables.
   *
   * @throws ChoiceError if there is one
   */
  checkHeaders(found: Elsewhere, codes: Uint8Array, records: () => ScannedChunk): void {
    const { name } = this.#options.shape;
    const last = this.#lastHeader;
    const headerAt = (row: number) => ({
      line: records().lineOf(row),
      fields: this.#elsewhere.fieldsOf(records(), row),
    });
    if (found.header > 0) throw otherHeader(name, headerAt(found.header - 1));
    if (found.isOpen === 1 && last !== undefined) {
      const column = this.#elsewhere.columnOf(records(), found.elsewhereRow - 1);
      if (this.#elsewhere.isHeaderOf(last.fields, column)) throw otherHeader(name, last);
    }
    if (found.lastHeader > 0) this.#lastHeader = headerAt(found.lastHeader - 1);
    else if (codes.length > 0) this.#lastHeader = undefined;
    this.#isBelowItems ||= codes.some(hasItem);
  }

  /** Returns the name of the column in which a row without an item of its own has one. */
  elsewhereIn(records: ScannedChunk, row: number): string {
    return this.#elsewhere.nameOf(records, row);
  }

  /**
   * Judges the items of each column with the kernel.
   *
   * @param kept codes of fields that are not judged; 0 for the others
   * @param memory where `judge` leaves the verdicts on a column; with one column, `codes` and `hashes` themselves
   */
  #judgeColumns(
    chunk: ScannedChunk,
    kept: Uint8Array,
    codes: Uint8Array,
    hashes: Int32Array,
    memory: Pick<ItemVerdicts, "codes" | "hashes">,
    judge: (column: ScannedChunk, counts: boolean) => void,
  ): void {
    const width = this.#columns.length;
    for (const [nth, index] of this.#columns.entries()) {
      const column = chunk.withColumn(index);
      judgeWithout(kept, nth, width, column, memory.codes, () => judge(column, nth === 0));
      if (width > 1) spread(memory, chunk.count, nth, width, codes, hashes);
    }
    if (this.#options.shape.json?.isDocument && !this.#isFirstShard) takeFrames(chunk, codes, width);
  }

  #askAll(chunk: ScannedChunk, codes: Uint8Array): void {
    const notARow = this.#isFirstShard ? notARowCode : otherShardCode;
    for (let row = 0; row < chunk.count; row++) codes[row] = chunk.isRow(row) ? askCode : notARow;
  }

  #findKept(chunk: ScannedChunk, otherStatus: OtherStatus | undefined): Uint8Array | undefined {
    const { keeps, columns, shape, asksUndecided } = this.#options;
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

  /**
   * Judges the fields that are left: their item is not plain (see kernel/assembly/judge.ts), is one of several, may be a
   * placeholder, or is at a domain with rules that the kernel does not have.
   *
   * @param isPlaced whether only rows of this shard are left
   */
  #judgeTheRest(
    chunk: ScannedChunk,
    codes: Uint8Array,
    hashes: Int32Array,
    {
      slot,
      isBelowItems,
      isPlaced = false,
    }: { readonly slot?: SlotFacts; readonly isBelowItems: boolean; readonly isPlaced?: boolean },
  ): ChunkVerdicts {
    const width = this.#columns.length;
    const chunks = this.#columns.map((column) => chunk.withColumn(column));
    if (this.#options.isService) leaveToService(codes);
    const verdicts = new FieldVerdicts(codes, hashes);
    const before = { emptied: this.#cells.emptied, marked: this.#cells.marked };
    const notUtf8 = new Set<number>();
    for (let field = codes.indexOf(askCode); field !== -1; field = codes.indexOf(askCode, field + 1)) {
      const row = width === 1 ? field : Math.floor(field / width);
      const nth = field - row * width;
      // Every shard reads these values, but only the first one counts them.
      if ((this.#isFirstShard || isPlaced) && !chunks[nth]!.isUtf8(row)) notUtf8.add(row);
      if (this.#judgeList(chunks[nth]!, row, field, verdicts)) continue;
      const items = this.#cells.itemsIn(chunks[nth]!.value(row));
      if (isPlaced || items.length > 1 || this.#isHere(items[0])) this.#classifyField(items, field, verdicts);
      else codes[field] = otherShardCode;
    }
    const kept = this.#options.keeps === undefined ? 0 : this.#countKept(chunks, codes, notUtf8);
    const emptied = this.#isFirstShard ? this.#cells.emptied - before.emptied : 0;
    const marked = this.#cells.marked - before.marked;
    const items = verdicts.all(this.#decides);
    const repairable = this.#countRepairable(chunk, { codes, items });
    const elsewhere = this.#elsewhere.find(chunk, codes, isBelowItems);
    const counts = { emptied, marked, repairable, notUtf8: notUtf8.size, kept, ...elsewhere };
    const judged = { columns: width, codes, hashes, items, ...counts };
    return { ...judged, ...this.#facts.find(chunk, judged, slot) };
  }

  /** Counts the rows that keep a status and have no other item. Adds rows whose kept value is not UTF-8 to `notUtf8`. */
  #countKept(chunks: readonly ScannedChunk[], codes: Uint8Array, notUtf8: Set<number>): number {
    const width = chunks.length;
    let count = 0;
    for (let row = 0, first = 0; first < codes.length; row++, first += width) {
      let [isAny, hasOthers] = [false, false];
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

  takeDeciding(codes: Uint8Array, items: ItemVerdicts): void {
    takeDeciding(codes, items, this.#decides);
  }

  goodRows({ columns, codes, items }: ChunkVerdicts): Uint8Array | undefined {
    return items || columns > 1 ? goodRows(this.#main.codes.statuses, columns, codes, items) : undefined;
  }

  keysOf(verdicts: ChunkVerdicts): RowKeys | undefined {
    const { keys } = this.#options;
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

  #isHere(item: string | undefined): boolean {
    const { shard } = this.#options;
    if (shard === undefined) return true;
    return item === undefined ? this.#isFirstShard : isInShard(shard, item);
  }

  #judgeList(chunk: ScannedChunk, row: number, field: number, verdicts: FieldVerdicts): boolean {
    const { cells, shard, isService } = this.#options;
    if (!this.#cells.takesPlainAddresses || cells.deciding === "first" || shard) return false;
    const listed = this.#kernel?.judgeList(chunk.rawValue(row), this.#isCounted(field));
    if (listed === undefined) return false;
    const { codes, hashes } = listed;
    const all = Array.from(codes, (code, nth) => {
      return { code: isService ? notCheckedCode : code, low: hashes[2 * nth]!, high: hashes[2 * nth + 1]! };
    });
    const items = codes.includes(askCode) && !isService ? this.#cells.itemsIn(chunk.value(row)) : [];
    for (const [nth, verdict] of all.entries()) {
      const isAsked = verdict.code === askCode;
      verdicts.put(field, nth, isAsked ? this.#classifyText(items[nth]!, field) : verdict);
    }
    return true;
  }

  #classifyField(items: readonly string[], field: number, verdicts: FieldVerdicts): void {
    if (items.length === 0) verdicts.codes[field] = noItemCode;
    for (const [nth, item] of items.entries()) verdicts.put(field, nth, this.#classifyText(item, field));
  }

  /** As in the report, only items of the first column count among the domains. */
  #isCounted(field: number): boolean {
    return field % this.#columns.length === 0;
  }

  readonly #decides: Decides = (code, earlier) => {
    const { statuses } = this.#main.codes;
    return decidesBefore(statuses[code]!, statuses[earlier]!, this.#options.cells.deciding);
  };

  #classifyText(item: string, field: number): ItemVerdict {
    const hash = this.#hashOf(itemKey(item));
    if (this.#classifier === undefined) {
      return { code: this.#main.precheck?.(item) ?? notCheckedCode, ...hash };
    }
    const verdict = this.#classifier.judge(this.#options.kind, item);
    if (this.#isCounted(field)) this.#countDomain(item, verdict, 1);
    return { code: outcomeCode(verdict), ...hash };
  }

  hashOfDomain(domain: string): ItemHash {
    return this.#hashOf(domain);
  }

  /** The hash is the same in all threads of a run, with and without the kernel. */
  #hashOf(key: string): ItemHash {
    return this.#kernel?.hash(key) ?? hashItem(this.#options.seed, key);
  }

  /**
   * Subtracts items from the counts of disposable domains: those that the quota does not grant, or all items of a block that is
   * judged again.
   *
   * @param verdicts the verdicts that were counted
   * @param isTakenBack selects items by their index among the verdicts; all by default
   */
  takeBack(
    chunk: () => ScannedChunk,
    { codes, items }: Judged,
    isTakenBack = (_place: number): boolean => true,
  ): void {
    const counted = items?.codes ?? codes;
    this.eachItem(
      chunk,
      { codes, items },
      (index, isFirstColumn) =>
        isFirstColumn && counted[index] === disposableDomainCode && isTakenBack(index),
      (item) => this.#countDomain(item, this.#classifier!.judge(this.#options.kind, item), -1),
    );
  }

  /**
   * Calls `use` with the wanted items of a chunk, in order. Items are given by their index among the verdicts.
   *
   * @param chunk called only if an item is wanted
   */
  eachItem(
    chunk: () => ScannedChunk,
    { codes, items }: Judged,
    isWanted: (index: number, isFirstColumn: boolean) => boolean,
    use: (item: string, index: number) => void,
  ): void {
    const width = this.#columns.length;
    const count = (items?.codes ?? codes).length;
    let [nth, last] = [0, -1];
    let records: ScannedChunk | undefined;
    for (let index = 0; index < count; index++) {
      const field = items ? items.fields[index]! : index;
      nth = field === last ? nth + 1 : 0;
      last = field;
      if (!isWanted(index, field % width === 0)) continue;
      records ??= chunk();
      use(this.#itemIn(records, field, nth)!, index);
    }
  }

  /**
   * Returns the item that decides about a row, in its first column: the first item if that is not known, undefined if there is
   * none.
   */
  decidingItem(records: ScannedChunk, row: number, { codes, items }: Judged): string | undefined {
    const field = row * this.#columns.length;
    const code = codes[field]!;
    if (!hasItem(code)) return undefined;
    if (items === undefined) return this.#itemIn(records, field, 0);
    const first = firstPosition(items.fields, field);
    let nth = 0;
    while (items.fields[first + nth] === field && items.codes[first + nth] !== code) nth++;
    return this.#itemIn(records, field, items.fields[first + nth] === field ? nth : 0);
  }

  #countRepairable(chunk: ScannedChunk, { codes, items }: Judged): number {
    if (this.#classifier === undefined) return 0;
    const width = this.#columns.length;
    const all = items?.codes ?? codes;
    let [count, last] = [0, -1];
    for (let index = all.indexOf(typoCode); index !== -1; index = all.indexOf(typoCode, index + 1)) {
      const field = items ? items.fields[index]! : index;
      if (field % width !== 0 || field === last) continue;
      let nth = 0;
      while (items !== undefined && items.fields[index - nth - 1] === field) nth++;
      const item = this.#itemIn(chunk, field, nth)!;
      if (this.#classifier.classify(this.#options.kind, item).suggestion === undefined) continue;
      count++;
      last = field;
    }
    return count;
  }

  #itemIn(records: ScannedChunk, field: number, nth: number): string | undefined {
    return itemsInField(records, this.#columns, field, this.#cells)[nth]?.item;
  }

  /** Returns whether a field may have an item with marks around it; see classifier/marks.ts. */
  mayBeMarked(records: ScannedChunk, field: number): boolean {
    const { column, row } = this.#columnOf(records, field);
    return mayBeMarked(column.rawValue(row));
  }

  /** Returns the texts in a field with their items; nothing if these are not the items of the field. */
  textsOf(
    records: ScannedChunk,
    field: number,
  ): readonly { readonly text: ValueText; readonly items: readonly FoundItem[] }[] {
    const { column, row } = this.#columnOf(records, field);
    const texts = column.texts(row).map((text) => ({ text, items: this.#cells.find(text.text) }));
    const own = this.#cells.itemsIn(column.value(row));
    const found = texts.flatMap(({ items }) => items.map(({ item }) => item));
    return own.length === found.length && own.every((item, nth) => item === found[nth]) ? texts : [];
  }

  /** Returns the items in a text, which is not counted as a value. */
  itemsIn(text: string): readonly string[] {
    const { emptied, marked } = this.#cells;
    const items = this.#cells.itemsIn(text);
    Object.assign(this.#cells, { emptied, marked });
    return items;
  }

  #columnOf(records: ScannedChunk, field: number) {
    const width = this.#columns.length;
    const row = width === 1 ? field : Math.floor(field / width);
    return { column: records.withColumn(this.#columns[field - row * width]!), row };
  }

  /** Returns what `--dedupe` compares of an item. */
  keyOf(item: string): ItemHash {
    return this.#options.keys === "mailboxes" ? this.#facts.hashOfMailbox(item) : this.#hashOf(itemKey(item));
  }

  #countDomain(item: string, { reason }: Classification, items: number): void {
    const listed = listedDomain(reason);
    if (listed === undefined) return;
    if (this.#kernel) this.#kernel.countDomain(domainOf(item), items);
    else this.domains.add(listed, items);
  }

  /**
   * Decides which rows are judged; see {@link looksAtRows}: not those of another shard, which the first item of a row in any
   * column decides, and not those that keep their statuses.
   *
   * @returns the codes of the fields that are not judged, 0 for the others; and what `--dedupe` compares, also in rows that
   *   keep their statuses
   * @throws TableError when a record has several items in a run with shards
   */
  #placeRows(chunk: ScannedChunk, kept: Uint8Array): { readonly codes: Uint8Array; readonly keys?: RowKeys } {
    const { shard, keys } = this.#options;
    const width = this.#columns.length;
    const chunks = this.#columns.map((column) => chunk.withColumn(column));
    const codes = kept === noneKept ? new Uint8Array(width * chunk.count) : kept.slice();
    const compared: { readonly row: number; readonly hash: ItemHash }[] = [];
    // These values are counted when they are judged.
    const counted = { emptied: this.#cells.emptied, marked: this.#cells.marked };
    for (let row = 0, first = 0; row < chunk.count; row++, first += width) {
      if (!chunk.isRow(row)) continue;
      if (!isRow(codes[first]!)) {
        if (!this.#isFirstShard) codes.fill(otherShardCode, first, first + width);
        continue;
      }
      const read = shard === undefined ? chunks.slice(0, 1) : chunks;
      const fields = read.map((column) => this.#cells.itemsIn(column.value(row)));
      const [item, second] = fields.flat();
      if (shard && second !== undefined) throw severalItems(shard, chunk.lineOf(row));
      if (!this.#isHere(item)) codes.fill(otherShardCode, first, first + width);
      else if (keys) for (const each of fields[0]!) compared.push({ row, hash: this.keyOf(each) });
    }
    Object.assign(this.#cells, counted);
    if (!keys) return { codes };
    return {
      codes,
      keys: {
        hashes: Int32Array.from(compared.flatMap(({ hash: { low, high } }) => [low, high])),
        // Any code that has an item.
        codes: new Uint8Array(compared.length).fill(1),
        rows: Int32Array.from(compared, ({ row }) => row),
      },
    };
  }

  #renderInto(slot: Slot, chunk: ScannedChunk, { codes, items }: ChunkVerdicts): number {
    // The lines of a plain list become fields, and those with commas have to be quoted.
    const needsNoQuotes = this.#options.shape.dialect.delimiter !== null || !chunk.bytes.includes(comma);
    if (needsNoQuotes && this.#isPlain) return this.#kernel!.write(slot, chunk.count);
    const { bytes } = this.render(chunk, codes, items, undefined, slot);
    // Rows that did not fit were rendered in memory that other threads cannot see.
    return bytes.buffer === slot.output.buffer ? bytes.length : -1;
  }

  /** @param was by field, what its replaced items were */
  render(
    chunk: ScannedChunk,
    codes: Uint8Array,
    items?: ItemVerdicts,
    was?: ReadonlyMap<number, string>,
    memory?: WriteMemory,
  ): WrittenRecords {
    return this.#renderer.render(chunk, codes, items, was, memory);
  }
}

/** Makes every shard write the bytes around the records of a document. */
function takeFrames(chunk: ScannedChunk, codes: Uint8Array, width: number): void {
  for (let row = 0; row < chunk.count; row++) {
    const start = chunk.at[row * recordWords]!;
    if (!chunk.isRow(row) && isFrame(chunk.bytes, start)) {
      codes.fill(notARowCode, row * width, (row + 1) * width);
    }
  }
}

const noneKept = new Uint8Array(0);

function firstPosition(fields: Int32Array, field: number): number {
  let [from, to] = [0, fields.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (fields[middle]! < field) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Only the syntax is decided here: items that the kernel has judged wait for the service. */
function leaveToService(codes: Uint8Array): void {
  for (let field = 0; field < codes.length; field++) {
    const code = codes[field]!;
    if (hasItem(code) && code !== askCode && !isKept(code)) codes[field] = notCheckedCode;
  }
}

function spread(
  column: Pick<ItemVerdicts, "codes" | "hashes">,
  rows: number,
  nth: number,
  width: number,
  codes: Uint8Array,
  hashes: Int32Array,
): void {
  for (let row = 0, field = nth; row < rows; row++, field += width) {
    codes[field] = column.codes[row]!;
    hashes[2 * field] = column.hashes[2 * row]!;
    hashes[2 * field + 1] = column.hashes[2 * row + 1]!;
  }
}

const domainOf = (item: string): string => domainToASCII(withoutRoot(item.slice(item.lastIndexOf("@") + 1)));

export function kernelSettings(options: BlockOptions): KernelSettings {
  const { shape, seed, shard } = options;
  const field = emptyField(shape.dialect);
  const padding = field.length === 1 ? field.charCodeAt(0) : 0;
  const columns = itemColumnsOf(shape).length;
  return {
    shape: scanShape(shape),
    width: shape.width,
    padding,
    seed,
    shard,
    columns,
    isJson: shape.json !== undefined,
    tails: tailsOf(options),
  };
}
