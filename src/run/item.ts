/** Extracts items from the values of a table, and defines when two items are the same. */
import { canonicalItem } from "../classifier/canonical.js";
import type { Kind } from "../validator/validator.js";

/**
 * Extracts the e-mail address from a value. Trims the value and unwraps `Name <address>`, `<address>` and
 * `mailto:address?subject=...` (RFC 6068). The classifier decides whether the result is an address.
 */
export function addressIn(value: string): string {
  const text = unwrap(value).replace(/^smtp:/i, "");
  if (!/^mailto:/i.test(text)) return text;
  const [address = ""] = text.slice("mailto:".length).split("?");
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

/** Extracts the host from a URL, an address or `host:port`. */
function hostIn(value: string): string {
  // A line of a hosts file has an IP address before the host; a wildcard means all names below a host.
  const text = addressIn(value)
    .replace(/^(?:0\.0\.0\.0|127\.0\.0\.1|::1?)\s+/, "")
    .replace(/^\*?\.(?=[^.])/, "");
  // `medium.com/@ann` is a URL without its scheme, `sales/eu@example.net` an address.
  if (/^[^@]*[^@/]@[^@/]+$/.test(text)) return text.slice(text.indexOf("@") + 1);
  const [authority = ""] = text.replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//i, "").split(/[/?#]/, 1);
  return authority.slice(authority.lastIndexOf("@") + 1).replace(/:\d*$/, "");
}

/** Longest value, in characters, that is searched for several items or for text around an item: the search is not linear. */
export const longestList = 2000;

/**
 * Text that programs and people write around an item: a number or a bullet before it, a link of Markdown or Access, a formula
 * of Excel, single quotes, a name in parentheses after it, a name with a dash or a label before it, and a semicolon where a
 * list could go on. The first group of each pattern is the item.
 */
const wrappings: readonly RegExp[] = [
  /^(?:\d{1,7}[.)]|[-*•·–])\s+(\S.*)$/,
  /^\[[^\]]*\]\(mailto:([^)]*)\)$/i,
  /^[^#]*#mailto:([^#]*)#?$/i,
  /^="([^"]*)"$/,
  /^'([^']*)'[,;]?$/,
  /^(\S+@\S+)\s+\([^()@]*\)$/,
  /^[^@]*(?:\s[-–—]|:)\s+(\S+@\S+)$/,
  /^;?\s*([^;]*[^;\s])\s*;$/,
];

/** Removes quotes around an item or at one of its ends, but not those of a quoted local part. */
function withoutQuotes(text: string): string {
  const rest = text.replace(/"{1,3}$/, "");
  return rest.startsWith('"') && !/^"(?:[^"\\]|\\.)+"@/.test(rest) ? rest.replace(/^"{1,3}/, "") : rest;
}

/** Invisible characters at the start of copied text: zero width, writing direction, byte order mark. */
const invisible = /^[\u200b\u2060\u202a-\u202e\u2066-\u2069\ufeff]+/;

function unwrap(value: string): string {
  let text = value.trim().replace(invisible, "");
  // Most values are one word with ASCII letters or digits at both ends, and have nothing around it.
  if (text.length <= longestList && !/^[\w.]\S*[\w.]$/.test(text)) {
    for (const wrapping of wrappings) text = wrapping.exec(text)?.[1] ?? text;
  }
  const open = text.endsWith(">") ? text.lastIndexOf("<") : -1;
  return withoutQuotes(open === -1 ? text.trim() : text.slice(open + 1, -1).trim());
}

const itemIn: Readonly<Record<Kind, (value: string) => string>> = { email: addressIn, domain: hostIn };

/** Returns an empty string if the value has no item. */
export function extractItem(kind: Kind, value: string): string {
  return itemIn[kind](value);
}

/** Items with equal keys are the same item. */
export function itemKey(item: string): string {
  return item.toLowerCase();
}

/** Items with equal keys reach the same mailbox, as far as is known. */
export function mailboxKey(kind: Kind, item: string): string {
  return canonicalItem(kind, item) ?? itemKey(item);
}

/** Rough shapes of items. They exclude delimiters, so that a whole record does not look like one address. */
const looksLikeAddress = /^[^\s@,;|"<>()]+@[^\s@,;|"<>()]+$/;
export const looksLikeHost = /^(?:[^\s.@,;|"<>()/:_]+\.)+(?:[a-z]{2,}|xn--[a-z0-9-]+|[^\0-\x7f]{2,})\.?$/i;

export const isItem = (kind: Kind, text: string): boolean =>
  kind === "email" ? looksLikeAddress.test(addressIn(text)) : looksLikeHost.test(hostIn(text));

/**
 * Parts of a list: quoted names, addresses in angle brackets, and text without separators. Text that is no item is
 * split again, at spaces and at ` ::: `, which Google Contacts writes.
 */
const listParts = /(?:"(?:[^"\\]|\\.)*"|<[^<>]*>|[^"<>,;|\r\n])+/g;
const betweenItems = /:::|\s+/;

const betweenWords = /^(?:and|or|und|oder|et|ou|y|o|e|i|en|och|[^\p{L}\p{N}]+)$/iu;

export const fieldsOf = (text: string): readonly string[] =>
  (text.match(listParts) ?? []).map((part) => part.trim()).filter((part) => part !== "");

/** Returns the parts of a list with at least two items; none if it has fewer. */
export function listedItems(kind: Kind, text: string): readonly string[] {
  if (text.length > longestList || !/[,;|\s]|:::/.test(text)) return [];
  if (
    kind === "email" ? text.indexOf("@") === text.lastIndexOf("@") : !/\s/.test(text) && isItem(kind, text)
  ) {
    // A single `@`, or a URL, which may contain a comma.
    return [];
  }
  const parts = fieldsOf(text).flatMap((part) =>
    /["<>]/.test(part) || isItem(kind, part)
      ? [part]
      : part.split(betweenItems).filter((item) => item !== ""),
  );
  const said = parts.filter((part) => !betweenWords.test(part));
  return said.filter((part) => isItem(kind, part)).length > 1 ? said : [];
}
