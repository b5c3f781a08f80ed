import { stringify } from "csv-stringify/sync";
import { nameText, toBinary } from "../bytes.js";
import { outputDelimiter, type RecordChunk, type RecordStream, startTable } from "../records.js";
import type { Dialect } from "../sniff/dialect.js";

/** Some records as their fields, binary strings. */
export interface FieldChunk {
  readonly values: RecordChunk["values"];
  readonly records: readonly (readonly string[])[];
}

/** Writes records of which the fields are known, in whatever shape. */
export interface FieldWriter {
  start(columns: readonly string[]): Buffer;
  /** @param added the fields of ours, text; undefined for a record that is left out, `notARow` for what is no row */
  write(records: FieldChunk["records"], added: readonly (readonly string[] | undefined)[]): Buffer;
}

/** Stands for our fields where a bad row is written as it is. */
export const notARow: readonly string[] = [];

/** The table of some records, written anew. */
export function streamOf(chunks: AsyncIterable<FieldChunk>, writer: FieldWriter): RecordStream {
  async function* written(): AsyncGenerator<RecordChunk> {
    for await (const { values, records } of chunks) {
      const append: RecordChunk["append"] = (added) =>
        writer.write(
          records,
          added.map((fields, row) => (fields && values[row] === undefined ? notARow : fields)),
        );
      yield { values, append };
    }
  }
  return { start: (columns) => writer.start(columns), chunks: written() };
}

/**
 * Writes with csv-stringify: fields are quoted only where they have to be.
 *
 * @param head the header and the blank records above it; empty when there is no header
 * @param width how many fields a record has before ours
 */
export function csvWriter(dialect: Dialect, head: FieldChunk["records"], width: number): FieldWriter {
  const options = {
    delimiter: outputDelimiter(dialect),
    record_delimiter: dialect.lineEnding,
    quote: dialect.quote,
    escape: dialect.escape,
    // Any line end needs quotes, not only this table's.
    quote_record_delimiter: true,
    // What starts like a comment would be read as one.
    ...(dialect.comment !== null && { quoted_match: new RegExp(`^\\${dialect.comment}`) }),
  };
  const write: FieldWriter["write"] = (records, added) => {
    const wider = records.flatMap((record, row) => {
      const ours = added[row];
      if (ours === undefined) return [];
      if (ours === notARow) return [record];
      const padding = Array.from({ length: width - record.length }, () => "");
      return [[...record, ...padding, ...ours.map(toBinary)]];
    });
    return Buffer.from(stringify(wider, options), "latin1");
  };
  return {
    start: (columns) => startTable({ dialect, skipped: head.length }, columns, (names) => write(head, names)),
    write,
  };
}

/**
 * Writes a JSON object a line. Its values are strings, and there is none for a field that a short row lacks.
 *
 * @param names the keys, from {@link jsonKeys}: the columns' names, `Name[2]` for the second of the same name, `3` for the
 * third column of a table without a header
 */
export function jsonWriter(names: readonly string[]): FieldWriter {
  let ours: readonly string[] = [];
  return {
    start(columns) {
      ours = columns;
      return Buffer.of();
    },
    write(records, added) {
      const lines = records.flatMap((record, row) => {
        const fields = added[row];
        if (fields === undefined || fields === notARow) return [];
        const entries = [
          ...record.map((field, i) => [names[i]!, nameText(field)] as const),
          ...fields.map((field, i) => [ours[i]!, field] as const),
        ];
        const members = entries.map((entry) => entry.map((text) => JSON.stringify(text)).join(":"));
        return [`{${members.join(",")}}\n`];
      });
      return Buffer.from(lines.join(""));
    },
  };
}

/** The keys that the columns of a table have as JSON: each is there once. */
export function jsonKeys(header: readonly string[] | undefined, width: number): readonly string[] {
  const names = Array.from({ length: width }, (_, i) => nameText(header?.[i] ?? String(i + 1)));
  const taken = new Set(names);
  const seen = new Set<string>();
  return names.map((name) => {
    if (!seen.has(name)) {
      seen.add(name);
      return name;
    }
    for (let n = 2; ; n++) {
      const key = `${name}[${n}]`;
      if (taken.has(key)) continue;
      taken.add(key);
      return key;
    }
  });
}
