/** Reads the fields of a scanned record one by one, to write them in another format. */
import { isUtf8 } from "node:buffer";
import { backslash, quote } from "../../ascii.js";
import { toBinary } from "../bytes.js";
import { KnownKeys } from "../json/json-objects.js";
import { exactTextOf, type JsonShape } from "../json/json-values.js";
import { unmarked } from "../json/marks.js";
import { memberWords, ObjectScanner } from "../json/object-scanner.js";
import { closeOf, unquote } from "../quotes.js";
import type { TableShape } from "../records.js";
import type { ScannedChunk } from "../scan/scanned-chunk.js";
import { Offset, recordWords } from "../scan/scanner.js";

export interface RecordFields {
  /** Range of the bytes of the field, if these are its text. Otherwise `from` is -1, and `text` is a binary string. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
  open(chunk: ScannedChunk, row: number): number;
  next(): void;
}

export class CsvFields implements RecordFields {
  from = 0;
  to = 0;
  text = "";
  readonly #shape: TableShape;
  readonly #delimiter: number | undefined;
  readonly #quote: number;
  /** Quotes are doubled, and fields start right after the delimiter: then bytes are read without strings. */
  readonly #isUsual: boolean;
  #bytes: Buffer = Buffer.of();
  #at = 0;
  #end = 0;
  #bounds: readonly number[] = [];
  #field = 0;

  constructor(shape: TableShape) {
    const { delimiter, quote, escape: escaping, skipsSpaces } = shape.dialect;
    this.#shape = shape;
    this.#delimiter = delimiter?.charCodeAt(0);
    this.#quote = quote.charCodeAt(0);
    this.#isUsual = quote === escaping && !skipsSpaces;
  }

  open(chunk: ScannedChunk, row: number): number {
    const word = row * recordWords;
    this.#bytes = chunk.bytes;
    this.#at = chunk.at[word]!;
    this.#end = chunk.at[word + Offset.end]!;
    this.#field = 0;
    if (!this.#isUsual) this.#bounds = chunk.boundsOf(row);
    return Math.min(chunk.at[word + Offset.fields]!, this.#shape.width);
  }

  next(): void {
    if (!this.#isUsual) {
      const at = 2 * this.#field++;
      this.#take(this.#bounds[at]!, this.#bounds[at + 1]!);
      return;
    }
    const bytes = this.#bytes;
    const end = this.#end;
    const start = this.#at;
    const delimiter = this.#delimiter;
    let p = start;
    if (p < end && bytes[p] === this.#quote) {
      p = bytes.indexOf(this.#quote, p + 1);
      // Otherwise quotes are doubled inside it, or text follows it.
      if (p + 1 === end || (p !== -1 && p < end && bytes[p + 1] === delimiter)) {
        this.from = start + 1;
        this.to = p;
        this.#at = p + 2;
        return;
      }
      const text = bytes.toString("latin1", start, end);
      p = start + closeOf(text, this.#shape.dialect);
      while (p < end && bytes[p] !== delimiter) p++;
      this.#take(start, p);
    } else {
      while (p < end && bytes[p] !== delimiter) p++;
      this.from = start;
      this.to = p;
    }
    this.#at = p + 1;
  }

  #take(start: number, end: number): void {
    this.from = -1;
    this.text = unquote(this.#bytes.toString("latin1", start, end), this.#shape.dialect);
  }
}

export class JsonFields implements RecordFields {
  from = 0;
  to = 0;
  text = "";
  readonly #keys: KnownKeys;
  readonly #values: Int32Array;
  readonly #scanner: ObjectScanner;
  #bytes: Buffer = Buffer.of();
  #field = 0;

  constructor({ names, isDocument }: JsonShape) {
    this.#scanner = new ObjectScanner(isDocument);
    this.#keys = new KnownKeys(names);
    this.#values = new Int32Array(2 * names.length);
  }

  open({ bytes, at }: ScannedChunk, row: number): number {
    const word = row * recordWords;
    const count = this.#scanner.scan(bytes, at[word]!, at[word + Offset.end]!);
    const { members } = this.#scanner;
    this.#values.fill(0);
    for (let index = 0, member = 0; index < count; index++, member += memberWords) {
      const name = this.#keys.find(bytes, members[member]!, members[member + 1]!, index);
      this.#values[2 * name] = members[member + 2]!;
      this.#values[2 * name + 1] = members[member + 3]!;
    }
    this.#bytes = bytes;
    this.#field = 0;
    return this.#values.length / 2;
  }

  next(): void {
    const at = 2 * this.#field++;
    const start = this.#values[at]!;
    const end = this.#values[at + 1]!;
    const first = this.#bytes[start]!;
    const isString = first === quote;
    this.from = isString ? start + 1 : start;
    this.to = isString ? end - 1 : end;
    // Literals, numbers, and strings without escapes are their own text.
    const isPlain = start === end || (isString ? this.#isPlainString() : /[tf\d-]/.test(String.fromCharCode(first)));
    if (isPlain) return;
    this.from = -1;
    this.text = toBinary(exactTextOf(unmarked(this.#bytes.toString("utf8", start, end))));
  }

  #isPlainString(): boolean {
    const bytes = this.#bytes;
    for (let at = this.from; at < this.to; at++) {
      if (bytes[at] === backslash) return false;
      if (bytes[at]! >= 0x80)
        return isUtf8(bytes.subarray(at, this.to)) && !bytes.subarray(at, this.to).includes(backslash);
    }
    return true;
  }
}
