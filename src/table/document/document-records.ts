/**
 * Turns the bytes of a JSON document into lines with a record each, and notes for what is around them; see marks.ts.
 *
 * Only what is around the records goes through the grammar. The records are passed over with a look at their strings
 * and brackets: the reader of JSON Lines finds what is wrong in them.
 */
import {
  backslash,
  carriageReturn,
  closeBrace,
  closeBracket,
  lineFeed,
  openBrace,
  openBracket,
  quote,
} from "../ascii.js";
import { Grammar, isSpace } from "./grammar.js";
import {
  carriageReturnMark,
  frameNote,
  hide,
  lineFeedMark,
  note,
  otherNote,
  place,
  placeDigits,
  show,
} from "./marks.js";

/** A list whose elements are records, or an object whose members are. Plain data. */
export interface RecordList {
  /** The names on the way from the document to the list. */
  readonly names: readonly string[];
  readonly isMap: boolean;
}

/** Where the records of a document are. */
export interface DocumentShape {
  /** Whether the records are values one after another, and in no list. */
  readonly isSequence: boolean;
  readonly lists: readonly RecordList[];
  /** The name that makes an object of each text of a list; undefined if the records are objects. */
  readonly textName?: string | undefined;
}

/** White space between two records. */
const mostBetween = 65_536;
const recordSeparator = 0x1e;

/** Bytes inside of strings that need a look. */
const stringClasses = new Uint8Array(256);
for (let byte = 0; byte < 0x20; byte++) stringClasses[byte] = 1;
stringClasses[quote] = 1;
stringClasses[backslash] = 1;

/** What a byte is that ends a string, if it is a quote. */
const stringClass = 7;

/** What bytes outside of strings are, in a record: 1 and 2 open and close, 3 is a quote, 4 a line feed, 5 a CR. */
const classes = new Uint8Array(256);
for (const byte of [openBrace, openBracket]) classes[byte] = 1;
for (const byte of [closeBrace, closeBracket]) classes[byte] = 2;
classes[quote] = 3;
classes[lineFeed] = 4;
classes[carriageReturn] = 5;
for (let byte = 0; byte < 0x20; byte++) if (!isSpace(byte)) classes[byte] = 6;

export class DocumentRecords {
  /** Number of elements that are no records so far. */
  others = 0;
  readonly #shape: DocumentShape;
  readonly #grammar: Grammar;
  readonly #firstByte: number;
  readonly #opening: Buffer;
  readonly #closing: Buffer;
  /** Depth of the list that is being read; undefined outside of lists. */
  #listDepth: number | undefined;
  #mode: "frame" | "start of list" | "between" | "record" | "other" = "frame";
  /** Bytes since the last record. */
  readonly #between: number[] = [];
  #out = Buffer.allocUnsafeSlow(131_072);
  #length = 0;
  #isInNote = false;
  #isInString = false;
  #isEscaped = false;
  #isAfterReturn = false;
  readonly #open: number[] = [];
  /** Indices of the line breaks in a part of a record. */
  readonly #breaks: number[] = [];

  constructor(file: string, shape: DocumentShape) {
    this.#shape = shape;
    this.#grammar = new Grammar(file, shape.isSequence);
    const { textName } = shape;
    this.#firstByte = textName === undefined ? openBrace : quote;
    this.#opening = Buffer.from(textName === undefined ? "" : `{${JSON.stringify(textName)}:`);
    this.#closing = Buffer.from(textName === undefined ? "\n" : "}\n");
    if (shape.isSequence) {
      this.#listDepth = 0;
      this.#mode = "between";
    }
  }

