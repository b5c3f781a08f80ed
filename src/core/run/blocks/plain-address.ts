/** Recognises plain addresses by their bytes: nine of ten values, which then need neither patterns nor strings. */
import { domainLengthMask, domainWords } from "../../kernel/layout.js";
import type { TableShape } from "../../table/records.js";
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import { Offset, recordWords } from "../../table/scan/scanner.js";
import type { Kind } from "../../validator/validator.js";
import type { RowFacts } from "../run-options.js";

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

/** Bytes that no plain address has, and that may be before one in its field. */
const bytesBefore = Buffer.from(' "\r\n');

/**
 * Returns a function that finds the item of a row by the facts about its domain, so that the records of its block need not be
 * found again; undefined where a mailbox cannot be told from what is before it. The function returns undefined for other items.
 */
export function plainItemOf(kind: Kind, { dialect: { delimiter, quote } }: TableShape) {
  const before = new Uint8Array(256);
  for (const byte of [...bytesBefore, ...Buffer.from(delimiter ?? "")]) before[byte] = 1;
  const isTold = (quote === "" || quote === '"') && (delimiter === null || ",;|\t ".includes(delimiter));
  if (kind !== "email" || !isTold) return undefined;
  return ({ bytes, domains }: RowFacts, row: number): string | undefined => {
    const word = row * domainWords;
    const domain = domains[word + 2]!;
    const end = domain + (domains[word + 3]! & domainLengthMask);
    if (end === domain) return undefined;
    let start = domain - 1;
    while (start > 0 && addressBytes[bytes[start - 1]!] !== 0) start--;
    if (start === domain - 1 || (start > 0 && before[bytes[start - 1]!] === 0)) return undefined;
    for (let p = domain; p < end; p++) if (bytes[p]! > 0x7f) return undefined;
    return bytes.toString("latin1", start, end);
  };
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

/** Returns false only if there certainly are no marks. */
export const mayBeMarked = (chunk: ScannedChunk, row: number): boolean => chunk.holdsAny(row, markBytes);
