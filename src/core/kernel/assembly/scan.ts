/** Finds records as `scanRecords` in table/scan/scanner.ts does, which has the grammar, 64 bytes at a time. */
import { carriageReturn as cr, lineFeed as lf, space } from "../../ascii";
import { commentWord, delimiterWord, escapeWord, quoteWord, recordWords, settings, skipsSpacesWord } from "../layout";

export let mostFields: i32 = 0;
export let fewestFields: i32 = 0;
export let longest: i32 = 0;
export let strays: i32 = 0;
export let lines: i32 = 0;

// Numbers are relative to the block, which starts with a record. Returns the number of records; -1 if there are more
// than `most`, or the block does not end with one.
export function scan(block: usize, length: i32, at: usize, most: i32, column: i32): i32 {
  const delimiter: u32 = load<i32>(settings + 4 * delimiterWord);
  const quote: u32 = load<i32>(settings + 4 * quoteWord);
  const comment: u32 = load<i32>(settings + 4 * commentWord);
  const escapeByte: u32 = load<i32>(settings + 4 * escapeWord);
  const skipsSpaces = load<i32>(settings + 4 * skipsSpacesWord) !== 0;
  const mergesSpaces = skipsSpaces && delimiter === space;
  // A delimiter or quote that is not set is compared as LF, which is always looked for.
  const delimiters = splat(delimiter < 256 ? delimiter : <u32>lf);
  const quotes = splat(quote < 256 ? quote : <u32>lf);
  const end: usize = block + length;
  const atEnd: usize = at + 4 * recordWords * most;
  const first = at;
  let start: usize = block;
  let fieldStart: usize = block;
  let field: i32 = 0;
  let valueStart: usize = 0;
  let valueEnd: usize = 0;
  let linesBefore: i32 = 0;
  let isQuoted = false;
  let closedAt: usize = 0;
  let closing: usize = 0;
  let hasQuote = false;
  let isComment = length > 0 && <u32>load<u8>(block) === comment;
  let least: i32 = i32.MAX_VALUE;
  let largest: i32 = 0;
  let longestRecord: usize = 0;
  let lineCount: i32 = 0;
  let strayCount: i32 = 0;
  for (let base: usize = block; base < end; base += 64) {
    let found: u64 = structureAt(base, delimiters, quotes);
    if (base + 64 > end) found &= (1 << (<u64>(end - base))) - 1;
    while (found !== 0) {
      const p: usize = base + <usize>ctz(found);
      found &= found - 1;
      const byte: u32 = load<u8>(p);
      if (byte === quote && !isComment) {
        if (isQuoted) {
          if (escapeByte < 256 && isEscaped(fieldStart, p, escapeByte)) continue;
          isQuoted = false;
          closing = p;
          closedAt = escapeByte < 256 ? 0 : p;
          continue;
        }
        // Only the first quote of a field may follow spaces.
        if (skipsSpaces && !hasQuote) {
          const text = afterSpaces(fieldStart, p);
          if (text === p) fieldStart = p;
        }
        hasQuote = true;
        if (p === fieldStart || p === closedAt + 1) isQuoted = true;
        continue;
      }
      if (isQuoted) {
        if (byte === lf || (byte === cr && (p + 1 === end || load<u8>(p + 1) !== lf))) lineCount++;
        continue;
      }
      if (byte === delimiter && !isComment) {
        if (mergesSpaces && p === fieldStart) {
          fieldStart = p + 1;
          continue;
        }
        if (field === column) {
          valueStart = skipsSpaces ? afterSpaces(fieldStart, p) : fieldStart;
          valueEnd = p;
          if (hasQuote) strayCount += isStray(fieldStart, p, quote, closing);
        }
        field++;
        fieldStart = p + 1;
        closedAt = 0;
        hasQuote = false;
        continue;
      }
      if (byte !== lf && byte !== cr) continue;
      if (p < start) continue;
      if (at === atEnd) return -1;
      let next: usize = p + 1;
      if (byte === cr && next < end && load<u8>(next) === lf) next++;
      // Where spaces are the delimiter, those at the end of a record start no field.
      const isSurplus = mergesSpaces && p === fieldStart && field > 0;
      if (isSurplus) field--;
      if (field === column && !isSurplus) {
        valueStart = skipsSpaces ? afterSpaces(fieldStart, p) : fieldStart;
        valueEnd = p;
        if (hasQuote) strayCount += isStray(fieldStart, p, quote, closing);
      } else if (field < column) {
        valueStart = p;
        valueEnd = p;
      }
      if (isComment) {
        valueStart = p;
        valueEnd = p;
      }
      const fields: i32 = isComment ? 0 : field + 1;
      store<u32>(at, <u32>(start - block));
      store<u32>(at, <u32>(p - block), 4);
      store<u32>(at, <u32>(next - block), 8);
      store<u32>(at, <u32>(valueStart - block), 12);
      store<u32>(at, <u32>(valueEnd - block), 16);
      store<i32>(at, fields, 20);
      store<i32>(at, linesBefore, 24);
      at += 4 * recordWords;
      if (fields > largest) largest = fields;
      if (fields < least && !isComment) least = fields;
      if (next - start > longestRecord) longestRecord = next - start;
      lineCount++;
      linesBefore = lineCount;
      start = next;
      fieldStart = next;
      closedAt = 0;
      hasQuote = false;
      field = 0;
      isComment = next < end && <u32>load<u8>(next) === comment;
    }
  }
  mostFields = largest;
  fewestFields = least;
  longest = <i32>longestRecord;
  lines = lineCount;
  strays = strayCount;
  return start === end ? <i32>(at - first) / (4 * recordWords) : -1;
}

function afterSpaces(start: usize, end: usize): usize {
  while (start < end && <u32>load<u8>(start) === space) start++;
  return start;
}

/** Returns 1 for a quote that is not around the field. `closing` is the address of the last closing quote. */
function isStray(start: usize, end: usize, quote: u32, closing: usize): i32 {
  return closing + 1 === end && <u32>load<u8>(start) === quote ? 0 : 1;
}

function isEscaped(fieldStart: usize, quote: usize, escapeByte: u32): bool {
  let start = quote;
  while (start > fieldStart + 1 && <u32>load<u8>(start - 1) === escapeByte) start--;
  return ((quote - start) & 1) !== 0;
}

function splat(byte: u32): v128 {
  return i8x16.splat(<i8>byte);
}

function structureAt(address: usize, delimiters: v128, quotes: v128): u64 {
  return (
    sixteenAt(address, delimiters, quotes) |
    (sixteenAt(address + 16, delimiters, quotes) << 16) |
    (sixteenAt(address + 32, delimiters, quotes) << 32) |
    (sixteenAt(address + 48, delimiters, quotes) << 48)
  );
}

function sixteenAt(address: usize, delimiters: v128, quotes: v128): u64 {
  const bytes = v128.load(address);
  const ends = v128.or(i8x16.eq(bytes, splat(lf)), i8x16.eq(bytes, splat(cr)));
  const marks = v128.or(i8x16.eq(bytes, delimiters), i8x16.eq(bytes, quotes));
  return <u64>(<u32>i8x16.bitmask(v128.or(ends, marks)));
}
