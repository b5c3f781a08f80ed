/** Writes a table into a workbook, a new one or the one that it was in: parses the CSV of the run. */
import { parse } from "csv-parse/sync";
import { longRecordBytes } from "../../core/table/records.js";
import { converting, type TableSink, writeAll } from "../../files/table-sink.js";
import { piecesOf } from "../../files/web-stream.js";
import { textOfLines } from "../encodings/text-encoding.js";
import type { WriteRows } from "../format.js";
import { removedRow } from "./sheet.js";

/** `isReturned` if the workbook is the one that was read: then `write` needs all of its rows. */
export function workbookSink(sink: TableSink, delimiter: string, write: WriteRows, isReturned: boolean): TableSink {
  // One batch may wait, so that the next rows are validated meanwhile.
  const { readable, writable } = new TransformStream<Iterable<readonly string[]>>();
  const batches = writable.getWriter();
  const written = writeAll(write(piecesOf(readable)), sink);
  // `write` and `prepare` throw the error, even if nothing reads the rows yet.
  written.catch(() => {});
  let isStart = true;
  const converted = converting(sink, {
    async write(bytes) {
      // The bytes are overwritten afterwards, the rows made later.
      const text = textOfLines(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
      const rows = rowsIn(text, delimiter, isStart);
      isStart = false;
      await Promise.race([batches.write(rows).catch(() => written), written]);
    },
    end() {
      batches.close().catch(() => {});
      return written;
    },
    async stop() {
      batches.abort(new Error("the workbook is not wanted any more")).catch(() => {});
      await written.catch(() => {});
    },
  });
  return { ...converted, ...(isReturned && { leftOut: Buffer.from(removedRow) }) };
}

/** A row that is taken out leaves a mark right before the next row. */
const marks = new RegExp(`^${removedRow}+`, "gm");

/** A run writes whole rows, so no row continues in the next bytes. */
function* rowsIn(text: string, delimiter: string, isStart: boolean): Generator<readonly string[]> {
  const csv = text.replace(marks, (found) => `${removedRow}\n`.repeat(found.length));
  // Most rows need no parser.
  if (!/["\r\ufeff]/.test(csv) && csv.endsWith("\n")) {
    for (let start = 0; start < csv.length; ) {
      const end = csv.indexOf("\n", start);
      yield csv.slice(start, end).split(delimiter);
      start = end + 1;
    }
    return;
  }
  const usual = { relax_quotes: true, relax_column_count: true, record_delimiter: ["\r\n", "\n", "\r"] };
  yield* parse(csv, { ...usual, delimiter, bom: isStart, max_record_size: longRecordBytes });
}
