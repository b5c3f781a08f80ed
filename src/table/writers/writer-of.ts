/** Chooses the writer of a table's records. */
import { delimiterOf, type TableShape } from "../records.js";
import { CopyingWriter } from "./copying-writer.js";
import { CsvFields } from "./record-fields.js";
import type { AddedColumns, RecordWriter, WriteTarget } from "./record-writer.js";
import { csvFormat, jsonFormat, ReshapingWriter } from "./reshaping-writer.js";

/** Returns a writer of records. */
export function writerOf(
  shape: TableShape,
  { format, keys }: WriteTarget,
  columns: AddedColumns,
): RecordWriter {
  if (format === undefined) return new CopyingWriter(shape, columns);
  const fields =
    format === "jsonl"
      ? jsonFormat(keys, columns.names)
      : csvFormat(delimiterOf[format], shape.width, columns.names.length);
  return new ReshapingWriter(shape.width, new CsvFields(shape), fields, columns);
}
