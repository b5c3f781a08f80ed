// The table of disposable domains as hashes: 138,000 names load in 2 ms, where a `Set` takes 50 to 60 ms and 24 MB.
// Its file has six 32-bit little-endian words: magic number (`IDVD`), version, number of entries, slots (a power of
// two), suffix slots, length of the JSON. Then the slots of a table of names with one flag (1: only domains below are
// disposable); 16 bits for each slot, the sources that list it or `ownBit`; slots of newer public suffixes; the sources
// as JSON. The sources of a name are stored so that a list that cannot be fetched keeps its names, and for `--why` and
// `data show`.
import type { ItemHash } from "./item-hash.js";
import { fillHashes, findListed, hashOf, NameTable } from "./name-table.js";

const magic = 0x44564449;
const format = 3;
/** Set for names that idv itself lists. There may be 15 sources. */
export const ownBit = 1 << 15;
const headerWords = 6;

export interface DataSource {
  readonly name: string;
  readonly version: string;
  readonly role?: string;
  readonly published: string;
  readonly licence: string;
  readonly domains: number;
  /** Set when the list could not be had. Its names, or those that it corrects, are kept from the previous table. */
  readonly missing?: true;
  readonly etag?: string;
  readonly corrections?: string;
}

/** Returns whole days; undefined if no date is known. `now` is in milliseconds since the epoch. */
export function daysOld(sources: readonly Pick<DataSource, "published">[], now: number): number | undefined {
  const age = now - Date.parse(newestOf(sources));
  return Number.isNaN(age) ? undefined : Math.max(0, Math.floor(age / 86_400_000));
}

export const newestOf = (sources: readonly Pick<DataSource, "published">[]): string =>
  sources.map(({ published }) => published).reduce((a, b) => (a > b ? a : b), "");

export type SuffixSource = { readonly version: string; readonly published: string; readonly rules: number };

export type SuffixPart = SuffixSource & { readonly slots?: Int32Array | undefined };

export type DisposableEntry = { readonly domain: string; readonly onlyBelow: boolean; readonly lists?: number };

type Stored = { readonly sources: readonly DataSource[]; readonly suffixes?: SuffixSource };

export type HashedEntry = ItemHash & { readonly onlyBelow: boolean; readonly lists: number };

export class DisposableTable {
  readonly size: number;
  readonly sources: readonly DataSource[];
  readonly names: NameTable;
  readonly suffixes: SuffixPart | undefined;
  readonly #lists: Uint16Array;

  /** @throws Error when the bytes are not made by {@link compileDisposableTable} */
  constructor(file: Uint8Array) {
    // An Int32Array must start at a multiple of 4 bytes.
    const bytes = file.byteOffset % 4 === 0 ? file : Uint8Array.from(file);
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
    const [foundMagic, foundFormat, size, slots = 0, suffixSlots = 0, sourceBytes = 0] = words;
    const listStart = 4 * headerWords + 8 * slots;
    const suffixStart = listStart + 2 * slots;
    const sourceStart = suffixStart + 8 * suffixSlots;
    const isOurs = foundMagic === magic && foundFormat === format;
    if (!isOurs || bytes.length !== sourceStart + sourceBytes) {
      throw new Error("not a table of disposable domains of this format");
    }
    this.size = size!;
    const { sources, suffixes } = JSON.parse(new TextDecoder().decode(bytes.slice(sourceStart))) as Stored;
    this.sources = sources;
    this.suffixes = suffixes && {
      ...suffixes,
      ...(suffixSlots > 0 && { slots: words.subarray(suffixStart >> 2, sourceStart >> 2) }),
    };
    this.names = new NameTable(words.subarray(headerWords, headerWords + 2 * slots), 1);
    this.#lists = new Uint16Array(bytes.buffer, bytes.byteOffset + listStart, slots);
  }

  listsOf({ low, high }: ItemHash): number {
    const slot = this.names.slotOf(low, high);
    return slot === -1 ? 0 : this.#lists[slot]!;
  }

  *entriesIn(lists: number): Generator<HashedEntry> {
    const { slots } = this.names;
    for (const [slot, found] of this.#lists.entries()) {
      if ((found & lists) === 0) continue;
      const low = slots[2 * slot]!;
      yield { low: low & ~1, high: slots[2 * slot + 1]!, onlyBelow: (low & 1) === 1, lists: found };
    }
  }

  find(ascii: string): string | undefined {
    return findListed(this.names, ascii);
  }
}

/** Ignores the order; `others` in `entries` add only lists. @throws Error when two domains or hashes are equal */
export function compileDisposableTable(
  entries: readonly DisposableEntry[],
  sources: readonly DataSource[] = [],
  others: Iterable<HashedEntry> = [],
  suffixes?: SuffixPart,
): Uint8Array {
  const all = entries.map(({ domain, onlyBelow, lists = 0 }) => ({
    ...hashOf(domain),
    flags: Number(onlyBelow),
    lists,
    name: domain,
  }));
  const keyOf = ({ low, high }: ItemHash) => `${low & ~1} ${high}`;
  const known = new Map(all.map((entry) => [keyOf(entry), entry]));
  for (const { onlyBelow, ...other } of others) {
    const key = keyOf(other);
    const entry = known.get(key);
    if (entry === undefined) {
      // Two lists that are missing may share it.
      const added = { ...other, flags: Number(onlyBelow), name: "a name" };
      known.set(key, added);
      all.push(added);
    } else entry.lists |= other.lists;
  }
  const slots = fillHashes(all, 1);
  const table = new NameTable(slots, 1);
  const lists = new Uint16Array(slots.length / 2);
  for (const entry of all) lists[table.slotOf(entry.low, entry.high)] = entry.lists;
  const { slots: suffixSlots = new Int32Array(0), ...source } = suffixes ?? {};
  const stored = { sources, ...(suffixes && { suffixes: source }) };
  const sourceText = Buffer.from(JSON.stringify(stored));
  const counts = [all.length, slots.length / 2, suffixSlots.length / 2];
  const header = Int32Array.of(magic, format, ...counts, sourceText.length);
  // A part of another table is in the middle of its memory.
  const parts = [header, slots, lists, Int32Array.from(suffixSlots)].map(({ buffer }) => new Uint8Array(buffer));
  return Buffer.concat([...parts, sourceText]);
}
