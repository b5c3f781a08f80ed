/** The rule for addresses with a stray mark: finds the address that was probably meant. */

/** Longest item that is looked at, in characters: an address has 254 at most. */
const longest = 320;

/** What a repair can find. Most broken items have nothing of it. */
const anyMark = /[\s'"`<>()[\]{},;:!?\uff20\u3002\uff0e]|\.[.@]|@\.|^\.|\.$/;

/** Repairs, in the order in which they are made. */
const repairs: readonly (readonly [RegExp, string])[] = [
  // `ann (at) example (dot) net`, and the full-width sign.
  [/\s*[([{]\s*at\s*[)\]}]\s*|\uff20/gi, "@"],
  [/\s*[([{]\s*dot\s*[)\]}]\s*|[\u3002\uff0e]/gi, "."],
  // Marks around an address in running text.
  [/^[\s'"`<([{,;:.]+/, ""],
  [/[\s'"`>)\]},;:.!?]+$/, ""],
  [/\s*@\s*/, "@"],
  // `ann@example,net`, `ann..lee@example..net`, `ann.@example.net`, `ann@.example.net`
  [/,(?=[^@]*$)/g, "."],
  [/\.{2,}/g, "."],
  [/\.?@\.?/, "@"],
];

/** Returns the item without stray dots, commas and the like; undefined if there are none. */
export function withoutStrayMarks(item: string): string | undefined {
  if (item.length > longest || !anyMark.test(item)) return undefined;
  const mended = repairs.reduce((text, [pattern, by]) => text.replace(pattern, by), item);
  return mended === item ? undefined : mended;
}
