// Judges plain items, nine of ten in real lists, by syntax and domain, and hashes them; leaves the others, and rules
// that it does not have, to the classifier. Plain is a domain of letters, digits, hyphens and at least one dot,
// 3 to 64 bytes, or an address with a dot-atom of at most 63 bytes at one; it may stand in angle brackets or a URL.
// Letters are ASCII, or of two bytes in lower case or without case. Sixteen bytes
// are compared at once, with one bit of result each: misplaced dots and hyphens are found by shifting these bits.
import { atSign, bar, comma, dot, greaterThan, hyphen, plus, semicolon, space, quote as usualQuote } from "../../ascii";
import * as layout from "../layout";
import { bucketOf, countRecalled, recall } from "./domains";
import { hash, shardHash } from "./hash";
import { findHost, findInBrackets, found, foundEnd } from "./item";
import { judgeMailbox } from "./mailbox";

/** Limit in bytes for a local part with its `@`, and for a domain: one bit each in a word. Longer ones are rare. */
const longest: i32 = 64;
const batch: i32 = 64;

/** Around items; 256, which no byte is, where quotes are text: those around items are left to the classifier. */
let quote: u32 = usualQuote;
let scratch: usize = 0;
let isCounted = true;
let textHash: u64 = 0;

export function useScratch(address: usize): void {
  scratch = address;
}

/** Returns the low half of the hash; `hashHigh` has the other. `domain` is after the last `@`, or `start`. */
export function hashText(start: usize, domain: usize, end: usize): u32 {
  textHash = hash(start, <i32>(domain - start), hash(domain, <i32>(end - domain), 0));
  return <u32>textHash;
}

export function hashHigh(): u32 {
  return <u32>(textHash >> 32);
}

// For `batch` records at a time, reads the bytes of all items, touches the cache entries of their domains, which the
// processor fetches in parallel, then decides. Numbers at `at` are relative to `block`; a code may be `askCode`. Unless
// `domains` is 0, it gets `domainWords` words a record, which are 0 if the item is not plain.
export function judge(
  isEmail: bool,
  block: usize,
  at: usize,
  count: i32,
  codes: usize,
  hashes: usize,
  domains: usize,
  counts: bool,
): void {
  isCounted = counts;
  takeQuote();
  for (let from: i32 = 0; from < count; from += batch) {
    const rows: i32 = min(batch, count - from);
    let sum: u64 = 0;
    for (let row: i32 = 0; row < rows; row++) {
      readItem(isEmail, block, at, scratch + itemBytes * row, codes + row, hashes + 8 * row);
      at += 4 * layout.recordWords;
    }
    for (let row: i32 = 0; row < rows; row++) sum += load<u64>(bucketOf(load<u64>(scratch + itemBytes * row)));
    // Otherwise the compiler would remove the reads.
    store<u64>(scratch + itemBytes * batch, sum);
    for (let row: i32 = 0; row < rows; row++) {
      const item: usize = scratch + itemBytes * row;
      const isPlain = <u32>load<u8>(codes + row) === layout.okCode;
      const facts = isPlain ? factsAbout(item) : 0;
      if (isPlain) store<u8>(codes + row, <u8>decide(isEmail, item, facts));
      if (domains === 0) continue;
      if (isPlain) describe(isEmail, block, item, facts, hashes + 8 * row, domains);
      else for (let byte: i32 = 0; byte < 4 * layout.domainWords; byte += 8) store<u64>(domains + byte, 0);
      domains += 4 * layout.domainWords;
    }
    codes += batch;
    hashes += 8 * batch;
  }
}

