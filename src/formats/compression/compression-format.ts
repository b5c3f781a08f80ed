/** Recognises compressed files and archives: input by its first bytes, output by its name. */

export type Compression = "gzip" | "zstd";

export function compressionByName(path: string): Compression | undefined {
  if (/\.gz$/i.test(path)) return "gzip";
  return /\.zst$/i.test(path) ? "zstd" : undefined;
}

const startsWith = (start: Uint8Array, ...bytes: number[]): boolean => bytes.every((byte, i) => start[i] === byte);

/** Zip archives are read from their end. */
export const isZipStart = (start: Uint8Array): boolean => startsWith(start, 0x50, 0x4b, 3, 4);

/** RFC 1952 §2.3.1, RFC 8878 §3.1. A zstd stream may begin with a skippable frame (RFC 8878 §3.1.2). */
export function compressionByMagic(start: Uint8Array): Compression | undefined {
  if (startsWith(start, 0x1f, 0x8b)) return "gzip";
  const isSkippable = (start[0]! & 0xf0) === 0x50 && startsWith(start.subarray(1), 0x2a, 0x4d, 0x18);
  return startsWith(start, 0x28, 0xb5, 0x2f, 0xfd) || isSkippable ? "zstd" : undefined;
}
