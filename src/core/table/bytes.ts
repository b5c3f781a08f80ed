// Text and binary strings. In src/core/table a field is a binary string, one character (U+0000 to U+00FF) a byte: it
// preserves bytes of any encoding, and csv-parse and csv-stringify take it like any other string.
import { isUtf8 } from "node:buffer";

const beyondAscii = /[\x80-\xff]/;
const notAscii = /[^\0-\x7f]/;

const windows1252 = new TextDecoder("windows-1252");

/** Decodes as a stream: otherwise, Node.js 20 decodes the last bytes as Latin-1. */
export const decodeWindows1252 = (bytes: Uint8Array): string => windows1252.decode(bytes, { stream: true });

/** Without the Icelandic ones, at whose codes the Turkish and Baltic encodings have other letters. */
export const westernLetters = "À-ÏÑ-ÖØ-Üß-ïñ-öø-üŒœÿ";

const scratch = Buffer.allocUnsafeSlow(4096);

/** Valid until the next call: many new ones cost more than what is done with them. */
function bytesOf(binary: string): Buffer {
  if (binary.length > scratch.length) return Buffer.from(binary, "latin1");
  return scratch.subarray(0, scratch.write(binary, "latin1"));
}

/**
 * Reads bytes that are not UTF-8 as windows-1252, the most common other encoding. A wrong guess alone must not make an
 * address invalid: odd characters of the local part become `x`, and an odd domain makes the result empty.
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

/** At most two letters in a row: in other languages, whole words consist of such bytes. */
const westernHost = new RegExp(`^(?!.*[${westernLetters}]{3})[\\0-\\x7f\\s${westernLetters}]*$`, "s");
// After another byte, these are the second byte of a Chinese or Japanese character. Limited to 64 bytes, to be linear.
const secondBytes = /(?<=[^\0-\x7f])(?:[[\]\\]|@(?=[^\s,;:<>]{1,64}@))/g;

export const isUtf8Text = (binary: string): boolean => !beyondAscii.test(binary) || isUtf8(bytesOf(binary));

/** Names and other fields, as they are shown and compared: bytes that are not UTF-8 are read as windows-1252. */
export function nameText(binary: string): string {
  if (!beyondAscii.test(binary)) return binary;
  const bytes = bytesOf(binary);
  return isUtf8(bytes) ? bytes.toString() : decodeWindows1252(bytes);
}

export function toBinary(text: string): string {
  if (!notAscii.test(text)) return text;
  return Buffer.from(text, "utf8").toString("latin1");
}

const lf = 0x0a;
const cr = 0x0d;

export function lineEndings(bytes: Buffer | string): number {
  if (typeof bytes === "string") return lineEndings(Buffer.from(bytes));
  let count = 0;
  for (let i = bytes.indexOf(lf); i !== -1; i = bytes.indexOf(lf, i + 1)) count++;
  for (let i = bytes.indexOf(cr); i !== -1; i = bytes.indexOf(cr, i + 1)) if (bytes[i + 1] !== lf) count++;
  return count;
}

export function meanLineBytes(bytes: Buffer): number | undefined {
  const count = lineEndings(bytes);
  return count > 1 ? bytes.length / count : undefined;
}
