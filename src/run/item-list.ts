/** Splits values with several items into their parts: lists as people type and copy them, with names between the addresses. */
import { type Span, withoutBlanks } from "../classifier/marks.js";
import type { Kind } from "../validator/validator.js";
import { extractItem, looksLikeHost } from "./item.js";

/** Commas and semicolons of other scripts, and the bar of full width: none of them can be in an address. */
const foreignSeparators = "\u060c\u061b\u3001\uff0c\uff1b\uff5c\uff64";

/** Rough shape of an address. It excludes delimiters, as that of a host in item.ts. */
const looksLikeAddress = new RegExp(
  `^[^\\s@,;|"<>()${foreignSeparators}]+@[^\\s@,;|"<>()${foreignSeparators}]+$`,
);
export const isItem = (kind: Kind, text: string): boolean =>
  (kind === "email" ? looksLikeAddress : looksLikeHost).test(extractItem(kind, text));

/** Longest value, in characters, that is searched for several items. */
export const longestList = 16_384;

const separators: ReadonlySet<string> = new Set([...",;|\r\n", ...foreignSeparators]);
/** Also between items: spaces, and what Google Contacts writes. */
const betweenItems = /:::|\s+/g;
const betweenWords = /^(?:and|or|und|oder|et|ou|y|o|e|i|en|och|[^\p{L}\p{N}]+)$/iu;

/** Addresses of other systems in Exchange's `proxyAddresses`, which reach no mailbox by SMTP. */
const otherSystem = /^(?:x500|x400|sip|eum|spo|notes|ccmail|msmail|gwise):/i;
const anyOtherSystem = /(?:^|[;,+|\s])(?:x500|x400|sip|eum|spo|notes|ccmail|msmail|gwise):/i;
const plusAndSystem = /\+(?=(?:smtp|x500|x400|sip|eum|spo|notes):)/iy;

/** Returns the parts of a list between its separators, except those in quotes or angle brackets. */
function partsOf(text: string, { start, end }: Span): Span[] {
  const parts: Span[] = [];
  let from = start;
  const endPart = (to: number, next: number) => {
    const part = withoutBlanks(text, { start: from, end: to });
    if (part.start < part.end) parts.push(part);
    from = next;
  };
  let [isQuoteLeft, isBracketLeft] = [true, true];
  for (let at = start; at < end; at++) {
    const character = text[at]!;
    if (character === '"') {
      const close: number = isQuoteLeft ? closingQuote(text, at, end) : -1;
      isQuoteLeft = close !== -1;
      if (isQuoteLeft) at = close;
      else endPart(at, at + 1);
    } else if (character === "<") {
      const close: number = isBracketLeft ? text.indexOf(">", at) : -1;
      isBracketLeft = close !== -1 && close < end;
      const next = text.indexOf("<", at + 1);
      if (isBracketLeft && (next === -1 || next > close)) at = close;
      else endPart(at, at + 1);
    } else if (separators.has(character) || character === ">") endPart(at, at + 1);
    else if (character === "+") {
      plusAndSystem.lastIndex = at;
      if (plusAndSystem.test(text)) endPart(at, at + 1);
    }
  }
  endPart(end, end);
  return parts;
}

function closingQuote(text: string, open: number, end: number): number {
  for (let at = open + 1; at < end; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return -1;
}

export const fieldsOf = (text: string): readonly string[] =>
  partsOf(text, { start: 0, end: text.length }).map(({ start, end }) => text.slice(start, end));

/**
 * Joins the parts of display names with commas to their addresses: `Lee, Ann <ann@example.net>`. Parts without an `@`
 * belong to the address in angle brackets after them, with nothing but commas between.
 */
function withNames(text: string, parts: readonly Span[]): readonly Span[] {
  const joined: Span[] = [];
  let names: Span[] = [];
  for (const part of parts) {
    const { start, end } = part;
    const isAfterComma = names.length > 0 && /^[^;|\r\n]*$/.test(text.slice(names.at(-1)!.end, start));
    if (!isAfterComma) joined.push(...names.splice(0));
    const own = text.slice(start, end);
    if (!own.includes("@")) names.push(part);
    else if (/^[^@]*<[^<>]*@[^<>]*>$/.test(own)) {
      joined.push({ start: names[0]?.start ?? start, end });
      names = [];
    } else joined.push(...names.splice(0), part);
  }
  return [...joined, ...names];
}

/** Leaves out brackets or quotes around a whole list: `['ann@example.net', 'bob@example.net']`. */
function insideOf(text: string): Span {
  const all = withoutBlanks(text, { start: 0, end: text.length });
  const [first, last] = [text[all.start], text[all.end - 1]];
  const inside = { start: all.start + 1, end: all.end - 1 };
  const isBracketed =
    (first === "[" && last === "]") || (first === "(" && last === ")") || (first === "{" && last === "}");
  const isQuoted = first === '"' && last === '"' && !text.slice(inside.start, inside.end).includes('"');
  return inside.start < inside.end && (isBracketed || isQuoted) ? inside : all;
}

/**
 * Finds the parts of a list with at least two items. Without an item of its own, a part is one all the same, so that
 * nothing is passed over.
 *
 * @returns undefined if the text is no list; no parts if it only has addresses of other systems than SMTP
 */
export function listedParts(kind: Kind, text: string): readonly Span[] | undefined {
  const hasOthers = kind === "email" && text.length <= longestList && anyOtherSystem.test(text);
  if (text.length > longestList || !(hasOthers || mayBeList.test(text))) return undefined;
  if (
    kind === "email"
      ? !hasOthers && text.indexOf("@") === text.lastIndexOf("@")
      : !/\s/.test(text) && isItem(kind, text)
  ) {
    // A single `@`, or a URL, which may contain a comma.
    return undefined;
  }
  const all = partsOf(text, insideOf(text));
  const own = all.filter(({ start, end }) => !otherSystem.test(text.slice(start, end)));
  const parts = (kind === "email" ? withNames(text, own) : own).flatMap((part) => piecesOf(kind, text, part));
  const said = parts.filter(({ start, end }) => !betweenWords.test(text.slice(start, end)));
  const items = said.filter(({ start, end }) => isItem(kind, text.slice(start, end))).length;
  return items > 1 || own.length < all.length ? said : undefined;
}

const mayBeList = new RegExp(`[,;|\\s/+${foreignSeparators}]|:::`);

/** Splits a part that is no item at spaces; and addresses with slashes between them. */
function piecesOf(kind: Kind, text: string, part: Span): readonly Span[] {
  const own = text.slice(part.start, part.end);
  if (/["<>]/.test(own) || isItem(kind, own)) return [part];
  return splitAt(own, betweenItems, part.start).flatMap((piece) => {
    const word = text.slice(piece.start, piece.end);
    if (kind !== "email" || word.indexOf("@") === word.lastIndexOf("@")) return [piece];
    const between = splitAt(word, /\//g, piece.start);
    return between.every(({ start, end }) => isItem(kind, text.slice(start, end))) ? between : [piece];
  });
}

function splitAt(text: string, separator: RegExp, offset: number): Span[] {
  const parts: Span[] = [];
  let from = 0;
  for (const { index, 0: found } of [...text.matchAll(separator), { index: text.length, 0: "" }]) {
    if (index > from) parts.push({ start: offset + from, end: offset + index });
    from = index + found.length;
  }
  return parts;
}
