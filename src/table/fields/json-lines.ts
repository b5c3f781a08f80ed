/** Reads and writes tables of JSON lines. Lines are found by the scanner and copied unless another format is wanted. */
import { type BadRowListener, RowFault } from "../bad-rows.js";
import { toBinary } from "../bytes.js";
import type { EarlierColumns } from "../earlier-columns.js";
import type { RecordChunk, RecordStream, TableShape } from "../records.js";
import type { ScannedChunk } from "../scan/scanned-chunk.js";
import { readScanned } from "../scan/scanned-records.js";
import { Place, recordWords } from "../scan/scanner.js";
import type { ItemTest } from "../sniff/item-profile.js";
import type { FieldChunk } from "./field-writer.js";

export type JsonObject = Readonly<Record<string, unknown>>;

/** A line: its place in the bytes, and its object. */
interface JsonRow {
  readonly start: number;
  /** Index before the line ending. */
  readonly end: number;
  /** Index after the line ending. */
  readonly next: number;
  /** Undefined for a line that is not a row: a blank line, a comment, or a bad row that is kept. */
  readonly object: JsonObject | undefined;
}

/** Lines have neither quotes nor widths, so that nothing asks. */
const noItems: ItemTest = {
  isItem: () => false,
  isGlued: () => false,
  holds: () => false,
  isNone: () => true,
};

/** A table of JSON lines (jsonlines.org): each line is an object, blank or a comment. */
export class JsonLines {
  readonly #shape: TableShape;
  readonly #onBadRow: BadRowListener;
  readonly #names: readonly string[];
  readonly #paths: readonly string[];
  readonly #chunks: AsyncIterable<ScannedChunk>;

  /**
   * Opens the table.
   *
   * @param shape its columns are indices into the paths
   * @param names keys of the first objects
   * @param paths the names, and paths to fields of inner objects: `user.email`
   * @param first the bytes that were read already, without byte order mark
   */
  static async open(
    shape: TableShape,
    names: readonly string[],
    paths: readonly string[],
    first: Buffer,
    rest: AsyncIterator<Uint8Array>,
    onBadRow: BadRowListener,
  ): Promise<JsonLines> {
    // For the scanner, a line is a record of one field.
    const dialect = { ...shape.dialect, delimiter: null, quote: "" };
    const lines = { ...shape, dialect, width: 1, column: 0, otherColumns: [] };
    const target = { format: undefined, keys: [] };
    const { chunks } = await readScanned(lines, target, first, rest, noItems, onBadRow);
    return new JsonLines(shape, names, paths, chunks, onBadRow);
  }

  private constructor(
    shape: TableShape,
    names: readonly string[],
    paths: readonly string[],
    chunks: AsyncIterable<ScannedChunk>,
    onBadRow: BadRowListener,
  ) {
    this.#shape = shape;
    this.#names = names;
    this.#paths = paths;
    this.#chunks = chunks;
    this.#onBadRow = onBadRow;
  }

