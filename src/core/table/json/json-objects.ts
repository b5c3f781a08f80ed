/** Reads the lines of a scanned chunk as JSON objects: locates their values in the bytes, and finds the bad rows. */
import { backslash, letterN, openBrace, openBracket, quote } from "../../ascii.js";
import { type BadRowListener, RowFault } from "../bad-rows.js";
import type { TableShape } from "../records.js";
import { type Moved, ScannedChunk, type ValueText } from "../scan/scanned-chunk.js";
import { Offset, recordWords } from "../scan/scanner.js";
import { ObjectsAsArrays } from "./arrays.js";
import { faultIn } from "./grammar.js";
import { itemField, itemTextOf, type JsonShape, orElse, parseObject, textOf, textsIn } from "./json-values.js";
import { breaksIn, hide, locationOf, recordOf, show, unmarked } from "./marks.js";
import { memberWords, ObjectScanner } from "./object-scanner.js";

export class KnownKeys {
  readonly #keys: readonly Buffer[];
  readonly #byText: ReadonlyMap<string, number>;

  constructor(keys: readonly string[]) {
    this.#keys = keys.map((key) => Buffer.from(JSON.stringify(key)));
    this.#byText = new Map(keys.map((key, index) => [key, index]));
  }

  /** `start` to `end` is the key with its quotes; `likely` is tried first. Returns -1 if it is unknown. */
  find(bytes: Buffer, start: number, end: number, likely: number): number {
    if (this.#is(likely, bytes, start, end)) return likely;
    for (let index = 0; index < this.#keys.length; index++) if (this.#is(index, bytes, start, end)) return index;
    // The same text may be written differently: with escapes, or as bytes that are not UTF-8.
    for (let at = start; at < end; at++) {
      if (bytes[at]! < 0x80 && bytes[at] !== backslash) continue;
      return this.#byText.get(keyText(bytes, start, end)) ?? -1;
    }
    return -1;
  }

  #is(index: number, bytes: Buffer, start: number, end: number): boolean {
    const key = this.#keys[index];
    if (key === undefined || key.length !== end - start) return false;
    for (let i = 0; i < key.length; i++) if (key[i] !== bytes[start + i]) return false;
    return true;
  }
}

const keyText = (bytes: Buffer, start: number, end: number): string =>
  JSON.parse(bytes.toString("utf8", start, end)) as string;

/** Empty for null and missing values. A `start` of -1 means that the whole object has to be parsed. */
type ValueRange = { start: number; end: number };

class ValueFinder {
  readonly #keys: KnownKeys;
  readonly #inner: ValueFinder | undefined;
  readonly #scanner: ObjectScanner;

  readonly #otherwise: ValueFinder | undefined;

  constructor(paths: string, isOfDocument: boolean) {
    const [path = "", ...others] = paths.split(orElse);
    this.#otherwise = others.length > 0 ? new ValueFinder(others.join(orElse), isOfDocument) : undefined;
    const dot = path.indexOf(".");
    this.#keys = new KnownKeys(dot === -1 ? [path] : [path, path.slice(0, dot)]);
    this.#inner = dot === -1 ? undefined : new ValueFinder(path.slice(dot + 1), isOfDocument);
    this.#scanner = new ObjectScanner(isOfDocument);
  }

  find(bytes: Buffer, start: number, end: number, range: ValueRange): void {
    const count = this.#scanner.scan(bytes, start, end);
    const { members } = this.#scanner;
    // If a key is repeated, the last member counts.
    let [own, outer] = [-1, -1];
    for (let word = 0; word < count * memberWords; word += memberWords) {
      const key = this.#keys.find(bytes, members[word]!, members[word + 1]!, 0);
      if (key === 0) own = word;
      else if (key === 1) outer = word;
    }
    range.end = range.start;
    if (own !== -1) setRange(range, bytes, members[own + 2]!, members[own + 3]!);
    else if (outer !== -1) {
      const from = members[outer + 2]!;
      const to = members[outer + 3]!;
      if (bytes[from] === openBrace) this.#inner!.find(bytes, from, to, range);
      else if (bytes[from] === openBracket) range.start = -1;
    }
    if (range.start === range.end) this.#otherwise?.find(bytes, start, end, range);
  }
}

type Fault = { readonly kind: RowFault["kind"]; readonly why: string; readonly advice?: string };

function setRange(range: ValueRange, bytes: Buffer, start: number, end: number): void {
  range.start = start;
  range.end = bytes[start] === letterN ? start : end;
}

export class JsonObjects {
  readonly #json: JsonShape;
  readonly #keys: KnownKeys;
  readonly #scanner: ObjectScanner;
  readonly #range: ValueRange = { start: 0, end: 0 };
  #lastMember = 0;

