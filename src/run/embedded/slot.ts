/**
 * Memory for one block and what a thread makes of it. It is shared between threads and used again, so that a run of
 * any length takes no more, and leaves nothing behind for garbage collection.
 */
export class Slot {
  readonly memory: SharedArrayBuffer;
  readonly block: Buffer;
  /** For each row, its status. */
  readonly codes: Uint8Array;
  /** For each row, the two words of its item's hash. */
  readonly hashes: Int32Array;
  /** The same of its canonical item. */
  readonly mailboxes: Int32Array;
  /** The rows as they are written. */
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

/** Of what is larger, nothing is lost: it is judged in the main thread. Memory that is not used is not taken. */
const [rows, blockBytes, outputBytes] = [65_536, 524_288, 1_572_864];
const slotBytes = 21 * rows + blockBytes + outputBytes;
