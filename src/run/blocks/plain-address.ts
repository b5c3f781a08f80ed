/** Tells plain addresses by their bytes: nine of ten values, for which neither patterns nor strings are needed. */
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import { Place, recordWords } from "../../table/scan/scanner.js";

const atSign = 0x40;
const dot = 0x2e;
const hyphen = 0x2d;
const underscore = 0x5f;
const letterG = 0x67;
const letterM = 0x6d;

/** 1 for each byte that a plain address may have on both sides of its sign, 2 for each before it only. */
const addressBytes = new Uint8Array(256);
for (const byte of Buffer.from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"))
  addressBytes[byte] = 1;
for (const byte of Buffer.from("_+")) addressBytes[byte] = 2;

/** Returns whether a value is one address with nothing around it, for which no pattern is needed. */
export function isPlainAddress({ bytes, at }: ScannedChunk, row: number): boolean {
  const word = row * recordWords;
  const start = at[word + Place.valueStart]!;
  const end = at[word + Place.valueEnd]!;
  let [sign, lastDot] = [-1, -1];
  for (let p = start; p < end; p++) {
    const byte = bytes[p]!;
    if (byte === atSign && sign === -1) {
      sign = p;
      lastDot = p;
    } else if (addressBytes[byte] !== 1 && (sign !== -1 || addressBytes[byte] === 0)) return false;
    else if (byte === dot && sign !== -1) {
      if (p === lastDot + 1) return false;
      lastDot = p;
    }
  }
  // The last label has letters at its ends.
  return (
    sign > start &&
    lastDot > sign &&
    bytes[start]! > dot &&
    isLetter(bytes[lastDot + 1]) &&
    isLetter(bytes[end - 1])
  );
}

const isLetter = (byte: number | undefined): boolean =>
  byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

/** 1 for each byte of a plain address with nothing that a provider may spell in another way. */
const ownBytes = new Uint8Array(256);
for (const byte of Buffer.from("abcdefghijklmnopqrstuvwxyz0123456789._-")) ownBytes[byte] = 1;

/**
 * Returns whether a value is one plain address that is its own canonical form, as most are: it has no capitals and no `+`, is not at
 * Fastmail, and at Gmail has no dots. Then the hash of its mailbox is its own.
 */
export function isOwnMailbox({ bytes, at }: ScannedChunk, row: number): boolean {
  const word = row * recordWords;
  const start = at[word + Place.valueStart]!;
  const end = at[word + Place.valueEnd]!;
  let sign = start;
  let before = dot;
  let hasDots = false;
  for (; sign < end && bytes[sign] !== atSign; sign++) {
    const byte = bytes[sign]!;
    if (ownBytes[byte] === 0 || (byte === dot && before === dot)) return false;
    if (byte === dot) hasDots = true;
    before = byte;
  }
  if (sign === end || before === dot) return false;
  const first = bytes[sign + 1];
  // gmail.com, googlemail.com, and all that ends like fastmail.com.
  if ((first === letterG && (hasDots || bytes[sign + 2] !== letterM)) || isFastmail(bytes, end)) return false;
  before = dot;
  for (let p = sign + 1; p < end; p++) {
    const byte = bytes[p]!;
    const isMark = byte === dot || byte === hyphen;
    if (ownBytes[byte] === 0 || byte === underscore || (isMark && (before === dot || before === hyphen)))
      return false;
    before = byte;
  }
  return before !== dot && before !== hyphen && sign - start < 64 && end - sign <= 64;
}

const fastmail = Buffer.from("fastmail.com");

function isFastmail(bytes: Buffer, end: number): boolean {
  for (let i = 1; i <= fastmail.length; i++) {
    if (bytes[end - i] !== fastmail[fastmail.length - i]) return false;
  }
  return true;
}

/**
 * Copies the domain of a plain address in lower case.
 *
 * @returns its length in bytes; 0 for any other value, and for a domain that does not fit
 */
export function copyPlainDomain(chunk: ScannedChunk, row: number, to: Uint8Array): number {
  if (!isPlainAddress(chunk, row)) return 0;
  const { bytes } = chunk;
  const end = chunk.at[row * recordWords + Place.valueEnd]!;
  let start = end;
  while (bytes[start - 1] !== atSign) start--;
  const length = end - start;
  if (length > to.length) return 0;
  // Digits, dots and hyphens have the bit that makes letters small.
  for (let i = 0; i < length; i++) to[i] = bytes[start + i]! | 0x20;
  return length;
}

/**
 * Copies a value of printable ASCII without quotes.
 *
 * @returns its length in bytes; 0 for any other value, and for one that does not fit
 */
export function copyPlainValue({ bytes, at }: ScannedChunk, row: number, to: Uint8Array): number {
  const start = at[row * recordWords + Place.valueStart]!;
  const length = at[row * recordWords + Place.valueEnd]! - start;
  if (length > to.length) return 0;
  for (let i = 0; i < length; i++) {
    const byte = bytes[start + i]!;
    if (byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x27 || byte === 0x5c) return 0;
    to[i] = byte;
  }
  return length;
}
