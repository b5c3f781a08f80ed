/** Raw deflate (RFC 1951) and the checksum of zip and gzip, for archives; the browser build has its own. */
import { Readable, type Transform } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { createDeflateRaw, createInflateRaw, inflateRawSync } from "node:zlib";

export { crc32 } from "node:zlib";

const chunkSize = 65_536;
/** In bytes. For shorter parts, to make a stream takes longer than its work. */
const shortPart = 262_144;

/** `most` is the larger of the two lengths that the archive states. The iteration throws if the bytes are damaged. */
export async function* inflated(packed: Iterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  if (most > shortPart) {
    yield* through(createInflateRaw({ chunkSize }), packed);
    return;
  }
  // Signals are noticed between short parts, too.
  await setImmediate();
  const pieces = [...packed];
  try {
    yield inflateRawSync(Buffer.concat(pieces), { maxOutputLength: shortPart });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_BUFFER_TOO_LARGE") throw error;
    yield* through(createInflateRaw({ chunkSize }), pieces);
  }
}

export const deflated = (bytes: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> =>
  through(createDeflateRaw({ chunkSize }), bytes);

function through(transform: Transform, bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  const source = Readable.from(bytes, { objectMode: false });
  source.once("error", (error) => transform.destroy(error));
  return source.pipe(transform);
}
