/** Reads and rewrites zip archives, part by part. Trusts the central directory only (PKWARE APPNOTE.TXT 4.3.12). */
import { crc32, deflated, inflated } from "./deflate.js";

export interface Archive {
  readonly length: number;
  /** From one offset to another, or to the end; valid as long as the caller likes. */
  read(from: number, to: number): Buffer;
}

export const inMemory = (bytes: Buffer): Archive => ({
  length: bytes.length,
  read: (from, to) => bytes.subarray(from, to),
});

/** Lengths are in bytes. */
export interface ArchivePart {
  readonly name: string;
  readonly length: number;
  readonly compressedLength: number;
  /** 0 for none, 8 for deflate. */
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly checksum: number;
  /** Index of the local header in the archive. */
  readonly offset: number;
  readonly entry: Buffer;
}

export type ChangedPart = { readonly path: string; readonly bytes: AsyncIterable<Uint8Array> };

const endOfDirectory = 0x06054b50;
const directoryEntry = 0x02014b50;
const localHeader = 0x04034b50;
const endLength = 22;
const entryLength = 46;
const headerLength = 30;
const longestComment = 65_535;
const pieceBytes = 65_536;
/** A directory of 65,534 parts with names of 900 characters is smaller. */
const mostDirectoryBytes = 67_108_864;

/** Returns undefined for a damaged archive. @throws Error for one that needs zip64 */
export function listParts(archive: Archive): readonly ArchivePart[] | undefined {
  const last = archive.read(Math.max(0, archive.length - endLength - longestComment), archive.length);
  let end = last.length - endLength;
  while (end >= 0 && last.readUInt32LE(end) !== endOfDirectory) end--;
  if (end < 0) return undefined;
  const count = last.readUInt16LE(end + 10);
  // The number of more parts is elsewhere (4.4.1.4 of APPNOTE.TXT).
  if (count === 0xffff) throw new Error("it has over 65,534 parts");
  const start = last.readUInt32LE(end + 16);
  const directory = archive.read(start, Math.min(archive.length, start + mostDirectoryBytes));
  const parts: ArchivePart[] = [];
  for (let i = 0, at = 0; i < count; i++) {
    if (at + entryLength > directory.length || directory.readUInt32LE(at) !== directoryEntry) return undefined;
    const name = directory.readUInt16LE(at + 28);
    const extra = directory.readUInt16LE(at + 30);
    const comment = directory.readUInt16LE(at + 32);
    const next = at + entryLength + name + extra + comment;
    parts.push({
      name: directory.toString("utf8", at + entryLength, at + entryLength + name),
      length: directory.readUInt32LE(at + 24),
      compressedLength: directory.readUInt32LE(at + 20),
      method: directory.readUInt16LE(at + 10),
      isEncrypted: (directory.readUInt16LE(at + 8) & 1) === 1,
      checksum: directory.readUInt32LE(at + 16),
      offset: directory.readUInt32LE(at + 42),
      entry: directory.subarray(at, next),
    });
    at = next;
  }
  return parts;
}

export const byName = (parts: readonly ArchivePart[]): ReadonlyMap<string, ArchivePart> =>
  new Map(parts.map((part) => [part.name, part]));

/** Each piece takes its own turn of the event loop, so that signals are noticed. @throws Error from the iteration */
export async function* unpack(archive: Archive, part: ArchivePart): AsyncGenerator<Buffer> {
  const { name } = part;
  if (part.isEncrypted) throw new Error(`${name} is encrypted`);
  if (part.method !== 0 && part.method !== deflateMethod) throw new Error(`${name} has an unknown compression`);
  const packed = packedBytes(archive, part);
  let length = 0;
  let checksum = 0;
  const most = Math.max(part.length, part.compressedLength);
  for await (const piece of part.method === 0 ? packed : inflated(packed, most)) {
    length += piece.length;
    if (length > part.length) break;
    checksum = crc32(piece, checksum);
    yield piece;
  }
  // Some programs leave the checksum out.
  if (length !== part.length || (part.checksum !== 0 && checksum !== part.checksum)) {
    throw new Error(`${name} has another length or checksum than the archive says`);
  }
}

