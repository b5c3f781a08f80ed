// Reads XML in pieces, as spreadsheets need it: as elements, attributes and texts, or unchanged, to be copied. Knows no
// DTD and only the five predefined entities. Needs no more memory than the longest tag.
import { lessThan, slash } from "../../core/ascii.js";

/** In characters, of the longest tag, comment or CDATA section. */
const longestMarkup = 1_048_576;
const longestText = 65_536;
/** In characters: `&#x10FFFF;`. */
const longestReference = 12;

export type XmlEvent = "open" | "close" | "text";

/** Yields the same reader after each piece; take all of its events before the next step. @throws Error for damaged XML */
export async function* readXml(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<XmlReader> {
  const decoder = new TextDecoder();
  const reader = new XmlReader();
  for await (const piece of bytes) {
    reader.push(decoder.decode(piece, { stream: true }));
    yield reader;
  }
  if (!reader.isComplete) throw new Error("its XML ends too early");
}

export class XmlReader {
  name = "";
  text = "";
  /** Including an element that starts, without one that ends. */
  depth = 0;
  #xml = "";
  #at = 0;
  #tag = "";
  #isEmpty = false;

  get isComplete(): boolean {
    return this.depth === 0 && this.#at >= this.#xml.length;
  }

  push(xml: string): void {
    this.#xml = this.#xml.slice(this.#at) + xml;
    this.#at = 0;
  }

  attribute(name: string): string | undefined {
    const range = attributeIn(this.#tag, name);
    return range && dereferenced(this.#tag.slice(...range));
  }

  /** Faster than events: calls `see` with each match of a sticky expression, which must match whole elements. */
  takeUsual(usual: RegExp, see: (match: RegExpExecArray) => void): void {
    if (this.#isEmpty) return;
    usual.lastIndex = this.#at;
    for (let match = usual.exec(this.#xml); match !== null; match = usual.exec(this.#xml)) {
      this.#at = usual.lastIndex;
      see(match);
    }
  }

  /** Returns undefined if the reader needs more input first. */
  next(): XmlEvent | undefined {
    if (this.#isEmpty) {
      this.#isEmpty = false;
      this.depth--;
      return "close";
    }
    while (this.#at < this.#xml.length) {
      if (this.#xml.charCodeAt(this.#at) !== lessThan) return this.#readText();
      const start = this.#at;
      const end = endOfMarkup(this.#xml, start);
      if (end === -1) return this.#wait();
      if (!/[!?]/.test(this.#xml[start + 1]!)) return this.#readTag(end - 1);
      this.#at = end;
      // `<![CDATA[` has nine characters, and `]]>` three.
      if (!this.#xml.startsWith("<![CDATA[", start)) continue;
      this.text = this.#xml.slice(start + 9, end - 3);
      return "text";
    }
    return undefined;
  }

  #readText(): XmlEvent | undefined {
    let end = this.#xml.indexOf("<", this.#at);
    if (end === -1) {
      // A reference may continue in the next piece.
      end = this.#xml.length;
      const reference = this.#xml.lastIndexOf("&");
      const isCut = reference >= this.#at && end - reference < longestReference;
      if (isCut && !this.#xml.includes(";", reference)) end = reference;
      if (end === this.#at) return undefined;
    }
    this.text = dereferenced(this.#xml.slice(this.#at, end));
    this.#at = end;
    return "text";
  }

  #readTag(end: number): XmlEvent {
    const isEnd = this.#xml.charCodeAt(this.#at + 1) === slash;
    this.#isEmpty = !isEnd && this.#xml.charCodeAt(end - 1) === slash;
    this.#tag = this.#xml.slice(this.#at + (isEnd ? 2 : 1), this.#isEmpty ? end - 1 : end);
    this.#at = end + 1;
    const length = this.#tag.search(/\s|$/);
    this.name = this.#tag.slice(this.#tag.lastIndexOf(":", length) + 1, length);
    this.depth += isEnd ? -1 : 1;
    if (this.depth < 0) throw new Error("its XML has an end without a start");
    return isEnd ? "close" : "open";
  }

  #wait(): undefined {
    if (this.#xml.length - this.#at > longestMarkup) throw new Error("its XML has a tag of over 1 MiB");
  }
}

/** A comment, a CDATA section, an instruction, or a tag, whose attributes may contain `>`. */
const markup =
  /<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<(?!!--|!\[CDATA\[|\?)[^"'>]*(?:"[^"]*"[^"'>]*|'[^']*'[^"'>]*)*>/sy;

export function endOfMarkup(xml: string, start: number): number {
  markup.lastIndex = start;
  return markup.test(xml) ? markup.lastIndex : -1;
}

/** Requiring white space prevents a new search at each letter of a long word. */
const attribute = /\s([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

function attributeIn(tag: string, name: string): readonly [number, number] | undefined {
  // Fast path for tags without single quotes, inside which a name with `="` may be part of a value.
  const at = tag.includes("'") ? -1 : tag.indexOf(` ${name}="`);
  if (at !== -1) {
    const start = at + name.length + 3;
    return [start, tag.indexOf('"', start)];
  }
  if (!tag.includes(name)) return undefined;
  for (const found of tag.matchAll(attribute)) {
    const [whole, written = "", value, other = ""] = found;
    if (written.startsWith("xmlns:") || written.slice(written.indexOf(":") + 1) !== name) continue;
    const end = found.index + whole.length - 1;
    return [end - (value ?? other).length, end];
  }
  return undefined;
}

export function attributeOf(tag: string, name: string): string | undefined {
  const range = attributeIn(tag, name);
  return range && tag.slice(...range);
}

export function withAttribute(tag: string, name: string, change: (value: string) => string): string {
  const range = attributeIn(tag, name);
  if (range === undefined) return tag;
  const [start, end] = range;
  return `${tag.slice(0, start)}${change(tag.slice(start, end))}${tag.slice(end)}`;
}

/** Returns the slash of an end, the prefix with its colon, and the name. */
export const nameOf = (token: string): readonly (string | undefined)[] =>
  /^<(\/?)([\w.-]+:)?([\w.-]+)/.exec(token)?.slice(1) ?? [];

export const isEmpty = (tag: string): boolean => tag.endsWith("/>");

/** Returns the index after a piece with more than one tag; -1 for none. */
type EndOfMore = (xml: string, start: number) => number;

export function split(xml: string, tokens: string[], endOfMore: EndOfMore = () => -1): number {
  let at = 0;
  for (let start = xml.indexOf("<"); start !== -1; start = xml.indexOf("<", at)) {
    if (start > at) tokens.push(xml.slice(at, start));
    at = start;
    const endOfAll = endOfMore(xml, start);
    const end = endOfAll === -1 ? endOfMarkup(xml, start) : endOfAll;
    if (end === -1) break;
    tokens.push(xml.slice(start, end));
    at = end;
  }
  return at;
}

/** A long text may be in several pieces. @throws Error from the iteration if the XML is not UTF-8 */
export async function* tokensOf(bytes: AsyncIterable<Uint8Array>, endOfMore?: EndOfMore): AsyncGenerator<string[]> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let rest = "";
  let isStart = true;
  for await (const piece of bytes) {
    const xml = rest + decoder.decode(piece, { stream: true });
    if (isStart && /^\ufeff?<\?xml[^>]*encoding\s*=\s*["'](?!utf-?8)/i.test(xml)) {
      throw new Error("its XML is not UTF-8");
    }
    isStart = false;
    const tokens: string[] = [];
    rest = xml.slice(split(xml, tokens, endOfMore));
    if (!rest.startsWith("<") && rest.length > longestText) {
      tokens.push(rest);
      rest = "";
    }
    if (rest.length > longestMarkup) throw new Error("its XML has an element of over 1 MiB");
    yield tokens;
  }
  yield [rest + decoder.decode()];
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escapeMarkup = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character]!);

/** `_x0041_` stands for a character in a cell (ECMA-376 part 1, 22.9.2.19); as text, its underscore is written so. */
export const literalText = (text: string): string => text.replace(/_(?=x[\da-f]{4}_)/gi, "_x005F_");

const characters: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

export function dereferenced(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|(amp|lt|gt|quot|apos));/gi, (reference, decimal, hex, name) => {
    if (name !== undefined) return characters[name] ?? reference;
    const codePoint = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : reference;
  });
}

export type PartReader = (name: string) => AsyncIterable<Uint8Array> | undefined;

export function open(part: PartReader, path: string): AsyncIterable<Uint8Array> {
  const bytes = part(path);
  if (bytes === undefined) throw new Error(`its part ${path} is missing`);
  return bytes;
}

/** There are no events of a part that is missing. */
export async function eachEvent(
  bytes: AsyncIterable<Uint8Array> | undefined,
  see: (xml: XmlReader, event: XmlEvent) => void,
): Promise<void> {
  if (bytes === undefined) return;
  for await (const xml of readXml(bytes)) {
    for (let event = xml.next(); event !== undefined; event = xml.next()) see(xml, event);
  }
}

export const eachElement = (bytes: AsyncIterable<Uint8Array> | undefined, see: (xml: XmlReader) => void) =>
  eachEvent(bytes, (xml, event) => {
    if (event === "open") see(xml);
  });

export const longestTag = 65_536;

/** Escapes of characters that XML does not allow: `_x000D_` (22.4.2.4 of the standard). */
export const unescapeText = (text: string): string =>
  text.includes("_x")
    ? text.replace(/_x(?!0000)([\da-f]{4})_/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;

/** Characters that XML does not allow become `_x001F_` (22.4.2.4 of the standard). */
export const escapeXml = (text: string): string =>
  escapeMarkup(literalText(text)).replace(
    /[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g,
    (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}_`,
  );
