/**
 * Conversions between text and binary strings. In src/core/table a field is a binary string: one character, U+0000 to
 * U+00FF, for each byte. This preserves bytes of any encoding, and csv-parse and csv-stringify handle it like any other
 * string.
 */
import { isUtf8 } from "node:buffer";
import { decodeWindows1252, westernLetters } from "./windows-1252.js";

const beyondAscii = /[\x80-\xff]/;
const notAscii = /[^\0-\x7f]/;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const scratch = Buffer.allocUnsafeSlow(4096);

/** Returns the bytes of a binary string, valid until the next call: many new ones cost more than what is done with them. */
function bytesOf(binary: string): Buffer {
  if (binary.length > scratch.length) return Buffer.from(binary, "latin1");
  return scratch.subarray(0, scratch.write(binary, "latin1"));
}

/**
 * Decodes a field that holds an item, as UTF-8. Bytes that are not UTF-8 are read as windows-1252, the most common of
 * the other encodings. In the local part, characters that are not letters there become an `x`. If the domain makes no
 * sense as windows-1252, the result is empty: a wrong guess alone must not make an address invalid.
 */
export function itemText(binary: string): string {
  if (!beyondAscii.test(binary)) return binary;
  const bytes = bytesOf(binary);
  if (isUtf8(bytes)) return bytes.toString();
  const text = decodeWindows1252(bytes);
  const hosts = text.match(/@[^\s,;:<>]*/g) ?? [text];
  if (!hosts.every((host) => westernHost.test(host))) return "";
  return text.replace(secondBytes, "x").replace(/[^\0-\x7f\p{L}\p{N}\p{Zs}]/gu, "x");
}

/**
 * ASCII, white space and letters of Western Europe, at most two in a row: in other languages, whole words consist of
 * such bytes.
 */
const westernHost = new RegExp(`^(?!.*[${westernLetters}]{3})[\\0-\\x7f\\s${westernLetters}]*$`, "s");
/**
 * Signs that no local part contains. After another byte, they are the second byte of a Chinese or Japanese character.
 * The lookahead is limited to 64 bytes, the longest local part, which keeps the time linear.
 */
const secondBytes = /(?<=[^\0-\x7f])(?:[[\]\\]|@(?=[^\s,;:<>]{1,64}@))/g;

export function isUtf8Text(binary: string): boolean {
  return !beyondAscii.test(binary) || isUtf8(bytesOf(binary));
}

/** Decodes a column name, for display and comparison: as UTF-8, or as Latin-1 if it is not valid UTF-8. */
export function nameText(binary: string): string {
  if (!beyondAscii.test(binary)) return binary;
  try {
    return strictUtf8.decode(Buffer.from(binary, "latin1"));
  } catch {
    return binary;
  }
}

export function toBinary(text: string): string {
  if (!notAscii.test(text)) return text;
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Returns the number of line endings; CRLF counts as one. */
export function lineEndings(bytes: Buffer | string): number {
  const isLf = (at: number) => bytes[at] === "\n" || bytes[at] === 0x0a;
  let count = 0;
  for (let i = bytes.indexOf("\n"); i !== -1; i = bytes.indexOf("\n", i + 1)) count++;
  for (let i = bytes.indexOf("\r"); i !== -1; i = bytes.indexOf("\r", i + 1)) {
    if (!isLf(i + 1)) count++;
  }
  return count;
}

export function meanLineBytes(bytes: Buffer): number | undefined {
  const count = lineEndings(bytes);
  return count > 1 ? bytes.length / count : undefined;
}
