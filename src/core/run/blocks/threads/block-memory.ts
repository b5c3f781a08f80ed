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
    return slotAt(this.memory.buffer, this.recordsOf(this.threads) + index * slotBytes);
  }
}

export type Slot = ReturnType<typeof slotAt>;

function slotAt(memory: ArrayBufferLike, start: number) {
  let free = start;
  const next = (bytes: number) => {
    const at = free;
    free += bytes + slack;
    return at;
  };
  const words = (each: number) => new Int32Array(memory, next(4 * each * slotRows), each * slotRows);
  return {
    hashes: words(2),
    mailboxes: words(2),
    domains: words(domainWords),
    fields: Array.from({ length: mostFactColumns }, () => words(2)),
    itemFields: words(1),
    ends: words(1),
    codes: new Uint8Array(memory, next(slotRows), slotRows),
    block: Buffer.from(memory, next(blockBytes), blockBytes),
    output: Buffer.from(memory, next(outputBytes), outputBytes),
  };
}
