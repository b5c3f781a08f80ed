/** Gives the records of a scanned table as a stream that writes them, for runs in batches. */
import type { EarlierColumns } from "../earlier-columns.js";
import { quoteField } from "../quotes.js";
import { delimiterOf, type RecordChunk } from "../records.js";
import type { ScannedChunk } from "../scan/scanned-chunk.js";
import type { ScannableStream, ScannedTable } from "../scan/scanned-records.js";
import { type AddedColumns, type AddedFields, type RecordWriter, unchanged } from "./record-writer.js";
import { readerOf, writerOf } from "./writer-of.js";

/**
 * Returns the stream of a table.
 *
 * @param above what is above the header
 * @param earlier the columns of an earlier run that are replaced
 */
export function writtenStream(
  scanned: ScannedTable,
  above: Buffer,
  earlier?: EarlierColumns,
): ScannableStream {
  const { shape, target, onBadRow } = scanned;
  let columns: AddedColumns = { names: [], places: earlier?.places ?? [] };
  let writer = writerOf(shape, target, columns);
  let read = readerOf(shape, target, columns, onBadRow);
  async function* written(): AsyncGenerator<RecordChunk> {
    const wanted = [shape.column, ...shape.otherColumns];
    for await (const chunk of scanned.chunks) yield new WrittenChunk(read(chunk)!, wanted, writer, earlier);
  }
  return {
    start: (names) => {
      columns = { names, places: earlier?.places ?? names.map(() => undefined) };
      writer = writerOf(shape, target, columns);
      read = readerOf(shape, target, columns, onBadRow);
      return Buffer.concat([above, headerOf(scanned, writer, columns)]);
    },
    chunks: written(),
    scanned,
  };
}

/** Returns the header with the added columns; empty where there is none. */
function headerOf(
  { shape, target, header }: ScannedTable,
  writer: RecordWriter,
  { names, places }: AddedColumns,
): Buffer {
  if (target.format !== "jsonl" && shape.hasHeader) {
    const added = writer.prepare(names);
    return writer.write(header, () => added).bytes;
  }
  if (target.format === undefined || target.format === "jsonl" || shape.json === undefined)
    return Buffer.of();
  const delimiter = delimiterOf[target.format];
  const all = [...shape.json.names, ...names.filter((_, index) => places[index] === undefined)];
  return Buffer.from(`${all.map((name) => quoteField(name, delimiter)).join(delimiter)}\n`);
}

class WrittenChunk implements RecordChunk {
  readonly values: readonly (string | undefined)[];
  readonly otherValues: readonly (readonly (string | undefined)[])[];
  readonly notUtf8: number;
  readonly earlier?: readonly (readonly string[] | undefined)[];
  readonly #chunk: ScannedChunk;
  readonly #writer: RecordWriter;

  constructor(
    chunk: ScannedChunk,
    columns: readonly number[],
    writer: RecordWriter,
    earlier: EarlierColumns | undefined,
  ) {
    this.#chunk = chunk;
    this.#writer = writer;
    const byColumn = columns.map((column) => chunk.withColumn(column));
    const [values = [], ...otherValues] = byColumn.map(({ values }) => values);
    this.values = values;
    this.otherValues = otherValues;
    this.notUtf8 = values.filter(
      (value, row) => value !== undefined && !byColumn.every((column) => column.isUtf8(row)),
    ).length;
    if (earlier === undefined) return;
    this.earlier = values.map((value, row) =>
      value === undefined
        ? undefined
        : earlier.places.map((place) => (place === undefined ? "" : chunk.field(row, place))),
    );
  }

  lineOf(row: number): number {
    return this.#chunk.lineOf(row);
  }

  field(row: number, column: number): string {
    return this.#chunk.field(row, column);
  }

  append(added: readonly (readonly string[] | undefined)[]): Buffer {
    // Callers pass the same list for all rows with the same fields: each is rendered once.
    const rendered = new Map<readonly string[], AddedFields>();
    for (const fields of new Set(added)) if (fields) rendered.set(fields, this.#writer.prepare(fields));
    return this.#writer.write(this.#chunk, (row) => {
      const fields = added[row];
      if (fields === undefined) return undefined;
      return fields.length === 0 ? unchanged : rendered.get(fields)!;
    }).bytes;
  }
}
