/** Memory that threads share: tables of the kernel, record numbers, and slots of blocks, reused to avoid garbage. */
import { newMemory } from "../../../kernel/kernel.js";
import { domainWords, recordWords, scratchBytes, sharedEnd, slack } from "../../../kernel/layout.js";
import { mostFactColumns } from "../../run-options.js";

export const slotRows = 65_536;
const blockBytes = 1_048_576;
const outputBytes = 3_145_728;

const recordBytes = 4 * recordWords * slotRows + slack;
const threadBytes = 2 * recordBytes + scratchBytes;
const slotBytes =
  (25 + 8 * mostFactColumns + 4 * domainWords) * slotRows + blockBytes + outputBytes + (8 + mostFactColumns) * slack;

/** Each thread has a slot of its own, besides `slots`. The system allocates only the parts that are used. */
export class BlockMemory {
  readonly memory: WebAssembly.Memory;

  constructor(
    readonly threads: number,
    readonly slots: number,
    memory?: WebAssembly.Memory,
  ) {
    this.memory = memory ?? newMemory(sharedEnd + threads * threadBytes + (threads + slots) * slotBytes);
  }

  recordsOf(thread: number, nth: 0 | 1 = 0): number {
    return sharedEnd + thread * threadBytes + nth * recordBytes;
  }

  scratchOf(thread: number): number {
    return this.recordsOf(thread) + 2 * recordBytes;
  }

  slotOf(thread: number): Slot {
    return this.slot(this.slots + thread);
  }

  slot(index: number): Slot {
    return new Slot(this.memory.buffer, this.recordsOf(this.threads) + index * slotBytes);
  }
}

export class Slot {
  readonly block: Buffer;
  readonly codes: Uint8Array;
  readonly hashes: Int32Array;
  readonly mailboxes: Int32Array;
  readonly domains: Int32Array;
  readonly fields: readonly Int32Array[];
  readonly itemFields: Int32Array;
  readonly output: Buffer;
  readonly ends: Int32Array;

  constructor(memory: ArrayBufferLike, start: number) {
    let free = start;
    const next = (bytes: number) => {
      const at = free;
      free += bytes + slack;
      return at;
    };
    this.hashes = new Int32Array(memory, next(8 * slotRows), 2 * slotRows);
    this.mailboxes = new Int32Array(memory, next(8 * slotRows), 2 * slotRows);
    this.domains = new Int32Array(memory, next(4 * domainWords * slotRows), domainWords * slotRows);
    this.fields = Array.from(
      { length: mostFactColumns },
      () => new Int32Array(memory, next(8 * slotRows), 2 * slotRows),
    );
    this.itemFields = new Int32Array(memory, next(4 * slotRows), slotRows);
    this.ends = new Int32Array(memory, next(4 * slotRows), slotRows);
    this.codes = new Uint8Array(memory, next(slotRows), slotRows);
    this.block = Buffer.from(memory, next(blockBytes), blockBytes);
    this.output = Buffer.from(memory, next(outputBytes), outputBytes);
  }
}
