/** UTF-8 with what Node.js and browsers both have, so that pages need no copy of Node's Buffer. */
const encoder = new TextEncoder();

export const utf8 = (text: string): Uint8Array => encoder.encode(text);

/** A lone surrogate counts as U+FFFD, which it becomes. */
export function utf8Length(text: string): number {
  let length = 0;
  for (const character of text) length += character < "\x80" ? 1 : character < "\u0800" ? 2 : character.length + 2;
  return length;
}
