/** Raw deflate (RFC 1951) and the checksum of zip and gzip, for archives; the browser build has its own. */
import { Readable } from "node:stream";
import { createDeflateRaw, createInflateRaw } from "node:zlib";

export { crc32 } from "node:zlib";

const chunkSize = 65_536;

/** The iteration throws if the bytes are damaged. */
export function inflated(packed: Iterable<Buffer>): AsyncIterable<Buffer> {
  const source = Readable.from(packed, { objectMode: false });
  const inflate = createInflateRaw({ chunkSize });
  source.once("error", (error) => inflate.destroy(error));
  return source.pipe(inflate);
}

export function deflated(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  const source = Readable.from(bytes, { objectMode: false });
  const deflate = createDeflateRaw({ chunkSize });
  source.once("error", (error) => deflate.destroy(error));
  return source.pipe(deflate);
}
