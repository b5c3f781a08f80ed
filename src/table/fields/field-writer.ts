/**
 * Writes records from their fields, as CSV or JSON lines, when their bytes cannot be kept. It does not know how they
 * were read.
 */
import { stringify } from "csv-stringify/sync";
import { itemText, nameText, toBinary } from "../bytes.js";
import type { Dialect } from "../dialect.js";
import type { EarlierColumns } from "../earlier-columns.js";
import { outputDelimiter, type RecordChunk, type RecordStream } from "../records.js";

/** Consecutive records, as fields. */
export interface FieldChunk extends Pick<RecordChunk, "values" | "otherValues" | "notUtf8"> {
  /** Fields of each record, binary strings. */
  readonly records: readonly (readonly string[])[];
}

/** A writer of records in some format. */
export interface FieldWriter {
  /** Returns all that is above the rows, as {@link RecordStream.start} does. */
  start(columns: readonly string[]): Buffer;
  /**
   * Renders records with their added fields.
   *
   * @param added the added fields of each record, as text; undefined leaves the record out, {@link copiedUnchanged} marks a bad
   * row that is kept
   */
  write(records: FieldChunk["records"], added: readonly (readonly string[] | undefined)[]): Buffer;
}

/** Marker that replaces the added fields of a bad row that is kept. */
export const copiedUnchanged: readonly string[] = [];

/** Returns the records as a stream that writes them anew. */
export function streamOf(
  chunks: AsyncIterable<FieldChunk>,
  writer: FieldWriter,
  earlier?: EarlierColumns,
): RecordStream {
  async function* written(): AsyncGenerator<RecordChunk> {
    for await (const { records, ...chunk } of chunks) {
      const { values } = chunk;
      const append: RecordChunk["append"] = (added) =>
        writer.write(
          records,
          added.map((fields, row) =>
            fields && (values[row] === undefined || fields.length === 0) ? copiedUnchanged : fields,
          ),
        );
      const earlierFields = earlier && earlierFieldsOf(records, values, earlier);
      const field: RecordChunk["field"] = (row, column) => itemText(records[row]![column] ?? "");
      yield { ...chunk, ...(earlierFields && { earlier: earlierFields }), field, append };
    }
  }
  return { start: (columns) => writer.start(columns), chunks: written() };
}

/** Returns the added fields of an earlier run in each row. */
function earlierFieldsOf(
  records: FieldChunk["records"],
  values: FieldChunk["values"],
  { places }: EarlierColumns,
): NonNullable<RecordChunk["earlier"]> {
  return records.map((record, row) =>
    values[row] !== undefined
      ? places.map((place) => (place === undefined ? "" : itemText(record[place] ?? "")))
      : undefined,
  );
}

/** Returns a record of `width` fields with the added fields in their places, or at the end. */
function withAdded(
  record: readonly string[],
  width: number,
  added: readonly string[],
  places: EarlierColumns["places"],
): string[] {
  const fields = record.slice(0, width);
  while (fields.length < width) fields.push("");
  for (const [i, field] of added.entries()) {
    const place = places[i];
    if (place === undefined) fields.push(toBinary(field));
    else fields[place] = toBinary(field);
  }
  return fields;
}

/**
 * Returns a writer that uses csv-stringify. Fields are quoted only if necessary.
 *
 * @param header binary strings; undefined if there is no header
 * @param width number of fields of a full row, without the added ones
 */
export function csvWriter(
  dialect: Pick<Dialect, "delimiter" | "lineEnding" | "quote" | "escape" | "comment">,
  header: readonly string[] | undefined,
  width: number,
  places: EarlierColumns["places"] = [],
): FieldWriter {
  const options = {
    delimiter: outputDelimiter(dialect),
    record_delimiter: dialect.lineEnding,
    quote: dialect.quote,
    escape: dialect.escape,
    // Quote fields with any line ending, not only with the one of this table.
    quote_record_delimiter: true,
    // Quote fields that start with the comment character. Otherwise they would be read as comments.
    ...(dialect.comment !== null && { quoted_match: new RegExp(`^\\${dialect.comment}`) }),
  };
  const write: FieldWriter["write"] = (records, added) => {
    const wider = records.flatMap((record, row) => {
      const ours = added[row];
      if (ours === undefined) return [];
      if (ours === copiedUnchanged) return [record];
      return [withAdded(record, width, ours, places)];
    });
    return Buffer.from(stringify(wider, options), "latin1");
  };
  return {
    start: (columns) => (header === undefined ? Buffer.of() : write([header], [columns])),
    write,
  };
}

/**
 * Returns a writer of JSON lines, one object for each row. All values are strings. Fields that a short row lacks are
 * left out, and so are bad rows.
 *
 * @param names keys of the columns, from `jsonKeys`
 */
export function jsonWriter(names: readonly string[], places: EarlierColumns["places"] = []): FieldWriter {
  let ours: readonly string[] = [];
  return {
    start(columns) {
      ours = columns;
      return Buffer.of();
    },
    write(records, added) {
      const lines = records.flatMap((record, row) => {
        const fields = added[row];
        if (fields === undefined || fields === copiedUnchanged) return [];
        const object = new Map([
          ...record.map((field, i) => [names[i]!, nameText(field)] as const),
          ...fields.map((field, i) => [names[places[i] ?? -1] ?? ours[i]!, field] as const),
        ]);
        const members = Array.from(object, (entry) => entry.map((text) => JSON.stringify(text)).join(":"));
        return [`{${members.join(",")}}\n`];
      });
      return Buffer.from(lines.join(""));
    },
  };
}
