// Turns a JSON document into lines with a record each, and notes for what is around them; see marks.ts. Only what is
// around records goes through the grammar: the reader of JSON Lines finds what is wrong in them.
import * as ascii from "../../core/ascii.js";
import { deepest, Grammar, isSpace, tooDeep } from "../../core/table/json/grammar.js";
import * as marks from "../../core/table/json/marks.js";
import { type DocumentShape, keyOf } from "./document-shape.js";

const mostUsual = 200;
const mostBetween = 65_536;
const recordSeparator = 0x1e;

/** Kinds of bytes in a record: bytes outside of strings first, then those inside. */
const What = { text: 0, quote: 1, backslash: 2, opening: 3, closing: 4, break: 5, wrong: 6 } as const;
const insideString = 256;
const whats = new Uint8Array(512);
whats.fill(What.wrong, 0, 0x20).fill(What.wrong, insideString, insideString + 0x20);
whats[ascii.space] = What.text;
whats[ascii.tab] = What.text;
whats[ascii.lineFeed] = What.break;
whats[ascii.carriageReturn] = What.break;
for (const byte of [ascii.openBrace, ascii.openBracket]) whats[byte] = What.opening;
for (const byte of [ascii.closeBrace, ascii.closeBracket]) whats[byte] = What.closing;
whats[ascii.quote] = What.quote;
whats[insideString + ascii.quote] = What.quote;
whats[insideString + ascii.backslash] = What.backslash;

export class DocumentRecords {
  /** Number of elements that are not records. */
  others = 0;
  readonly #lists: ReadonlySet<string>;
  readonly #mostDepth: number;
  readonly #grammar: Grammar;
  readonly #firstByte: number;
  #isBeforeHeader: boolean;
  readonly #opening: Buffer;
  readonly #closing: Buffer;
  #listDepth: number | undefined;
  #isArray = false;
  #mode: "frame" | "start of list" | "between" | "record" | "other" = "frame";
  #isAtStart: boolean;
  readonly #between: number[] = [];
  #out = Buffer.allocUnsafeSlow(131_072);
  #length = 0;
  #isInNote = false;
  /** {@link insideString}, or 0. */
  #inside = 0;
  #isEscaped = false;
  #isAfterReturn = false;
  readonly #open: number[] = [];
  #depth = 0;

  get addedBytes(): number {
    return this.#opening.length;
  }

  constructor(
    file: string,
    private readonly shape: DocumentShape,
  ) {
    this.#grammar = new Grammar(file, shape.isSequence);
    const { textName, header } = shape;
    this.#isBeforeHeader = header !== undefined;
    this.#firstByte = header ? ascii.openBracket : textName === undefined ? ascii.openBrace : ascii.quote;
    this.#opening = Buffer.from(textName === undefined ? "" : `{${JSON.stringify(textName)}:`);
    this.#closing = Buffer.from(textName === undefined ? "\n" : "}\n");
    this.#lists = new Set(shape.lists.map(keyOf));
    this.#mostDepth = shape.lists.reduce((most, { names }) => Math.max(most, names.length + 1), 0);
    this.#isAtStart = shape.isSequence;
    if (shape.isSequence) {
      this.#listDepth = 0;
      this.#mode = "between";
    }
  }

  /** The last line may not have ended. Valid until the next call. @throws TableError */
  read(bytes: Uint8Array): Buffer {
    this.#length = 0;
    for (let at = 0; at < bytes.length; ) {
      this.#room(bytes.length - at);
      at = this.#mode === "record" ? this.#readRecord(bytes, at) : this.#readSeparator(bytes, at);
    }
    if (this.#mode === "frame") this.#endNote();
    return this.#out.subarray(0, this.#length);
  }

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

  #readSeparator(bytes: Uint8Array, from: number): number {
    const grammar = this.#grammar;
    const isUsual =
      bytes[from] === ascii.comma && this.#mode === "between" && this.#isArray && this.#between.length === 0;
    if (!isUsual || grammar.expected !== "comma or end" || this.#isBeforeHeader) return this.#readAround(bytes, from);
    let at = from + 1;
    while (at < bytes.length && isSpace(bytes[at]!)) at++;
    if (bytes[at] !== this.#firstByte || at - from > mostUsual) return this.#readAround(bytes, from);
    this.#out[this.#length++] = marks.hide;
    for (let each = from; each < at; each++) {
      this.#put(bytes[each]!);
      grammar.count(bytes[each]!);
    }
    this.#startRecord();
    return at;
  }

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
      this.#isArray = byte === ascii.openBracket;
      this.#mode = "start of list";
    }
    if (this.#mode === "other" && !grammar.isInToken) this.#endOther();
    return at + 1;
  }

  #endOther(): void {
    if (this.#grammar.depth !== this.#listDepth) return;
    this.#out[this.#length++] = ascii.lineFeed;
    this.#mode = "between";
  }

  #readBetween(byte: number, at: number): number {
    const grammar = this.#grammar;
    const isBetween = isSpace(byte) || byte === ascii.closeBracket || grammar.depth !== this.#listDepth;
    if (this.shape.isSequence && byte === recordSeparator) grammar.count(byte);
    else if (grammar.isBeforeValue && !isBetween) {
      this.#startElement(byte);
      return at;
    } else grammar.take(byte);
    if (this.#between.push(byte) > mostBetween) {
      throw grammar.fault("two records have over 64 KiB of white space or a name between them");
    }
    if (grammar.depth < this.#listDepth!) {
      this.#moveBetween();
      this.#listDepth = undefined;
      this.#mode = "frame";
    }
    return at + 1;
  }

