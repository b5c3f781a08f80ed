/** Splits values with several items: lists as people type and copy them, with names between the addresses. */
import { type Span, withoutBlanks } from "../../classifier/marks.js";
import type { Kind } from "../../validator/validator.js";
import { extractItem, looksLikeHost } from "./item.js";

const foreignSeparators = "\u060c\u061b\u3001\uff0c\uff1b\uff5c\uff64";

const looksLikeAddress = new RegExp(`^[^\\s@,;|"<>()${foreignSeparators}]+@[^\\s@,;|"<>()${foreignSeparators}]+$`);
export const isItem = (kind: Kind, text: string): boolean =>
  (kind === "email" ? looksLikeAddress : looksLikeHost).test(extractItem(kind, text));

/** In characters. Some 6,000 addresses; of the longest ones, the worst take 2 s. */
export const longestList = 131_072;

const separators: ReadonlySet<string> = new Set([...",;|\r\n", ...foreignSeparators]);
const betweenItems = /:::|\s+/g;
const isBetween = (text: string): boolean =>
  /^(?:and|or|und|oder|et|ou|y|o|e|i|en|och|\([^()@]*\)|[^\p{L}\p{N}]+)$/iu.test(text);

/** Addresses of other systems in Exchange's `proxyAddresses`, which reach no mailbox by SMTP. */
const otherSystem = /^(?:x500|x400|sip|eum|spo|notes|ccmail|msmail|gwise):/i;
const anyOtherSystem = /(?:^|[;,+|\s])(?:x500|x400|sip|eum|spo|notes|ccmail|msmail|gwise):/i;
/** The attributes of an X.400 address, which has semicolons between them. */
const attributeOfX400 = /^(?:[a-z]{1,4}\d?|dda:[^=]*)=/i;
const plusAndSystem = /\+(?=(?:smtp|x500|x400|sip|eum|spo|notes):)/iy;

const ofAddress = /[^\s@,;|"'<>()]/;

/** In proportion to the text, where an expression would begin anew at each letter. */
function firstAddress(text: string): string | undefined {
  for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
    let start = at;
    while (start > 0 && ofAddress.test(text[start - 1]!)) start--;
    let end = at + 1;
    while (end < text.length && ofAddress.test(text[end]!)) end++;
    if (start < at && end > at + 1) return text.slice(start, end);
  }
  return undefined;
}

/** Returns the parts of a list between its separators, which are not in quotes, and after addresses in angle brackets. */
function partsOf(text: string, { start, end }: Span): Span[] {
  const parts: Span[] = [];
  let from = start;
  let seen: string | undefined;
  let seenTo = start;
  const endPart = (to: number, next: number) => {
    const part = withoutBlanks(text, { start: from, end: to });
    if (part.start < part.end) parts.push(part);
    from = next;
    seen = undefined;
    seenTo = next;
  };
  /** Whether another address is before the one in brackets. None goes across a bracket. */
  const isAnother = (at: number, inBrackets: string): boolean => {
    seen ??= firstAddress(text.slice(seenTo, at));
    seenTo = at;
    return seen !== undefined && seen.toLowerCase() !== inBrackets.trim().toLowerCase();
  };
  const closeOf = closesIn(text, end);
  for (let at = start; at < end; at++) {
    const character = text[at]!;
    const close = character === '"' || character === "<" ? closeOf(at) : undefined;
    if (close === -1) endPart(at, at + 1);
    else if (close !== undefined) {
      const inBrackets = character === "<" ? text.slice(at + 1, close) : "";
      if (inBrackets !== "" && isAnother(at, inBrackets)) endPart(at, at);
      at = close;
      if (inBrackets.includes("@")) endPart(close + 1, close + 1);
    } else if (separators.has(character) || character === ">" || startsSystem(text, at)) endPart(at, at + 1);
  }
  endPart(end, end);
  return parts;
}

function closesIn(text: string, end: number): (open: number) => number {
  let isQuoteLeft = true;
  let bracket = -1;
  return (open) => {
    if (text[open] === '"') {
      const close = isQuoteLeft ? closingQuote(text, open, end) : -1;
      isQuoteLeft = close !== -1;
      return close;
    }
    if (bracket < open) bracket = text.indexOf(">", open);
    if (bracket === -1 || bracket >= end) bracket = end;
    const next = text.indexOf("<", open + 1);
    return bracket < end && (next === -1 || next > bracket) ? bracket : -1;
  };
}