  /**
   * Returns the lines that these bytes make. The last one may not have ended. Valid until the next call.
   *
   * @throws TableError if the bytes cannot be a part of a document
   */
  read(bytes: Uint8Array): Buffer {
    this.#length = 0;
    for (let at = 0; at < bytes.length; ) {
      this.#room(bytes.length - at);
      at = this.#mode === "record" ? this.#readRecord(bytes, at) : this.#readAround(bytes, at);
    }
    if (this.#mode === "frame") this.#endNote();
    return this.#out.subarray(0, this.#length);
  }

  /**
   * Returns the lines after the last bytes.
   *
   * @throws TableError if the document is not complete
   */
  end(): Buffer {
    this.#length = 0;
    this.#room(this.#between.length);
    if (this.#mode === "record") throw this.#grammar.fault("the document ends here, inside this record");
    this.#grammar.end();
    if (this.#mode === "other") this.#endOther();
    this.#moveBetween();
    this.#endNote();
    return this.#out.subarray(0, this.#length);
  }

  /** Reads one byte that is not inside a record. Returns the index of the next one. */
  #readAround(bytes: Uint8Array, at: number): number {
    const grammar = this.#grammar;
    const byte = bytes[at]!;
    if (this.#mode === "other" && grammar.isInToken) {
      grammar.endScalarBefore(byte);
      if (!grammar.isInToken) this.#endOther();
    }
    if (this.#mode === "start of list" && !isSpace(byte)) {
      this.#endNote();
      this.#mode = "between";
    }
    if (this.#mode === "between") return this.#readBetween(byte, at);
    grammar.take(byte);
    if (this.#mode === "frame") this.#startNote();
    this.#put(byte);
    if (this.#mode === "frame" && this.#isList()) {
      this.#listDepth = grammar.depth;
      this.#mode = "start of list";
    }
    if (this.#mode === "other" && !grammar.isInToken) this.#endOther();
    return at + 1;
  }

  #endOther(): void {
    if (this.#grammar.depth !== this.#listDepth) return;
    this.#out[this.#length++] = lineFeed;
    this.#mode = "between";
  }

  #readBetween(byte: number, at: number): number {
    const grammar = this.#grammar;
    if (this.#shape.isSequence && byte === recordSeparator) grammar.count(byte);
    else if (
      grammar.isBeforeValue &&
      grammar.depth === this.#listDepth &&
      !isSpace(byte) &&
      byte !== closeBracket
    ) {
      this.#startElement(byte);
      return at;
    } else grammar.take(byte);
    if (this.#between.push(byte) > mostBetween) {
      throw grammar.fault("over 64 KiB of white space, or a name that long, is between two records");
    }
    if (grammar.depth < this.#listDepth!) {
      this.#moveBetween();
      this.#listDepth = undefined;
      this.#mode = "frame";
    }
    return at + 1;
  }

  #startElement(byte: number): void {
    const { line, column } = this.#grammar;
    const isRecord = byte === this.#firstByte;
    this.#room(this.#between.length);
    if (!isRecord) {
      this.others++;
      this.#out[this.#length++] = note;
      this.#out[this.#length++] = otherNote;
    }
    this.#out[this.#length++] = hide;
    for (const each of this.#between) this.#put(each);
    this.#between.length = 0;
    this.#out[this.#length++] = place;
    this.#putNumber(line);
    this.#putNumber(column);
    this.#out[this.#length++] = show;
    this.#mode = isRecord ? "record" : "other";
    if (isRecord) this.#length += this.#opening.copy(this.#out, this.#length);
  }

  /** Passes over a record. Returns the index after its last byte, or the end of the bytes. */
  #readRecord(bytes: Uint8Array, from: number): number {
    const grammar = this.#grammar;
    /** Index of the byte in column 1. */
    let lineStart = from - grammar.column + 1;
    let at = from;
    do {
      if (this.#isInString) at = this.#readString(bytes, at);
      else while (at < bytes.length && classes[bytes[at]!] === 0) at++;
      if (at === bytes.length) break;
      const byte = bytes[at]!;
      const what = this.#isInString ? stringClass : classes[byte]!;
      if (what === 4 || what === 5) {
        const isAfterReturn = at === from ? this.#isAfterReturn : bytes[at - 1] === carriageReturn;
        grammar.line += Number(what === 5 || !isAfterReturn);
        lineStart = at + 1;
        this.#breaks.push(at);
      } else if (!this.#takeMark(what, byte)) {
        grammar.column = at - lineStart + 1;
        throw this.#faultIn(byte);
      }
      at++;
    } while (this.#isInString || this.#open.length > 0);
    this.#copy(bytes, from, at);
    grammar.column = at - lineStart + 1;
    if (!this.#isInString && this.#open.length === 0) {
      this.#length += this.#closing.copy(this.#out, this.#length);
      this.#mode = "between";
      grammar.continueAt(grammar.line, grammar.column);
    }
    return at;
  }

  #copy(bytes: Uint8Array, from: number, to: number): void {
    this.#out.set(bytes.subarray(from, to), this.#length);
    for (const at of this.#breaks) {
      this.#out[this.#length + at - from] = bytes[at] === lineFeed ? lineFeedMark : carriageReturnMark;
    }
    this.#breaks.length = 0;
    this.#length += to - from;
    this.#isAfterReturn = bytes[to - 1] === carriageReturn;
  }

  /** Returns whether a quote or a bracket may be here. */
  #takeMark(what: number, byte: number): boolean {
    if (what === stringClass) this.#isInString = byte !== quote;
    else if (what === 3) this.#isInString = true;
    else if (what === 1) this.#open.push(byte);
    // A closing bracket of ASCII is two above its opening one.
    else return what === 2 && byte - this.#open.pop()! === 2;
    return what !== stringClass || byte === quote;
  }

  /** Passes over a string from inside it. Returns the index of what ends it, or the end of the bytes. */
  #readString(bytes: Uint8Array, from: number): number {
    let at = from + Number(this.#isEscaped);
    this.#isEscaped = false;
    for (;;) {
      while (at < bytes.length && stringClasses[bytes[at]!] === 0) at++;
      if (at >= bytes.length || bytes[at] !== backslash) break;
      at += 2;
    }
    this.#isEscaped = at > bytes.length;
    return Math.min(at, bytes.length);
  }

  #faultIn(byte: number): Error {
    if (byte >= 0x20) {
      return this.#grammar.fault(
        `not JSON: "${String.fromCharCode(byte)}" closes what another bracket opens`,
      );
    }
    const where = this.#isInString ? "in a string; write it as an escape" : "between values";
    const what = byte === lineFeed || byte === carriageReturn ? "a line break" : "a control character";
    return this.#grammar.fault(`not JSON: ${what} is ${where}`);
  }

  /** Returns whether the list or the object that was opened last has records. */
  #isList(): boolean {
    const { names, depth, expected } = this.#grammar;
    const isOpened = expected === "value or end" || expected === "name or end";
    if (!isOpened || this.#grammar.isInToken) return false;
    return this.#shape.lists.some(
      (list) =>
        list.names.length === depth - 1 &&
        list.isMap === (expected === "name or end") &&
        list.names.every((name, nth) => name === names[nth]),
    );
  }

  /** Makes the bytes since the last record a part of what is around the records. */
  #moveBetween(): void {
    if (this.#between.length === 0) return;
    this.#room(this.#between.length);
    this.#startNote();
    for (const byte of this.#between) this.#put(byte);
    this.#between.length = 0;
  }

  #startNote(): void {
    if (this.#isInNote) return;
    this.#isInNote = true;
    this.#out[this.#length++] = note;
    this.#out[this.#length++] = frameNote;
  }

  #endNote(): void {
    if (this.#isInNote) this.#out[this.#length++] = lineFeed;
    this.#isInNote = false;
  }

  /** Makes room for bytes, and for the marks of an element. */
  #room(bytes: number): void {
    if (this.#out.length - this.#length >= bytes + 256 + this.#opening.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.#length + bytes + 256 + this.#opening.length));
    this.#out.copy(larger, 0, 0, this.#length);
    this.#out = larger;
  }

  #put(byte: number): void {
    this.#out[this.#length++] =
      byte === lineFeed ? lineFeedMark : byte === carriageReturn ? carriageReturnMark : byte;
  }

  #putNumber(number: number): void {
    for (let rest = number, nth = 0; nth < placeDigits; nth++, rest = Math.floor(rest / 64)) {
      this.#out[this.#length++] = 0x30 + (rest & 63);
    }
  }
}
