/** Writes all above the rows of a table: byte order mark, preamble, and header with the added columns. */
import { quoteField } from "../quotes.js";
import { byteOrderMarkBytes, delimiterOf } from "../records.js";
import type { RecordStream, ScannedTable } from "../scan/scanned-records.js";
import type { Table } from "../table.js";
import type { AddedColumns } from "./record-writer.js";
import { writerOf } from "./writer-of.js";

export const streamOf = (scanned: ScannedTable, above: Buffer): RecordStream => ({
  start: (columns) => Buffer.concat([above, headerOf(scanned, columns)]),
  scanned,
});

function headerOf({ shape, target, header }: ScannedTable, columns: AddedColumns): Buffer {
  const { names, indices } = columns;
  if (target.format !== "jsonl" && shape.hasHeader) {
    const writer = writerOf(shape, target, columns);
    const added = writer.prepare(names);
    return writer.write(header, () => added).bytes;
  }
  if (target.format === undefined || target.format === "jsonl" || shape.json === undefined) return Buffer.of();
  const delimiter = delimiterOf[target.format];
  const all = [...shape.json.names, ...names.filter((_, index) => indices[index] === undefined)];
  return Buffer.from(`${all.map((name) => quoteField(name, delimiter)).join(delimiter)}\n`);
}

/** By a byte order mark, Excel recognises UTF-8. Windows line endings suggest that Excel has saved the table. */
export const isForExcel = ({ dialect, format }: Pick<Table, "dialect" | "format">): boolean =>
  format !== "jsonl" && format !== "json" && dialect.lineEnding === "\r\n";

export function withMark({ start: startOf, scanned }: RecordStream): RecordStream {
  return {
    scanned,
    start(columns) {
      const start = startOf(columns);
      return start.indexOf(byteOrderMarkBytes) === 0 ? start : Buffer.concat([byteOrderMarkBytes, start]);
    },
  };
}
