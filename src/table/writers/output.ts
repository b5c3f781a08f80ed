/** Memory that records are written to. It grows if they do not fit. */

/** Rendered records, one after the other. */
export interface WrittenRecords {
  readonly bytes: Buffer;
  /** Index after each record's last byte. */
  readonly ends: Int32Array;
}

/** Memory for rendered records. */
export interface WriteMemory {
  readonly output: Buffer;
  readonly ends: Int32Array;
}

/** Longest piece, in bytes, that a loop copies faster than a call. */
const shortPiece = 48;

export class Output {
  bytes: Buffer;
  /** Index after the last byte written. */
  length = 0;
  readonly #ends: Int32Array;

  /**
   * @param count number of records
   * @param usual number of bytes that they usually take
   * @param memory where they are put; if it is too small, they are put in new memory
   */
  constructor(count: number, usual: number, memory?: WriteMemory) {
    const isLarge = memory !== undefined && memory.ends.length >= count;
    this.bytes = isLarge ? memory.output : Buffer.allocUnsafeSlow(usual);
    this.#ends = isLarge ? memory.ends.subarray(0, count) : new Int32Array(count);
  }

  /** Makes room for more bytes. */
  room(length: number): void {
    if (this.bytes.length - this.length >= length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.length + length));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }

  /** Copies bytes. */
  copy(from: Uint8Array, start = 0, end = from.length): void {
    const length = end - start;
    this.room(length);
    const { bytes, length: position } = this;
    if (length > shortPiece) bytes.set(from.subarray(start, end), position);
    else for (let i = 0; i < length; i++) bytes[position + i] = from[start + i]!;
    this.length = position + length;
  }

  /** Ends a record. @param waiting number of its bytes that are not written yet */
  end(row: number, waiting = 0): void {
    this.#ends[row] = this.length + waiting;
  }

  get written(): WrittenRecords {
    return { bytes: this.bytes.subarray(0, this.length), ends: this.#ends };
  }
}
