/** Memory for one block and its verdicts, shared between threads and reused. */

/** Limits of a slot: rows in a block, bytes of a block, and bytes of its rendered rows. */
const [rows, blockBytes, outputBytes] = [65_536, 524_288, 1_572_864];
const slotBytes = 21 * rows + blockBytes + outputBytes;

/**
 * A run of any length uses the same slots, so blocks create no garbage. Blocks that exceed the limits are classified on
 * the main thread. The system allocates only the parts of the memory that are used.
 */
export class Slot {
  readonly memory: SharedArrayBuffer;
  readonly block: Buffer;
  /** The code of each row's status. */
  readonly codes: Uint8Array;
  /** The hash of each row's item in two words. */
  readonly hashes: Int32Array;
  /** The hash of each row's mailbox in two words. */
  readonly mailboxes: Int32Array;
  /** The rendered rows. */
  readonly output: Buffer;
  /** End of each row in the output. */
  readonly ends: Int32Array;

  /** @param memory memory of a slot of another thread, to share it; new memory by default */
  constructor(memory = new SharedArrayBuffer(slotBytes)) {
    this.memory = memory;
    let offset = 0;
    const next = (bytes: number) => {
      const start = offset;
      offset += bytes;
      return start;
    };
    this.hashes = new Int32Array(memory, next(8 * rows), 2 * rows);
    this.mailboxes = new Int32Array(memory, next(8 * rows), 2 * rows);
    this.ends = new Int32Array(memory, next(4 * rows), rows);
    this.codes = new Uint8Array(memory, next(rows), rows);
    this.block = Buffer.from(memory, next(blockBytes), blockBytes);
    this.output = Buffer.from(memory, next(outputBytes), outputBytes);
  }
}
