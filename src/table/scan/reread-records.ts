/**
 * Reads the records of the scanner once more, for tables whose wanted column is not the only field that matters: with
 * items in several columns, or with added columns of an earlier run that are to be replaced. It is slower, and keeps the
 * bytes of all other fields.
 */
import { isUtf8Text, itemText, toBinary } from "../bytes.js";
import type { EarlierColumns } from "../earlier-columns.js";
import { emptyTail, quoteField, unquote } from "../quotes.js";
import {
  beforeField,
  emptyField,
  outputDelimiter,
  type RecordChunk,
  type RecordStream,
  type TableShape,
} from "../records.js";
import type { ScannedChunk } from "./scanned-chunk.js";
import type { ScannedTable } from "./scanned-records.js";
import { Place, recordWords } from "./scanner.js";

/** Returns the stream of a scanned table, with all wanted columns, and with the added columns in their places. */
export function rereadRecords(
  { shape, header, chunks }: ScannedTable,
  earlier?: EarlierColumns,
): RecordStream {
  const { places } = earlier ?? { places: [] };
  async function* reread(): AsyncGenerator<RecordChunk> {
    for await (const chunk of chunks) yield new RereadChunk(shape, chunk, earlier);
  }
  return {
    start: (columns) =>
      shape.hasHeader ? new RereadChunk(shape, header, { places }).append([columns]) : Buffer.of(),
    chunks: reread(),
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
  /** The fields to replace, in the order of the table, and the index of the added field that each gets. */
  readonly #replaced: readonly { readonly place: number; readonly index: number }[];
  /** The bounds of the fields of each record. */
  readonly #bounds: readonly (readonly number[])[];

  constructor(shape: TableShape, chunk: ScannedChunk, earlier: EarlierColumns | undefined) {
    this.#shape = shape;
    this.#chunk = chunk;
    this.#places = earlier?.places ?? [];
    this.#replaced = this.#places
      .flatMap((place, index) => (place === undefined ? [] : [{ place, index }]))
      .sort((a, b) => a.place - b.place);
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
    const rows = added.flatMap((fields, row) => (fields === undefined ? [] : [this.#render(row, fields)]));
    return Buffer.from(rows.join(""), "latin1");
  }

  #render(row: number, added: readonly string[]): string {
    const { bytes, at } = this.#chunk;
    const { width, dialect } = this.#shape;
    const word = row * recordWords;
    const [start, end, next] = [at[word]!, at[word + Place.end]!, at[word + Place.next]!];
    const text = (from: number, to: number) => bytes.toString("latin1", from, to);
    if (!this.#chunk.isRow(row) || added.length === 0) return text(start, next);
    const before = beforeField(dialect);
    const ours = added.map((field) => quoteField(toBinary(field), outputDelimiter(dialect), dialect));
    const bounds = this.#bounds[row]!;
    const found = at[word + Place.fields]!;
    let line = "";
    let from = start;
    for (const { place, index } of this.#replaced) {
      if (place >= found) break;
      line += text(from, bounds[2 * place]!) + ours[index];
      from = bounds[2 * place + 1]!;
    }
    const surplus = found > width ? emptyTail(bytes, end, found - width, dialect) : undefined;
    line += text(from, surplus ?? end);
    // Fields that the record lacks: ours, and empty ones.
    for (let field = found; field < width; field++) {
      const index = this.#places.indexOf(field);
      line += index === -1 ? emptyField(dialect) : before + ours[index];
    }
    for (const [i, field] of ours.entries()) if (this.#places[i] === undefined) line += before + field;
    return line + (end === next ? dialect.lineEnding : text(end, next));
  }
}
