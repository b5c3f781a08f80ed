/**
 * Popular domains, by which `idv data update` recognises wrong lists. `popular.bin` has a 32-bit hash of each name,
 * sorted; NOTICE names its source. A name that is not popular is taken for popular with a probability of 1 in 400,000.
 *
 * Popular domains are disposable only if a curated list has them: every popular name that was wrongly disposable stood in the
 * large collections alone.
 */
import { hashOf } from "../../core/classifier/tables/name-table.js";
import { readBuilt } from "../../package/own-files.js";

export const popularSource = new URL("../../../src/engines/data/popular.bin", import.meta.url);

/** @param names in lower case, as A-labels */
export function compilePopular(names: readonly string[]): Uint8Array {
  const file = Buffer.alloc(4 * names.length);
  const hashes = names.map(hash).sort((a, b) => a - b);
  for (const [i, value] of hashes.entries()) file.writeUInt32LE(value, 4 * i);
  return file;
}

/** Loads the popular domains. Returns a function that tells whether a name, in lower case and as A-labels, is one. */
export function loadPopular(): (name: string) => boolean {
  const file = Buffer.from(readBuilt("data/popular.bin"));
  const hashes = new Set(Array.from({ length: file.length / 4 }, (_, i) => file.readUInt32LE(4 * i)));
  return (name) => hashes.has(hash(name));
}

const hash = (name: string): number => hashOf(name).high >>> 0;
