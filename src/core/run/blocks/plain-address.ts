/** Recognises plain addresses by their bytes: nine of ten values, which then need neither patterns nor strings. */
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import { Offset, recordWords } from "../../table/scan/scanner.js";

const atSign = 0x40;
const dot = 0x2e;

/** 1 for bytes that a plain address may have on both sides of its `@`, 2 for those allowed only before it. */
const addressBytes = new Uint8Array(256);
for (const byte of Buffer.from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"))
  addressBytes[byte] = 1;
for (const byte of Buffer.from("_+")) addressBytes[byte] = 2;

export function plainAddress(chunk: ScannedChunk, row: number): string | undefined {
  return isPlainAddress(chunk, row) ? chunk.binaryValue(row) : undefined;
}

function isPlainAddress({ bytes, at }: ScannedChunk, row: number): boolean {
  const word = row * recordWords;
  const start = at[word + Offset.valueStart]!;
  const end = at[word + Offset.valueEnd]!;
  let sign = -1;
  let lastDot = -1;
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
  return (
    sign > start && lastDot > sign && bytes[start]! > dot && isLetter(bytes[lastDot + 1]) && isLetter(bytes[end - 1])
  );
}

const smallBytes = new Uint8Array(256);
for (const byte of Buffer.from("abcdefghijklmnopqrstuvwxyz0123456789.-_@")) smallBytes[byte] = 1;

/** Returns whether a value has only small letters, digits and `.-_@`, and starts with none of `.-`. */
export function isSmall(bytes: Uint8Array, start: number, end: number): boolean {
  for (let p = start; p < end; p++) if (smallBytes[bytes[p]!] === 0) return false;
  return bytes[start]! > dot;
}

const isLetter = (byte: number | undefined): boolean =>
  byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

const markBytes = new Uint8Array(256).fill(1, 0x7f);
for (const byte of Buffer.from("\0\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\"'&<=\\")) markBytes[byte] = 1;
for (let byte = 0x10; byte < 0x20; byte++) markBytes[byte] = 1;

/** Returns false only if there certainly are no marks. `raw` has its quotes. */
export function mayBeMarked(raw: Uint8Array): boolean {
  const isQuoted = raw.length > 1 && raw[0] === raw[raw.length - 1] && (raw[0] === 0x22 || raw[0] === 0x27);
  const end = isQuoted ? raw.length - 1 : raw.length;
  for (let at = isQuoted ? 1 : 0; at < end; at++) if (markBytes[raw[at]!] === 1) return true;
  return false;
}