/** @throws Error if the header is not where the archive says */
export function headerOf(archive: Archive, { name, offset, compressedLength }: ArchivePart): Buffer {
  const header = archive.read(offset, offset + headerLength);
  if (header.length < headerLength || header.readUInt32LE(0) !== localHeader) {
    throw new Error(`${name} is not where the archive says`);
  }
  const end = offset + headerLength + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (end + compressedLength > archive.length) throw new Error(`${name} is incomplete`);
  return archive.read(offset, end);
}

function* packedBytes(archive: Archive, part: ArchivePart, header = headerOf(archive, part)): Generator<Buffer> {
  const start = part.offset + header.length;
  const end = start + part.compressedLength;
  for (let at = start; at < end; at += pieceBytes) yield archive.read(at, Math.min(end, at + pieceBytes));
}

/** Copies other parts as compressed bytes, before the `changes`, each of which is read before the next is requested. */
export async function* rebuilt(
  archive: Archive,
  parts: readonly ArchivePart[],
  replaceable: readonly string[],
  changes: AsyncIterable<ChangedPart>,
): AsyncGenerator<Uint8Array> {
  const entries = new Map<ArchivePart, Buffer>();
  const named = byName(parts);
  const toReplace = new Set(replaceable);
  let offset = 0;
  function* copied(part: ArchivePart) {
    const header = Buffer.from(headerOf(archive, part));
    entries.set(part, recordedIn(header, part.entry, part, part, offset));
    offset += header.length + part.compressedLength;
    yield header;
    yield* packedBytes(archive, part, header);
  }
  for (const part of parts) if (!toReplace.has(part.name)) yield* copied(part);
  for await (const { path, bytes } of changes) {
    const part = named.get(path)!;
    const start = offset;
    const header = Buffer.from(headerOf(archive, part));
    const sizes = { length: 0, compressedLength: 0, checksum: 0 };
    recordedIn(header, part.entry, sizes, packedHere, start);
    yield header;
    for await (const piece of packed(bytes, sizes)) yield piece;
    const descriptor = Buffer.alloc(descriptorLength);
    descriptor.writeUInt32LE(descriptorStart, 0);
    writeSizes(descriptor, 4, sizes);
    yield descriptor;
    entries.set(part, recordedIn(header, part.entry, sizes, packedHere, start));
    offset += header.length + sizes.compressedLength + descriptor.length;
  }
  for (const part of parts) if (!entries.has(part)) yield* copied(part);
  const directory = Buffer.concat(parts.map((part) => entries.get(part)!));
  const end = Buffer.alloc(endLength);
  end.writeUInt32LE(endOfDirectory, 0);
  for (const at of [8, 10]) end.writeUInt16LE(parts.length, at);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  yield directory;
  yield end;
}

const deflateMethod = 8;
/** Flag of a part whose lengths are after it (4.3.9 of APPNOTE.TXT). */
const descriptorFlag = 8;
const descriptorStart = 0x08074b50;
const descriptorLength = 16;

type PartSizes = { length: number; compressedLength: number; checksum: number };

function writeSizes(record: Buffer, at: number, { length, compressedLength, checksum }: PartSizes): void {
  record.writeUInt32LE(checksum, at);
  record.writeUInt32LE(compressedLength, at + 4);
  record.writeUInt32LE(length, at + 8);
}

/** The descriptor after the bytes has the sizes. */
const packedHere = { method: deflateMethod, flag: descriptorFlag };

function recordedIn(
  header: Buffer,
  oldEntry: Buffer,
  sizes: Readonly<PartSizes>,
  { method, flag = 0 }: { readonly method: number; readonly flag?: number },
  offset: number,
): Buffer {
  const entry = Buffer.from(oldEntry);
  // The header and the entry have the same fields, from the version on.
  for (const [record, at] of [
    [header, 4],
    [entry, 6],
  ] as const) {
    record.writeUInt16LE((record.readUInt16LE(at + 2) & ~descriptorFlag) | flag, at + 2);
    record.writeUInt16LE(method, at + 4);
    writeSizes(record, at + 10, sizes);
  }
  entry.writeUInt32LE(offset, 42);
  return entry;
}

async function* packed(bytes: AsyncIterable<Uint8Array>, sizes: PartSizes): AsyncGenerator<Buffer> {
  async function* counted() {
    for await (const piece of bytes) {
      sizes.length += piece.length;
      sizes.checksum = crc32(piece, sizes.checksum);
      yield piece;
    }
  }
  for await (const piece of deflated(counted())) {
    sizes.compressedLength += piece.length;
    yield piece;
  }
}
