/** Finds the items in the values of a table: none, one, or several. */
import { type Span, withoutBlanks, withoutMarks } from "../../classifier/marks.js";
import { findSuffix } from "../../classifier/rules/domain/public-suffix.js";
import { typoDomain } from "../../classifier/rules/domain/typo-domain.js";
import { unknownTld } from "../../classifier/rules/domain/unknown-tld.js";
import type { JsonText } from "../../table/json/json-values.js";
import { nameFitOf } from "../../table/sniff/column.js";
import { type ItemTest, isSign } from "../../table/sniff/item-profile.js";
import { isHeaderOf } from "../../table/sniff/second-header.js";
import type { Kind, Status } from "../../validator/validator.js";
import { type FoundItem, findItem, signOfWrapping } from "./item.js";
import { fieldsOf, isItem, isPersonName, listedParts, longestList } from "./item-list.js";
import { type Readable, readableOf } from "./markup.js";
import { itemsInJson, profiles } from "./profiles.js";

/** Plain data, because worker threads get a copy. */
export interface CellOptions {
  readonly kind: Kind;
  readonly emptyValues: readonly string[];
  /** With `first`, the other items of a value are not judged. */
  readonly deciding: "first" | "worst" | "best";
  readonly isPlainList: boolean;
}

export const usualEmptyValues = [
  ...["n/a", "na", "#n/a", "nan", "nil", "null", "(null)", "none", "(none)", "undefined"],
  ...["\\n", "0", "x", "false", "(blank)", "unknown", "no email", "no e-mail", "[no email]"],
  ...["keine", "kein", "k.a.", "k. a.", "entfällt", "unbekannt", "aucun", "aucune", "néant", "inconnu"],
  ...["ninguno", "ninguna", "nessuno", "nessuna", "brak", "ingen", "saknas", "geen", "n.v.t.", "нет"],
  ...["なし", "无", "無", "없음"],
];

export const usualCells = { emptyValues: usualEmptyValues, deciding: "worst", isPlainList: false } as const;

const plainAddress = /^\w[\w.+-]*@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]+$/i;

/** What people write who have no address: nothing in it could be another item, or stand around one. */
const plainWords = /^\w[\w .-]*\w$/;

/** Undefined if `text`, which is `value` without its blanks, lacks blanks that may be part of an item. */
function wholeOf(value: string, text: string): readonly FoundItem[] | undefined {
  const span = withoutBlanks(value, { start: 0, end: value.length });
  return text.length === span.end - span.start ? [{ item: text, ...span, isMarked: false }] : undefined;
}

export class Cells {
  emptied = 0;
  marked = 0;
  /** Whether a word for "no item" may look like an item: then the bytes of a value are not enough to decide. */
  readonly hasItemWords: boolean;
  readonly #emptyValues: ReadonlySet<string>;

  constructor(private readonly options: CellOptions) {
    this.#emptyValues = new Set(options.emptyValues);
    const usual = new Set(usualEmptyValues);
    this.hasItemWords = options.emptyValues.some((word) => !usual.has(word) && /[@.]/.test(word));
  }

  get takesPlainAddresses(): boolean {
    return this.options.kind === "email" && !this.hasItemWords;
  }

  isNone(text: string): boolean {
    return text === "" || this.#isEmptied(text);
  }

  itemsIn(value: string): readonly string[] {
    return this.find(value).map(({ item }) => item);
  }

  find(value: string): readonly FoundItem[] {
    const text = value.trim();
    if (text === "") return [];
    const { kind, deciding } = this.options;
    const isEmail = kind === "email";
    if (isEmail && plainAddress.test(text) && !this.#emptyValues.has(text.toLowerCase())) {
      const found = wholeOf(value, text);
      if (found !== undefined) return found;
    }
    if (this.#isEmptied(text)) {
      this.emptied++;
      return [];
    }
    if (isEmail && plainWords.test(text) && !signOfWrapping.test(text)) {
      const found = wholeOf(value, text);
      if (found !== undefined) return found;
    }
    const inJson = itemsInJson(kind, value);
    const items =
      inJson?.flatMap((each) => this.#findInText(each.text).map((item) => inJsonText(item, each))) ??
      this.#findInMarkup(value);
    const found = items.filter(({ item }) => item !== "");
    if (found.some(({ isMarked }) => isMarked)) this.marked++;
    return deciding === "first" ? found.slice(0, 1) : found;
  }

  #findInMarkup(value: string): readonly FoundItem[] {
    const readable = value.length > longestList ? undefined : readableOf(this.options.kind, value);
    if (readable === undefined) return this.#findInText(value);
    return this.#findInText(readable.text).map((item) => inSource(item, value, readable));
  }

