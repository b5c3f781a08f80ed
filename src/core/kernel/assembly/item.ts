/** Finds the item in the plainest values with something around it; run/items/item.ts has the rules for others. */
import { atSign, dot, hyphen, lessThan, plus, question, slash, space, underscore } from "../../ascii";

const longestName: i32 = 100;

export let found: usize = 0;
export let foundEnd: usize = 0;

/** Works as `findAddress` in run/items/item.ts, if the name has only letters, spaces, dots and hyphens. */
export function findInBrackets(start: usize, end: usize): void {
  found = start;
  foundEnd = end;
  if (end - start < 3) return;
  let open: usize = end - 2;
  while (open > start && load<u8>(open) !== lessThan) open--;
  if (load<u8>(open) !== lessThan || open - start > <usize>longestName) return;
  // In a plain list, a line that starts with a hyphen is a comment.
  if (load<u8>(start) === hyphen) return;
  for (let p: usize = start; p < open; p++) {
    const byte: u8 = load<u8>(p);
    if (!isLetter(byte) && byte !== space && byte !== dot && byte !== hyphen) return;
  }
  found = open + 1;
  foundEnd = end - 1;
}

/** Works as `hostIn` in run/items/item.ts, where nothing else can be meant. */
export function findHost(start: usize, end: usize): void {
  found = start;
  foundEnd = end;
  const length = <i32>(end - start);
  // "http"
  if (length > 8 && load<u32>(start) === 0x70747468) {
    const isSecure = load<u8>(start, 4) === 0x73;
    const host: usize = start + (isSecure ? 5 : 4) + 3;
    // "://"
    if (host >= end || (load<u32>(host - 3) & 0xffffff) !== 0x2f2f3a) return;
    let hostEnd: usize = end;
    for (let p: usize = host; p < end; p++) {
      const byte: u8 = load<u8>(p);
      if (!isOfUrl(byte)) return;
      if (hostEnd === end && (byte === slash || byte === question)) hostEnd = p;
    }
    found = host;
    foundEnd = hostEnd;
    return;
  }
  let p: usize = start;
  while (p < end && isOfLocalPart(load<u8>(p))) p++;
  if (p > start && p < end && load<u8>(p) === atSign) found = p + 1;
}

function isLetter(byte: u8): bool {
  return (byte | 0x20) - 0x61 < 26;
}

function isOfLocalPart(byte: u8): bool {
  const isDigit = byte - 0x30 < 10;
  return isLetter(byte) || isDigit || byte === dot || byte === hyphen || byte === plus || byte === underscore;
}

function isOfUrl(byte: u8): bool {
  return isOfLocalPart(byte) || byte === slash || byte === question || byte === 0x3d || byte === 0x26 || byte === 0x25;
}
