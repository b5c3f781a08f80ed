/**
 * Reads the records of the scanner once more, for tables whose wanted column is not the only field that matters: with
 * items in several columns, or with added columns of an earlier run that are to be replaced. It is slower, and keeps the
 * bytes of all other fields.
 */
import { isUtf8Text, itemText, toBinary } from "../bytes.js";
import type { EarlierColumns } from "../earlier-columns.js";
import { emptyTail, quoteField, unquote } from "../quotes.js";
import { beforeField, emptyField, outputDelimiter, type RecordChunk, type TableShape } from "../records.js";
import type { ScannedChunk, WriteMemory, WrittenRecords } from "./scanned-chunk.js";
import type { ScannableStream, ScannedTable } from "./scanned-records.js";
import { Place, recordWords } from "./scanner.js";

/** Returns the stream of a scanned table, with all wanted columns, and with the added columns in their places. */
export function rereadRecords(scanned: ScannedTable, earlier?: EarlierColumns): ScannableStream {
  const { shape, header, chunks } = scanned;
  const { places } = earlier ?? { places: [] };
  async function* reread(): AsyncGenerator<RecordChunk> {
    for await (const chunk of chunks) yield new RereadChunk(shape, chunk, earlier);
  }
  return {
    start: (columns) =>
      shape.hasHeader ? new RereadChunk(shape, header, { places }).append([columns]) : Buffer.of(),
    chunks: reread(),
    scanned,
  };
}

class RereadChunk implements RecordChunk {
  readonly values: readonly (string | undefined)[];
  readonly otherValues: readonly (readonly (string | undefined)[])[];
  readonly notUtf8: number;
  readonly earlier: readonly (readonly string[] | undefined)[];
  readonly #shape: TableShape;
  readonly #chunk: ScannedChunk;
  readonly #places: readonly (number | undefined)[];
  /** The bounds of the fields of each record. */
  readonly #bounds: readonly (readonly number[])[];