  #findInText(text: string): readonly FoundItem[] {
    const { kind } = this.options;
    const listed = listedParts(kind, text);
    const parts = listed?.filter(({ start, end, isName }) => !isName && !this.#isEmptied(text.slice(start, end)));
    if (listed?.length === 0) this.emptied++;
    const find = (part: Span) => withName(findItem(kind, text, part), text, part);
    if (parts !== undefined && (parts.length > 0 || listed!.length === 0)) return parts.map(find);
    const only = this.#onlyItem(text) ?? text;
    const start = text.indexOf(only);
    return [find({ start, end: start + only.length })];
  }

  #onlyItem(value: string): string | undefined {
    const { kind, isPlainList } = this.options;
    const text = value.trim();
    if (isItem(kind, text) || text.length > longestList) return undefined;
    const cut = kind === "email" ? cutAtDot(text) : undefined;
    if (cut !== undefined) return cut;
    const parts = fieldsOf(isPlainList ? text.replace(/\s#\s.*$/, "") : text);
    const [first] = parts;
    const said = parts.filter((part) => !this.#isEmptied(part) && !isPersonName(part));
    const [only = ""] = said.length === 1 && parts.length > 1 ? said : [];
    // In `na,lee@example.net`, the comma may be a mistyped dot.
    const isApart = text[text.indexOf(only) - 1] !== ",";
    if (isApart && isItem(kind, only) && (kind === "domain" || isWhole(only))) return only;
    if (first === undefined || !isItem(kind, first)) return undefined;
    return isPlainList || isNamed(first, text) ? first : undefined;
  }

  /** True for a word for "no item", punctuation, a repeated header, or a comment in a plain list. */
  #isEmptied(value: string): boolean {
    const { start, end } = withoutMarks(value, { start: 0, end: value.length });
    const text = start < end ? value.slice(start, end) : value;
    const isWord = /[a-z\d@]/i.test(text) || /[\p{L}\p{N}@]/u.test(text);
    if (this.#emptyValues.has(text.toLowerCase()) || !isWord) return true;
    if (this.options.isPlainList && /^(?:#|\/\/|--|;)\s|^[^@.]*:$/.test(text)) return true;
    const isName = /^[a-z][a-z _-]*$/i.test(text) || (!/^[ -~]*$/.test(text) && /^\p{L}[\p{L} _-]*$/u.test(text));
    return isName && nameFitOf(text, profiles[this.options.kind]) === 3;
  }
}

function withName(found: FoundItem, text: string, part: Span): FoundItem {
  const { item, end } = found;
  const at = item === "" ? -1 : text.slice(part.start, found.start).indexOf(item);
  if (at === -1) return found;
  const start = part.start + at;
  return { ...found, start, written: (by) => text.slice(start, end).replaceAll(item, by) };
}

function inJsonText({ item, isMarked, ...range }: FoundItem, { text, start, end }: JsonText): FoundItem {
  const escaped = (part: string) => JSON.stringify(part).slice(1, -1);
  if (end - start === text.length)
    return { item, isMarked, start: start + range.start, end: start + range.end, written: escaped };
  const written = (by: string) => escaped(text.slice(0, range.start) + by + text.slice(range.end));
  return { item, isMarked, start, end, written };
}

function inSource(found: FoundItem, value: string, { starts, ends }: Readable): FoundItem {
  if (found.start === found.end) return found;
  const start = starts[found.start]!;
  const end = ends[found.end - 1]!;
  // A link whose text is around its item, too; see markup.ts.
  const isLink = starts[found.start - 1] === start && end - start < value.trim().length;
  return {
    ...found,
    ...(isLink && { written: (item) => `<${item}>` }),
    ...{ start, end, isMarked: found.isMarked || value.slice(start, end) !== found.item },
  };
}

/** Fast path: a text without a sign has no item, and needs no closer look, which takes microseconds. */
function signsOf(kind: Kind): Uint8Array {
  const signs = new Uint8Array(256);
  for (const sign of "%&\\") signs[sign.charCodeAt(0)] = 1;
  if (kind === "email") signs["@".charCodeAt(0)] = 1;
  else {
    signs[".".charCodeAt(0)] = 2;
    signs.fill(1, 0x80);
  }
  return signs;
}

/** Shows whether a row is in step with its table; see table/scan/broken-rows.ts. */
export function itemTest({ kind, emptyValues }: Pick<CellOptions, "kind" | "emptyValues">): ItemTest {
  const cells = new Cells({ ...usualCells, kind, emptyValues });
  const signs = signsOf(kind);
  const byteAt = (field: string, at: number) => Math.min(field.charCodeAt(at) || 0, 0x80);
  const hasSign = (field: string): boolean => {
    for (let at = 0; at < field.length; at++) if (isSign(signs, byteAt(field, at), byteAt(field, at + 1))) return true;
    return false;
  };
  return {
    signs,
    isItem: (field) => {
      if (!hasSign(field)) return false;
      if (profiles[kind].likeness(field) > 0) return true;
      const items = cells.itemsIn(field);
      return items.length > 0 && items.every((item) => isItem(kind, item));
    },
    isGlued: (field) => cells.itemsIn(field).some(isGlued),
    holds: profiles[kind].holds,
    isHeader: (fields, header) => isHeaderOf(fields, header, profiles[kind]),
    isNone: (field) => cells.isNone(field.trim()),
  };
}

/** Top-level domains of private networks (RFC 6762, appendix G), which begin with public ones. */
const privateNetworks: ReadonlySet<string> = new Set(["intranet", "internal", "private", "corp", "lan"]);

/** Returns whether an item ends with a known top-level domain and other letters, as `ann@posteo.denew`; a typo does not. */
function isGlued(item: string): boolean {
  const domain = item.slice(item.lastIndexOf("@") + 1).toLowerCase();
  const tld = /\.([a-z]{2}[^\s.]*)$/.exec(domain)?.[1];
  if (tld === undefined || privateNetworks.has(tld)) return false;
  if (typoDomain.find(domain) !== undefined || unknownTld.find(domain)?.suggestion !== undefined) return false;
  const isKnown = (name: string) => findSuffix(`x.${name}`) !== "unknown-tld";
  return (
    !isKnown(tld) &&
    Array.from(tld, (_, end) => tld.slice(0, end)).some((name) => /^[a-z]{2,}$/.test(name) && isKnown(name))
  );
}

/** Whether the domain of an address has a dot. */
const isWhole = (address: string): boolean => /@.*\./.test(address);

/** Finds rows with other delimiters than their table's; in `ann@example.co,uk`, the rest is part of the domain. */
const isNamed = (address: string, text: string): boolean =>
  isWhole(address) &&
  text.startsWith(address) &&
  /^[,;|\t][^\s@][^@]*$/.test(text.slice(address.length)) &&
  !/^.[a-z]{2,3}$/.test(text.slice(address.length));

/** Returns an address in which a comma is a mistyped dot, such as `ann@gmail,com`, without what follows it. */
function cutAtDot(text: string): string | undefined {
  const [found, ending = ""] =
    /^(?![<'"([{])[^\s@,;]+@[^\s@,;.]+[,;] ?([a-z]{2,}(?:\.[a-z]{2,})?)(?![\w@.-])/i.exec(text) ?? [];
  return found !== undefined && findSuffix(`x.${ending.toLowerCase()}`) !== "unknown-tld" ? found : undefined;
}

/** From best to worst. In `ranksOfBest`, `quota_exceeded` ranks high: the unchecked item might be the best one. */
const ranks: readonly Status[] = ["", "ok", "alias", "(other)", "disposable", "fake", "quota_exceeded"];

const ranksOfBest: readonly Status[] = ["ok", "quota_exceeded", "alias", "(other)", "disposable", "fake"];

export const isGood = (status: Status | undefined): boolean => status === "ok" || status === "alias";

export function decidesBefore(status: Status, earlier: Status, deciding: CellOptions["deciding"]): boolean {
  const order = deciding === "best" ? ranksOfBest : ranks;
  const rankOf = (name: Status) => order.indexOf(order.includes(name) ? name : "(other)");
  return deciding === "best" ? rankOf(status) < rankOf(earlier) : rankOf(status) > rankOf(earlier);
}
