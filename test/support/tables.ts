/** Opens, reads and rewrites tables that tests give as text or bytes. */
import { profiles } from "../../src/run/item.js";
import { openTable } from "../../src/table/reader.js";
import type { Table, TableOptions } from "../../src/table/table.js";

/** Yields bytes in chunks of `size`. */
async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}

export type Options = Partial<TableOptions> & { readonly chunkSize?: number };

/** Opens a table given as text (UTF-8), bytes or chunks; errors call it `list.csv`. */
export function open(
  table: string | Uint8Array | AsyncIterable<Uint8Array>,
  { chunkSize = 65_536, ...options }: Options = {},
): Promise<Table> {
  const bytes = typeof table === "string" ? Buffer.from(table) : table;
  return openTable(
    { name: "list.csv", bytes: bytes instanceof Uint8Array ? chunksOf(bytes, chunkSize) : bytes },
    { profile: profiles.email, ...options },
  );
}

/** Returns the values of the chosen column. */
export async function readValues(table: Table): Promise<(string | undefined)[]> {
  const values: (string | undefined)[] = [];
  for await (const chunk of table.chunks) values.push(...chunk.values);
  return values;
}

/** Returns the table rewritten with one added column, whose fields are all `x`; `onValues` gets the chosen column's. */
export async function rewrite(
  table: Table,
  column = "status",
  onValues: (values: readonly (string | undefined)[]) => void = () => {},
): Promise<Buffer> {
  const parts = [table.start([column])];
  for await (const chunk of table.chunks) {
    onValues(chunk.values);
    parts.push(chunk.append(chunk.values.map(() => ["x"])));
  }
  return Buffer.concat(parts);
}
