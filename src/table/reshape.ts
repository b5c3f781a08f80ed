/** Writes records in another format than they were read in, and puts what stands above a table before it. */
import { ChoiceError } from "../files/errors.js";
import type { BadRowPolicy } from "./bad-rows.js";
import type { EarlierColumns } from "./earlier-columns.js";
import type { FieldChunk } from "./fields/field-writer.js";
import { byteOrderMarkBytes, type RecordStream } from "./records.js";
import type { Table, TableFormat } from "./table.js";

/** Returns a stream with the byte order mark and the preamble before its header. */
export function afterPreamble<Stream extends RecordStream>(
  byteOrderMark: boolean,
  preamble: Buffer,
  stream: Stream,
): Stream {
  const mark = byteOrderMark ? byteOrderMarkBytes : Buffer.of();
  return { ...stream, start: (columns) => Buffer.concat([mark, preamble, stream.start(columns)]) };
}

/** @throws ChoiceError if bad rows are to be kept, which have no other format than their own */
export function checkReshapable(badRows: BadRowPolicy): void {
  if (badRows !== "keep") return;
  throw new ChoiceError("--bad-rows keep needs the format of FILE and one output; use --bad-rows skip");
}

/** The delimiter of each format. */
export const delimiterOf = { csv: ",", tsv: "\t", jsonl: undefined } as const;

/** Returns how to make the stream of records that are written in another format than they were read in. */
export async function reshape(
  format: TableFormat,
  header: readonly string[] | undefined,
  width: number,
  fields: AsyncIterable<FieldChunk>,
  byteOrderMark: boolean,
): Promise<(earlier?: EarlierColumns) => RecordStream & Partial<Pick<Table, "names">>> {
  const { csvWriter, jsonKeys, jsonWriter, streamOf } = await import("./fields/field-writer.js");
  if (format === "jsonl") {
    const keys = jsonKeys(header, width);
    return (earlier) => ({ ...streamOf(fields, jsonWriter(keys, earlier?.places), earlier), names: keys });
  }
  const dialect = {
    comment: null,
    delimiter: delimiterOf[format],
    lineEnding: "\n",
    quote: '"',
    escape: '"',
    byteOrderMark,
  } as const;
  return (earlier) => {
    const stream = streamOf(fields, csvWriter(dialect, header, width, earlier?.places), earlier);
    return afterPreamble(byteOrderMark, Buffer.of(), stream);
  };
}
