/** Writes a table into a workbook, a new one or the one that it was in: parses the CSV that the run writes, and passes rows on. */
import { parse } from "csv-parse";
import type { TableSink } from "../../files/output.js";
import { maximumRecordBytes } from "../records.js";
import { removedRow } from "./sheet.js";
import type { WriteRows } from "./workbook.js";

/**
 * Returns a sink that takes CSV and writes a workbook into another sink.
 *
 * @param isReturned whether the workbook is the one that was read, so that `write` needs all of its rows
 */
export function workbookSink(
  sink: TableSink,
  delimiter: string,
  write: WriteRows,
  isReturned: boolean,
): TableSink {
  const parser = parse({
    delimiter,
    bom: true,
    relax_quotes: true,
    relax_column_count: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    max_record_size: maximumRecordBytes,
  });
  const written = pipe(write(parser as AsyncIterable<string[]>), sink);
  // `write` and `prepare` throw the error, even if nothing reads the rows yet.
  parser.on("error", () => {});
  written.catch((error: Error) => parser.destroy(error));
  let ended: Promise<void> | undefined;
  const prepare = async () => {
    if (ended === undefined) {
      parser.end();
      ended = written;
    }
    await ended;
    await sink.prepare?.();
  };
  return {
    ...(isReturned && { leftOut: Buffer.from(`${removedRow}\n`) }),
    async write(bytes) {
      // Copied: the caller may reuse the memory when this resolves.
      const hasRoom = parser.write(Buffer.from(bytes));
      if (!hasRoom) await Promise.race([new Promise((resolve) => parser.once("drain", resolve)), written]);
    },
    prepare,
    async commit() {
      await prepare();
      await sink.commit();
    },
    async discard() {
      parser.destroy();
      await written.catch(() => {});
      await sink.discard();
    },
  };
}

async function pipe(workbook: AsyncIterable<Uint8Array>, sink: TableSink): Promise<void> {
  for await (const bytes of workbook) await sink.write(bytes);
}
