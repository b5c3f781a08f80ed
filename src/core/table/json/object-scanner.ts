// Finds the members of a JSON object in its bytes (RFC 8259); accepts exactly what `JSON.parse` accepts. All bytes stay
// as they are, numbers too; parsing each line took nine times as long.
import * as ascii from "../../ascii.js";
import { carriageReturnMark, hide, lineFeedMark, show } from "./marks.js";

export const memberWords = 4;

const literals = ["true", "false", "null"].map((name) => Buffer.from(name));
const escapes = new Set(Buffer.from('"\\/bfnrt'));
const letterU = 0x75;

export class ObjectScanner {
  members = new Int32Array(32 * memberWords);
  #bytes: Uint8Array = new Uint8Array(0);
  #end = 0;
  readonly #isObject: boolean[] = [];
  #depth = 0;
  readonly #isSpace = new Uint8Array(256);
  readonly #isOfDocument: boolean;

  constructor(isOfDocument: boolean) {
    this.#isOfDocument = isOfDocument;
    for (const byte of [ascii.space, ascii.tab, ascii.lineFeed, ascii.carriageReturn]) this.#isSpace[byte] = 1;
    if (isOfDocument) for (const byte of [lineFeedMark, carriageReturnMark]) this.#isSpace[byte] = 1;
  }

  /** Returns the number of members; -1 if the range is not one object. */
  scan(bytes: Uint8Array, from: number, to: number): number {
    this.#bytes = bytes;
    this.#end = to;
    let at = this.#afterSpace(this.#isOfDocument && bytes[from] === hide ? bytes.indexOf(show, from) + 1 : from);
    if (at >= to || bytes[at] !== ascii.openBrace) return -1;
    at = this.#afterSpace(at + 1);
    let count = 0;
    if (bytes[at] === ascii.closeBrace) return this.#afterSpace(at + 1) === to ? 0 : -1;
    for (;;) {
      const keyStart = at;
      const keyEnd = this.#afterString(at);
      if (keyEnd === -1) return -1;
      at = this.#afterSpace(keyEnd);
      if (bytes[at] !== ascii.colon) return -1;
      const valueStart = this.#afterSpace(at + 1);
      const valueEnd = bytes[valueStart] === ascii.quote ? this.#afterString(valueStart) : this.#afterValue(valueStart);
      if (valueEnd === -1) return -1;
      this.#add(count++, keyStart, keyEnd, valueStart, valueEnd);
      at = this.#afterSpace(valueEnd);
      if (bytes[at] === ascii.closeBrace) return this.#afterSpace(at + 1) === to ? count : -1;
      if (bytes[at] !== ascii.comma) return -1;
      at = this.#afterSpace(at + 1);
    }
  }

  #add(index: number, keyStart: number, keyEnd: number, valueStart: number, valueEnd: number): void {
    const word = index * memberWords;
    if (word === this.members.length) {
      const larger = new Int32Array(2 * word);
      larger.set(this.members);
      this.members = larger;
    }
    const { members } = this;
    members[word] = keyStart;
    members[word + 1] = keyEnd;
    members[word + 2] = valueStart;
    members[word + 3] = valueEnd;
  }

  #afterSpace(from: number): number {
    const bytes = this.#bytes;
    let at = from;
    const isSpace = this.#isSpace;
    while (at < this.#end && isSpace[bytes[at]!] === 1) at++;
    return at;
  }

  /** Like the methods below, returns the index after a token (`#afterKey`: after the value); -1 if it is not there. */
  #afterString(from: number): number {
    const bytes = this.#bytes;
    const end = this.#end;
    if (from >= end || bytes[from] !== ascii.quote) return -1;
    for (let at = from + 1; at < end; at++) {
      const byte = bytes[at]!;
      if (byte === ascii.quote) return at + 1;
      if (byte < 0x20) return -1;
      if (byte !== ascii.backslash) continue;
      at++;
      if (bytes[at] === letterU) {
        if (at + 4 >= end || !/^[\da-f]{4}$/i.test(String.fromCharCode(...bytes.subarray(at + 1, at + 5)))) return -1;
        at += 4;
      } else if (!escapes.has(bytes[at]!)) return -1;
    }
    return -1;
  }

  #afterValue(from: number): number {
    this.#depth = 0;
    let at = from;
    while (at !== -1) {
      const byte = at < this.#end ? this.#bytes[at]! : -1;
      if (byte === ascii.openBrace || byte === ascii.openBracket) {
        const inside = this.#afterSpace(at + 1);
        const isObject = byte === ascii.openBrace;
        if (inside >= this.#end || this.#bytes[inside] !== (isObject ? ascii.closeBrace : ascii.closeBracket)) {
          this.#isObject[this.#depth++] = isObject;
          at = isObject ? this.#afterKey(inside) : inside;
          continue;
        }
        at = inside + 1;
      } else at = byte === ascii.quote ? this.#afterString(at) : this.#afterScalar(at);
      if (this.#depth === 0) return at;
      at = this.#afterElement(at);
      if (this.#depth === 0) return at;
    }
    return -1;
  }

  #afterElement(from: number): number {
    if (from === -1) return -1;
    let at = from;
    while (this.#depth > 0) {
      at = this.#afterSpace(at);
      const isObject = this.#isObject[this.#depth - 1]!;
      const byte = at < this.#end ? this.#bytes[at]! : -1;
      if (byte === ascii.comma) return isObject ? this.#afterKey(this.#afterSpace(at + 1)) : this.#afterSpace(at + 1);
      if (byte !== (isObject ? ascii.closeBrace : ascii.closeBracket)) return -1;
      this.#depth--;
      at++;
    }
    return at;
  }

  #afterKey(from: number): number {
    const end = this.#afterString(from);
    if (end === -1) return -1;
    const at = this.#afterSpace(end);
    return at < this.#end && this.#bytes[at] === ascii.colon ? this.#afterSpace(at + 1) : -1;
  }

  #afterScalar(from: number): number {
    const bytes = this.#bytes;
    for (const name of literals) {
      if (bytes[from] !== name[0]) continue;
      for (let i = 1; i < name.length; i++) if (bytes[from + i] !== name[i]) return -1;
      return from + name.length;
    }
    let at = bytes[from] === ascii.hyphen ? from + 1 : from;
    const whole = this.#afterDigits(at);
    if (whole === -1 || (bytes[at] === ascii.zero && whole > at + 1)) return -1;
    at = whole;
    if (at < this.#end && bytes[at] === ascii.dot) {
      at = this.#afterDigits(at + 1);
      if (at === -1) return -1;
    }
    // e or E
    if (at < this.#end && (bytes[at]! | 0x20) === 0x65) {
      at++;
      if (bytes[at] === ascii.plus || bytes[at] === ascii.hyphen) at++;
      at = this.#afterDigits(at);
    }
    return at;
  }

  #afterDigits(from: number): number {
    let at = from;
    while (at < this.#end && this.#bytes[at]! >= ascii.zero && this.#bytes[at]! <= ascii.nine) at++;
    return at === from ? -1 : at;
  }
}
