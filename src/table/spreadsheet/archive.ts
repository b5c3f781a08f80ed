/**
 * Reads zip archives: lists their parts, so that a spreadsheet is recognised by them and can be refused early, and
 * unpacks a part piece by piece. Trusts the central directory only (PKWARE APPNOTE.TXT 4.3.7, 4.3.12 and 4.3.16).
 */
import { crc32, createInflateRaw } from "node:zlib";

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
    parts.push({
      name: archive.toString("utf8", at + entryLength, at + entryLength + name),
      length: archive.readUInt32LE(at + 24),
      compressedLength: archive.readUInt32LE(at + 20),
      method: archive.readUInt16LE(at + 10),
      isEncrypted: (archive.readUInt16LE(at + 8) & 1) === 1,
      checksum: archive.readUInt32LE(at + 16),
      offset: archive.readUInt32LE(at + 42),
    });
    at += entryLength + name + extra + comment;
  }
  return parts;
}

/**
 * Unpacks a part. Each piece takes its own turn of the event loop, so that signals are noticed.
 *
 * @throws Error from the iteration if the part is damaged, encrypted or compressed with another method
 */
export async function* unpack(archive: Buffer, part: ArchivePart): AsyncGenerator<Buffer> {
  const { name, offset } = part;
  if (part.isEncrypted) throw new Error(`${name} is encrypted`);
  if (part.method !== 0 && part.method !== 8) throw new Error(`${name} has an unknown compression`);
  const hasHeader = offset + headerLength <= archive.length && archive.readUInt32LE(offset) === localHeader;
  if (!hasHeader) throw new Error(`${name} is not where the archive says`);
  const start = offset + headerLength + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
  const packed = archive.subarray(start, start + part.compressedLength);
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

function inflated(packed: Buffer): AsyncIterable<Buffer> {
  const inflate = createInflateRaw({ chunkSize: pieceBytes });
  inflate.end(packed);
  return inflate;
}
