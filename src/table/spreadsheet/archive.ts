/**
 * Reads zip archives: lists their parts, so that a spreadsheet is recognised by them and can be refused early, unpacks a
 * part piece by piece, and writes an archive again with some of its parts replaced. Trusts the central directory only
 * (PKWARE APPNOTE.TXT 4.3.7, 4.3.12 and 4.3.16).
 */
import { Readable } from "node:stream";
import { crc32, createDeflateRaw, createInflateRaw } from "node:zlib";

/** A part of an archive. Lengths are in bytes. */
export interface ArchivePart {
  readonly name: string;
  readonly length: number;
  readonly compressedLength: number;
  /** Compression method: 0 for none, 8 for deflate. */
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly checksum: number;
  /** Index of the part's local header in the archive. */
  readonly offset: number;
  /** Its entry in the directory. */
  readonly entry: Buffer;
}

const endOfDirectory = 0x06054b50;
const directoryEntry = 0x02014b50;
const localHeader = 0x04034b50;
/** Lengths of the fixed parts of the records, and of the longest comment, in bytes. */
const endLength = 22;
const entryLength = 46;
const headerLength = 30;
const longestComment = 65_535;
const pieceBytes = 65_536;

export function listParts(archive: Buffer): readonly ArchivePart[] | undefined {
  const first = Math.max(0, archive.length - endLength - longestComment);
  let end = archive.length - endLength;
  while (end >= first && archive.readUInt32LE(end) !== endOfDirectory) end--;
  if (end < first) return undefined;
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  const parts: ArchivePart[] = [];
  for (let i = 0; i < count; i++) {
    if (at + entryLength > archive.length || archive.readUInt32LE(at) !== directoryEntry) return undefined;
    const [name, extra, comment] = [28, 30, 32].map((place) => archive.readUInt16LE(at + place)) as [
      number,
      number,
      number,
    ];
    const next = at + entryLength + name + extra + comment;
    parts.push({
      name: archive.toString("utf8", at + entryLength, at + entryLength + name),
      length: archive.readUInt32LE(at + 24),
      compressedLength: archive.readUInt32LE(at + 20),
      method: archive.readUInt16LE(at + 10),
      isEncrypted: (archive.readUInt16LE(at + 8) & 1) === 1,
      checksum: archive.readUInt32LE(at + 16),
      offset: archive.readUInt32LE(at + 42),
      entry: archive.subarray(at, next),
    });
    at = next;
  }
  return parts;
}

/**
 * Unpacks a part. Each piece takes its own turn of the event loop, so that signals are noticed.
 *
 * @throws Error from the iteration if the part is damaged, encrypted or compressed with another method
 */
export async function* unpack(archive: Buffer, part: ArchivePart): AsyncGenerator<Buffer> {
  const { name } = part;
  if (part.isEncrypted) throw new Error(`${name} is encrypted`);
  if (part.method !== 0 && part.method !== 8) throw new Error(`${name} has an unknown compression`);
  const { packed } = storedPart(archive, part);
  let length = 0;
  let checksum = 0;
  for await (const piece of part.method === 0 ? [packed] : inflated(packed)) {
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

/** Returns a part as it is stored. @throws Error if it is not where the archive says */
export function storedPart(archive: Buffer, { name, offset, compressedLength }: ArchivePart) {
  const hasHeader = offset + headerLength <= archive.length && archive.readUInt32LE(offset) === localHeader;
  if (!hasHeader) throw new Error(`${name} is not where the archive says`);
  const start = offset + headerLength + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
  return {
    header: archive.subarray(offset, start),
    packed: archive.subarray(start, start + compressedLength),
  };
}

/** A compressed part. */
export interface PackedPart {
  readonly packed: readonly Buffer[];
  readonly length: number;
  readonly compressedLength: number;
  readonly checksum: number;
}

export async function pack(bytes: AsyncIterable<Uint8Array>): Promise<PackedPart> {
  let length = 0;
  let checksum = 0;
  async function* counted() {
    for await (const piece of bytes) {
      length += piece.length;
      checksum = crc32(piece, checksum);
      yield piece;
    }
  }
  const packed: Buffer[] = [];
  const source = Readable.from(counted(), { objectMode: false });
  const deflate = createDeflateRaw();
  source.once("error", (error) => deflate.destroy(error));
  for await (const piece of source.pipe(deflate)) packed.push(piece);
  return { packed, length, checksum, compressedLength: packed.reduce((sum, piece) => sum + piece.length, 0) };
}

/**
 * Yields an archive with some parts replaced, by their names. All other parts are copied as the compressed bytes that
 * they are.
 *
 * @param parts all parts of the archive
 */
export function* rebuilt(
  archive: Buffer,
  parts: readonly ArchivePart[],
  replaced: ReadonlyMap<string, PackedPart>,
): Generator<Uint8Array> {
  const entries: Buffer[] = [];
  let offset = 0;
  for (const part of parts) {
    const stored = storedPart(archive, part);
    const other = replaced.get(part.name);
    const { length, compressedLength, checksum } = other ?? part;
    const packed = other?.packed ?? [stored.packed];
    const [header, entry] = [Buffer.from(stored.header), Buffer.from(part.entry)];
    // The header and the entry have the same fields, from the version on.
    for (const [record, at] of [
      [header, 4],
      [entry, 6],
    ] as const) {
      // The lengths are in the header, not behind the part.
      record.writeUInt16LE(record.readUInt16LE(at + 2) & ~descriptorFlag, at + 2);
      if (other) record.writeUInt16LE(8, at + 4);
      record.writeUInt32LE(checksum, at + 10);
      record.writeUInt32LE(compressedLength, at + 14);
      record.writeUInt32LE(length, at + 18);
    }
    entry.writeUInt32LE(offset, 42);
    entries.push(entry);
    yield header;
    yield* packed;
    offset += header.length + compressedLength;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(endLength);
  end.writeUInt32LE(endOfDirectory, 0);
  for (const at of [8, 10]) end.writeUInt16LE(parts.length, at);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  yield directory;
  yield end;
}

/** Flag of a part whose lengths are behind it. */
const descriptorFlag = 8;

function inflated(packed: Buffer): AsyncIterable<Buffer> {
  const inflate = createInflateRaw({ chunkSize: pieceBytes });
  inflate.end(packed);
  return inflate;
}
