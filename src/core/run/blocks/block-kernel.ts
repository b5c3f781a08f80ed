/** The kernel in one thread, over the memory that the threads of a run share. */
import type { Classifier } from "../../classifier/classifier.js";
import type { ItemHash } from "../../classifier/tables/item-hash.js";
import { Kernel } from "../../kernel/kernel.js";
import { domainWords } from "../../kernel/layout.js";
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import { Offset, recordWords, type ScannedRecords } from "../../table/scan/scanner.js";
import type { Kind } from "../../validator/validator.js";
import { type BlockMemory, type Slot, slotRows } from "./threads/block-memory.js";

/** Memory for what the kernel finds about each record; see its layout for `domains`. */
export interface JudgedRecords {
  readonly codes?: Uint8Array;
  readonly hashes?: Int32Array;
  readonly domains?: Int32Array | undefined;
}

/** In bytes: the verdicts on more items might not fit into the memory of a slot. */
const longestPlainList = 16_384;

export function createBlockKernel(
  module: WebAssembly.Module,
  memory: BlockMemory,
  thread: number,
  classifier: Classifier | undefined,
  kind: Kind,
) {
  const kernel = new Kernel(module, memory.memory, memory.scratchOf(thread), classifier, kind);
  const { buffer } = memory.memory;
  const records = memory.recordsOf(thread);
  const others = memory.recordsOf(thread, 1);
  const own = memory.slotOf(thread);

  /** Uses pieces that fit into the memory of this thread. Skips records that are too large. */
  function eachPiece(
    { bytes, at, count }: ScannedChunk,
    use: (block: number, records: number, count: number, from: number) => void,
  ): void {
    if (bytes.buffer === buffer && count <= slotRows) {
      const isHere = at.buffer === buffer;
      if (!isHere) new Int32Array(buffer, others, at.length).set(at);
      use(bytes.byteOffset, isHere ? at.byteOffset : others, count, 0);
      return;
    }
    const { block } = own;
    const numberOf = (row: number, word: number) => at[row * recordWords + word]!;
    for (let from = 0, to = 0; from < count; from = Math.max(to, from + 1)) {
      const start = numberOf(from, Offset.start);
      to = from;
      while (to < count && to - from < slotRows && numberOf(to, Offset.next) - start <= block.length) to++;
      if (to === from) continue;
      bytes.copy(block, 0, start, numberOf(to - 1, Offset.next));
      const numbers = at.subarray(from * recordWords, to * recordWords);
      new Int32Array(buffer, others, numbers.length).set(numbers);
      use(block.byteOffset - start, others, to - from, from);
    }
  }

  return {
    own,
    scan({ block }: Slot, length: number, column: number): ScannedRecords | undefined {
      return kernel.scan(block.byteOffset, length, records, slotRows, column);
    },
    rescan({ block }: Slot, length: number, column: number): ScannedRecords | undefined {
      return kernel.scan(block.byteOffset, length, others, slotRows, column);
    },
    write({ block, codes, output, ends }: Slot, rows: number): number {
      const { byteOffset: outputAt, length } = output;
      return kernel.write(block.byteOffset, records, rows, codes.byteOffset, outputAt, length, ends.byteOffset);
    },
    hash: (key: string): ItemHash => kernel.hash(key),
    countDomain: (domain: string, items: number) => kernel.countDomain(domain, items),
    forgetCounts: () => kernel.forgetCounts(),
    topDomains: (most: number) => kernel.topDomains(most),
    /** Does not change what is in the memory for records that are too large. */
    judge(chunk: ScannedChunk, { codes, hashes, domains }: JudgedRecords, counts: boolean): void {
      const at = { codes: own.codes.byteOffset, hashes: own.hashes.byteOffset };
      const all = { ...at, domains: domains === undefined ? 0 : own.domains.byteOffset };
      eachPiece(chunk, (block, records, count, from) => {
        kernel.judge(block, records, count, all, counts);
        codes?.set(own.codes.subarray(0, count), from);
        hashes?.set(own.hashes.subarray(0, 2 * count), 2 * from);
        domains?.set(own.domains.subarray(0, domainWords * count), domainWords * from);
      });
    },
    /** Leaves verdicts in `own`, and returns their number; 0 for a value that is not a plain list. */
    judgeList({ bytes, at }: ScannedChunk, row: number, counts: boolean): number {
      const { block, codes, hashes } = own;
      const start = at[row * recordWords + Offset.valueStart]!;
      const end = at[row * recordWords + Offset.valueEnd]!;
      const isHere = bytes.buffer === buffer;
      if (end - start > longestPlainList) return 0;
      if (!isHere) bytes.copy(block, 0, start, end);
      const from = isHere ? bytes.byteOffset + start : block.byteOffset;
      return kernel.judgeList(from, from + end - start, codes.byteOffset, hashes.byteOffset, counts);
    },
    hashFields(chunk: ScannedChunk, fields: Int32Array): void {
      const memory = own.fields[0]!;
      eachPiece(chunk, (block, records, count, from) => {
        kernel.hashFields(block, records, count, memory.byteOffset);
        fields.set(memory.subarray(0, 2 * count), 2 * from);
      });
    },
  };
}

export type BlockKernel = ReturnType<typeof createBlockKernel>;