  // `isReshaped`: another format is written, without columns for names that the first objects lack. Without `onBadRow`,
  // chunks with bad rows are refused.
  constructor(
    private readonly shape: TableShape,
    added: readonly string[],
    private readonly isReshaped: boolean,
    private readonly onBadRow: BadRowListener | undefined,
  ) {
    this.#json = shape.json!;
    this.#scanner = new ObjectScanner(this.#json.isDocument);
    this.#keys = new KnownKeys([...this.#json.names, ...(isReshaped ? [] : added)]);
  }

  // `Offset.fields` of a row becomes 1 plus the distance to the name of its last member; blank lines are not rows.
  // Returns undefined for a bad row without a listener; throws a TableError if bad rows end the run.
  read(chunk: ScannedChunk): ScannedChunk | undefined {
    const { bytes, at } = chunk;
    const { badRows, column } = this.shape;
    const range = this.#range;
    const isOnTop = column < this.#json.names.length && !this.#json.names[column]!.includes(".");
    let length = 0;
    for (let word = 0; word < at.length; word += recordWords) {
      const start = at[word]!;
      const end = at[word + Offset.end]!;
      const fault = at[word + Offset.fields] === 0 ? "blank" : this.#findFault(bytes, start, end);
      if (fault === "blank") at[word + Offset.fields] = 0;
      else if (fault !== undefined) {
        if (this.onBadRow === undefined) return undefined;
        const found = this.#rowFault(fault, chunk, word);
        const line = bytes.subarray(start, end);
        const record = this.#json.isDocument ? this.#asWritten(line) : line;
        if (badRows === "error") throw found.toError(record);
        this.onBadRow(found, record);
        if (badRows === "skip") continue;
        at[word + Offset.fields] = 0;
      } else at[word + Offset.fields] = 1 + this.#lastMember - start;
      at[word + Offset.valueStart] = range.start;
      at[word + Offset.valueEnd] = range.end;
      if (length !== word) at.copyWithin(length, word, word + recordWords);
      length += recordWords;
    }
    const read = new JsonChunk(this.shape, bytes, at.subarray(0, length), chunk.line);
    if (!isOnTop) read.locate(column);
    return read;
  }

  #asWritten(line: Buffer): Buffer {
    return recordOf(this.#json.isOfArrays ? new ObjectsAsArrays([], []).convert(line) : line);
  }

  #rowFault({ kind, why, ...advice }: Fault, { bytes, at, line }: ScannedChunk, word: number): RowFault {
    const { name } = this.shape;
    if (!this.#json.isDocument) return new RowFault(kind, name, line + at[word + Offset.linesBefore]!, why, advice);
    const location = locationOf(bytes, at[word]!);
    const { column } = location;
    if (kind !== "not JSON") return new RowFault(kind, name, location.line, why, { column, ...advice });
    const record = this.#asWritten(bytes.subarray(at[word], at[word + Offset.end]));
    const found = faultIn(record, location.line, column - this.#json.addedBytes);
    return new RowFault(kind, name, found.line, found.reason, { column: found.column });
  }

  #findFault(bytes: Buffer, start: number, end: number): Fault | "blank" | undefined {
    const range = this.#range;
    range.start = end;
    range.end = end;
    const count = this.#scanner.scan(bytes, start, end);
    if (count === -1) {
      if (bytes.toString("utf8", start, end).trim() === "") return "blank";
      const advice = `correct the line${this.shape.badRows === "error" ? " or pass --bad-rows skip" : ""}`;
      return { kind: "not JSON", why: "not a JSON object", advice };
    }
    const { members } = this.#scanner;
    this.#lastMember = count === 0 ? start : members[(count - 1) * memberWords]!;
    const { column } = this.shape;
    const known = this.#json.names.length;
    if (this.#json.isOfArrays && count > known) {
      return { kind: "too many fields", why: `${count} elements where the header has ${known}` };
    }
    for (let index = 0, word = 0; index < count; index++, word += memberWords) {
      const key = this.#keys.find(bytes, members[word]!, members[word + 1]!, index);
      if (key === column) setRange(range, bytes, members[word + 2]!, members[word + 3]!);
      if (this.isReshaped ? key !== -1 : key < known) continue;
      const text = keyText(bytes, members[word]!, members[word + 1]!);
      const [why, advice] = this.isReshaped
        ? [`field "${text}" is in none of the first rows, so it has no column`, "pass --format jsonl"]
        : [`field "${text}" already exists`, "choose another name with --set statusColumn=NAME"];
      return { kind: "field name", why, advice };
    }
    return undefined;
  }
}

class JsonChunk extends ScannedChunk {
  readonly #path: string;
  readonly #hasItems: boolean;
  readonly #columns = new Map<number, JsonChunk>();

