/** Classifies the records of blocks, and renders them with their statuses. Runs in any thread. */
import { domainToASCII } from "node:url";
import type { Classifier } from "../../classifier/classifier.js";
import { hashItem } from "../../classifier/item-hash.js";
import { listedDomain, outcomeCode } from "../../classifier/outcomes.js";
import { withoutRoot } from "../../classifier/syntax/domain-name.js";
import type { Classification } from "../../classifier/verdict.js";
import { Kernel, type KernelSettings } from "../../kernel/kernel.js";
import { askCode, disposableDomainCode } from "../../kernel/layout.js";
import { emptyField, type TableShape } from "../../table/records.js";
import { scanAlone } from "../../table/scan/chunk-assembler.js";
import { writeReplacing } from "../../table/scan/reread-records.js";
import { scanShape } from "../../table/scan/scan-shape.js";
import {
  type ScannedChunk,
  tailOf,
  type WriteMemory,
  type WrittenRecords,
} from "../../table/scan/scanned-chunk.js";
import type { ItemTest } from "../../table/sniff/item-profile.js";
import type { Kind } from "../../validator/validator.js";
import { type CellOptions, Cells, itemTest } from "../cells.js";
import { type Columns, ourFields } from "../columns.js";
import { DomainCounts } from "../domain-counts.js";
import { itemKey, mailboxKey } from "../item.js";
import type { RowKeys } from "../row-writer.js";
import { isInShard, type Shard, severalItems } from "../shard.js";
import {
  hasItem,
  noItemCode,
  notARowCode,
  notCheckedCode,
  offlineReasons,
  offlineStatuses,
  otherShardCode,
} from "../status-codes.js";
import type { BlockKernel } from "./block-kernel.js";
import type { Slot } from "./block-memory.js";
import { decidingPlaces, type ItemVerdicts, takeDeciding } from "./item-verdicts.js";
import { findKept, isKept, judgeWithout, type OtherStatus } from "./kept-rows.js";

const comma = 0x2c;
const noTail = Buffer.of();

/** Options of a run that its block classifiers need. Plain data, because worker threads get a copy. */
export interface BlockOptions {
  readonly kind: Kind;
  readonly shape: TableShape;
  readonly cells: CellOptions;
  /** Seed of the run's item hashes. */
  readonly seed: Int32Array;
  readonly columns: Columns;
  readonly shard?: Shard | undefined;
  /** For an update: whether rows keep the statuses of an earlier run. The added columns of that run are replaced. */
  readonly keeps?: boolean | undefined;
  /** What `--dedupe` compares; undefined if it needs no more than the first row of each item. */
  readonly keys: "items" | "mailboxes" | undefined;
}

/** Verdicts on the records of a chunk, whether or not the quota grants them. */
export interface ChunkVerdicts {
  /** The verdicts on all items in order, if a record has several; undefined if each has one at most. */
  readonly items?: ItemVerdicts;
  /** Number of records with a word that stands for no item, and of those with a value that is not UTF-8. */
  readonly emptied: number;
  readonly notUtf8: number;
  /** Number of rows that keep the status of an earlier run. */
  readonly kept: number;
  /** The code of each record's status. */
  readonly codes: Uint8Array;
  /** Hash of each record's item in two words; meaningless for a record without an item. */
  readonly hashes: Int32Array;
  /** Hashes of the mailboxes in the places of those of the items, if {@link BlockOptions.keys} asks for them. */
  readonly mailboxes?: Int32Array;
}

/** Counts that a thread returns for a block; verdicts and rendered rows are in its slot. */
export interface BlockAnswer {
  /** Number of line ends in the block. */
  readonly lines: number;
  readonly rows: number;
  /** Number of items, if rows have several; else 0. */
  readonly items: number;
  readonly outputLength: number;
  readonly emptied: number;
  readonly notUtf8: number;
  readonly kept: number;
}