  /**
   * Returns the stream that keeps each line unchanged and adds the added fields at the end of its object, or puts them in
   * the place of those of an earlier run.
   */
  stream(earlier?: EarlierColumns): RecordStream {
    let keys: readonly string[] = [];
    const start = (columns: readonly string[]) => {
      keys = columns;
      return Buffer.of();
    };
    const ourKeyIn = (object: JsonObject) =>
      keys.find((key, i) => Object.hasOwn(object, key) && earlier?.places[i] === undefined);
    const earlierIn = (object: JsonObject, { places }: EarlierColumns) =>
      places.map((place) => (place === undefined ? "" : textOf(object, this.#paths[place]!)));
    const chunks = async function* (this: JsonLines): AsyncGenerator<RecordChunk> {
      for await (const chunk of this.#chunks) {
        const rows = this.#read(chunk, (object) => {
          const key = ourKeyIn(object);
          return key && `field "${key}" already exists; choose another name with --status-column`;
        });
        const append: RecordChunk["append"] = (added) => this.#append(chunk.bytes, rows, keys, added);
        const objects = rows.map(({ object }) => object);
        const fields = earlier && objects.map((object) => object && earlierIn(object, earlier));
        const field: RecordChunk["field"] = (row, column) =>
          textOf(objects[row] ?? {}, this.#names[column] ?? "");
        yield { ...this.#values(objects), ...(fields && { earlier: fields }), field, append };
      }
    };
    return { start, chunks: chunks.call(this) };
  }

  /** Yields the fields of each object in the order of the names, for writing in another format. */
  async *fields(): AsyncGenerator<FieldChunk> {
    const known = new Set(this.#names);
    for await (const chunk of this.#chunks) {
      const read = this.#read(chunk, (object) => {
        const unknown = Object.keys(object).find((key) => !known.has(key));
        return (
          unknown &&
          `field "${unknown}" is in none of the first rows, so it has no column; pass --format jsonl`
        );
      });
      const rows = read.flatMap(({ object, start, end }) => (object ? [{ object, start, end }] : []));
      yield {
        ...this.#values(rows.map(({ object }) => object)),
        records: rows.map(({ object, start, end }) => {
          const line = chunk.bytes.toString("utf8", start, end);
          const sources = hasExactNumber.test(line) ? sourcesOf(line) : undefined;
          const textIn = (name: string) => {
            const source = sources?.get(name) ?? "";
            const isString = typeof object[name] === "string";
            return !isString && hasExactNumber.test(source) ? source : textOf(object, name);
          };
          return this.#names.map((name) => toBinary(textIn(name)));
        }),
      };
    }
  }

  #values(objects: readonly (JsonObject | undefined)[]) {
    const { column, otherColumns } = this.#shape;
    const valuesOf = (index: number) =>
      objects.map((object) => object && itemField(object, this.#paths[index] ?? ""));
    return { values: valuesOf(column), otherValues: otherColumns.map(valuesOf), notUtf8: 0 };
  }

  /**
   * Reads the lines of a chunk, and reports bad rows.
   *
   * @param findFault returns the fault of an object; undefined or empty if it has none
   */
  #read(
    { bytes, at, line, count }: ScannedChunk,
    findFault: (object: JsonObject) => string | undefined,
  ): JsonRow[] {
    const rows: JsonRow[] = [];
    for (let word = 0; word < count * recordWords; word += recordWords) {
      const [start, end, next] = [at[word]!, at[word + Place.end]!, at[word + Place.next]!];
      const text = at[word + Place.fields] === 0 ? "" : bytes.toString("utf8", start, end);
      const object = parseObject(text);
      const why =
        object === undefined
          ? "not a JSON object; correct the line or pass --bad-rows skip"
          : findFault(object);
      const isBad = why !== undefined && text.trim() !== "";
      if (isBad) {
        const kind = object === undefined ? "not JSON" : "field name";
        const fault = new RowFault(kind, this.#shape.name, line + at[word + Place.linesBefore]!, why);
        if (this.#shape.badRows === "error") throw fault.toError(bytes.subarray(start, end));
        this.#onBadRow(fault, bytes.subarray(start, end));
        if (this.#shape.badRows === "skip") continue;
      }
      rows.push({ start, end, next, object: isBad ? undefined : object });
    }
    return rows;
  }

  #append(
    bytes: Buffer,
    rows: readonly JsonRow[],
    keys: readonly string[],
    added: readonly (readonly string[] | undefined)[],
  ): Buffer {
    const parts = rows.flatMap(({ start, end, next, object }, row) => {
      const fields = added[row];
      if (fields === undefined) return [];
      if (object === undefined || fields.length === 0) return [bytes.subarray(start, next)];
      const replaced = keys.filter((key) => Object.hasOwn(object, key));
      if (replaced.length > 0) {
        let line = bytes.toString("utf8", start, end);
        for (const [i, key] of keys.entries()) {
          if (textOf(object, key) !== fields[i] || !Object.hasOwn(object, key))
            line = withMember(line, key, fields[i]!);
        }
        return [
          Buffer.from(line),
          bytes.subarray(end, next),
          Buffer.from(end === next ? this.#shape.dialect.lineEnding : ""),
        ];
      }
      const close = bytes.lastIndexOf("}", end - 1);
      const members = keys.map((key, i) => `${JSON.stringify(key)}:${JSON.stringify(fields[i])}`).join(",");
      const comma = Object.keys(object).length === 0 ? "" : ",";
      const lineEnd = end === next ? this.#shape.dialect.lineEnding : "";
      return [
        bytes.subarray(start, close),
        Buffer.from(comma + members),
        bytes.subarray(close, next),
        Buffer.from(lineEnd),
      ];
    });
    return Buffer.concat(parts);
  }
}

/** Returns the object in a line; undefined if it is not a JSON object. */
export function parseObject(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A member of an object in its text: the places of its name, of its value and of what follows. */
interface Member {
  readonly name: string;
  readonly start: number;
  readonly value: number;
  readonly end: number;
}

/** Returns the members of the object in a text, and the place of its closing brace. */
function membersIn(json: string): { readonly members: readonly Member[]; readonly close: number } {
  const members: Member[] = [];
  let depth = 0;
  let last = { text: "", start: 0 };
  let open: Omit<Member, "end"> | undefined;
  // Strings and punctuation.
  for (const { 0: token, index } of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:,]/g)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    if (depth === 1 && token === ":") {
      open = { name: JSON.parse(last.text) as string, start: last.start, value: index + 1 };
    } else if (open && (depth === 0 || (depth === 1 && token === ","))) {
      members.push({ ...open, end: index });
      open = undefined;
    }
    if (depth === 0) return { members, close: index };
    last = { text: token, start: index };
  }
  return { members, close: json.length };
}

/** Returns the text of an object with another value for a member, which is added if there is none. */
function withMember(json: string, name: string, value: string): string {
  const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  const { members, close } = membersIn(json);
  const found = members.find((each) => each.name === name);
  if (found === undefined) return `${json.slice(0, close)},${member}${json.slice(close)}`;
  return json.slice(0, found.start) + member + json.slice(found.end);
}

/** Tells texts with a number that JavaScript may write in another way: with many digits, a fraction or an exponent. */
const hasExactNumber = /\d{16}|\d[.eE]/;

/** Returns the values of the members of an object as they are written. */
const sourcesOf = (json: string): ReadonlyMap<string, string> =>
  new Map(membersIn(json).members.map(({ name, value, end }) => [name, json.slice(value, end).trim()]));

/**
 * Returns the field of an object that a path names, as text for a value with items: an object is never an item, and the
 * texts of a list are several.
 *
 * @param path a name, or names of inner objects with dots between them
 */
export function itemField(object: JsonObject, path: string): string {
  const found = fieldAt(object, path);
  if (Array.isArray(found)) {
    return found.filter((value) => typeof value === "string" || typeof value === "number").join("; ");
  }
  return typeof found === "object" || found === undefined ? "" : String(found);
}

function fieldAt(object: JsonObject, path: string): unknown {
  if (Object.hasOwn(object, path)) return object[path];
  const dot = path.indexOf(".");
  const inner =
    dot !== -1 && Object.hasOwn(object, path.slice(0, dot)) ? object[path.slice(0, dot)] : undefined;
  const rest = path.slice(dot + 1);
  if (Array.isArray(inner)) return inner.filter(isObject).map((member) => fieldAt(member, rest));
  return isObject(inner) ? fieldAt(inner, rest) : undefined;
}

/** Returns the paths to the fields of inner objects, up to three names long. */
export function innerPaths(object: JsonObject, depth = 3): string[] {
  return Object.entries(object).flatMap(([name, value]) => {
    // The first object of a list stands for all.
    const member: unknown = Array.isArray(value) ? value[0] : value;
    if (depth === 1 || !isObject(member)) return [];
    return [...Object.keys(member), ...innerPaths(member, depth - 1)].map((inner) => `${name}.${inner}`);
  });
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Returns a field of an object as text: strings as they are, null and missing fields as empty, other values as JSON.
 */
function textOf(object: JsonObject, name: string): string {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
