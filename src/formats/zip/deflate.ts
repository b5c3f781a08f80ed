/** Raw deflate (RFC 1951) and the checksum of zip and gzip, for archives; the browser build has its own. */
import { Readable, type Transform } from "node:stream";
import { createDeflateRaw, createInflateRaw } from "node:zlib";

export { crc32 } from "node:zlib";

const chunkSize = 65_536;

/** The iteration throws if the bytes are damaged. */
export const inflated = (packed: Iterable<Buffer>): AsyncIterable<Buffer> =>
  through(createInflateRaw({ chunkSize }), packed);

export const deflated = (bytes: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> =>
  through(createDeflateRaw({ chunkSize }), bytes);

function through(transform: Transform, bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  const source = Readable.from(bytes, { objectMode: false });
  source.once("error", (error) => transform.destroy(error));
  return source.pipe(transform);
}