/** Judges plain addresses between `,`, `;` or `|`. Returns their number; 0, with nothing counted, for other values. */
export function judgeList(start: usize, end: usize, codes: usize, hashes: usize, counts: bool): i32 {
  takeQuote();
  isCounted = counts;
  if (end - start > 1 && <u32>load<u8>(start) === quote && <u32>load<u8>(end - 1) === quote) {
    start++;
    end--;
    if (quote !== usualQuote && hasQuote(start, end)) return 0;
  }
  let count: i32 = 0;
  while (start < end) {
    if (count === batch) return 0;
    let to = start;
    while (to < end && !isSeparator(load<u8>(to))) to++;
    if (!readPlain(true, start, to, scratch + itemBytes * count)) return 0;
    hashItem(scratch + itemBytes * count, hashes + 8 * count);
    count++;
    start = to + 1;
    while (start < end && load<u8>(start) === space) start++;
  }
  if (count < 2) return 0;
  for (let i: i32 = 0; i < count; i++) {
    const item: usize = scratch + itemBytes * i;
    store<u8>(codes + i, <u8>decide(true, item, factsAbout(item)));
  }
  return count;
}

function isSeparator(byte: u8): bool {
  return byte === comma || byte === semicolon || byte === bar;
}

function takeQuote(): void {
  quote = load<u32>(layout.settings + 4 * layout.itemQuoteWord);
}

/** Writes the words about a domain and the canonical form of its item; see layout.ts. */
function describe(isEmail: bool, block: usize, item: usize, facts: u32, hashAt: usize, to: usize): void {
  const domain: usize = load<u32>(item, domainOf);
  const ofDomain = load<u64>(item);
  let flags: u32 = 0;
  const spelling: u32 = (facts >> layout.spellingShift) & layout.spellingMask;
  if (spelling !== layout.otherSpelling) {
    const length = isEmail ? shorten(spelling, load<u32>(item, startOf), load<u32>(item, plusOf), domain - 1) : 0;
    if (length >= 0) {
      flags = layout.hasMailbox | (length === 0 ? layout.isOwnMailbox : 0);
      const mailbox = length === 0 ? load<u64>(hashAt) : hash(scratch + layout.textAt, length, ofDomain);
      store<u64>(to, mailbox, 16);
    }
  }
  store<u64>(to, hash(domain, 0, ofDomain));
  store<u32>(to, <u32>(domain - block), 8);
  store<u32>(to, (load<u32>(item, endOf) - <u32>domain) | flags, 12);
}

// Leaves the canonical form of a local part with its `@` in the scratch memory, as canonical.ts spells it. Returns its
// length: 0 if nothing is left out, -1 if it needs quotes.
function shorten(spelling: u32, start: usize, plusAt: usize, at: usize): i32 {
  if (spelling === layout.ownSpelling) return 0;
  const end = plusAt > start ? plusAt : at;
  const isWithoutDots = spelling === layout.freeTagsAndDots;
  if (!isWithoutDots && end === at) return 0;
  if (!isWithoutDots && load<u8>(end - 1) === dot) return -1;
  const text: usize = scratch + layout.textAt;
  let to = text;
  for (let p: usize = start; p < end; p++) {
    const byte = load<u8>(p);
    if (!isWithoutDots || byte !== dot) store<u8>(to++, byte);
  }
  store<u8>(to++, atSign);
  return to === text + (at + 1 - start) ? 0 : <i32>(to - text);
}

export function hashFields(block: usize, at: usize, count: i32, to: usize): void {
  for (let row: i32 = 0; row < count; row++) {
    const start: usize = block + load<u32>(at, 12);
    const length: i32 = load<i32>(at, 16) - load<i32>(at, 12);
    store<u64>(to, length > 0 && load<i32>(at, 20) !== 0 ? hash(start, length, 0) : 0);
    at += 4 * layout.recordWords;
    to += 8;
  }
}

const itemBytes: i32 = 32;
const startOf: i32 = 8;
const plusOf: i32 = 12;
const domainOf: i32 = 16;
const endOf: i32 = 20;

