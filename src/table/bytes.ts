/**
 * Inside this room a field is a binary string: one character, U+0000 to U+00FF, for each byte. That keeps bytes
 * of any encoding as they came, and csv-parse and csv-stringify work on it as on any string.
 */

const beyondAscii = /[\x80-\xff]/;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The field as an item: UTF-8, with U+FFFD for bytes that are not. */
export function itemText(binary: string): string {
  return beyondAscii.test(binary) ? Buffer.from(binary, "latin1").toString("utf8") : binary;
}

/** The field as a name that a person reads and types: UTF-8, and Latin-1 where it is not UTF-8. */
export function nameText(binary: string): string {
  if (!beyondAscii.test(binary)) return binary;
  try {
    return strictUtf8.decode(Buffer.from(binary, "latin1"));
  } catch {
    return binary;
  }
}

/** Text of ours as a field, in UTF-8. */
export function toBinary(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}
