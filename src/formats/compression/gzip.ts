/** gzip (RFC 1952) whose pieces are compressed in parallel, as one member, which every reader accepts. */
import { promisify } from "node:util";
import { constants, crc32, deflateRaw } from "node:zlib";

/** Large enough that starting a piece costs nothing. */
const pieceBytes = 524_288;
const mostPieces = 4;
/** A piece may refer to this many bytes before it (RFC 1951). */
const windowBytes = 32_768;

/** Magic number, deflate, no flags, no time, no hint, unknown system. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
/** An empty last block. Pieces end on a byte boundary, and none of them is the last block. */
const lastBlock = Buffer.from([3, 0]);

const deflate = promisify<Buffer, object, Buffer>(deflateRaw);

export class GzipWriter {
  #piece = Buffer.allocUnsafeSlow(pieceBytes);
  #length = 0;
  #window: Buffer | undefined;
  readonly #pieces: Promise<void>[] = [];
  #last: Promise<void>;
  #checksum = 0;
  #total = 0;

  constructor(private readonly send: (bytes: Uint8Array) => Promise<void>) {
    this.#last = send(header);
    this.#last.catch(() => {});
  }

  /** The memory of `bytes` may be reused afterwards. Rethrows errors of the sink. */
  async write(bytes: Uint8Array): Promise<void> {
    // The checksum of no bytes in shared memory would be 0, whatever came before.
    if (bytes.length > 0) this.#checksum = crc32(bytes, this.#checksum);
    this.#total += bytes.length;
    for (let from = 0; from < bytes.length; ) {
      const taken = bytes.subarray(from, from + pieceBytes - this.#length);
      this.#piece.set(taken, this.#length);
      this.#length += taken.length;
      from += taken.length;
      if (this.#length === pieceBytes) await this.#compress();
    }
  }

  async end(): Promise<void> {
    if (this.#length > 0) await this.#compress();
    await this.#last;
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(this.#checksum, 0);
    trailer.writeUInt32LE(this.#total % 2 ** 32, 4);
    await this.send(Buffer.concat([lastBlock, trailer]));
  }

  async #compress(): Promise<void> {
    const piece = this.#piece.subarray(0, this.#length);
    const compressed = deflate(piece, {
      finishFlush: constants.Z_SYNC_FLUSH,
      ...(this.#window && { dictionary: this.#window }),
    });
    this.#window = Buffer.from(piece.subarray(-windowBytes));
    this.#piece = Buffer.allocUnsafeSlow(pieceBytes);
    this.#length = 0;
    const before = this.#last;
    this.#last = Promise.all([compressed, before]).then(([bytes]) => this.send(bytes));
    this.#last.catch(() => {});
    this.#pieces.push(this.#last);
    if (this.#pieces.length >= mostPieces) await this.#pieces.shift();
  }
}
