/** Recognises compressed files: input by its first bytes, output by its name. */

export type Compression = "gzip" | "zstd";

export function compressionByName(path: string): Compression | undefined {
  if (/\.gz$/i.test(path)) return "gzip";
  return /\.zst$/i.test(path) ? "zstd" : undefined;
}

/** RFC 1952 §2.3.1, RFC 8878 §3.1. A zstd stream may begin with a skippable frame (RFC 8878 §3.1.2). */
export function compressionByMagic(start: Uint8Array): Compression | undefined {
  const startsWith = (...bytes: number[]) => bytes.every((byte, i) => start[i] === byte);
  if (startsWith(0x1f, 0x8b)) return "gzip";
  const isSkippable = (start[0]! & 0xf0) === 0x50 && start[1] === 0x2a && start[2] === 0x4d && start[3] === 0x18;
  return startsWith(0x28, 0xb5, 0x2f, 0xfd) || isSkippable ? "zstd" : undefined;
}