function startsSystem(text: string, at: number): boolean {
  plusAndSystem.lastIndex = at;
  return text[at] === "+" && plusAndSystem.test(text);
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

const afterName = /^[^@]*(?:\s[-–—]|:)\s+\S+@\S+$/;

/** Whether an address has its name before it: in brackets, or after a dash or a colon. */
function isNamed(text: string): boolean {
  const isAngle = text.endsWith(">");
  if (!isAngle && !/[)\]}]$/.test(text)) return afterName.test(text);
  const brackets = isAngle ? "<>" : "()[]{}<>";
  let open = text.length - 2;
  while (open >= 0 && !brackets.includes(text[open]!)) open--;
  const isOpen = open >= 0 && (isAngle ? text[open] === "<" : "([{".includes(text[open]!));
  return (isOpen && text.includes("@", open)) || afterName.test(text);
}
const areWords = (text: string): boolean => /^[\p{L}\p{M}'’-]+\.?(?:\s+[\p{L}\p{M}'’-]+\.?)+$/u.test(text);

/** `Ann Lee` or `Maria de la Cruz` beside an address: other words say that it is not used, or are part of it. */
export const isPersonName = (text: string): boolean => areWords(text) && /^\p{Lu}.*\s\p{Lu}\S*$/u.test(text);

/** A part of a list: an item, with its name if it has one, or the name of somebody without an item. */
export type ListPart = Span & { readonly isName?: true };

/** Joins display names with commas: `Lee, Ann <ann@example.net>`. A part without an address belongs to the next one. */
function withNames(text: string, parts: readonly Span[]): readonly ListPart[] {
  const joined: ListPart[] = [];
  let names: Span[] = [];
  const endNames = () => {
    const isName = names.length > 1 && names.every(({ start, end }) => !/[@.\d]/.test(text.slice(start, end)));
    if (isName) joined.push({ start: names[0]!.start, end: names.at(-1)!.end, isName });
    else
      for (const part of names) {
        const isNamed = areWords(text.slice(part.start, part.end));
        joined.push(isNamed ? { ...part, isName: true } : part);
      }
    names = [];
  };
  for (const part of parts) {
    const { start, end } = part;
    const isAfterComma = names.length > 0 && /^[^;|\r\n]*$/.test(text.slice(names.at(-1)!.end, start));
    if (!isAfterComma) endNames();
    const own = text.slice(start, end);
    if (!/\S@\S/.test(own)) names.push(part);
    else if (isNamed(own)) {
      joined.push({ start: names[0]?.start ?? start, end });
      names = [];
    } else {
      endNames();
      joined.push(part);
    }
  }
  endNames();
  return joined;
}

/** Leaves out brackets or quotes around a whole list: `['ann@example.net', 'bob@example.net']`. */
function insideOf(text: string): Span {
  const all = withoutBlanks(text, { start: 0, end: text.length });
  const first = text[all.start];
  const last = text[all.end - 1];
  const inside = { start: all.start + 1, end: all.end - 1 };
  const isBracketed =
    (first === "[" && last === "]") || (first === "(" && last === ")") || (first === "{" && last === "}");
  const isQuoted = first === '"' && last === '"' && !text.slice(inside.start, inside.end).includes('"');
  return inside.start < inside.end && (isBracketed || isQuoted) ? inside : all;
}

/** Undefined if the text is no list; empty if all are addresses of other systems. Parts without an item are kept. */
export function listedParts(kind: Kind, text: string): readonly ListPart[] | undefined {
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
  let isOther = false;
  const own = all.filter(({ start, end }) => {
    const part = text.slice(start, end);
    isOther = otherSystem.test(part) || (isOther && attributeOfX400.test(part));
    return !isOther;
  });
  const parts = (kind === "email" ? withNames(text, own) : own).flatMap((part) => piecesOf(kind, text, part));
  const said = parts.filter(({ start, end }) => !isBetween(text.slice(start, end)));
  const texts = said.map(({ start, end }) => text.slice(start, end));
  const items = texts.filter((part) => isItem(kind, part)).length;
  // What is left of an address, such as `bob@`, counts beside a whole one; a name such as `@bob` is one in other networks.
  const areCut = kind === "email" && items === 1 && texts.length > 1 && texts.every((part) => /^[^\s@]+@/.test(part));
  return items > 1 || areCut || own.length < all.length ? said : undefined;
}

const mayBeList = new RegExp(`[,;|\\s/+>${foreignSeparators}]|:::`);

function piecesOf(kind: Kind, text: string, part: ListPart): readonly ListPart[] {
  if (part.isName) return [part];
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