  constructor(shape: TableShape, bytes: Buffer, at: Int32Array, line: number, column = shape.column) {
    super(shape, bytes, at, line);
    this.#path = shape.json!.paths[column] ?? "";
    this.#hasItems = column === shape.column || shape.otherColumns.includes(column);
  }

  override withColumn(column: number): ScannedChunk {
    if (this.#path === this.shape.json!.paths[column]) return this;
    let other = this.#columns.get(column);
    if (other === undefined) {
      other = new JsonChunk(this.shape, this.bytes, this.at.slice(), this.line, column);
      other.locate(column);
      this.#columns.set(column, other);
    }
    return other;
  }

  locate(column: number): void {
    const { bytes, at } = this;
    const finder = new ValueFinder(this.shape.json!.paths[column] ?? "", this.shape.json!.isDocument);
    const range = { start: 0, end: 0 };
    for (let word = 0; word < at.length; word += recordWords) {
      const start = at[word]!;
      const end = at[word + Offset.end]!;
      range.start = end;
      if (at[word + Offset.fields] === 0) range.end = end;
      else finder.find(bytes, start, end, range);
      const isWhole = range.start === -1;
      at[word + Offset.valueStart] = isWhole ? start : range.start;
      at[word + Offset.valueEnd] = isWhole ? end : range.end;
    }
  }

  protected override shownValue(row: number): string {
    return this.value(row);
  }

  override value(row: number): string {
    const { bytes, at } = this;
    const word = row * recordWords;
    const start = at[word + Offset.valueStart]!;
    const end = at[word + Offset.valueEnd]!;
    if (start === end) return "";
    if (start === at[word]) return itemField(parseObject(unmarked(bytes.toString("utf8", start, end)))!, this.#path);
    const source = bytes.toString("utf8", start, end);
    if (bytes[start] === quote && !source.includes("\\")) return source.slice(1, -1);
    const value: unknown = JSON.parse(unmarked(source));
    return this.#hasItems ? itemTextOf(value) : textOf(value);
  }

  override lineOf(row: number): number {
    if (!this.shape.json!.isDocument) return super.lineOf(row);
    const { bytes, at } = this;
    const word = row * recordWords;
    const { line, value } = locationOf(bytes, at[word]!);
    return line + breaksIn(bytes.subarray(value, at[word + Offset.valueStart]));
  }

  override texts(row: number): readonly ValueText[] {
    const { bytes, at } = this;
    const word = row * recordWords;
    const start = at[word + Offset.valueStart]!;
    const end = at[word + Offset.valueEnd]!;
    if (start === end || (bytes[start] !== quote && bytes[start] !== openBracket && start !== at[word])) return [];
    const isWhole = start === at[word];
    const from = isWhole && bytes[start] === hide ? bytes.indexOf(show, start) + 1 : start;
    const texts = textsIn(bytes.toString("latin1", from, end), true);
    const paths = isWhole ? this.#path.split(orElse) : [""];
    const path = paths.find((each) => texts.some((found) => found.path === each && found.text !== ""));
    return texts
      .filter((found) => found.path === path)
      .map((found) => ({
        text: found.text,
        start: from + found.start,
        end: from + found.end,
        written: (text) => Buffer.from(JSON.stringify(text).slice(1, -1)),
      }));
  }

  protected override move(at: Int32Array, word: number, moved: Moved): void {
    const start = at[word]!;
    const fields = at[word + Offset.fields]!;
    super.move(at, word, moved);
    if (fields !== 0) at[word + Offset.fields] = moved.to(start + fields - 1) - at[word]! + 1;
  }

  protected override withBytes(bytes: Buffer, at: Int32Array): ScannedChunk {
    return new JsonChunk(this.shape, bytes, at, this.line);
  }

  override isUtf8(): boolean {
    return true;
  }
}