  constructor(shape: TableShape, chunk: ScannedChunk, earlier: EarlierColumns | undefined) {
    this.#shape = shape;
    this.#chunk = chunk;
    this.#places = earlier?.places ?? [];
    const rows = Array.from({ length: chunk.count }, (_, row) => row);
    this.#bounds = rows.map((row) => chunk.boundsOf(row));
    const valuesOf = (column: number) =>
      rows.map((row) => (chunk.isRow(row) ? itemText(this.#field(row, column)) : undefined));
    this.values = valuesOf(shape.column);
    this.otherValues = shape.otherColumns.map(valuesOf);
    const columns = [shape.column, ...shape.otherColumns];
    const isUtf8 = (row: number) => columns.every((column) => isUtf8Text(this.#field(row, column)));
    this.notUtf8 = rows.filter((row) => chunk.isRow(row) && !isUtf8(row)).length;
    this.earlier = rows.map((row) =>
      chunk.isRow(row) && earlier
        ? this.#places.map((place) => (place === undefined ? "" : itemText(this.#field(row, place))))
        : undefined,
    );
  }

  /** Returns a field of a record, a binary string; empty if the record does not have it. */
  #field(row: number, column: number): string {
    const [start, end] = this.#bounds[row]!.slice(2 * column);
    if (start === undefined) return "";
    return unquote(this.#chunk.bytes.toString("latin1", start, end), this.#shape.dialect);
  }

  lineOf(row: number): number {
    return this.#chunk.lineOf(row);
  }

  field(row: number, column: number): string {
    return itemText(this.#field(row, column));
  }

  append(added: readonly (readonly string[] | undefined)[]): Buffer {
    const rows = added.flatMap((fields, row) =>
      fields === undefined
        ? []
        : [renderReplacing(this.#shape, this.#chunk, row, this.#bounds[row]!, this.#places, fields)],
    );
    return Buffer.from(rows.join(""), "latin1");
  }
}

/**
 * Renders a record with the added fields in the places of earlier ones, or at the end. A field that does not change keeps its bytes.
 *
 * @param bounds the start and the end of each of its fields
 * @param places index in the table of each added field; undefined for one at the end
 * @param added none for a record that is copied
 * @returns a binary string
 */
function renderReplacing(
  shape: TableShape,
  chunk: ScannedChunk,
  row: number,
  bounds: readonly number[],
  places: readonly (number | undefined)[],
  added: readonly string[],
): string {
  const { bytes, at } = chunk;
  const { width, dialect } = shape;
  const word = row * recordWords;
  const [start, end, next] = [at[word]!, at[word + Place.end]!, at[word + Place.next]!];
  const text = (from: number, to: number) => bytes.toString("latin1", from, to);
  if (!chunk.isRow(row) || added.length === 0) return text(start, next);
  const before = beforeField(dialect);
  const ours = added.map((field) => quoteField(toBinary(field), outputDelimiter(dialect), dialect));
  const found = at[word + Place.fields]!;
  let line = "";
  let from = start;
  const replaced = places
    .flatMap((place, index) => (place === undefined || place >= found ? [] : [{ place, index }]))
    .sort((a, b) => a.place - b.place);
  for (const { place, index } of replaced) {
    const [fieldStart, fieldEnd] = [bounds[2 * place]!, bounds[2 * place + 1]!];
    if (itemText(unquote(text(fieldStart, fieldEnd), dialect)) === added[index]) continue;
    line += text(from, fieldStart) + ours[index];
    from = fieldEnd;
  }
  const surplus = found > width ? emptyTail(bytes, end, found - width, dialect) : undefined;
  line += text(from, surplus ?? end);
  // Fields that the record lacks: ours, and empty ones.
  for (let field = found; field < width; field++) {
    const index = places.indexOf(field);
    line += index === -1 ? emptyField(dialect) : before + ours[index];
  }
  for (const [i, field] of ours.entries()) if (places[i] === undefined) line += before + field;
  return line + (end === next ? dialect.lineEnding : text(end, next));
}

/**
 * Renders the records of a chunk, most of which keep their fields: those are copied, many at a time.
 *
 * @param added the added fields of a record; undefined for one that keeps its own, null for one that is left out
 * @param memory where the records are put; if it is too small, they are put in new memory
 */
export function writeReplacing(
  shape: TableShape,
  chunk: ScannedChunk,
  places: readonly (number | undefined)[],
  added: (row: number) => readonly string[] | undefined | null,
  memory?: WriteMemory,
): WrittenRecords {
  const { bytes, at, count } = chunk;
  const pieces: Buffer[] = [];
  const isLarge = memory !== undefined && memory.ends.length >= count;
  const ends = isLarge ? memory.ends.subarray(0, count) : new Int32Array(count);
  let [length, copiedTo] = [0, 0];
  let copiedFrom = -1;
  const hasAll = places.every((place) => place !== undefined);
  for (let row = 0; row < count; row++) {
    const word = row * recordWords;
    const [start, end, next] = [at[word]!, at[word + Place.end]!, at[word + Place.next]!];
    let fields = added(row);
    const isWhole = hasAll && at[word + Place.fields] === shape.width && end !== next;
    if (fields === undefined && (isWhole || !chunk.isRow(row))) {
      if (copiedFrom === -1 || copiedTo !== start) {
        if (copiedFrom !== -1) pieces.push(bytes.subarray(copiedFrom, copiedTo));
        copiedFrom = start;
      }
      copiedTo = next;
      length += next - start;
    } else if (fields !== null) {
      fields ??= places.map((place) => (place === undefined ? "" : chunk.field(row, place)));
      if (copiedFrom !== -1) pieces.push(bytes.subarray(copiedFrom, copiedTo));
      copiedFrom = -1;
      const rendered = Buffer.from(
        renderReplacing(shape, chunk, row, chunk.boundsOf(row), places, fields),
        "latin1",
      );
      pieces.push(rendered);
      length += rendered.length;
    }
    ends[row] = length;
  }
  if (copiedFrom !== -1) pieces.push(bytes.subarray(copiedFrom, copiedTo));
  const output = isLarge && memory.output.length >= length ? memory.output : Buffer.allocUnsafeSlow(length);
  let position = 0;
  for (const piece of pieces) {
    output.set(piece, position);
    position += piece.length;
  }
  return { bytes: output.subarray(0, length), ends };
}
