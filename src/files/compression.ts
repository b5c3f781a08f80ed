import { Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { TableError } from "../table/errors.js";
import type { TableSink } from "./output.js";
import { zstdPieces } from "./zstd-frames.js";

export type Compression = "gzip" | "zstd";

/** The compression that a file's name promises, if any. */
export function compressionByName(path: string): Compression | undefined {
  if (/\.gz$/i.test(path)) return "gzip";
  return /\.zst$/i.test(path) ? "zstd" : undefined;
}

/** The compression of bytes that begin so, if any: RFC 1952 §2.3.1, RFC 8878 §3.1. */
export function compressionByMagic(start: Uint8Array): Compression | undefined {
  const startsWith = (...bytes: number[]) => bytes.every((byte, i) => start[i] === byte);
  if (startsWith(0x1f, 0x8b)) return "gzip";
  const isSkippable =
    (start[0]! & 0xf0) === 0x50 && start[1] === 0x2a && start[2] === 0x4d && start[3] === 0x18;
  return startsWith(0x28, 0xb5, 0x2f, 0xfd) || isSkippable ? "zstd" : undefined;
}

/** Fewer and larger pieces than zlib's 16 KiB. */
const chunkSize = 262_144;

/**
 * What bytes are that were compressed.
 *
 * @param name the file's name in errors, or `standard input`
 * @throws TableError when they are damaged or cut off; also from the iteration
 */
export async function* decompress(
  name: string,
  compression: Compression,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let inputError: unknown;
  async function* input() {
    try {
      // Copies: the bytes are good only until the next are asked for, and a stream asks ahead.
      for await (const chunk of bytes) yield Buffer.from(chunk);
    } catch (error) {
      inputError = error;
      throw error;
    }
  }
  const source = compression === "gzip" ? input() : zstdPieces(input());
  const transform =
    compression === "gzip" ? createGunzip({ chunkSize }) : new (await zstd(name)).Decompressor();
  // Its failure is that of the transform too, which is where it is seen.
  pipeline(Readable.from(source, { highWaterMark: 1 }), transform).catch(() => {});
  try {
    yield* transform;
  } catch (error) {
    if (inputError !== undefined) throw inputError;
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "Z_BUF_ERROR" || message === "cut off" ? "it is cut off" : message;
    throw new TableError(`${name}: the ${compression} data is damaged: ${reason}; get the file again`);
  }
}

/**
 * A sink that compresses what goes into another.
 *
 * @param name the output's name in errors
 * @throws TableError when the compression is not to be had
 */
export async function compressInto(
  name: string,
  sink: TableSink,
  compression: Compression,
): Promise<TableSink> {
  const transform: Transform =
    compression === "gzip" ? createGzip({ chunkSize }) : new (await zstd(name)).Compressor(3);
  const written = (async () => {
    for await (const chunk of transform) await sink.write(chunk as Uint8Array);
  })();
  // Whoever writes or commits gets to know.
  written.catch(() => transform.destroy());
  const end = async () => {
    transform.end();
    await written;
  };
  return {
    async write(bytes) {
      // Until it is taken, unless the writing has failed. What is taken is used: its memory may be used again.
      const taken = new Promise<void>((resolve, reject) => {
        transform.write(bytes, (error) => (error ? reject(error) : resolve()));
      });
      await Promise.race([taken, written]);
    },
    async prepare() {
      await end();
      await sink.prepare?.();
    },
    async commit() {
      await end();
      await sink.commit();
    },
    async discard() {
      transform.destroy();
      await sink.discard();
    },
  };
}

/** Loaded only when it is needed; it may be missing where there is no build of it. */
async function zstd(name: string) {
  try {
    const { Compressor, Decompressor } = await import("@cloudpss/zstd");
    if (typeof Compressor === "function") return { Compressor, Decompressor };
  } catch {
    // Explained below.
  }
  throw new TableError(
    `${name}: zstd is not to be had on this machine; use gzip, or zstd -dc FILE | idv ...`,
  );
}
