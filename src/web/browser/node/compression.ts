/** What the browser build puts in the place of files/compression: gzip, with the checksums of all its members. */
import { Deflate, Inflate } from "pako";
import { FileError } from "../../../files/errors.js";
import type { TableSink } from "../../../files/table-sink.js";
import type { Compression } from "../../../formats/compression/compression-format.js";
import { converted } from "./deflate.js";

const chunkSize = 262_144;

export async function* decompress(
  name: string,
  compression: Compression,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (compression !== "gzip") throw new FileError(`${name}: ${compression} is not read in a browser; unpack it`);
  try {
    yield* converted(new Inflate({ chunkSize }), bytes);
  } catch (error) {
    throw new FileError(`${name}: the gzip data is damaged: ${(error as Error).message}; get the file again`);
  }
}

export async function compressInto(_name: string, sink: TableSink): Promise<TableSink> {
  const deflate = new Deflate({ gzip: true, chunkSize });
  const pieces: Uint8Array[] = [];
  deflate.onData = (piece) => pieces.push(piece as Uint8Array);
  const pass = async () => {
    for (const piece of pieces.splice(0)) await sink.write(piece);
  };
  return {
    async write(bytes) {
      deflate.push(Uint8Array.from(bytes));
      await pass();
    },
    async commit() {
      deflate.push(new Uint8Array(0), true);
      await pass();
      await sink.commit();
    },
    discard: () => sink.discard(),
  };
}
