/** gzip and zstd: decompression, and a sink that compresses. Loaded only for compressed files. */
import { Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import zlib, { createGunzip } from "node:zlib";
import { FileError } from "../../files/errors.js";
import { converting, type TableSink, writeAll } from "../../files/table-sink.js";
import { nativeAdvice, nativeZstd } from "../../package/native-code.js";
import type { Compression } from "./compression-format.js";
import { GzipWriter } from "./gzip.js";
import { zstdPieces } from "./zstd-frames.js";

/** In bytes. The default, 16 KiB, makes many small chunks. */
const chunkSize = 262_144;

/** @throws FileError when the data is damaged or truncated, or zstd is not available */
export async function* decompress(
  name: string,
  compression: Compression,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let inputError: unknown;
  async function* input() {
    try {
      // Copied, because each chunk is valid only until the next is requested, and a stream reads ahead.
      for await (const chunk of bytes) yield Buffer.from(chunk);
    } catch (error) {
      inputError = error;
      throw error;
    }
  }
  const source = compression === "gzip" ? input() : zstdPieces(input());
  const transform = compression === "gzip" ? createGunzip({ chunkSize }) : (await zstd(name)).decompressor();
  // A failure of the pipeline also destroys the transform; the loop below reports it.
  pipeline(Readable.from(source, { highWaterMark: 1 }), transform).catch(() => {});
  try {
    yield* transform;
  } catch (error) {
    if (inputError !== undefined) throw inputError;
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "Z_BUF_ERROR" || message === "cut off" ? "it is cut off" : message;
    throw new FileError(`${name}: the ${compression} data is damaged: ${reason}; get the file again`);
  }
}

/** @throws FileError when the compression is not available */
export async function compressInto(name: string, sink: TableSink, compression: Compression): Promise<TableSink> {
  if (compression === "gzip") {
    let isDiscarded = false;
    const writer = new GzipWriter(async (piece) => {
      // Pieces may still be in flight.
      if (!isDiscarded) await sink.write(piece);
    });
    return converting(sink, {
      write: (bytes) => writer.write(bytes),
      end: () => writer.end(),
      async stop() {
        isDiscarded = true;
      },
    });
  }
  const transform = (await zstd(name)).compressor();
  const written = writeAll(transform, sink);
  // The next `write()`, `prepare()` or `commit()` rethrows the error.
  written.catch(() => transform.destroy());
  return converting(sink, {
    async write(bytes) {
      // The caller may reuse the memory of bytes that the transform has consumed. A failing sink ends the wait.
      const taken = new Promise<void>((resolve, reject) => {
        transform.write(bytes, (error) => (error ? reject(error) : resolve()));
      });
      await Promise.race([taken, written]);
    },
    end() {
      transform.end();
      return written;
    },
    async stop() {
      transform.destroy();
    },
  });
}

/** Missing in the types of Node.js 20. */
interface NewerZlib {
  readonly createGunzip: unknown;
  readonly createZstdCompress?: (options: { readonly chunkSize: number }) => Transform;
  readonly createZstdDecompress?: (options: { readonly chunkSize: number }) => Transform;
}

// Node.js has zstd since 22.15; the package lacks builds for some platforms. Decompressors need `zstdPieces`: that of
// Node.js drops what follows the end of a frame in a piece. Throws a FileError when there is neither.
async function zstd(name: string) {
  const { createZstdCompress, createZstdDecompress } = zlib as NewerZlib;
  if (createZstdCompress && createZstdDecompress) {
    return {
      compressor: () => createZstdCompress({ chunkSize }),
      decompressor: () => createZstdDecompress({ chunkSize }),
    };
  }
  try {
    const { Compressor, Decompressor } = await nativeZstd();
    if (typeof Compressor === "function") {
      return { compressor: () => new Compressor(3), decompressor: () => new Decompressor() };
    }
  } catch {
    // Reported below.
  }
  throw new FileError(`${name}: this Node.js cannot read zstd; ${nativeAdvice}, or run: zstd -dc FILE | idv ...`);
}
