/** The kernel in one thread, over the memory that the threads of a run share. */
import type { Classifier } from "../../classifier/classifier.js";
import type { ItemHash } from "../../classifier/tables/item-hash.js";
import { Kernel } from "../../kernel/kernel.js";
import { domainWords } from "../../kernel/layout.js";
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import { Offset, recordWords, type ScannedRecords } from "../../table/scan/scanner.js";
import type { Kind } from "../../validator/validator.js";
import { longestList } from "../items/item-list.js";
import type { ItemVerdicts } from "./item-verdicts.js";
import { type BlockMemory, type Slot, slotRows } from "./threads/block-memory.js";

export class BlockKernel {
  readonly #kernel: Kernel;
  readonly #memory: ArrayBufferLike;
  readonly #records: number;
  readonly #others: number;
  readonly #own: Slot;

  constructor(
    module: WebAssembly.Module,
    memory: BlockMemory,
    thread: number,
    classifier: Classifier | undefined,
    kind: Kind,
  ) {
    this.#kernel = new Kernel(module, memory.memory, memory.scratchOf(thread), classifier, kind);
    this.#memory = memory.memory.buffer;
    this.#records = memory.recordsOf(thread);
    this.#others = memory.recordsOf(thread, 1);
    this.#own = memory.slotOf(thread);
  }

  scan({ block }: Slot, length: number, column: number): ScannedRecords | undefined {
    return this.#kernel.scan(block.byteOffset, length, this.#records, slotRows, column);
  }

  rescan({ block }: Slot, length: number, column: number): ScannedRecords | undefined {
    return this.#kernel.scan(block.byteOffset, length, this.#others, slotRows, column);
  }

  write({ block, codes, output, ends }: Slot, rows: number): number {
    const [codesAt, outputAt, endsAt] = [codes.byteOffset, output.byteOffset, ends.byteOffset];
    const { byteOffset } = block;
    return this.#kernel.write(byteOffset, this.#records, rows, codesAt, outputAt, output.length, endsAt);
  }

  hash(key: string): ItemHash {
    return this.#kernel.hash(key);
  }

  countDomain(domain: string, items: number): void {
    this.#kernel.countDomain(domain, items);
  }

  /** Does not change the verdicts on records that are too large. */
  judge(chunk: ScannedChunk, codes: Uint8Array, hashes: Int32Array, counts: boolean): void {
    const own = this.#own;
    const [codesAt, hashesAt] = [own.codes.byteOffset, own.hashes.byteOffset];
    this.#eachPiece(chunk, (block, records, count, from) => {
      this.#kernel.judge(block, records, count, { codes: codesAt, hashes: hashesAt }, counts);
      codes.set(own.codes.subarray(0, count), from);
      hashes.set(own.hashes.subarray(0, 2 * count), 2 * from);
    });
  }

  /** Returns verdicts that are valid until the next call; undefined for values that are not a plain list. */
  judgeList(value: Uint8Array, counts: boolean): Pick<ItemVerdicts, "codes" | "hashes"> | undefined {
    if (value.length > longestList) return undefined;
    const { block, codes, hashes } = this.#own;
    const start = block.byteOffset;
    block.set(value);
    const [codesAt, hashesAt] = [codes.byteOffset, hashes.byteOffset];
    const end = start + value.length;
    const count = this.#kernel.judgeList(start, end, codesAt, hashesAt, counts);
    return count > 0 ? { codes: codes.subarray(0, count), hashes: hashes.subarray(0, 2 * count) } : undefined;
  }

  readDomains(chunk: ScannedChunk, domains: Int32Array): void {
    const own = this.#own.domains;
    this.#eachPiece(chunk, (block, records, count, from) => {
      this.#kernel.readDomains(block, records, count, own.byteOffset);
      domains.set(own.subarray(0, domainWords * count), domainWords * from);
    });
  }

  hashFields(chunk: ScannedChunk, fields: Int32Array): void {
    const own = this.#own.fields[0]!;
    this.#eachPiece(chunk, (block, records, count, from) => {
      this.#kernel.hashFields(block, records, count, own.byteOffset);
      fields.set(own.subarray(0, 2 * count), 2 * from);
    });
  }

  /** Uses pieces that fit into the memory of this thread. Skips records that are too large. */
  #eachPiece(
    { bytes, at, count }: ScannedChunk,
    use: (block: number, records: number, count: number, from: number) => void,
  ): void {
    if (bytes.buffer === this.#memory && count <= slotRows) {
      const isHere = at.buffer === this.#memory;
      if (!isHere) new Int32Array(this.#memory, this.#others, at.length).set(at);
      use(bytes.byteOffset, isHere ? at.byteOffset : this.#others, count, 0);
      return;
    }
    const { block } = this.#own;
    const numberOf = (row: number, word: number) => at[row * recordWords + word]!;
    for (let from = 0, to = 0; from < count; from = Math.max(to, from + 1)) {
      const start = numberOf(from, Offset.start);
      to = from;
      while (to < count && to - from < slotRows && numberOf(to, Offset.next) - start <= block.length) to++;
      if (to === from) continue;
      bytes.copy(block, 0, start, numberOf(to - 1, Offset.next));
      const numbers = at.subarray(from * recordWords, to * recordWords);
      new Int32Array(this.#memory, this.#others, numbers.length).set(numbers);
      use(block.byteOffset - start, this.#others, to - from, from);
    }
  }

  get own(): Slot {
    return this.#own;
  }
}
