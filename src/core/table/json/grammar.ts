// The grammar of JSON (RFC 8259), byte by byte, for documents in pieces: accepts what `JSON.parse` accepts, but strings
// need not be UTF-8. jsonc-parser 3.3 takes one string: 198 MB needed 437 MB, where the whole run needs 185 MB.
import * as ascii from "../../ascii.js";
import { TableError } from "../errors.js";

export const isSpace = (byte: number): boolean =>
  byte === ascii.space || byte === ascii.lineFeed || byte === ascii.tab || byte === ascii.carriageReturn;

const scalar = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const escaped = new Set(Buffer.from('"\\/bfnrt'));
const marks = new Set(Buffer.from(',:{}[]"'));
const letterU = 0x75;

/** What may come next, and its description. */
const descriptions = {
  value: "a value",
  "value or end": "a value or a ]",
  name: "a name in double quotes",
  "name or end": "a name in double quotes or a }",
  colon: "a colon",
  "comma or end": "a comma or a closing bracket",
  end: "the end of the document",
};

/** Most brackets that are open at once: each needs memory. */
export const deepest = 100_000;
export const tooDeep = "over 100,000 brackets are open here";

/** Longest number or literal, and longest name that may be on a way to records. */
const mostText = 65_536;

export function faultIn(bytes: Uint8Array, line: number, column: number) {
  const grammar = new Grammar("");
  grammar.line = line;
  grammar.column = column;
  try {
    for (const byte of bytes) grammar.take(byte);
    grammar.end();
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
  }
  return { line: grammar.line, column: grammar.column, reason: grammar.reason ?? "not a JSON object" };
}

/** @throws TableError if the bytes cannot be the start of a document */
export function checkSyntax(file: string, bytes: Uint8Array): void {
  const grammar = new Grammar(file);
  for (const byte of bytes) grammar.take(byte);
}

export class Grammar {
  expected: keyof typeof descriptions = "value";
  /** Line and column, from 1, of the next byte; the column in bytes. */
  line = 1;
  column = 1;
  reason: string | undefined;
  /** The names on the way to the innermost object or list: null for a list. */
  readonly names: (string | null)[] = [];
  readonly #isObject: boolean[] = [];
  #isInString = false;
  #name: number[] | undefined;
  #text: number[] | undefined;
  /** Bytes that an escape in a string still needs: -1 for any character after a backslash, else hexadecimal digits. */
  #escape = 0;
  #isAfterReturn = false;

  constructor(
    private readonly file: string,
    private readonly isSequence = false,
  ) {}

  get depth(): number {
    return this.#isObject.length;
  }

  get isBeforeValue(): boolean {
    return !this.isInToken && (this.expected === "value" || this.expected === "value or end");
  }

  get isInToken(): boolean {
    return this.#isInString || this.#text !== undefined;
  }

  /** @throws TableError when the document cannot go on with this byte */
  take(byte: number): void {
    this.endScalarBefore(byte);
    if (this.#isInString) this.#takeInString(byte);
    else if (this.#text !== undefined) {
      this.#text.push(byte);
      if (this.#text.length > mostText) throw this.fault("a number or a literal is over 64 KiB");
    } else if (!isSpace(byte)) this.#takeMark(byte);
    if (this.depth > deepest) throw this.fault(tooDeep);
    this.count(byte);
  }

  /** @throws TableError if the byte ends what was read as a number or a literal, and is neither */
  endScalarBefore(byte: number): void {
    if (this.#text !== undefined && (isSpace(byte) || marks.has(byte))) this.#endScalar();
  }

  continueAt(line: number, column: number): void {
    this.line = line;
    this.column = column;
    this.#isAfterReturn = false;
    this.passValue();
  }

  count(byte: number): void {
    if (byte === ascii.lineFeed ? !this.#isAfterReturn : byte === ascii.carriageReturn) this.line++;
    this.column = byte === ascii.lineFeed || byte === ascii.carriageReturn ? 1 : this.column + 1;
    this.#isAfterReturn = byte === ascii.carriageReturn;
  }

  passValue(): void {
    this.expected = this.depth > 0 ? "comma or end" : this.isSequence ? "value" : "end";
  }

  /** @throws TableError if the document is not complete */
  end(): void {
    this.#endScalar();
    const isOver = this.depth === 0 && (this.expected === "end" || this.isSequence) && !this.#isInString;
    if (isOver) return;
    const missing = this.#isInString ? 'a " that ends a string' : descriptions[this.expected];
    throw this.fault(`the document ends here, but ${missing} is missing`);
  }

  fault(reason: string): TableError {
    this.reason = reason;
    const at = { file: this.file, line: this.line, column: this.column };
    return new TableError(`${at.file}:${at.line}:${at.column}: ${reason}`, { at });
  }

  #endScalar(): void {
    if (this.#text === undefined) return;
    const text = Buffer.from(this.#text).toString("latin1");
    this.#text = undefined;
    if (!scalar.test(text)) {
      this.column -= text.length;
      throw this.#unexpected(text.slice(0, 20), "a value");
    }
    this.passValue();
  }

  #takeMark(byte: number): void {
    const { expected } = this;
    const isValue = expected === "value" || expected === "value or end";
    const isEnd = expected.endsWith("or end");
    if (byte === ascii.quote && (isValue || expected === "name" || expected === "name or end")) {
      this.#isInString = true;
      if (!isValue) this.#name = [];
    } else if (isValue && (byte === ascii.openBrace || byte === ascii.openBracket)) {
      this.#isObject.push(byte === ascii.openBrace);
      this.names.push(null);
      this.expected = byte === ascii.openBrace ? "name or end" : "value or end";
    } else if (isValue && !marks.has(byte)) this.#text = [byte];
    else if (byte === ascii.colon && expected === "colon") this.expected = "value";
    else if (byte === ascii.comma && expected === "comma or end") {
      this.expected = this.#isObject.at(-1) ? "name" : "value";
    } else if (isEnd && this.depth > 0 && byte === (this.#isObject.at(-1) ? ascii.closeBrace : ascii.closeBracket)) {
      this.#isObject.pop();
      this.names.pop();
      this.passValue();
    } else throw this.#unexpected(String.fromCharCode(byte), descriptions[expected]);
  }

  #takeInString(byte: number): void {
    if (byte < 0x20) throw this.fault("a control character or a line break is in a string; write it as an escape");
    if (this.#name !== undefined && this.#name.length < mostText) this.#name.push(byte);
    if (this.#escape === -1) {
      if (byte !== letterU && !escaped.has(byte))
        throw this.#unexpected(String.fromCharCode(byte), "an escape such as \\n");
      this.#escape = byte === letterU ? 4 : 0;
    } else if (this.#escape > 0) {
      if (!/[\da-f]/i.test(String.fromCharCode(byte)))
        throw this.#unexpected(String.fromCharCode(byte), "a hexadecimal digit");
      this.#escape--;
    } else if (byte === ascii.backslash) this.#escape = -1;
    else if (byte === ascii.quote) {
      this.#isInString = false;
      if (this.#name === undefined) {
        this.passValue();
        return;
      }
      const isWhole = this.#name.length < mostText;
      this.names[this.names.length - 1] = isWhole ? (JSON.parse(`"${Buffer.from(this.#name)}`) as string) : null;
      this.#name = undefined;
      this.expected = "colon";
    }
  }

  #unexpected(found: string, expected: string): TableError {
    return this.fault(`not JSON: ${JSON.stringify(found)} is where ${expected} belongs`);
  }
}
