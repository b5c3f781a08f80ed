// The most frequent disposable domains and the public suffixes in 150 kB, for forms in browsers.
// Its file has four 32-bit little-endian words: magic number (`IDVS`), version, number of domains, number of suffixes.
// Then both by the high words of their hashes: the difference as LEB128, and the upper half of the low word, with flags
// in its lowest bits. Of a domain, 47 bits are compared: a name that is not in the table is found with a probability of
// 1 in 7 billion.
import type { ClassifierTable } from "../classifier.js";
import type { DisposableTable } from "./disposable-table.js";
import type { ItemHash } from "./item-hash.js";
import { fillHashes, NameTable } from "./name-table.js";
import { flagBits as suffixFlagBits } from "./suffix-table.js";

const magic = 0x53564449;
const format = 1;
const headerWords = 4;
const domainFlagBits = 1;
export const leftOut = 16;

type Entry = ItemHash & { readonly flags: number };

export const smallTableDomains = 20_000;

export type SmallTable = ClassifierTable & { readonly suffixSlots: Int32Array };

export function compileSmallTable(domains: readonly Entry[], suffixSlots: Int32Array): Uint8Array {
  const suffixes: Entry[] = [];
  for (let slot = 0; slot < suffixSlots.length; slot += 2) {
    const low = suffixSlots[slot]!;
    const high = suffixSlots[slot + 1]!;
    if (low !== 0 || high !== 0) suffixes.push({ low, high, flags: low & ((1 << suffixFlagBits) - 1) });
  }
  const bytes = [domains, suffixes].flatMap((entries, i) => encode(entries, i === 0 ? domainFlagBits : suffixFlagBits));
  const header = Int32Array.of(magic, format, domains.length, suffixes.length);
  const file = Uint8Array.from([...new Uint8Array(header.buffer), ...bytes]);
  // Throws if two names cannot be told apart.
  readSmallTable(file);
  return file;
}

function encode(entries: readonly Entry[], flagBits: number): number[] {
  const bytes: number[] = [];
  let before = 0;
  for (const { low, high, flags } of [...entries].sort((a, b) => (a.high >>> 0) - (b.high >>> 0))) {
    let rest = (high >>> 0) - before;
    before = high >>> 0;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest & 0x7f) | 0x80);
    const upper = (low >>> leftOut) & ~((1 << flagBits) - 1);
    bytes.push(rest, (upper | flags) & 0xff, upper >>> 8);
  }
  return bytes;
}

/** @throws Error when the bytes are not a table of this format */
export function readSmallTable(bytes: Uint8Array): SmallTable {
  const header = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [foundMagic, foundFormat, domains, suffixes] = Array.from({ length: headerWords }, (_, i) =>
    bytes.length >= 4 * headerWords ? header.getInt32(4 * i, true) : 0,
  ) as [number, number, number, number];
  if (foundMagic !== magic || foundFormat !== format) throw new Error("not a small table of this format");
  let at = 4 * headerWords;
  const decode = (count: number, flagBits: number): Int32Array => {
    const entries: Entry[] = [];
    let high = 0;
    for (let i = 0; i < count; i++) {
      let factor = 1;
      for (; bytes[at]! > 0x7f; factor *= 0x80) high += (bytes[at++]! & 0x7f) * factor;
      high += bytes[at++]! * factor;
      const upper = bytes[at++]! | (bytes[at++]! << 8);
      entries.push({ low: upper << leftOut, high: high | 0, flags: upper & ((1 << flagBits) - 1) });
    }
    return fillHashes(entries, leftOut + flagBits);
  };
  const names = new NameTable(decode(domains, domainFlagBits), leftOut + domainFlagBits);
  const suffixSlots = decode(suffixes, suffixFlagBits);
  if (at !== bytes.length) throw new Error("not a small table of this format");
  return { names, sources: [], suffixes: undefined, suffixSlots, listsOf: () => 0 };
}

export function mostListed(table: DisposableTable, most: number): readonly Entry[] {
  const isCurated = table.sources.map(({ role }) => role === "list");
  const points = (lists: number) => {
    let sum = 0;
    for (let bit = 0; bit < 16; bit++) if ((lists & (1 << bit)) !== 0) sum += isCurated[bit] ? 3 : 1;
    return sum;
  };
  return Array.from(table.entriesIn(0xffff), ({ low, high, onlyBelow, lists }) => ({
    low,
    high,
    flags: Number(onlyBelow),
    points: points(lists),
  }))
    .sort((a, b) => b.points - a.points || a.high - b.high)
    .slice(0, most);
}
