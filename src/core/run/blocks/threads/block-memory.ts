/**
 * The memory that the threads of a run share: the kernel's tables, the record numbers of each thread, and slots for blocks and
 * their verdicts. Slots are reused, so blocks create no garbage.
 */
import { newMemory } from "../../../kernel/kernel.js";
import { domainWords, recordWords, scratchBytes, sharedEnd, slack } from "../../../kernel/layout.js";
import { mostFactColumns } from "../../run-options.js";

export const slotRows = 65_536;
const blockBytes = 1_048_576;
const outputBytes = 3_145_728;

const recordBytes = 4 * recordWords * slotRows + slack;
const threadBytes = 2 * recordBytes + scratchBytes;
const slotBytes =
  (25 + 8 * mostFactColumns + 4 * domainWords) * slotRows +
  blockBytes +
  outputBytes +
  (8 + mostFactColumns) * slack;

/**
 * Memory for `threads` threads, each with a slot of its own, and for `slots` further slots. The system allocates only the parts
 * that are used.
 */
export class BlockMemory {
  readonly memory: WebAssembly.Memory;

  constructor(
    readonly threads: number,
    readonly slots: number,
    memory?: WebAssembly.Memory,
  ) {
    this.memory = memory ?? newMemory(sharedEnd + threads * threadBytes + (threads + slots) * slotBytes);
  }

  /** Returns the address of a thread's numbers for {@link slotRows} records; `nth` selects one of two areas. */
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
  /** Two words for each row, as in `mailboxes`. */
  readonly hashes: Int32Array;
  readonly mailboxes: Int32Array;
  /** The domain of each row's item, and the hashes of other fields; see {@link RowFacts}. */
  readonly domains: Int32Array;
  readonly fields: readonly Int32Array[];
  /** If fields have several items, the field of each item; the items' codes and hashes follow those of the fields. */
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
