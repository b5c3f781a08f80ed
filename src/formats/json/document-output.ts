/** Makes JSON documents of the lines that a run writes: the document that was read, or an array of JSON Lines. */
import { backslash, carriageReturn, comma, lineFeed, openBrace, quote, space } from "../../core/ascii.js";
import { ObjectsAsArrays } from "../../core/table/json/arrays.js";
import * as marks from "../../core/table/json/marks.js";
import type { OutputForm } from "../../core/table/table.js";
import { converting, type TableSink } from "../../files/table-sink.js";

/** The result is valid until the next call. */
interface OutputText {
  convert(bytes: Uint8Array): Uint8Array;
  end?(): Uint8Array;
}

interface Columns {
  readonly names: readonly string[];
  readonly added: readonly string[];
}

/** If `isSplit`, the lines of each status become a document of their own, with a conversion of its own. */
export function documentSink(sink: TableSink, form: OutputForm, columns: Columns | undefined, isSplit: boolean) {
  const text = textFor(form, isSplit, columns);
  return converting(sink, {
    write: (bytes) => sink.write(text.convert(bytes)),
    end: async () => text.end && sink.write(text.end()),
  });
}

function textFor(form: OutputForm, isSplit: boolean, columns: Columns | undefined): OutputText {
  if (form === "array") return new ArrayOfLines();
  if (form === "compact lines") return new CompactLines();
  const document = new ReturnedDocument(isSplit);
  if (columns === undefined) return document;
  const arrays = new ObjectsAsArrays(columns.names, columns.added);
  return { convert: (bytes) => document.convert(arrays.convert(bytes)) };
}

/** Bytes from {@link location} to the value of the record. */
const afterLocation = 2 * marks.locationDigits + 2;

const mostByByte = 256;

const State = { lineStart: 0, note: 1, hidden: 2, location: 3, text: 4, dropped: 5 } as const;

/** The first record that is written into a list loses the comma and space before it, which are around the records. */
export class ReturnedDocument implements OutputText {
  #state: (typeof State)[keyof typeof State] = State.lineStart;
  #isFirst = true;
  /** Whether only commas and white space have been hidden so far. */
  #isDropping = false;
  #out = Buffer.of();

  constructor(private readonly dropsOthers = false) {}

  convert(bytes: Uint8Array): Uint8Array {
    if (this.#out.length < bytes.length) this.#out = Buffer.allocUnsafeSlow(4 * bytes.length);
    let length = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#state === State.lineStart && bytes[at] === marks.hide && !this.#isFirst) {
        // Nearly all lines: a record behind another one, wholly in these bytes.
        const end = bytes.indexOf(marks.location, at) + afterLocation;
        if (end > at + afterLocation && end <= bytes.length) {
          while (bytes[++at] !== marks.location) this.#out[length++] = bytes[at]!;
          at = end;
          this.#state = State.text;
        }
      }
      if (this.#state === State.text) {
        const end = bytes.indexOf(lineFeed, at);
        const next = end === -1 ? bytes.length : end;
        copy(bytes, at, next, this.#out, length);
        length += next - at;
        at = next + 1;
        if (end !== -1) this.#state = State.lineStart;
      } else if (this.#takesLayout(bytes[at++]!)) this.#out[length++] = bytes[at - 1]!;
    }
    if (bytes.includes(marks.lineFeedMark) || bytes.includes(marks.carriageReturnMark))
      restoreBreaks(this.#out, length);
    return this.#out.subarray(0, length);
  }

  #takesLayout(byte: number): boolean {
    switch (this.#state) {
      case State.lineStart:
        this.#isDropping = this.#isFirst;
        // A byte order mark is before the first line.
        if (byte >= 0x80) return true;
        this.#state = byte === marks.note ? State.note : byte === marks.hide ? State.hidden : State.text;
        return this.#state === State.text;
      case State.note:
        this.#isFirst ||= byte === marks.frameNote;
        if (byte === marks.frameNote) this.#state = State.text;
        else this.#state = byte === marks.otherNote && this.dropsOthers ? State.dropped : State.hidden;
        return false;
      case State.dropped:
        if (byte === lineFeed) this.#state = State.lineStart;
        return false;
      case State.location:
        if (byte === marks.show) {
          this.#state = State.text;
          this.#isFirst = false;
        }
        return false;
      default:
        if (byte === marks.location) this.#state = State.location;
        if (byte === marks.location || byte === marks.hide) return false;
        this.#isDropping &&= byte === comma || marks.isLayout(byte);
        return !this.#isDropping;
    }
  }
}

export class CompactLines implements OutputText {
  #state: (typeof State)[keyof typeof State] = State.lineStart;
  #isInString = false;
  #isEscaped = false;