function readItem(isEmail: bool, block: usize, at: usize, item: usize, codeAt: usize, hashAt: usize): void {
  let start: usize = block + load<u32>(at, 12);
  let end: usize = block + load<u32>(at, 16);
  const isRow = load<i32>(at, 20) !== 0;
  let code: u32 = isRow ? layout.noItemCode : layout.notARowCode;
  let isEscaped = false;
  if (end - start > 1 && <u32>load<u8>(start) === quote && <u32>load<u8>(end - 1) === quote) {
    start++;
    end--;
    isEscaped = quote !== usualQuote && hasQuote(start, end);
  }
  while (start < end && load<u8>(start) === space) start++;
  while (start < end && load<u8>(end - 1) === space) end--;
  if (isRow && start !== end) {
    if (!isEmail || load<u8>(end - 1) === greaterThan) {
      if (isEmail) findInBrackets(start, end);
      else findHost(start, end);
      start = found;
      end = foundEnd;
    }
    code = !isEscaped && readPlain(isEmail, start, end, item) ? layout.okCode : layout.askCode;
    // The hashes are most of the work on a row.
    if (code === layout.okCode && shards() > 1 && !isInShard(shardHash(start, end))) code = layout.otherShardCode;
    if (code === layout.okCode) hashItem(item, hashAt);
  }
  // Records without an item are in the first shard.
  if ((code === layout.noItemCode || code === layout.notARowCode) && !isInShard(0)) code = layout.otherShardCode;
  store<u8>(codeAt, <u8>code);
}

function readPlain(isEmail: bool, start: usize, end: usize, item: usize): bool {
  const domain: usize = isEmail ? readLocalPart(start, end, item) : start;
  if (domain === 0 || !isDomain(domain, end)) return false;
  store<u32>(item, start, startOf);
  store<u32>(item, domain, domainOf);
  store<u32>(item, end, endOf);
  return true;
}

function hashItem(item: usize, hashAt: usize): void {
  const start: usize = load<u32>(item, startOf);
  const domain: usize = load<u32>(item, domainOf);
  const ofDomain = hash(domain, <i32>(load<u32>(item, endOf) - <u32>domain), 0);
  store<u64>(item, ofDomain);
  store<u64>(hashAt, hash(start, <i32>(domain - start), ofDomain));
}

/** A quote inside a quoted item may be part of the address: `'o''neil@example.net'`. */
function hasQuote(start: usize, end: usize): bool {
  while (start < end && <u32>load<u8>(start) !== quote) start++;
  return start < end;
}

function shards(): u32 {
  return load<u32>(layout.settings + 4 * layout.shardsWord);
}

function isInShard(hash: u32): bool {
  return hash % shards() === load<u32>(layout.settings + 4 * layout.shardWord);
}

function readLocalPart(start: usize, end: usize, item: usize): usize {
  const atoms = v128.load(layout.atomClass);
  let isAtom: u64 = 0;
  let dots: u64 = 0;
  let pluses: u64 = 0;
  let ats: u64 = 0;
  let beyondAscii: u64 = 0;
  for (let i: i32 = 0; i < longest && ats === 0; i += 32) {
    const first = v128.load(start + i);
    const second = v128.load(start + i, 16);
    isAtom |= bitsOf(inClass(first, atoms), inClass(second, atoms)) << i;
    dots |= bitsWith(first, second, dot) << i;
    pluses |= bitsWith(first, second, plus) << i;
    ats |= bitsWith(first, second, atSign) << i;
    beyondAscii |= bitsOf(first, second) << i;
  }
  const at: usize = start + <usize>ctz(ats);
  const below: u64 = (ats & -ats) - 1;
  dots &= below;
  pluses &= below;
  beyondAscii &= below;
  const stray: u64 = dots & ((dots << 1) | 1 | ((below + 1) >> 1));
  if (ats === 0 || at === start || at >= end || (~(isAtom | dots | beyondAscii) & below) !== 0 || stray !== 0) return 0;
  // As in a domain.
  if (beyondAscii !== 0 && (shards() > 1 || !hasLetters(start, at))) return 0;
  store<u32>(item, pluses === 0 ? at : start + <usize>ctz(pluses), plusOf);
  return at + 1;
}

