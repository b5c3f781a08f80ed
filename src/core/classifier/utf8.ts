/** UTF-8 with what Node.js and browsers both have, so that pages need no copy of Node's Buffer. */
const encoder = new TextEncoder();

export const utf8 = (text: string): Uint8Array => encoder.encode(text);

/** Returns the number of octets without making them. A surrogate without its other half counts as U+FFFD, which it becomes. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const charCode = text.charCodeAt(i);
    if (charCode < 0x80) continue;
    length += charCode < 0x800 ? 1 : 2;
    const isPair = charCode >= 0xd800 && charCode < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
    // Four octets for two units.
    if (isPair) i++;
  }
  return length;
}
