/**
 * Reads XML piece by piece, as far as spreadsheets need it: elements, attributes and texts. Names are without prefix.
 * Knows no DTD and only the five predefined entities. Needs no more memory than the longest tag.
 */
import { lessThan, slash } from "../ascii.js";

/** Length in characters of the longest tag, comment or CDATA section. */
const longestMarkup = 1_048_576;
/** Length of the longest reference, such as `&#x10FFFF;`. */
const longestReference = 12;

export type XmlEvent = "open" | "close" | "text";

/**
 * Yields the same reader after each piece. The caller must take all of its events before the next step.
 *
 * @throws Error from the iteration and from the reader if the XML is damaged
 */
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
  /** The text, or the piece of it that has been read. */
  text = "";
  /** Number of open elements, including one that starts, without one that ends. */
  depth = 0;
  #xml = "";
  #at = 0;
  /** The tag of the element that starts, from its name on. */
  #tag = "";
  #attributes: ReadonlyMap<string, string> | undefined;
  #isEmpty = false;

  get isComplete(): boolean {
    return this.depth === 0 && this.#at >= this.#xml.length;
  }

  push(xml: string): void {
    this.#xml = this.#xml.slice(this.#at) + xml;
    this.#at = 0;
  }

  attribute(name: string): string | undefined {
    // Most tags have short attributes in quotes, in which a name with `="` behind it is an attribute.
    if (this.#attributes === undefined && !this.#tag.includes("'")) {
      const start = this.#tag.indexOf(` ${name}="`);
      if (start !== -1) {
        const from = start + name.length + 3;
        return dereferenced(this.#tag.slice(from, this.#tag.indexOf('"', from)));
      }
      if (!this.#tag.includes(name)) return undefined;
    }
    this.#attributes ??= attributesOf(this.#tag);
    return this.#attributes.get(name);
  }

  /** Returns the next event; undefined if the reader needs more input first. */
  next(): XmlEvent | undefined {
    if (this.#isEmpty) {
      this.#isEmpty = false;
      this.depth--;
      return "close";
    }
    while (this.#at < this.#xml.length) {
      if (this.#xml.charCodeAt(this.#at) !== lessThan) return this.#readText();
      const second = this.#xml[this.#at + 1];
      if (second !== "!" && second !== "?") return second === undefined ? undefined : this.#readTag();
      // `<![CDATA[` has nine characters.
      if (second === "!" && this.#xml.length - this.#at < 9) return undefined;
      const isSection = this.#xml.startsWith("<![CDATA[", this.#at);
      const isComment = this.#xml.startsWith("<!--", this.#at);
      const ending = isSection ? "]]>" : isComment ? "-->" : second === "?" ? "?>" : ">";
      const start = this.#at + (isSection ? 9 : isComment ? 4 : 2);
      const end = this.#xml.indexOf(ending, start);
      if (end === -1) return this.#wait();
      this.#at = end + ending.length;
      if (!isSection) continue;
      this.text = this.#xml.slice(start, end);
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

  #readTag(): XmlEvent | undefined {
    const end = this.#tagEnd();
    if (end === -1) return this.#wait();
    const isEnd = this.#xml.charCodeAt(this.#at + 1) === slash;
    this.#isEmpty = !isEnd && this.#xml.charCodeAt(end - 1) === slash;
    this.#tag = this.#xml.slice(this.#at + (isEnd ? 2 : 1), this.#isEmpty ? end - 1 : end);
    this.#attributes = undefined;
    this.#at = end + 1;
    const length = this.#tag.search(/\s|$/);
    this.name = this.#tag.slice(this.#tag.lastIndexOf(":", length) + 1, length);
    this.depth += isEnd ? -1 : 1;
    if (this.depth < 0) throw new Error("its XML has an end without a start");
    return isEnd ? "close" : "open";
  }

  /** Returns the index of the `>` that ends the tag; -1 if not read yet. */
  #tagEnd(): number {
    restOfTag.lastIndex = this.#at;
    return restOfTag.test(this.#xml) ? restOfTag.lastIndex - 1 : -1;
  }

  #wait(): undefined {
    if (this.#xml.length - this.#at > longestMarkup) throw new Error("its XML has a tag of over 1 MiB");
  }
}

function attributesOf(tag: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  // Requiring white space prevents a new search at each letter of a long word.
  for (const [, name = "", value, other] of tag.matchAll(/\s([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    const local = name.slice(name.indexOf(":") + 1);
    if (name.startsWith("xmlns:") || attributes.has(local)) continue;
    attributes.set(local, dereferenced(value ?? other ?? ""));
  }
  return attributes;
}

/** Attribute values may also contain `>`. */
const restOfTag = /[^"'>]*(?:"[^"]*"[^"'>]*|'[^']*'[^"'>]*)*>/y;

const characters: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

export function dereferenced(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(?:#(\d+)|#x([\da-f]+)|(amp|lt|gt|quot|apos));/gi,
    (reference, decimal, hex, name) => {
      if (name !== undefined) return characters[name] ?? reference;
      const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : reference;
    },
  );
}
