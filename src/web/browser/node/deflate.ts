/** What the browser build puts in the place of files/deflate. */
import { Deflate, Inflate, Z_BUF_ERROR } from "pako";
import { Buffer } from "./buffer.js";

const chunkSize = 65_536;

export const inflated = (packed: Iterable<Uint8Array>): AsyncGenerator<Buffer> =>
  converted(new Inflate({ raw: true, chunkSize }), packed);

export const deflated = (bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> =>
  converted(new Deflate({ raw: true, chunkSize }), bytes);

/** @throws Error with the library's words when the bytes are damaged or cut off */
export async function* converted(
  converter: Inflate | Deflate,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const pieces: Uint8Array[] = [];
  converter.onData = (piece) => pieces.push(piece as Uint8Array);
  let status: number | undefined;
  converter.onEnd = (found) => {
    status = found;
  };
  const taken = () => pieces.splice(0).map((piece) => Buffer.from(piece));
  for await (const piece of bytes) {
    converter.push(Uint8Array.from(piece));
    yield* taken();
    if (converter.err !== 0) throw new Error(converter.msg || "damaged data");
  }
  converter.push(new Uint8Array(0), true);
  yield* taken();
  if (status === Z_BUF_ERROR || status === undefined) throw new Error("it is cut off");
  if (status !== 0) throw new Error(converter.msg);
}

const checksums = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32 as in zip and gzip (RFC 1952, section 8). */
export function crc32(bytes: Uint8Array, before = 0): number {
  let value = ~before;
  for (const byte of bytes) value = checksums[(value ^ byte) & 0xff]! ^ (value >>> 8);
  return ~value >>> 0;
}
