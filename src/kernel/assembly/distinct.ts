/**
 * The table of distinct items: 64-bit hashes with a byte of state each. One table fills the memory of an instance.
 *
 * A line of 64 bytes, as the processor fetches it, holds seven hashes followed by their seven states. Hashes lie in
 * ascending order, each in the first free place at or after its own (linear probing). So the table can grow in
 * place: all entries move to its new end, and then forward to their new places. It grows by half, or to
 * what the run expects, and is used to at most four fifths: 11 to 17 bytes an item, more if fewer items come than were expected.
 *
 * Memory is read at random, and a miss of the cache costs more than all other steps. `addAll` therefore touches the
 * lines of many items before it looks at one: the processor fetches them side by side.
 */
import {
  distinctCodes,
  distinctHashes,
  distinctIgnored,
  distinctIsNew,
  distinctLines,
  noItemCode,
  notARowCode,
  otherShardCode,
} from "../layout";

const lineBytes: u32 = 64;
const hashesInLine: u32 = 7;
const statesAt: u32 = 56;
const pageBytes: u32 = 65536;
/** Lines after the last own place of a hash, for entries that are pushed past it. */
const spill: u32 = 512;
/** Items whose lines are touched at a time. */
const touched: i32 = 256;
/** Most of the spill, in lines, that may be in use before items are added. */
const usedSpill: u32 = 440;

/** Number of lines without the spill. */
let lines: u32 = 0;
/** Number of items, and how many are expected in the end. */
export let size: u32 = 0;
let expected: u32 = 0;

/** Says how many items there will be, so that the table grows to the right size. Without it, it grows by half. */
export function expect(items: u32): void {
  expected = items;
}

/**
 * Adds the items of some rows, whose hashes and codes are at `distinctHashes` and `distinctCodes`. Items that are known
 * keep their state. Leaves 1 at `distinctIsNew` for each row that added its item, else 0.
 *
 * @param state state of the new items, 1 to 255
 * @returns false if there is no memory for them
 */
export function addAll(count: i32, state: u32): bool {
  for (let from: i32 = 0; from < count; from += touched) {
    const to: i32 = min(from + touched, count);
    // Growing in between would move the lines.
    if (!makeRoom(<u32>(to - from))) return false;
    let sum: u64 = 0;
    for (let row: i32 = from; row < to; row++) sum += load<u64>(ownPlace(hashOf(row)));
    // Otherwise the compiler would leave out the reads.
    store<u64>(distinctIgnored, sum);
    for (let row: i32 = from; row < to; row++) {
      const code: u32 = load<u8>(distinctCodes + row);
      const isItem = code !== noItemCode && code !== notARowCode && code !== otherShardCode;
      store<u8>(distinctIsNew + row, <u8>(isItem && add(hashOf(row), state)));
    }
  }
  return true;
}

/** Returns the state of an item; 0 if it is not in the table. */
export function get(low: u32, high: u32): u32 {
  if (lines === 0) return 0;
  const hash = orOne(((<u64>high) << 32) | <u64>low);
  const place = find(hash);
  return load<u64>(place) === hash ? load<u8>(stateOf(place)) : 0;
}

/** Sets the state of an item, which is added if it is new. Returns false if there is no memory for it. */
export function set(low: u32, high: u32, state: u32): bool {
  if (!makeRoom(1)) return false;
  const hash = orOne(((<u64>high) << 32) | <u64>low);
  if (!add(hash, state)) store<u8>(stateOf(find(hash)), <u8>state);
  return true;
}

/** Returns the hash of a row. Zero is the hash of a free place. */
function hashOf(row: i32): u64 {
  return orOne(load<u64>(distinctHashes + 8 * row));
}

function orOne(hash: u64): u64 {
  return hash === 0 ? 1 : hash;
}

