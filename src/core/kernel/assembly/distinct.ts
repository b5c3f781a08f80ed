// The table of distinct items: 64-bit hashes, each with a byte of state. A line of 64 bytes, the processor's cache
// line, holds up to seven hashes, their states and their number. A hash is in the line that its high bits name or, if
// that is full, in the next one with room, so the table can grow in place. It grows by half, or to the expected size,
// and is used to at most four fifths: 11 to 17 bytes an item.
// A cache miss costs more than all other steps, so `addAll` touches the lines of many items, which the processor
// fetches in parallel, before it looks at one.
import * as layout from "../layout";

const lineBytes: u32 = 64;
const hashesInLine: u32 = 7;
const statesAt: u32 = 56;
const countAt: u32 = 63;
const pageBytes: u32 = 65536;
/** Lines after the last own line, for hashes whose line is full. */
const spill: u32 = 512;
const touched: i32 = 256;
/** With this many spill lines in use, the table grows: `find` and `add` do not check for the end of the table. */
const usedSpill: u32 = 440;

let lines: u32 = 0;
export let size: u32 = 0;
let expected: u32 = 0;

export function expect(items: u32): void {
  expected = items;
}

// Reads hashes and codes at `distinctHashes` and `distinctCodes`. A known item keeps its state, unless it is 0,
// forgotten. Writes 1 to `distinctIsNew` for each new item, else 0. Returns how many are new; -1 without memory.
export function addAll(count: i32): i32 {
  let added: i32 = 0;
  for (let from: i32 = 0; from < count; from += touched) {
    const to: i32 = min(from + touched, count);
    // Growing in between would move the lines.
    if (!makeRoom(<u32>(to - from))) return -1;
    touch(from, to);
    for (let row: i32 = from; row < to; row++) {
      const isNew = hasItem(row) && add(hashOf(row), load<u8>(layout.distinctCodes + row));
      store<u8>(layout.distinctIsNew + row, <u8>isNew);
      added += <i32>isNew;
    }
  }
  return added;
}

export function takeStates(count: i32): void {
  for (let from: i32 = 0; from < count; from += touched) {
    const to: i32 = min(from + touched, count);
    touch(from, to);
    for (let row: i32 = from; row < to; row++) {
      if (hasItem(row)) store<u8>(layout.distinctCodes + row, load<u8>(stateOf(find(hashOf(row)))));
    }
  }
}

export function giveStates(count: i32): void {
  for (let from: i32 = 0; from < count; from += touched) {
    const to: i32 = min(from + touched, count);
    touch(from, to);
    for (let row: i32 = from; row < to; row++) {
      store<u8>(stateOf(find(hashOf(row))), load<u8>(layout.distinctCodes + row));
    }
  }
}

function touch(from: i32, to: i32): void {
  let sum: u64 = 0;
  for (let row: i32 = from; row < to; row++) sum += load<u64>(ownLine(hashOf(row)));
  // Otherwise the compiler would remove the reads.
  store<u64>(layout.distinctIgnored, sum);
}

function hasItem(row: i32): bool {
  const code: u32 = load<u8>(layout.distinctCodes + row);
  return code !== layout.noItemCode && code !== layout.notARowCode && code !== layout.otherShardCode;
}

export function get(low: u32, high: u32): u32 {
  if (lines === 0) return 0;
  const entry = find(orOne(((<u64>high) << 32) | <u64>low));
  return entry === 0 ? 0 : load<u8>(stateOf(entry));
}

export function set(low: u32, high: u32, state: u32): bool {
  if (!makeRoom(1)) return false;
  const hash = orOne(((<u64>high) << 32) | <u64>low);
  if (!add(hash, state)) store<u8>(stateOf(find(hash)), <u8>state);
  return true;
}

/** Zero marks a free entry, so a zero hash becomes 1. */
function hashOf(row: i32): u64 {
  return orOne(load<u64>(layout.distinctHashes + 8 * row));
}

function orOne(hash: u64): u64 {
  return hash === 0 ? 1 : hash;
}

/** Returns whether the item is new or was forgotten. The table must have room. */
function add(hash: u64, state: u32): bool {
  let line = ownLine(hash);
  while (!has(line, hash)) {
    if (load<u8>(line, countAt) < hashesInLine) {
      append(line, hash, <u8>state);
      size++;
      return true;
    }
    line += lineBytes;
  }
  const at = stateOf(entryIn(line, hash));
  if (load<u8>(at) !== 0) return false;
  store<u8>(at, <u8>state);
  return true;
}

