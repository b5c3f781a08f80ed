/**
 * Lists the parts of a zip archive, so that a spreadsheet is known by them, and is refused before it fills the memory.
 * Reads the central directory only (PKWARE APPNOTE.TXT 4.3.12 and 4.3.16).
 */

/** A part of an archive. */
export interface ArchivePart {
  readonly name: string;
  /** Length in bytes after decompression, as the archive says. */
  readonly length: number;
  /** Length in bytes in the archive. */
  readonly compressedLength: number;
}

const endOfDirectory = 0x06054b50;
const directoryEntry = 0x02014b50;
/** Lengths of the fixed parts of both records, and of the longest comment, in bytes. */
const [endLength, entryLength, longestComment] = [22, 46, 65_535];

/** Returns the parts of an archive; undefined if its directory cannot be read. */
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
    });
    at += entryLength + name + extra + comment;
  }
  return parts;
}
