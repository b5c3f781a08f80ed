/** Popular domains as sorted 32-bit hashes (1 error in 400,000). They are disposable only if a curated list says so. */
import { hashOf } from "../../core/classifier/tables/name-table.js";
import { readBuilt } from "../../package/own-files.js";

export const popularSource = new URL("../../../src/engines/data/popular.bin", import.meta.url);

export function compilePopular(names: readonly string[]): Uint8Array {
  const file = Buffer.alloc(4 * names.length);
  const hashes = names.map(hash).sort((a, b) => a - b);
  for (const [i, value] of hashes.entries()) file.writeUInt32LE(value, 4 * i);
  return file;
}

export function loadPopular(): (name: string) => boolean {
  const file = Buffer.from(readBuilt("data/popular.bin"));
  const hashes = new Set(Array.from({ length: file.length / 4 }, (_, i) => file.readUInt32LE(4 * i)));
  return (name) => hashes.has(hash(name));
}

const hash = (name: string): number => hashOf(name).high >>> 0;
