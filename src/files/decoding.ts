import { type Compression, compressionByMagic, decompress } from "./compression.js";
import { encodingByMark, isUtf8, transcode } from "./text-encoding.js";

/** The bytes of a table as they are read: not compressed, in UTF-8 or in any encoding that holds ASCII as it is. */
export interface DecodedInput {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** How they were compressed. */
  readonly compression: Compression | undefined;
  /** The encoding that they were in, where they had to be transcoded. */
  readonly encoding: string | undefined;
}

/**
 * Undoes the compression and the encoding, as far as the bytes tell of them.
 *
 * @param name the file's name in errors, or `standard input`
 * @param encoding what the user says of it
 * @throws TableChoiceError when there is no such encoding
 * @throws TableError when the bytes are damaged; also from the iteration
 */
export async function decodeInput(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  encoding?: string,
): Promise<DecodedInput> {
  const named = encoding !== undefined && !isUtf8(encoding) ? encoding : undefined;
  const raw = await peek(bytes);
  const compression = compressionByMagic(raw.start);
  const plain = compression ? await peek(decompress(name, compression, raw.bytes)) : raw;
  const found = named ?? (encoding === undefined ? encodingByMark(plain.start) : undefined);
  return {
    bytes: found === undefined ? plain.bytes : transcode(name, found, plain.bytes),
    compression,
    encoding: found,
  };
}

/** The longest of the marks that are looked for. */
const markBytes = 4;

/** The first bytes, and all of them again. */
async function peek(bytes: AsyncIterable<Uint8Array>) {
  const input = bytes[Symbol.asyncIterator]();
  let start = Buffer.of();
  let next = await input.next();
  while (!next.done && start.length + next.value.length < markBytes) {
    start = Buffer.concat([start, next.value]);
    next = await input.next();
  }
  const before = start;
  const { done, value } = next;
  async function* all() {
    try {
      if (before.length > 0) yield before;
      if (done) return;
      yield value;
      for (;;) {
        const { done, value } = await input.next();
        if (done) return;
        yield value;
      }
    } finally {
      await input.return?.();
    }
  }
  return { start: done ? before : Buffer.concat([before, value.subarray(0, markBytes)]), bytes: all() };
}