function has(line: usize, hash: u64): bool {
  const wanted = i64x2.splat(hash);
  const inFirst = i64x2.eq(v128.load(line), wanted);
  const inSecond = i64x2.eq(v128.load(line, 16), wanted);
  const inThird = i64x2.eq(v128.load(line, 32), wanted);
  return v128.any_true(v128.or(v128.or(inFirst, inSecond), inThird)) || load<u64>(line, 48) === hash;
}

function append(line: usize, hash: u64, state: u8): void {
  const count: u32 = load<u8>(line, countAt);
  store<u64>(line + 8 * count, hash);
  store<u8>(line + statesAt + count, state);
  store<u8>(line, <u8>(count + 1), countAt);
}

function find(hash: u64): usize {
  let line = ownLine(hash);
  while (!has(line, hash)) {
    if (load<u8>(line, countAt) < hashesInLine) return 0;
    line += lineBytes;
  }
  return entryIn(line, hash);
}

function entryIn(line: usize, hash: u64): usize {
  let entry = line;
  while (load<u64>(entry) !== hash) entry += 8;
  return entry;
}

function ownLine(hash: u64): usize {
  return layout.distinctLines + lineBytes * <u32>(((hash >> 32) * <u64>lines) >> 32);
}

function stateOf(entry: usize): usize {
  return (entry & ~63) + statesAt + ((entry & 63) >> 3);
}

function after(entry: usize): usize {
  return entry + ((entry & 63) === 48 ? 16 : 8);
}

function before(entry: usize): usize {
  return entry - ((entry & 63) === 0 ? 16 : 8);
}

function makeRoom(items: u32): bool {
  while (isFull(items)) if (!grow()) return false;
  return true;
}

function isFull(items: u32): bool {
  if (lines === 0 || size + items > (lines / 5) * 4 * hashesInLine) return true;
  return load<u8>(layout.distinctLines + lineBytes * (lines + usedSpill), countAt) !== 0;
}

function grow(): bool {
  const half: u32 = lines === 0 ? 512 : lines + (lines >> 1);
  const wanted: u32 = <u32>((<u64>expected * 4) / (3 * hashesInLine));
  return (wanted > half && growTo(wanted)) || growTo(half);
}

function growTo(newLines: u32): bool {
  const oldEnd: usize = layout.distinctLines + (lines === 0 ? 0 : lineBytes * (lines + spill));
  const bytes: u64 = <u64>layout.distinctLines + <u64>lineBytes * <u64>(newLines + spill);
  const pages: u64 = (bytes + <u64>pageBytes - 1) / <u64>pageBytes;
  const has: u64 = <u64>memory.size();
  // One page below 4 GiB stays free, so that the end of the table has a 32-bit address.
  if (pages > 65535 || (pages > has && memory.grow(<i32>(pages - has)) === -1)) return false;
  const end: usize = layout.distinctLines + lineBytes * (newLines + spill);
  let to: usize = end;
  for (let line: usize = oldEnd; line > <usize>layout.distinctLines; ) {
    line -= lineBytes;
    for (let count: u32 = load<u8>(line, countAt); count > 0; count--) {
      to = before(to);
      store<u64>(to, load<u64>(line + 8 * (count - 1)));
      store<u8>(stateOf(to), load<u8>(line + statesAt + count - 1));
    }
  }
  lines = newLines;
  let free: usize = layout.distinctLines;
  for (let from: usize = to; from < end; from = after(from)) {
    const hash: u64 = load<u64>(from);
    const state: u8 = load<u8>(stateOf(from));
    let line = ownLine(hash);
    while (line < free && load<u8>(line, countAt) === hashesInLine) line += lineBytes;
    // Half of the lines stay free, so an entry is read long before its space is needed, unless hashes are not random.
    if (line >= (from & ~63)) unreachable();
    free = clear(free, line + lineBytes, oldEnd, to);
    append(line, hash, state);
  }
  clear(free, end, oldEnd, to);
  return true;
}

/** Skips lines between `fresh` and `used`, which were never written. Returns the first line after them. */
function clear(from: usize, to: usize, fresh: usize, used: usize): usize {
  for (let line = from; line < to; line += lineBytes) {
    if (line < fresh || line + lineBytes > used) memory.fill(line, 0, lineBytes);
  }
  return max(from, to);
}
