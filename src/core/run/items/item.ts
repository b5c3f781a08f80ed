/** Extracts items from the values of a table, and defines when two items are the same. */
import { canonicalItem } from "../../classifier/canonical.js";
import { apostrophes, hidden, type Span, withoutBlanks, withoutMarks } from "../../classifier/marks.js";
import { findSuffix } from "../../classifier/rules/domain/public-suffix.js";
import { dotLookalikes } from "../../classifier/syntax/domain-name.js";
import type { Kind } from "../../validator/validator.js";

export interface FoundItem extends Span {
  readonly item: string;
  /** Whether the range has characters that are not part of the item, such as quotes or a no-break space. */
  readonly isMarked: boolean;
  /** Returns what replaces the range if the item is replaced; by default, the new item itself. */
  readonly written?: (item: string) => string;
}

/** Longest value, in characters, that is searched for text around an item: the search is not linear. */
const longestWrapped = 2000;
/** Text that programs and people write around an item, from bullets to formulas of Excel. Group 1 is the item. */
const singleQuotes = /^'([^']*)'[,;]?$/d;
export const wrappings: readonly RegExp[] = [
  /^(?:\d{1,7}[.)]|[-*•·–])\s+(\S.*)$/d,
  /^\[[^\]]*\]\((mailto:[^)]*)\)$/di,
  /^[^#]*#(mailto:[^#]*)#?$/di,
  /^="([^"]*)"$/d,
  singleQuotes,
  /^(\S+?@\S+?)\s*\([^()@]*\)$/d,
  /^[^@]*[([{]\s*([^\s([{]+@\S+?)\s*[)\]}]$/di,
  /^[^@]*(?:\s[-–—]|:)\s+(\S+@\S+)$/d,
  /^;?\s*([^;]*[^;\s])\s*;$/d,
];

/** What a text has if one of the wrappings fits: most prose has nothing of it. */
export const signOfWrapping = /^\s*(?:\d{1,7}[.)]|[-*•·–])\s|[;#='[({]|\s[-–—]\s|:\s/;

/** Most values are one word with ASCII letters or digits at both ends, and have nothing around it. */
const oneWord = /^[\w.]\S*[\w.]$/;

type Place = { readonly outer: Span; readonly inner: Span };

function unwrap(text: string, span: Span): Place {
  let outer = withoutBlanks(text, span);
  let inner = withoutMarks(text, outer);
  const own = text.slice(inner.start, inner.end);
  if (own.length <= longestWrapped && !oneWord.test(own) && signOfWrapping.test(own)) {
    for (const wrapping of wrappings) {
      const range = wrapping.exec(text.slice(inner.start, inner.end))?.indices?.[1];
      if (range === undefined) continue;
      const found = { start: inner.start + range[0], end: inner.start + range[1] };
      if (wrapping !== singleQuotes) outer = withoutBlanks(text, found);
      inner = withoutMarks(text, found);
    }
  }
  const open = text[inner.end - 1] === ">" ? text.lastIndexOf("<", inner.end - 1) : -1;
  if (open >= inner.start) {
    outer = withoutBlanks(text, { start: open + 1, end: inner.end - 1 });
    inner = withoutMarks(text, outer);
  }
  return { outer, inner: withoutMarks(text, withoutQuotes(text, inner)) };
}

/** Leaves out quotes around an item or at one of its ends, but not those of a quoted local part. */
function withoutQuotes(text: string, { start, end }: Span): Span {
  let from = start;
  let to = end;
  while (to > from && end - to < 3 && text[to - 1] === '"') to--;
  if (text[from] === '"' && !/^"(?:[^"\\]|\\.)*"@/.test(text.slice(from, to)))
    while (from < to && from - start < 3 && text[from] === '"') from++;
  return { start: from, end: to };
}

// Unwraps `Name <address>`, `smtp:address` and `mailto:address?subject=...` (RFC 6068); the classifier judges the rest.
function findAddress(text: string, span: Span): FoundItem {
  return addressAt(text, span)[0];
}

const isPlainText = (text: string): boolean => /^[ -~]*$/.test(text) || /^[\x20-\x7e\p{Ll}\p{Lu}]*$/u.test(text);

function addressAt(text: string, span: Span): readonly [FoundItem, number] {
  const { outer, inner } = unwrap(text, span);
  const [prefix] = /^(?:smtp:|mailto:)?/i.exec(text.slice(inner.start, inner.end))!;
  const start = inner.start + prefix.length;
  const own = text.slice(start, inner.end);
  if (prefix.length === 7) {
    const [address = ""] = own.split("?");
    return [{ item: decoded(address), start, end: start + address.length, isMarked: false }, start];
  }
  const item = isPlainText(own)
    ? own
    : own
        .replace(hidden, "")
        .replace(dotLookalikes, ".")
        .replace(/^.*@/s, (local) => local.replace(apostrophes, "'"));
  const range = prefix === "" ? outer : { start, end: inner.end };
  return [{ item, ...range, isMarked: item !== text.slice(range.start, range.end) }, start];
}

/** Decodes an address of a `mailto:` link, unless it is no text in percent-encoding. */
export function decoded(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

function findHost(value: string, span: Span): FoundItem {
  const [found, at] = addressAt(value, span);
  const [from, to] = hostIn(found.item);
  const item = found.item.slice(from, to);
  return item === found.item ? found : { item, start: at + from, end: at + to, isMarked: false };
}

function hostIn(text: string): readonly [number, number] {
  // A line of a hosts file has an IP address before the host; a wildcard means all names below a host.
  const before = /^(?:(?:0\.0\.0\.0|127\.0\.0\.1|::1?)\s+)?(?:\*?\.(?=[^.]))?/.exec(text)![0].length;
  const rest = text.slice(before);
  const scheme = /^(?:[a-z][a-z0-9+.-]*:)?\/+/i.exec(rest)?.[0].length;
  // An `@` in the path or the query of a URL belongs to them; `sales/eu@example.net` is an address.
  if (scheme === undefined && !isUrlWithoutScheme(rest) && /^[^@]*[^@/]@[^@/]+$/.test(rest))
    return [before + rest.indexOf("@") + 1, text.length];
  const start = before + (scheme ?? 0);
  const [authority = ""] = text.slice(start).split(/[/?#]/, 1);
  const host = start + authority.lastIndexOf("@") + 1;
  return [host, start + authority.replace(/:\d*$/, "").length];
}

function isUrlWithoutScheme(text: string): boolean {
  const [, host = ""] = /^([^/?#]*?)(?::\d*)?[/?#]/.exec(text) ?? [];
  return looksLikeHost.test(host) && findSuffix(host.toLowerCase()) !== "unknown-tld";
}

export const findItem = (kind: Kind, value: string, span?: Span): FoundItem =>
  (kind === "email" ? findAddress : findHost)(value, span ?? { start: 0, end: value.length });

export const extractItem = (kind: Kind, value: string): string => findItem(kind, value).item;

export function itemKey(item: string): string {
  return item.toLowerCase();
}

export function mailboxKey(kind: Kind, item: string): string {
  return canonicalItem(kind, item) ?? itemKey(item);
}

/** Rough shape of a host. It excludes delimiters, so that a whole record does not look like one. */
export const looksLikeHost = /^(?:[^\s.@,;|"<>()/:_]+\.)+(?:[a-z]{2,}|xn--[a-z0-9-]+|[^\0-\x7f]{2,})\.?$/i;
