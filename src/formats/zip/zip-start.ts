/** Tells zip archives, which are read from their end, by their first bytes. */

const localHeader = 0x04034b50;

export const isZipStart = (start: Uint8Array): boolean =>
  start.length >= 4 && Buffer.from(start.buffer, start.byteOffset).readUInt32LE(0) === localHeader;
