/** Byte order marks of outputs, by which Excel recognises UTF-8. */
import { byteOrderMarkBytes } from "../records.js";
import type { RecordStream } from "../scan/scanned-records.js";
import type { Table } from "../table.js";

/** Windows line endings suggest that Excel has saved the table. */
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