  convert(bytes: Uint8Array): Uint8Array {
    const out = Buffer.allocUnsafeSlow(bytes.length);
    let length = 0;
    for (const byte of bytes) {
      if (this.#isInString) {
        this.#isInString = this.#isEscaped || byte !== quote;
        this.#isEscaped = !this.#isEscaped && byte === backslash;
        out[length++] = byte;
      } else if (this.#takes(byte)) out[length++] = byte;
    }
    return out.subarray(0, length);
  }

  #takes(byte: number): boolean {
    if (this.#state === State.lineStart) {
      if (byte < 0x80)
        this.#state = byte === marks.note ? State.dropped : byte === marks.hide ? State.hidden : State.text;
      return this.#state === State.text || byte >= 0x80;
    }
    if (this.#state === State.hidden) {
      if (byte === marks.show) this.#state = State.text;
      return false;
    }
    if (byte === lineFeed) {
      const isText = this.#state === State.text;
      this.#state = State.lineStart;
      return isText;
    }
    if (this.#state === State.dropped || marks.isLayout(byte)) return false;
    this.#isInString = byte === quote;
    return true;
  }
}

export class ArrayOfLines implements OutputText {
  #isFirst = true;
  #line: "start" | "object" | "other" = "start";

  convert(bytes: Uint8Array): Uint8Array {
    const parts: Uint8Array[] = [];
    let from = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === lineFeed) {
        const end = bytes[at - 1] === carriageReturn ? at - 1 : at;
        if (this.#line === "object") parts.push(bytes.subarray(from, Math.max(from, end)));
        this.#line = "start";
      } else if (this.#line === "start" && byte > space && byte < 0x80) {
        this.#line = byte === openBrace ? "object" : "other";
        if (this.#line === "other") continue;
        parts.push(this.#isFirst ? opening : separator);
        this.#isFirst = false;
        from = at;
      }
    }
    if (this.#line === "object") parts.push(bytes.subarray(from));
    return Buffer.concat(parts);
  }

  end(): Uint8Array {
    return Buffer.from(this.#isFirst ? "[\n]\n" : "\n]\n");
  }
}

const opening = Buffer.from("[\n");
const separator = Buffer.from(",\n");

function copy(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  // A part of the bytes is an object, which costs more than the bytes of a short record.
  if (end - start > mostByByte) to.set(from.subarray(start, end), at);
  else for (let index = start; index < end; index++) to[at + index - start] = from[index]!;
}

/** `bytes` has a buffer of its own, whose length four divides. */
function restoreBreaks(bytes: Uint8Array, length: number): void {
  const words = new Int32Array(bytes.buffer, 0, Math.ceil(length / 4));
  for (let nth = 0; nth < words.length; nth++) {
    const word = words[nth]!;
    // Whether a byte is below 16.
    if (((word - 0x10101010) & ~word & 0x80808080) === 0) continue;
    for (let at = 4 * nth; at < 4 * nth + 4; at++) {
      if (bytes[at] === marks.lineFeedMark) bytes[at] = lineFeed;
      else if (bytes[at] === marks.carriageReturnMark) bytes[at] = carriageReturn;
    }
  }
}
