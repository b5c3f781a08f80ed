/** Reads and writes tables of JSON lines. Lines are found by the scanner and copied unless another format is wanted. */
import { type BadRowListener, RowFault } from "../bad-rows.js";
import { toBinary } from "../bytes.js";
import type { RecordChunk, RecordStream, TableShape } from "../records.js";
import type { ScannedChunk } from "../scan/scanned-chunk.js";
import { readScanned } from "../scan/scanned-records.js";
import { Place, recordWords } from "../scan/scanner.js";
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

/** A table of JSON lines (jsonlines.org): each line is an object, blank or a comment. */
export class JsonLines {
  readonly #shape: TableShape;
  readonly #onBadRow: BadRowListener;
  readonly #names: readonly string[];
  readonly #chunks: AsyncIterable<ScannedChunk>;

  /**
   * Opens the table.
   *
   * @param shape `column` is an index into the names
   * @param names keys of the first objects
   * @param first the bytes that were read already, without byte order mark
   */
  static async open(
    shape: TableShape,
    names: readonly string[],
    first: Buffer,
    rest: AsyncIterator<Uint8Array>,
    onBadRow: BadRowListener,
  ): Promise<JsonLines> {
    // For the scanner, a line is a record of one field.
    const dialect = { ...shape.dialect, delimiter: null, quote: "" };
    const lines = { ...shape, dialect, width: 1, column: 0 };
    const { scanned } = await readScanned(lines, first, rest, onBadRow);
    return new JsonLines(shape, names, scanned.chunks, onBadRow);
  }

  private constructor(
    shape: TableShape,
    names: readonly string[],
    chunks: AsyncIterable<ScannedChunk>,
    onBadRow: BadRowListener,
  ) {
    this.#shape = shape;
    this.#names = names;
    this.#chunks = chunks;
    this.#onBadRow = onBadRow;
  }

  /** Returns the stream that keeps each line unchanged and adds the added fields at the end of its object. */
  stream(): RecordStream {
    let keys: readonly string[] = [];
    const start = (columns: readonly string[]) => {
      keys = columns;
      return Buffer.of();
    };
    const ourKeyIn = (object: JsonObject) => keys.find((key) => Object.hasOwn(object, key));
    const chunks = async function* (this: JsonLines): AsyncGenerator<RecordChunk> {
      for await (const chunk of this.#chunks) {
        const rows = this.#read(chunk, (object) => {
          const key = ourKeyIn(object);
          return key && `field "${key}" already exists; choose another name with --status-column`;
        });
        const append: RecordChunk["append"] = (added) => this.#append(chunk.bytes, rows, keys, added);
        yield { values: rows.map(({ object }) => object && this.#value(object)), append };
      }
    };
    return { start, chunks: chunks.call(this) };
  }

  /** Yields the fields of each object in the order of the names, for writing in another format. */
  async *fields(): AsyncGenerator<FieldChunk> {
    const known = new Set(this.#names);
    for await (const chunk of this.#chunks) {
      const rows = this.#read(chunk, (object) => {
        const unknown = Object.keys(object).find((key) => !known.has(key));
        return (
          unknown &&
          `field "${unknown}" is in none of the first rows, so it has no column; pass --format jsonl`
        );
      }).flatMap(({ object }) => (object ? [object] : []));
      yield {
        values: rows.map((object) => this.#value(object)),
        records: rows.map((object) => this.#names.map((name) => toBinary(textOf(object, name)))),
      };
    }
  }

  #value(object: JsonObject): string {
    return textOf(object, this.#names[this.#shape.column] ?? "");
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
        const fault = new RowFault(this.#shape.name, line + at[word + Place.linesBefore]!, why);
        if (this.#shape.badRows === "error") throw fault.toError();
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
      if (object === undefined) return [bytes.subarray(start, next)];
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
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns a field of an object as text: strings as they are, null and missing fields as empty, other values as JSON.
 */
export function textOf(object: JsonObject, name: string): string {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