/** Adds an item. Returns whether it is new; there must be room. */
function add(hash: u64, state: u32): bool {
  let place = find(hash);
  let next: u64 = load<u64>(place);
  if (next === hash) return false;
  let moved: u64 = hash;
  let movedState: u32 = state;
  // Moves the entries behind it by one place, up to the next free one.
  while (next !== 0) {
    const nextState: u32 = load<u8>(stateOf(place));
    store<u64>(place, moved);
    store<u8>(stateOf(place), <u8>movedState);
    moved = next;
    movedState = nextState;
    place = after(place);
    next = load<u64>(place);
  }
  store<u64>(place, moved);
  store<u8>(stateOf(place), <u8>movedState);
  size++;
  return true;
}

/** Returns the place of an item, or the one where it belongs: that of the next larger hash, or a free one. */
function find(hash: u64): usize {
  let place = ownPlace(hash);
  let there: u64 = load<u64>(place);
  while (there < hash && there !== 0) {
    place = after(place);
    there = load<u64>(place);
  }
  return place;
}

/** Returns the place that is a hash's own. */
function ownPlace(hash: u64): usize {
  const place: u32 = <u32>(((hash >> 32) * <u64>(lines * hashesInLine)) >> 32);
  const line: u32 = place / hashesInLine;
  return distinctLines + lineBytes * line + 8 * (place - hashesInLine * line);
}

function stateOf(place: usize): usize {
  return (place & ~63) + statesAt + ((place & 63) >> 3);
}

function after(place: usize): usize {
  return place + ((place & 63) === 48 ? 16 : 8);
}

function before(place: usize): usize {
  return place - ((place & 63) === 0 ? 16 : 8);
}

/** Makes room for more items. Returns false if there is no memory for it. */
function makeRoom(items: u32): bool {
  while (isFull(items)) if (!grow()) return false;
  return true;
}

function isFull(items: u32): bool {
  if (lines === 0 || size + items > (lines / 5) * 4 * hashesInLine) return true;
  // Stops before the spill is full: `find` and `add` do not look for the end of the table.
  return load<u64>(distinctLines + lineBytes * (lines + usedSpill)) !== 0;
}

/** Makes the table larger. Returns false if there is no memory for it. */
function grow(): bool {
  const half: u32 = lines === 0 ? 512 : lines + (lines >> 1);
  const wanted: u32 = <u32>((<u64>expected * 4) / (3 * hashesInLine));
  return (wanted > half && growTo(wanted)) || growTo(half);
}

function growTo(newLines: u32): bool {
  const oldEnd: usize = distinctLines + (lines === 0 ? 0 : lineBytes * (lines + spill));
  const bytes: u64 = <u64>distinctLines + <u64>lineBytes * <u64>(newLines + spill);
  const pages: u64 = (bytes + <u64>pageBytes - 1) / <u64>pageBytes;
  const has: u64 = <u64>memory.size();
  // One page below 4 GiB stays free, so that the end of the table has an address of 32 bits.
  if (pages > 65535 || (pages > has && memory.grow(<i32>(pages - has)) === -1)) return false;
  const end: usize = distinctLines + lineBytes * (newLines + spill);
  // Push all entries together at the new end, the last one first.
  let to: usize = end;
  for (let place: usize = oldEnd; place > <usize>distinctLines; ) {
    place = before(place);
    const hash: u64 = load<u64>(place);
    if (hash === 0) continue;
    to = before(to);
    store<u64>(to, hash);
    store<u8>(stateOf(to), load<u8>(stateOf(place)));
  }
  // Deal them out again, the first one first. No place is written before its entry was read.
  lines = newLines;
  let free: usize = distinctLines;
  for (let from: usize = to; from < end; from = after(from)) {
    const hash: u64 = load<u64>(from);
    const state: u8 = load<u8>(stateOf(from));
    free = clear(free, ownPlace(hash), oldEnd, to);
    store<u64>(free, hash);
    store<u8>(stateOf(free), state);
    free = after(free);
  }
  clear(free, end, oldEnd, to);
  return true;
}

/**
 * Frees the places from one up to another one, and returns the first place behind them. Leaves out those between `fresh` and
 * `used`, which were never written.
 */
function clear(from: usize, to: usize, fresh: usize, used: usize): usize {
  let place = from;
  while (place < to) {
    if (place < fresh || place >= used) store<u64>(place, 0);
    place = after(place);
  }
  return place;
}
