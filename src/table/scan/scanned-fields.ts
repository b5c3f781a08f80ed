/** Gives the records of the scanner as fields, for formats in which they cannot have the bytes that they had. */
import { isUtf8Text, itemText } from "../bytes.js";
import type { FieldChunk } from "../fields/field-writer.js";
import { unquote } from "../quotes.js";
import type { ScannedTable } from "./scanned-records.js";

/** Yields the rows of a scanned table as fields, without comments and bad rows, and without surplus fields. */
export async function* fieldsOf({ shape, chunks }: ScannedTable): AsyncGenerator<FieldChunk> {
  const { dialect, width, column, otherColumns } = shape;
  const columns = [column, ...otherColumns];
  for await (const chunk of chunks) {
    const records: string[][] = [];
    let notUtf8 = 0;
    for (let row = 0; row < chunk.count; row++) {
      if (!chunk.isRow(row)) continue;
      const bounds = chunk.boundsOf(row);
      // A blank line is one empty field.
      const count = Math.max(1, Math.min(width, bounds.length / 2));
      const fields = Array.from({ length: count }, (_, field) =>
        unquote(chunk.bytes.toString("latin1", bounds[2 * field] ?? 0, bounds[2 * field + 1] ?? 0), dialect),
      );
      if (!columns.every((index) => isUtf8Text(fields[index] ?? ""))) notUtf8++;
      records.push(fields);
    }
    const valuesOf = (index: number) => records.map((fields) => itemText(fields[index] ?? ""));
    yield { values: valuesOf(column), otherValues: otherColumns.map(valuesOf), notUtf8, records };
  }
}
