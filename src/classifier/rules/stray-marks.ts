/** Repairs addresses with stray marks, such as a final dot, to find the address that was probably meant. */

/** Most characters of an item to repair; an address has 254 at most. */
const longest = 320;

/** Any mark that a repair looks for. Most broken items have none. */
const anyMark = /[\s'"`<>()[\]{},;:!?\uff20\u3002\uff0e\u200b-\u200d\u2060\ufeff]|\.[.@]|@\.|^\.|\.$/;

/** Applied in this order. */
const repairs: readonly (readonly [RegExp, string])[] = [
  // `ann (at) example (dot) net`, and full-width characters.
  [/\s*[([{]\s*at\s*[)\]}]\s*|\uff20/gi, "@"],
  [/\s*[([{]\s*dot\s*[)\]}]\s*|[\u3002\uff0e]/gi, "."],
  // Characters that cannot be seen, but for joiners between letters that need them.
  [/[\u200b\u2060\ufeff]|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])/g, ""],
  // Marks around an address in a text.
  [/^[\s'"`<([{,;:.]+/, ""],
  [/[\s'"`>)\]},;:.!?]+$/, ""],
  [/\s*@\s*/, "@"],
  // `ann@example,net`, `ann..lee@example..net`, `ann.@example.net`, `ann@.example.net`
  [/,(?=[^@]*$)/g, "."],
  [/\.{2,}/g, "."],
  [/\.?@\.?/, "@"],
];

export function withoutStrayMarks(item: string): string | undefined {
  if (item.length > longest || !anyMark.test(item)) return undefined;
  const mended = repairs.reduce((text, [pattern, by]) => text.replace(pattern, by), item);
  return mended === item ? undefined : mended;
}
