/** UTF-8 with what Node.js and browsers both have, so that pages need no copy of Node's Buffer. */
const encoder = new TextEncoder();

export const utf8 = (text: string): Uint8Array => encoder.encode(text);
export const utf8Length = (text: string): number => encoder.encode(text).length;
