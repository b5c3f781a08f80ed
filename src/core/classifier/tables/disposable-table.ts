/**
 * The table of disposable domains: compiles it into the bytes of a file and looks up domains in these bytes. Reads and
 * writes no files itself.
 *
 * It has hashes: 138,000 names load in about 2 ms, where a `Set` of strings takes 50 to 60 ms and 24 MB.
 *
 * The file has five parts:
 * 1. Six 32-bit little-endian words: magic number (`IDVD`), version of the format, number of entries, number of slots (a
 *    power of two), of slots of public suffixes, and length of the last part in bytes.
 * 2. The slots of a table of names with one flag, which is 1 for a zone: only the domains below it are disposable.
 * 3. For each slot, 16 bits: the sources that list its name, by their index, or {@link ownBit}.
 * 4. The slots of a table of public suffixes, if they are newer than those that come with idv.
 * 5. The sources of both as JSON.
 *
 * Which lists have a name is stored so that a list that cannot be fetched keeps its names, `idv data show` tells what only it
 * has, and `--why` where a verdict comes from.
 */
import { fillHashes, findListed, hashOf, type NameHash, NameTable } from "./name-table.js";

const magic = 0x44564449;
const format = 3;
/** Set for names that idv itself lists. There may be 15 sources. */
export const ownBit = 1 << 15;
const headerWords = 6;

export interface DataSource {
  readonly name: string;
  readonly version: string;
  /** Decides how the names of the list count; absent in tables of older versions. */
  readonly role?: string;
  /** Date of the data if known, else of the version in the registry: `2026-09-21`. */
  readonly published: string;
  readonly licence: string;
  readonly domains: number;
  /** Set when the list could not be had. Its names, or those that it corrects, are kept from the previous table. */
  readonly missing?: true;
  /** Validator of a list that was fetched over HTTP (RFC 9110, section 8.8.3). */
  readonly etag?: string;
  /** Page on which the authors of the list take corrections. */
  readonly corrections?: string;
}

/**
 * Returns the age of the newest list in whole days; undefined if no date is known. `now` is in milliseconds since the
 * epoch.
 */
export function daysOld(sources: readonly Pick<DataSource, "published">[], now: number): number | undefined {
  const age = now - Date.parse(newestOf(sources));
  return Number.isNaN(age) ? undefined : Math.max(0, Math.floor(age / 86_400_000));
}

/** Returns the date of the newest list; empty if no date is known. */
export const newestOf = (sources: readonly Pick<DataSource, "published">[]): string =>
  sources.map(({ published }) => published).reduce((a, b) => (a > b ? a : b), "");

/** The list of public suffixes that belongs to a table. */
export interface SuffixSource {
  readonly version: string;
  /** Day of its publication: `2026-11-20`. */
  readonly published: string;
  readonly rules: number;
}

/** @param slots absent if the list is the one that comes with idv */
export interface SuffixPart extends SuffixSource {
  readonly slots?: Int32Array | undefined;
}

export interface DisposableEntry {
  /** Lower case, A-labels. */
  readonly domain: string;
  readonly onlyBelow: boolean;
  /** A bit for each source that lists it, by its index; none by default. */
  readonly lists?: number;
}

interface Stored {
  readonly sources: readonly DataSource[];
  readonly suffixes?: SuffixSource;
}

/** An entry of another table, whose name is not known. */
export interface HashedEntry extends NameHash {
  readonly onlyBelow: boolean;
  readonly lists: number;
}

export class DisposableTable {
  readonly size: number;
  readonly sources: readonly DataSource[];
  readonly names: NameTable;
  readonly suffixes: SuffixPart | undefined;
  readonly #lists: Uint16Array;

  /**
   * @param file bytes made by {@link compileDisposableTable}
   * @throws Error when the bytes are not a table of this format
   */
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

  /** Returns the sources that list an entry: a bit for each by its index, and {@link ownBit}; 0 if it is no entry. */
  listsOf({ low, high }: NameHash): number {
    const slot = this.names.slotOf(low, high);
    return slot === -1 ? 0 : this.#lists[slot]!;
  }

  /** Yields the entries that one of some sources lists. */
  *entriesIn(lists: number): Generator<HashedEntry> {
    const { slots } = this.names;
    for (const [slot, found] of this.#lists.entries()) {
      if ((found & lists) === 0) continue;
      const low = slots[2 * slot]!;
      yield { low: low & ~1, high: slots[2 * slot + 1]!, onlyBelow: (low & 1) === 1, lists: found };
    }
  }

  /** Returns whether a listed domain stands for the domains below it only. */
  isZone(domain: string): boolean {
    const { low, high } = hashOf(domain);
    return this.names.find(low, high) === 1;
  }

  /**
   * Finds the longest listed domain that is `ascii` or above it: `mailinator.com` for `a.b.mailinator.com`.
   *
   * @param ascii a host name, lower case, A-labels
   */
  find(ascii: string): string | undefined {
    return findListed(this.names, ascii);
  }
}

/**
 * Returns the bytes of a table. The order of the entries does not change them.
 *
 * @param others entries of another table; those that are among `entries`, or come again, add their lists only
 * @param suffixes the public suffixes of the table
 * @throws Error when two entries have the same domain, or the same hash
 */
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
  const keyOf = ({ low, high }: NameHash) => `${low & ~1} ${high}`;
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
  const parts = [header, slots, lists, Int32Array.from(suffixSlots)].map(
    ({ buffer }) => new Uint8Array(buffer),
  );
  return Buffer.concat([...parts, sourceText]);
}