/** Classifies and renders records in one thread. */
export class BlockClassifier {
  /** Items at disposable domains; those that the kernel counts are in its memory instead. */
  readonly domains = new DomainCounts();
  readonly #options: BlockOptions;
  readonly #classifier: Classifier;
  readonly #kernel: BlockKernel | undefined;
  readonly #cells: Cells;
  readonly #otherStatus: OtherStatus | undefined;
  readonly #items: ItemTest;
  /** Bytes to append to a record, by status code. */
  readonly #tails: readonly Uint8Array[];
  /** The same by every code: none for records that are no rows, undefined for those of other shards. */
  readonly #tailsByCode: readonly (Uint8Array | undefined)[];
  /** Whether the rows without an item belong to this run. */
  readonly #isFirstShard: boolean;

  /**
   * @param kernel the kernel for this thread; without it, the classifier judges all items
   * @param otherStatus for an update: returns the code of a row whose status idv does not know; blocks with such rows are refused
   * without it
   */
  constructor(
    options: BlockOptions,
    classifier: Classifier,
    kernel?: BlockKernel,
    otherStatus?: OtherStatus,
  ) {
    this.#otherStatus = otherStatus;
    this.#options = options;
    this.#classifier = classifier;
    this.#kernel = kernel;
    this.#cells = new Cells(options.cells);
    this.#items = itemTest(options.cells);
    this.#tails = tailsOf(options);
    this.#tailsByCode = Array.from({ length: notARowCode + 1 }, (_, code) =>
      code === notARowCode ? noTail : this.#tails[code],
    );
    this.#isFirstShard = options.shard === undefined || options.shard.index === 1;
  }

  /**
   * Classifies the block in a slot and leaves verdicts and rendered rows there. Needs the kernel.
   *
   * @returns undefined when the main thread has to take the block, because it cannot be scanned alone, has bad rows, or does
   * not fit into the slot
   */
  answer(slot: Slot, length: number): BlockAnswer | undefined {
    const kernel = this.#kernel!;
    const scanned = scanAlone(this.#options.shape, slot.block.subarray(0, length), {
      scan: () => kernel.scan(slot, length),
      items: this.#items,
    });
    if (scanned === undefined) return undefined;
    const { chunk, lines } = scanned;
    const rows = chunk.count;
    const kept = this.#findKept(chunk, undefined);
    if (kept === undefined) return undefined;
    const codes = slot.codes.subarray(0, rows);
    judgeWithout(kept, chunk, codes, () => kernel.judge(slot, rows));
    const verdicts = this.#judgeTheRest(chunk, codes, slot.hashes, slot.mailboxes);
    const outputLength = this.#takesItems(slot, rows, verdicts.items)
      ? this.#renderInto(slot, chunk, verdicts)
      : -1;
    if (outputLength !== -1) {
      const { emptied, notUtf8, kept } = verdicts;
      return { lines, rows, items: verdicts.items?.rows.length ?? 0, outputLength, emptied, notUtf8, kept };
    }
    // The main thread judges the block again, and counts its domains then.
    this.takeBack(chunk, verdicts);
    return undefined;
  }

  /** Leaves the verdicts on several items in a slot, behind those on the rows. Returns whether they have room there. */
  #takesItems(slot: Slot, rows: number, items: ItemVerdicts | undefined): boolean {
    if (items === undefined) return true;
    const { keys, shard } = this.#options;
    const count = items.rows.length;
    if (shard !== undefined || keys === "mailboxes" || rows + count > slot.codes.length) return false;
    slot.codes.set(items.codes, rows);
    slot.hashes.set(items.hashes, 2 * rows);
    slot.itemRows.set(items.rows);
    return true;
  }

  /**
   * Classifies the records of a chunk that is in no slot.
   *
   * @throws TableError when a record of a run with shards has several items
   */
  classify(chunk: ScannedChunk): ChunkVerdicts {
    const { shard } = this.#options;
    const notARow = this.#isFirstShard ? notARowCode : otherShardCode;
    const codes = Uint8Array.from({ length: chunk.count }, (_, row) =>
      chunk.isRow(row) ? askCode : notARow,
    );
    const hashes = new Int32Array(2 * chunk.count);
    const kept = this.#findKept(chunk, this.#otherStatus)!;
    judgeWithout(kept, chunk, codes, () => this.#kernel?.judgeChunk(chunk, codes, hashes));
    const verdicts = this.#judgeTheRest(chunk, codes, hashes);
    const several = verdicts.items?.rows.find((row, place, rows) => row === rows[place - 1]);
    if (shard && several !== undefined) throw severalItems(shard, chunk.lineOf(several));
    return verdicts;
  }

  /** Returns the codes of the rows that are not judged; undefined if another thread has to find them. */
  #findKept(chunk: ScannedChunk, otherStatus: OtherStatus | undefined): Uint8Array | undefined {
    const { keeps, columns, shape } = this.#options;
    return keeps === undefined
      ? noneKept
      : findKept(chunk, shape.dialect.quote, columns.places[0]!, keeps, otherStatus);
  }

  /** Completes the verdicts of the kernel: judges the items that it has left to the classifier. */
  #judgeTheRest(
    chunk: ScannedChunk,
    codes: Uint8Array,
    hashes: Int32Array,
    mailboxes?: Int32Array,
  ): ChunkVerdicts {
    const several = new Map<number, readonly string[]>();
    const emptiedBefore = this.#cells.emptied;
    let notUtf8 = 0;
    for (let row = codes.indexOf(askCode); row !== -1; row = codes.indexOf(askCode, row + 1)) {
      // The item is not plain (see kernel/assembly/judge.ts), is one of several, may be a placeholder, or is at a domain
      // with rules that the kernel does not have.
      const items = this.#cells.itemsIn(chunk.value(row));
      // As in batches, where the first shard counts the values of all shards.
      if (this.#isFirstShard && !chunk.isUtf8(row)) notUtf8++;
      if (items.length > 1) several.set(row, items);
      else if (!this.#isHere(items[0])) {
        codes[row] = otherShardCode;
        continue;
      }
      codes[row] = items.length > 0 ? this.#classifyText(items[0]!, hashes, row) : noItemCode;
    }
    let kept = 0;
    for (let row = 0; this.#options.keeps !== undefined && row < codes.length; row++) {
      if (!isKept(codes[row]!)) continue;
      kept++;
      if (!chunk.isUtf8(row)) notUtf8++;
    }
    const emptied = this.#isFirstShard ? this.#cells.emptied - emptiedBefore : 0;
    const items = several.size > 0 ? this.#itemVerdicts(codes, hashes, several) : undefined;
    if (items) takeDeciding(codes, items, this.#options.cells.deciding);
    return {
      ...{ codes, hashes, emptied, notUtf8, kept },
      ...(items && { items }),
      ...(this.#options.keys === "mailboxes" && {
        mailboxes: this.#hashMailboxes(chunk, codes, items, mailboxes),
      }),
    };
  }

  /** Which of several items in a value decides. */
  get deciding(): CellOptions["deciding"] {
    return this.#options.cells.deciding;
  }

  /** Returns what `--dedupe` compares in the records of a chunk. */
  keysOf({ hashes, mailboxes, items }: ChunkVerdicts): RowKeys | undefined {
    const { keys } = this.#options;
    if (keys === undefined) return undefined;
    return keys === "items" ? (items ?? { hashes }) : { ...items, hashes: mailboxes! };
  }

  /** Returns whether an item, or a row without one, is in the shard of the run. */
  #isHere(item: string | undefined): boolean {
    const { shard } = this.#options;
    if (shard === undefined) return true;
    return item === undefined ? this.#isFirstShard : isInShard(shard, item);
  }

  /** Classifies an item, puts its hash in its place, and returns the code of its status. */
  #classifyText(item: string, hashes: Int32Array, place: number): number {
    const { kind, seed } = this.#options;
    const key = itemKey(item);
    const { low, high } = this.#kernel?.hash(key) ?? hashItem(seed, key);
    hashes[2 * place] = low;
    hashes[2 * place + 1] = high;
    const verdict = this.#classifier.judge(kind, item);
    this.#countDomain(item, verdict, 1);
    return outcomeCode(verdict);
  }

  /**
   * Subtracts items from the counts of disposable domains: those that the quota does not grant, or all items of a block that
   * is judged again.
   *
   * @param verdicts the verdicts that were counted
   * @param isTakenBack returns whether to subtract the item at this index of the verdicts; all by default
   */
  takeBack(
    chunk: ScannedChunk,
    { codes, items }: Pick<ChunkVerdicts, "codes" | "items">,
    isTakenBack = (_place: number): boolean => true,
  ): void {
    const counted = items?.codes ?? codes;
    const rows = items?.rows ?? counted.keys();
    let [place, nth, last] = [0, 0, -1];
    for (const row of rows) {
      nth = row === last ? nth + 1 : 0;
      last = row;
      if (counted[place] === disposableDomainCode && isTakenBack(place)) {
        const item = this.#cells.itemsIn(chunk.value(row))[nth]!;
        this.#countDomain(item, this.#classifier.judge(this.#options.kind, item), -1);
      }
      place++;
    }
  }

  /** Adds to the number of items at a domain if that is disposable. */
  #countDomain(item: string, { reason }: Classification, items: number): void {
    const listed = listedDomain(reason);
    if (listed === undefined) return;
    if (this.#kernel) this.#kernel.countDomain(domainOf(item), items);
    else this.domains.add(listed, items);
  }

  /** Lists the verdicts on all items of some records. */
  #itemVerdicts(
    codes: Uint8Array,
    hashes: Int32Array,
    several: ReadonlyMap<number, readonly string[]>,
  ): ItemVerdicts {
    const count = Array.from(several.values()).reduce((sum, { length }) => sum + length - 1, codes.length);
    const all = {
      codes: new Uint8Array(count),
      hashes: new Int32Array(2 * count),
      rows: new Int32Array(count),
    };
    let place = 0;
    for (let row = 0; row < codes.length; row++) {
      all.rows[place] = row;
      all.codes[place] = codes[row]!;
      all.hashes[2 * place] = hashes[2 * row]!;
      all.hashes[2 * place + 1] = hashes[2 * row + 1]!;
      place++;
      for (const item of several.get(row)?.slice(1) ?? []) {
        all.rows[place] = row;
        all.codes[place] = this.#classifyText(item, all.hashes, place);
        place++;
      }
    }
    return all;
  }

  /** @param memory takes the hashes if no record has several items */
  #hashMailboxes(
    chunk: ScannedChunk,
    codes: Uint8Array,
    items: ItemVerdicts | undefined,
    memory: Int32Array | undefined,
  ): Int32Array {
    const { kind, seed } = this.#options;
    const words = 2 * (items?.codes ?? codes).length;
    const mailboxes = (items ? undefined : memory?.subarray(0, words)) ?? new Int32Array(words);
    let place = 0;
    for (let row = 0; row < codes.length; row++) {
      const found = hasItem(codes[row]!) ? this.#cells.itemsIn(chunk.value(row)) : [];
      for (const [nth, item] of found.entries()) {
        const { low, high } = hashItem(seed, mailboxKey(kind, item));
        mailboxes[2 * (place + nth)] = low;
        mailboxes[2 * (place + nth) + 1] = high;
      }
      // A record without an item has a place too.
      place += Math.max(1, found.length);
    }
    return mailboxes;
  }

  /** Renders the rows of the block in a slot there. Returns the number of bytes; -1 if they do not fit. */
  #renderInto(slot: Slot, chunk: ScannedChunk, { codes, items }: ChunkVerdicts): number {
    const { columns, shape } = this.#options;
    // The lines of a plain list become fields, which may have to be quoted.
    const needsNoQuotes = shape.dialect.delimiter !== null || !chunk.bytes.includes(comma);
    const hasTails = this.#options.keeps === undefined && !columns.withReasons && !columns.withCanonical;
    if (needsNoQuotes && hasTails && Kernel.takes(this.#tails)) {
      return this.#kernel!.write(slot, chunk.count);
    }
    const { bytes } = this.render(chunk, codes, items, slot);
    // The rows did not fit, so they were rendered in memory that the other threads cannot see.
    return bytes.buffer === slot.output.buffer ? bytes.length : -1;
  }

  /**
   * Renders the records of a chunk with their statuses.
   *
   * @param items the verdicts on all items, if a record has several
   * @param memory takes the bytes if they fit; otherwise new memory does
   */
  render(chunk: ScannedChunk, codes: Uint8Array, items?: ItemVerdicts, memory?: WriteMemory): WrittenRecords {
    const { shape, columns, keeps } = this.#options;
    const nth = items === undefined ? undefined : decidingPlaces(codes, items);
    if (keeps !== undefined) {
      const fieldsOf = (row: number) => this.#fieldsOf(chunk, row, codes[row]!, nth?.[row]);
      return writeReplacing(shape, chunk, columns.places, fieldsOf, memory);
    }
    if (!columns.withReasons && !columns.withCanonical) {
      return chunk.write(this.#tailsByCode, codes, memory);
    }
    const tails = Array.from(codes, (code, row) =>
      this.#isExplained(code)
        ? tailOf(shape, this.#explain(chunk, row, code, nth?.[row]))
        : this.#tailsByCode[code],
    );
    const choice = Uint32Array.from(tails, (_, row) => row);
    return chunk.write(tails, choice, memory);
  }

  /** Returns whether the added fields of rows with a code depend on their items. */
  #isExplained(code: number): boolean {
    const { withReasons, withCanonical } = this.#options.columns;
    if (!hasItem(code) || code === notCheckedCode) return false;
    return withCanonical || (withReasons && offlineReasons[code] !== undefined);
  }

  /** Returns the added fields of a row of an update; undefined if it keeps its own, null if it is left out. */
  #fieldsOf(
    chunk: ScannedChunk,
    row: number,
    code: number,
    nth: number | undefined,
  ): readonly string[] | undefined | null {
    const { kind, columns } = this.#options;
    if (code === otherShardCode) return null;
    if (code === notARowCode || isKept(code)) return undefined;
    if (this.#isExplained(code)) return this.#explain(chunk, row, code, nth);
    return ourFields(columns, { status: offlineStatuses[code]! }, kind);
  }

  /** Returns the added fields of a row, with what explains the status of one of its items. */
  #explain(chunk: ScannedChunk, row: number, code: number, nth = 0): readonly string[] {
    const { kind, columns } = this.#options;
    const item = this.#cells.itemsIn(chunk.value(row))[nth]!;
    const status = offlineStatuses[code]!;
    const verdict = columns.withReasons ? this.#classifier.classify(kind, item) : { status };
    return ourFields(columns, verdict, kind, item);
  }
}

const noneKept = new Uint8Array(0);

/** Returns the domain of an item that is valid, in ASCII. */
const domainOf = (item: string): string => domainToASCII(withoutRoot(item.slice(item.lastIndexOf("@") + 1)));

/** Returns the settings of the kernel for a run. */
export function kernelSettings(options: BlockOptions): KernelSettings {
  const { shape, seed, shard } = options;
  const field = emptyField(shape.dialect);
  const padding = field.length === 1 ? field.charCodeAt(0) : 0;
  return { shape: scanShape(shape), width: shape.width, padding, seed, shard, tails: tailsOf(options) };
}

const tailsOf = ({ kind, shape, columns }: BlockOptions): readonly Uint8Array[] =>
  offlineStatuses.map((status) => tailOf(shape, ourFields(columns, { status }, kind)));