function isDomain(start: usize, end: usize): bool {
  const length = <i32>(end - start);
  if (length < 3 || length > longest) return false;
  const labels = v128.load(layout.labelClass);
  let isLabel: u64 = 0;
  let dots: u64 = 0;
  let hyphens: u64 = 0;
  let beyondAscii: u64 = 0;
  for (let i: i32 = 0; i < length; i += 32) {
    const first = v128.load(start + i);
    const second = v128.load(start + i, 16);
    isLabel |= bitsOf(inClass(first, labels), inClass(second, labels)) << i;
    dots |= bitsWith(first, second, dot) << i;
    hyphens |= bitsWith(first, second, hyphen) << i;
    beyondAscii |= bitsOf(first, second) << i;
  }
  const last: u64 = (<u64>1) << (length - 1);
  const below: u64 = last | (last - 1);
  dots &= below;
  hyphens &= below;
  beyondAscii &= below;
  // Shards are decided by the characters of an item, not by its bytes.
  if (beyondAscii !== 0 && (shards() > 1 || !hasLetters(start, end))) return false;
  isLabel |= beyondAscii;
  // An empty label; a hyphen at the start or end of a label.
  const empty: u64 = dots & ((dots << 1) | 1 | last);
  const misplaced: u64 = hyphens & ((dots << 1) | 1 | (dots >> 1) | last);
  // Without a dot, it may be a word such as `unknown` in place of a domain.
  return (~(isLabel | dots) & below) === 0 && dots !== 0 && (empty | misplaced) === 0;
}

function hasLetters(start: usize, end: usize): bool {
  for (let p: usize = start; p < end; p++) {
    const byte: u32 = load<u8>(p);
    if (byte < 0x80) continue;
    const next: u32 = p + 1 < end ? load<u8>(++p) : 0;
    if (byte < 0xc2 || byte > 0xdf || (next & 0xc0) !== 0x80) return false;
    const point: u32 = (((byte & 31) << 6) | (next & 63)) - 0x80;
    if (((load<u8>(layout.letters + (point >> 3)) >> <u8>(point & 7)) & 1) === 0) return false;
  }
  return true;
}

function factsAbout(item: usize): u32 {
  return recall(load<u64>(item), load<u32>(item, domainOf), load<u32>(item, endOf));
}

/** `facts` are those that were recalled last. */
function decide(isEmail: bool, item: usize, facts: u32): u32 {
  const outcome = facts & layout.outcomeMask;
  if (outcome === layout.untold) return layout.askCode;
  if (outcome === layout.disposableDomainCode && isCounted) countRecalled(1);
  if (outcome !== layout.passes) return outcome;
  const at: usize = load<u32>(item, domainOf) - 1;
  return isEmail ? judgeMailbox(facts, load<u32>(item, startOf), load<u32>(item, plusOf), at) : layout.okCode;
}

function inClass(bytes: v128, byLowHalf: v128): v128 {
  const bits = i8x16.swizzle(byLowHalf, v128.and(bytes, i8x16.splat(15)));
  const bit = i8x16.swizzle(i8x16(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0), i8x16.shr_u(bytes, 4));
  return i8x16.ne(v128.and(bits, bit), i8x16.splat(0));
}

function bitsOf(first: v128, second: v128): u64 {
  return <u64>(<u32>i8x16.bitmask(first) | ((<u32>i8x16.bitmask(second)) << 16));
}

function bitsWith(first: v128, second: v128, byte: i32): u64 {
  return bitsOf(i8x16.eq(first, i8x16.splat(<i8>byte)), i8x16.eq(second, i8x16.splat(<i8>byte)));
}
