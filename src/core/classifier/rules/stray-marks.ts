/** Repairs addresses with stray marks, such as a final dot, to find the address that was probably meant. */
import { apostrophes, hidden, withoutMarks } from "../marks.js";

const longest = 320;

const anyMark = /[\s'"`<>()[\]{},;:!?~]|[^\x20-\x7e]|\.[.@]|@[.@]|^\.|\.$/;

/** Applied in this order, after the marks at both ends are left out. */
const repairs: readonly (readonly [RegExp, string])[] = [
  [/\s*[([{]\s*at\s*[)\]}]\s*|\uff20/gi, "@"],
  [/\s*[([{]\s*dot\s*[)\]}]\s*|[\u3002\uff0e]/gi, "."],
  [hidden, ""],
  [/^[\s'"`<([{,;:.]+/, ""],
  [/[\s'"`>)\]},;:.!?~]+$/, ""],
  [/\s*@[\s@]*/, "@"],
  // Behind a whole domain, it starts something else; and a colon without an address is that of a scheme.
  [/(?<=@[^@.]*|^[^@.:]*(?!:))\s*[,;:\u3001\uff0c]\s*(?=[^@]*$)/g, "."],
  [/\s*\.\s*(?=[^@]*$)/g, "."],
  // A blank in the place of the only dot.
  [/(?<=@[^@.\s]+)\s+(?=[a-z]{2,4}$)/i, "."],
  [/\.{2,}/g, "."],
  [/\.?@\.?/, "@"],
  [apostrophes, "'"],
];

const halfQuoted = /^[^'"]+(['"]).*\1$/s;

export function withoutStrayMarks(item: string): string | undefined {
  if (item.length > longest || !anyMark.test(item)) return undefined;
  const { start, end } = withoutMarks(item, { start: 0, end: item.length });
  const mended = repairs.reduce((text, [pattern, by]) => text.replace(pattern, by), item.slice(start, end));
  return mended === item || halfQuoted.test(item) ? undefined : mended;
}
