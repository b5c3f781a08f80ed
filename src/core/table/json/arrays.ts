// Turns arrays of a JSON document below a header, as a spreadsheet's API gives them, into objects with its names, and
// back: in {"values": [["Name", "Email"], ["Ann", "ann@b.net"]]}, the row becomes {"Name":"Ann", "Email":"ann@b.net"}.
// The way back removes each name, so that an added member becomes an added element.
import * as ascii from "../../ascii.js";
import { headerNote, hide, isLayout, note, show } from "./marks.js";

export function columnNames(header: readonly string[]): readonly string[] {
  const names = new Set<string>();
  for (const [nth, text] of header.entries()) {
    let name = text || `column ${nth + 1}`;
    while (names.has(name)) name += ` ${nth + 1}`;
    names.add(name);
  }
  return [...names];
}

const noName = Buffer.from('"":');
const emptyElement = Buffer.from('"",');

/** Finds the rows and the header in lines that are cut anywhere, and follows their strings and brackets. */
abstract class Rows {
  protected depth = 0;
  protected isInString = false;
  #isEscaped = false;
  #part: "line start" | "kind" | "layout" | "row" | "header" | "other" = "line start";
  #isHeader = false;
  #out = Buffer.allocUnsafe(65_536);
  #length = 0;

  convert(bytes: Uint8Array): Buffer {
    this.#length = 0;
    for (const byte of bytes) {
      if (byte !== ascii.lineFeed && this.#part === "row") this.takeInRow(byte);
      else if (byte !== ascii.lineFeed && this.#part === "header") this.takeInHeader(byte);
      else {
        this.#takeAround(byte);
        this.put(byte);
      }
    }
    return this.#out.subarray(0, this.#length);
  }

  protected abstract takeInRow(byte: number): void;

  protected takeInHeader(byte: number): void {
    this.put(byte);
  }

  protected put(byte: number): void {
    if (this.#length === this.#out.length) this.#out = Buffer.concat([this.#out], 2 * this.#length);
    this.#out[this.#length++] = byte;
  }

  protected putAll(bytes: Iterable<number>): void {
    for (const byte of bytes) this.put(byte);
  }

  protected follow(byte: number): void {
    if (this.isInString) {
      this.isInString = this.#isEscaped || byte !== ascii.quote;
      this.#isEscaped = !this.#isEscaped && byte === ascii.backslash;
    } else if (byte === ascii.quote) this.isInString = true;
    else if (byte === ascii.openBrace || byte === ascii.openBracket) this.depth++;
    else if (byte === ascii.closeBrace || byte === ascii.closeBracket) this.depth--;
  }

  #startRow(part: "row" | "header"): void {
    this.#part = part;
    this.depth = 0;
    this.isInString = false;
    this.#isEscaped = false;
  }

  #takeAround(byte: number): void {
    if (byte === ascii.lineFeed) this.#part = "line start";
    else if (this.#part === "line start" && byte < 0x80) {
      this.#isHeader = false;
      this.#part = byte === note ? "kind" : byte === hide ? "layout" : "other";
    } else if (this.#part === "kind") {
      this.#isHeader = byte === headerNote;
      this.#part = this.#isHeader ? "layout" : "other";
    } else if (this.#part === "layout" && byte === show) this.#startRow(this.#isHeader ? "header" : "row");
  }
}

export class ArraysAsObjects extends Rows {
  readonly #names: readonly Buffer[];
  #index = 0;
  #isBeforeValue = false;

  constructor(names: readonly string[]) {
    super();
    this.#names = names.map((name) => Buffer.from(`${JSON.stringify(name)}:`));
  }

  protected override takeInRow(byte: number): void {
    if (this.isInString || isLayout(byte)) this.put(byte);
    else if (this.depth === 0 && byte === ascii.openBracket) {
      this.put(ascii.openBrace);
      this.#index = 0;
      this.#isBeforeValue = true;
    } else if (this.depth === 1 && byte === ascii.closeBracket) this.put(ascii.closeBrace);
    else {
      if (this.#isBeforeValue) this.putAll(this.#names[this.#index++] ?? noName);
      this.#isBeforeValue = this.depth === 1 && byte === ascii.comma;
      this.put(byte);
    }
    this.follow(byte);
  }
}

export class ObjectsAsArrays extends Rows {
  readonly #indices: ReadonlyMap<string, number>;
  readonly #added: readonly string[];
  #index = 0;
  #part: "before a name" | "name" | "value" = "value";
  readonly #name: number[] = [];
  #space: number[] = [];
  #layout: readonly number[] = [];

  constructor(names: readonly string[], added: readonly string[]) {
    super();
    this.#added = added.filter((name) => !names.includes(name));
    this.#indices = new Map([...names, ...this.#added].map((name, index) => [name, index]));
  }

  protected override takeInRow(byte: number): void {
    if (this.#part === "name") this.#takeInName(byte);
    else if (this.isInString || isLayout(byte)) {
      if (this.#part === "before a name") this.#space.push(byte);
      this.put(byte);
    } else if (this.depth === 0 && byte === ascii.openBrace) {
      this.put(ascii.openBracket);
      this.#index = 0;
      this.#space = [];
      this.#part = "before a name";
    } else if (this.depth === 1 && byte === ascii.closeBrace) this.put(ascii.closeBracket);
    else if (this.#part === "before a name" && byte === ascii.quote) {
      this.#part = "name";
      this.#name.length = 0;
      this.#name.push(byte);
    } else {
      this.put(byte);
      if (this.depth === 1 && byte === ascii.comma) {
        this.#index++;
        this.#space = [];
        this.#part = "before a name";
      }
    }
    this.follow(byte);
  }

  /** An added element comes behind as many as the header has. */
  #takeInName(byte: number): void {
    if (this.isInString) this.#name.push(byte);
    if (this.isInString || byte !== ascii.colon) return;
    this.#part = "value";
    const index = this.#indices.get(JSON.parse(Buffer.from(this.#name).toString()) as string) ?? 0;
    for (; this.#index < index; this.#index++) this.putAll([...emptyElement, ...this.#space]);
  }

  protected override takeInHeader(byte: number): void {
    if (!this.isInString && isLayout(byte)) {
      this.#space.push(byte);
      return;
    }
    const isFirst = this.#part === "before a name";
    if (isFirst) this.#layout = this.#space;
    if (!this.isInString && this.depth === 1 && byte === ascii.closeBracket) {
      for (const name of this.#added) this.putAll([ascii.comma, ...this.#layout, ...Buffer.from(JSON.stringify(name))]);
    }
    const isBefore = !this.isInString && (this.depth === 0 || (this.depth === 1 && byte === ascii.comma));
    this.#part = isBefore ? "before a name" : "value";
    this.putAll(this.#space);
    this.put(byte);
    this.#space = [];
    this.follow(byte);
  }
}
