/** Chooses the reader and the writer of a table's records: here, formats meet. */
import type { BadRowListener } from "../bad-rows.js";
import { JsonObjects } from "../json/json-objects.js";
import { delimiterOf, type TableShape } from "../records.js";
import type { ScannedChunk } from "../scan/scanned-chunk.js";
import { CopyingWriter } from "./copying-writer.js";
import { MemberWriter } from "./member-writer.js";
import { CsvFields, JsonFields } from "./record-fields.js";
import type { AddedColumns, RecordWriter, WriteTarget } from "./record-writer.js";
import { csvFormat, jsonFormat, ReshapingWriter } from "./reshaping-writer.js";

/** Returns undefined for a bad record without a listener. @throws TableError when bad rows end the run */
export type RecordReader = (chunk: ScannedChunk) => ScannedChunk | undefined;

export function readerOf(
  shape: TableShape,
  { format }: WriteTarget,
  { names, indices }: AddedColumns,
  onBadRow?: BadRowListener,
): RecordReader {
  if (shape.json === undefined) return (chunk) => chunk;
  const added = names.filter((_, index) => indices[index] === undefined);
  const objects = new JsonObjects(shape, added, format !== undefined, onBadRow);
  return (chunk) => objects.read(chunk);
}

export function writerOf(shape: TableShape, { format, keys }: WriteTarget, columns: AddedColumns): RecordWriter {
  if (format === undefined)
    return shape.json ? new MemberWriter(columns, shape.json.isDocument) : new CopyingWriter(shape, columns.indices);
  const fields =
    format === "jsonl"
      ? jsonFormat(keys, columns.names)
      : csvFormat(delimiterOf[format], shape.width, columns.names.length);
  const source = shape.json ? new JsonFields(shape.json) : new CsvFields(shape);
  return new ReshapingWriter(shape.width, source, fields, columns.indices);
}
