/** Zip archives whose parts are files of a run: inputs, and an archive returned with changed parts. */
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { FileError } from "../../files/errors.js";
import { type InputFile, openInputFile } from "../../files/input.js";
import { openOutputFile } from "../../files/output.js";
import type { TableSink } from "../../files/table-sink.js";
import type { Container } from "../format.js";
import { type Archive, type ArchivePart, byName, headerOf, listParts, rebuilt, unpack } from "./archive.js";
import { crc32 } from "./deflate.js";
import { rebuiltInto } from "./rebuilt-into.js";

/** A size or an offset that is in a record of zip64 (4.5.3 of APPNOTE.TXT). */
const inZip64 = 0xffffffff;

export interface ArchiveFile extends Pick<Container, "name" | "hasChanged" | "close" | "returnTo"> {
  readonly parts: readonly ArchivePart[];
  /** Each piece is valid as long as the caller likes. */
  read(part: string): InputFile;
}

/** @throws FileError when the archive cannot be read, or is damaged */
export async function openArchive(path: string, name: string, signal: AbortSignal): Promise<ArchiveFile> {
  const file = await openInputFile(path, signal);
  const { size, read, hasChanged, close } = file;
  if (read === undefined || size === undefined) {
    await close();
    throw new FileError(`${name}: not a regular file any more; run again`);
  }
  const archive = { length: size, read };
  let parts: readonly ArchivePart[];
  try {
    parts = partsOf(name, archive);
  } catch (error) {
    await close();
    throw error;
  }
  const named = byName(parts);
  return {
    name,
    parts,
    read: (partName) => {
      const part = named.get(partName)!;
      const bytes = bytesOf(`${name}/${part.name}`, archive, part, signal);
      return { bytes, size: part.length, hasChanged, close: async () => void (await bytes.return(undefined)) };
    },
    hasChanged,
    close,
    returnTo: async (output, changed) => {
      checkHeaders(name, archive, parts);
      return returnedArchive(archive, parts, changed, await openOutputFile(output));
    },
  };
}

function partsOf(name: string, archive: Archive): readonly ArchivePart[] {
  const refuse = (reason: string) => new FileError(`${name}: ${reason}; unpack it and pass the files`);
  let parts: readonly ArchivePart[] | undefined;
  try {
    parts = listParts(archive);
  } catch (error) {
    throw refuse(`an unsupported zip archive: ${(error as Error).message}`);
  }
  if (parts === undefined) throw refuse("a damaged zip archive");
  const isLarge = ({ length, compressedLength, offset }: ArchivePart) =>
    [length, compressedLength, offset].includes(inZip64);
  if (parts.some(isLarge)) throw refuse("a zip64 archive (over 4 GiB) is not supported");
  // Parts that share bytes are how a small archive holds more than a disk.
  let end = 0;
  for (const { offset, compressedLength } of parts.toSorted((a, b) => a.offset - b.offset)) {
    if (offset < end) throw refuse("a zip archive with parts that overlap");
    end = offset + compressedLength;
  }
  return parts;
}

function checkHeaders(name: string, archive: Archive, parts: readonly ArchivePart[]): void {
  try {
    for (const part of parts) headerOf(archive, part);
  } catch (error) {
    throw new FileError(`${name}: a damaged zip archive: ${(error as Error).message}`);
  }
}

async function* bytesOf(name: string, archive: Archive, part: ArchivePart, signal: AbortSignal) {
  try {
    for await (const piece of unpack(archive, part)) {
      signal.throwIfAborted();
      yield piece;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FileError) throw error;
    const { message } = error as Error;
    const reason = part.isEncrypted ? "it is encrypted" : message;
    throw new FileError(`${name}: cannot be unpacked: ${reason}`);
  }
}

function returnedArchive(archive: Archive, parts: readonly ArchivePart[], changed: readonly string[], sink: TableSink) {
  const named = byName(parts);
  const { add, written, ...archiveSink } = rebuiltInto(sink, (changes) => rebuilt(archive, parts, changed, changes));
  let isSame = true;
  const partSink = (part: string): TableSink => {
    const bytes = new PassThrough({ highWaterMark: 1_048_576 });
    bytes.on("error", () => {});
    add({ path: part, bytes });
    let [checksum, length] = [0, 0];
    return {
      async write(piece) {
        checksum = crc32(piece, checksum);
        length += piece.length;
        // The memory of the piece may be reused.
        const hasRoom = bytes.write(Buffer.from(piece));
        if (!hasRoom) await Promise.race([once(bytes, "drain"), written]);
      },
      async commit() {
        const before = named.get(part);
        isSame &&= before?.checksum === checksum && before.length === length;
        bytes.end();
      },
      async discard() {
        if (!bytes.writableEnded) bytes.destroy(new Error("the part is discarded"));
      },
    };
  };
  return { ...archiveSink, partSink, isSame: async () => isSame };
}
