/** Memory for one block and its verdicts, shared between threads and used again and again. */

/** Most rows in a block, and lengths in bytes of a block and of its rendered rows. */
const [rows, blockBytes, outputBytes] = [65_536, 524_288, 1_572_864];
const slotBytes = 21 * rows + blockBytes + outputBytes;

/**
 * A run of any length takes the same slots, and leaves nothing for garbage collection. Larger blocks are classified on the
 * main thread. The system gives memory only for the parts that are touched.
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
  /** Where each row ends in the output. */
  readonly ends: Int32Array;

  /** @param memory that of a slot of another thread, to share it */
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