  #startElement(byte: number): void {
    if (this.#isAtStart) this.#moveLeadingSpace();
    const isHeader = byte === this.#firstByte && this.#isBeforeHeader;
    const isRecord = byte === this.#firstByte && !isHeader;
    this.#room(this.#between.length);
    if (isHeader) this.#isBeforeHeader = false;
    if (!isRecord) {
      if (!isHeader) this.others++;
      this.#out[this.#length++] = marks.note;
      this.#out[this.#length++] = isHeader ? marks.headerNote : marks.otherNote;
    }
    this.#out[this.#length++] = marks.hide;
    for (const each of this.#between) this.#put(each);
    this.#between.length = 0;
    if (isRecord) this.#startRecord();
    else {
      this.#putLocation();
      this.#mode = "other";
    }
  }

  #startRecord(): void {
    this.#putLocation();
    this.#mode = "record";
    if (this.#opening.length > 0) this.#length += this.#opening.copy(this.#out, this.#length);
  }

  #putLocation(): void {
    this.#out[this.#length++] = marks.location;
    this.#putNumber(this.#grammar.line);
    this.#putNumber(this.#grammar.column);
    this.#out[this.#length++] = marks.show;
  }

  /** Space before the first value of a sequence belongs to no value, except for a record separator. */
  #moveLeadingSpace(): void {
    this.#isAtStart = false;
    const separator = this.#between.indexOf(recordSeparator);
    const own = separator === -1 ? [] : this.#between.splice(separator);
    this.#moveBetween();
    this.#endNote();
    this.#between.push(...own);
  }

  #readRecord(bytes: Uint8Array, from: number): number {
    const grammar = this.#grammar;
    const open = this.#open;
    const out = this.#out;
    /** From an index in `bytes` to that in `out`. */
    const shift = this.#length - from;
    let depth = this.#depth;
    let inside = this.#inside;
    let lineStart = from - grammar.column + 1;
    let at = from;
    // The byte after a backslash.
    if (this.#isEscaped) out[shift + at] = bytes[at++]!;
    for (; at < bytes.length; at++) {
      const byte = bytes[at]!;
      const what = whats[inside + byte];
      out[at + shift] = byte;
      if (what === What.text) continue;
      // After the last byte, what is written here is not used.
      if (what === What.backslash) out[++at + shift] = bytes[at]!;
      else if (what === What.opening) open[depth++] = byte;
      else if (what === What.break) {
        out[at + shift] = this.#countBreak(byte, at === from ? undefined : bytes[at - 1]);
        lineStart = at + 1;
      } else if (what === What.quote) inside ^= insideString;
      // A closing bracket of ASCII is two above its opening one.
      else if (what === What.wrong || byte - open[--depth]! !== 2) {
        grammar.column = at - lineStart + 1;
        throw this.#faultIn(byte, inside === insideString);
      }
      if (depth === 0 && inside === 0) break;
    }
    const isOver = at < bytes.length;
    this.#isEscaped = at > bytes.length;
    const next = isOver ? at + 1 : bytes.length;
    this.#inside = inside;
    this.#depth = depth;
    if (depth > deepest) throw this.#grammar.fault(tooDeep);
    this.#isAfterReturn = bytes[next - 1] === ascii.carriageReturn;
    this.#length = next + shift;
    grammar.column = next - lineStart + 1;
    if (isOver) {
      this.#length += this.#closing.copy(this.#out, this.#length);
      this.#mode = "between";
      grammar.continueAt(grammar.line, grammar.column);
    }
    return next;
  }

  /** Returns the byte that stands for a byte of a line break; `before` is undefined if it was read earlier. */
  #countBreak(byte: number, before: number | undefined): number {
    const isAfterReturn = before === undefined ? this.#isAfterReturn : before === ascii.carriageReturn;
    if (byte === ascii.carriageReturn || !isAfterReturn) this.#grammar.line++;
    return byte === ascii.lineFeed ? marks.lineFeedMark : marks.carriageReturnMark;
  }

  #faultIn(byte: number, isInString: boolean): Error {
    if (byte >= 0x20) {
      return this.#grammar.fault(`not JSON: "${String.fromCharCode(byte)}" does not match the open bracket`);
    }
    const where = isInString ? "in a string; write it as an escape" : "between values";
    const what = byte === ascii.lineFeed || byte === ascii.carriageReturn ? "a line break" : "a control character";
    return this.#grammar.fault(`not JSON: ${what} is ${where}`);
  }

  #isList(): boolean {
    const { names, depth, expected } = this.#grammar;
    const isOpened = expected === "value or end" || expected === "name or end";
    if (!isOpened || this.#grammar.isInToken) return false;
    const isMap = expected === "name or end";
    return depth <= this.#mostDepth && this.#lists.has(keyOf({ names: names.slice(0, depth - 1), isMap }));
  }

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
    this.#out[this.#length++] = marks.note;
    this.#out[this.#length++] = marks.frameNote;
  }

  #endNote(): void {
    if (this.#isInNote) this.#out[this.#length++] = ascii.lineFeed;
    this.#isInNote = false;
  }

  #room(bytes: number): void {
    if (this.#out.length - this.#length >= bytes + 256 + this.#opening.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.#length + bytes + 256 + this.#opening.length));
    this.#out.copy(larger, 0, 0, this.#length);
    this.#out = larger;
  }

  #put(byte: number): void {
    this.#out[this.#length++] =
      byte === ascii.lineFeed ? marks.lineFeedMark : byte === ascii.carriageReturn ? marks.carriageReturnMark : byte;
  }

  #putNumber(number: number): void {
    let rest = number;
    for (let nth = 0; nth < marks.locationDigits; nth++) {
      this.#out[this.#length++] = 0x30 + (rest & 63);
      rest = rest < 0x40000000 ? rest >> 6 : Math.floor(rest / 64);
    }
  }
}
