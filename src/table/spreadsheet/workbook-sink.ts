/** Writes a table as a sheet of an .xlsx file: parses the CSV that the run writes, and streams its rows to hucre. */
import { Readable } from "node:stream";
import { parse } from "csv-parse";
import type { TableSink } from "../../files/output.js";
import { maximumRecordBytes } from "../records.js";

/**
 * Returns a sink that takes CSV and writes a workbook with one sheet into another sink. All cells are text: numbers
 * such as post codes keep their zeros. If a table has more rows than a sheet can have, it continues in another sheet.
 */
export async function workbookSink(sink: TableSink, sheet: string, delimiter: string): Promise<TableSink> {
  const { writeXlsxStream } = await import("hucre/xlsx");
  const parser = parse({
    delimiter,
    bom: true,
    relax_quotes: true,
    relax_column_count: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    max_record_size: maximumRecordBytes,
  });
  const written = pipe(writeXlsxStream(parser as AsyncIterable<string[]>, { name: sheetName(sheet) }), sink);
  // `write` and `prepare` throw the error.
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

async function pipe(stream: ReadableStream<Uint8Array>, sink: TableSink): Promise<void> {
  for await (const bytes of Readable.fromWeb(stream as never)) await sink.write(bytes as Uint8Array);
}

/** Returns a name that Excel accepts for a sheet: up to 31 characters, without some special characters. */
const sheetName = (name: string): string =>
  name
    .replace(/[\\/?*[\]:]/g, " ")
    .trim()
    .slice(0, 31) || "Sheet1";
