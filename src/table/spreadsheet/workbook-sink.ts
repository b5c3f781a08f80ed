/**
 * Writes a table into a workbook: parses the CSV that the run writes, and passes its rows on. A table from a sheet of an
 * .xlsx file goes back into its workbook; other tables become a sheet of their own, by hucre.
 */
import { Readable } from "node:stream";
import { parse } from "csv-parse";
import type { TableSink } from "../../files/output.js";
import { maximumRecordBytes } from "../records.js";
import { removedRow } from "./sheet.js";
import type { WriteRows } from "./workbook.js";

/**
 * Makes a workbook with one sheet. All cells are text: numbers such as post codes keep their zeros. If a table has more
 * rows than a sheet can have, it continues in another sheet.
 */
export async function newWorkbook(sheet: string): Promise<WriteRows> {
  const { writeXlsxStream } = await import("hucre/xlsx");
  return (rows) => Readable.fromWeb(writeXlsxStream(rows, { name: sheetName(sheet) }) as never);
}

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

/** Returns a name that Excel accepts for a sheet: up to 31 characters, without some special characters. */
const sheetName = (name: string): string =>
  name
    .replace(/[\\/?*[\]:]/g, " ")
    .trim()
    .slice(0, 31) || "Sheet1";
