import { stringify } from "csv-stringify/sync";
import { toBinary } from "./bytes.js";
import type { RecordChunk, Table } from "./reader.js";

const byteOrderMark = "\u00ef\u00bb\u00bf";

/** Writes a table's records with columns of ours behind them, in the table's own dialect. */
export interface TableWriter {
  /** The byte order mark, blank lines and the header, as far as the table has them. */
  start(columns: readonly string[]): Buffer;
  /** The records of a chunk; `added` has the fields of ours, text, one list for each record. */
  records(chunk: RecordChunk, added: readonly (readonly string[])[]): Buffer;
}

export function createWriter({ dialect, blankLines, header, width }: Table): TableWriter {
  const options = {
    delimiter: dialect.delimiter ?? ",",
    record_delimiter: dialect.lineEnding,
    // Any line end needs quotes, not only this table's.
    quote_record_delimiter: true,
  };
  const write = (records: readonly (readonly string[])[]) => stringify([...records], options);

  return {
    start(columns) {
      const mark = dialect.byteOrderMark ? byteOrderMark : "";
      if (header === undefined) return Buffer.from(mark, "latin1");
      const blank = Array.from({ length: width + columns.length }, () => "");
      const blanks = Array.from({ length: blankLines }, () => blank);
      return Buffer.from(mark + write([...blanks, [...header, ...columns.map(toBinary)]]), "latin1");
    },
    records(chunk, added) {
      const wider = chunk.records.map((record, i) => [
        ...record,
        // Short records are padded, so that our columns stand below their names.
        ...Array.from({ length: width - record.length }, () => ""),
        ...(added[i] ?? []).map(toBinary),
      ]);
      return Buffer.from(write(wider), "latin1");
    },
  };
}
