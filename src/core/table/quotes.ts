/** Removes and adds the quotes of a single field. */
import { space } from "../ascii.js";
import type { Dialect, Marks } from "./dialect.js";

export const usualMarks: Marks = { quote: '"', escape: '"', comment: null, skipsSpaces: false };

/**
 * Text after the closing quote makes the field plain text: `"Lee, Ann" <ann@example.net>`. As in csv-parse, quotes are
 * removed all the same if that text starts with a NUL or the comment character.
 */
export function unquote(binary: string, marks: Marks): string {
  const { quote, escape: escaping, comment } = marks;
  if (quote === "" || !binary.startsWith(quote)) return binary;
  const close = closeOf(binary, marks);
  const escaped = binary.slice(1, close - 1);
  const inside =
    escaping === quote ? escaped.replaceAll(quote + quote, quote) : escaped.replace(escapedPair(quote, escaping), "$1");
  const next = binary[close];
  if (next === undefined || next === "\u0000" || next === comment) return inside + binary.slice(close);
  return `${quote}${inside}${quote}${binary.slice(close)}`;
}

function escapedPair(quote: string, escaping: string): RegExp {
  const escaped = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  return new RegExp(`${escaped(escaping)}([${escaped(quote)}${escaped(escaping)}])`, "g");
}

export function closeOf(binary: string, { quote, escape: escaping }: Marks): number {
  for (let from = 1; ; ) {
    const at = binary.indexOf(quote, from);
    if (at === -1) return binary.length;
    if (escaping === quote) {
      if (binary[at + 1] !== quote) return at + 1;
      from = at + 2;
      continue;
    }
    let before = at;
    while (before > 1 && binary[before - 1] === escaping) before--;
    if ((at - before) % 2 === 0) return at + 1;
    from = at + 1;
  }
}

/** Quotes as RFC 4180 §2.5 to 2.7. In a dialect without quotes, delimiters, quotes and line endings become spaces. */
export function quoteField(field: string, delimiter: string, marks: Marks = usualMarks): string {
  const { quote } = marks;
  // Without quotes, an empty field would vanish in a run of spaces.
  const isLost = delimiter === " " && field === "";
  const isPlain = !field.includes(delimiter) && !/[\r\n]/.test(field) && (quote === "" || !field.includes(quote));
  if (isPlain && !isLost) return field;
  if (quote === "") return field.replaceAll(delimiter, " ").replace(/[\r\n]+/g, " ");
  return quoted(field, marks);
}

export function quoted(field: string, { quote, escape: escaping }: Marks): string {
  const escaped = escaping === quote ? field : field.replaceAll(escaping, escaping + escaping);
  return `${quote}${escaped.replaceAll(quote, escaping + quote)}${quote}`;
}

/** Returns where the last `count` fields start, with the delimiter before them; undefined unless all are empty. */
export function emptyTail(bytes: Uint8Array, end: number, count: number, dialect: Dialect): number | undefined {
  const { delimiter, quote, skipsSpaces } = dialect;
  const delimiterByte = delimiter?.charCodeAt(0);
  const mark = quote.charCodeAt(0);
  let start = end;
  for (let field = 0; field < count; field++) {
    if (bytes[start - 1] === mark && bytes[start - 2] === mark) start -= 2;
    while (skipsSpaces && bytes[start - 1] === space) start--;
    start--;
    if (bytes[start] !== delimiterByte) return undefined;
  }
  return start;
}
