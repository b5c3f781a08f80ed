/** Tells files that may hold several tables by their first bytes, before anything about them is loaded. */
import { firstBytes } from "../files/found.js";
import { compressionByMagic, isZipStart } from "./compression/compression-format.js";
import { decodeInput } from "./encodings/decoding.js";

/** Enough for the first bytes of what is compressed. */
export const startBytes = 65_536;

export const isCompressed = (path: string): boolean => compressionByMagic(firstBytes(path, 4)) !== undefined;

export const mayHoldTables = (path: string): boolean => isZipStart(firstBytes(path, 4)) || isCompressed(path);

export const startOf = async (path: string): Promise<Uint8Array> => uncompressedStart(firstBytes(path, startBytes));

/** None if they are damaged. */
export async function uncompressedStart(start: Uint8Array): Promise<Uint8Array> {
  if (compressionByMagic(start) === undefined) return start;
  async function* bytes() {
    yield start;
  }
  try {
    return (await decodeInput("", bytes(), "utf-8")).start;
  } catch {
    return Buffer.of();
  }
}
