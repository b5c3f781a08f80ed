/**
 * Conversions between text and binary strings. In src/table a field is a binary string: one character, U+0000 to
 * U+00FF, for each byte. This preserves bytes of any encoding, and csv-parse and csv-stringify handle it like any other
 * string.
 */

const beyondAscii = /[\x80-\xff]/;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes the field that holds the item: as UTF-8, with U+FFFD for invalid bytes. */
export function itemText(binary: string): string {
  return beyondAscii.test(binary) ? Buffer.from(binary, "latin1").toString("utf8") : binary;
}

/** Decodes a column name, which people read and type: as UTF-8, or as Latin-1 if it is not valid UTF-8. */
export function nameText(binary: string): string {
  if (!beyondAscii.test(binary)) return binary;
  try {
    return strictUtf8.decode(Buffer.from(binary, "latin1"));
  } catch {
    return binary;
  }
}

/** Encodes text as a binary string, in UTF-8. */
export function toBinary(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Returns the number of line endings in bytes or in a binary string; CRLF counts as one. */
export function lineEndings(bytes: Buffer | string): number {
  const isLf = (at: number) => bytes[at] === "\n" || bytes[at] === 0x0a;
  let count = 0;
  for (let i = bytes.indexOf("\n"); i !== -1; i = bytes.indexOf("\n", i + 1)) count++;
  for (let i = bytes.indexOf("\r"); i !== -1; i = bytes.indexOf("\r", i + 1)) {
    if (!isLf(i + 1)) count++;
  }
  return count;
}
