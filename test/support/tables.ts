import { profiles } from "../../src/run/item.js";
import { openTable, type Table, type TableOptions } from "../../src/table/reader.js";
import { createWriter } from "../../src/table/writer.js";

/** Bytes, in chunks of the given size. */
async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}

export type Options = Partial<TableOptions> & { readonly chunkSize?: number };

/** Opens a table that is given as text (UTF-8) or bytes; called `list.csv` in errors. */
export function open(
  table: string | Uint8Array,
  { chunkSize = 65_536, ...options }: Options = {},
): Promise<Table> {
  const bytes = typeof table === "string" ? Buffer.from(table) : table;
  return openTable(
    { name: "list.csv", bytes: chunksOf(bytes, chunkSize) },
    { profile: profiles.email, ...options },
  );
}

/** All records below the header, binary strings, and the values of the chosen column. */
export async function readAll(table: Table): Promise<{ records: string[][]; values: string[] }> {
  const records: string[][] = [];
  const values: string[] = [];
  for await (const chunk of table.chunks) {
    records.push(...chunk.records.map((record) => [...record]));
    values.push(...chunk.values);
  }
  return { records, values };
}

/** The table as it is written back with one column, every field of which is `x`. */
export async function rewrite(table: Table, column = "status"): Promise<Buffer> {
  const writer = createWriter(table);
  const parts = [writer.start([column])];
  for await (const chunk of table.chunks) {
    parts.push(
      writer.records(
        chunk,
        chunk.records.map(() => ["x"]),
      ),
    );
  }
  return Buffer.concat(parts);
}
