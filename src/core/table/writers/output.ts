/** Memory that records are written to. It grows if they do not fit. */

export type WrittenRecords = { readonly bytes: Buffer; readonly ends: Int32Array };

export type WriteMemory = { readonly output: Buffer; readonly ends: Int32Array };

/** Longest piece, in bytes, that a loop copies faster than a call. */
const shortPiece = 48;

export class Output {
  bytes: Buffer;
  length = 0;
  readonly #ends: Int32Array;

  constructor(count: number, usual: number, memory?: WriteMemory) {
    const isLarge = memory !== undefined && memory.ends.length >= count;
    this.bytes = isLarge ? memory.output : Buffer.allocUnsafeSlow(usual);
    this.#ends = isLarge ? memory.ends.subarray(0, count) : new Int32Array(count);
  }

  room(length: number): void {
    if (this.bytes.length - this.length >= length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.length + length));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }

  copy(from: Uint8Array, start = 0, end = from.length): void {
    const length = end - start;
    this.room(length);
    const { bytes, length: position } = this;
    if (length > shortPiece) bytes.set(from.subarray(start, end), position);
    else for (let i = 0; i < length; i++) bytes[position + i] = from[start + i]!;
    this.length = position + length;
  }

  /** `waiting` bytes of the record are not written yet. */
  end(row: number, waiting = 0): void {
    this.#ends[row] = this.length + waiting;
  }

  get written(): WrittenRecords {
    return { bytes: this.bytes.subarray(0, this.length), ends: this.#ends };
  }
}
