/** Opens, reads and rewrites tables that tests give as text or bytes. */

import { profiles } from "../../src/core/run/items/profiles.js";
import type { ScannedChunk } from "../../src/core/table/scan/scanned-chunk.js";
import type { Table, TableOptions } from "../../src/core/table/table.js";
import { unchanged } from "../../src/core/table/writers/record-writer.js";
import { readerOf, writerOf } from "../../src/core/table/writers/writer-of.js";
import { openTable } from "../../src/formats/text-formats.js";
import { writtenAnew } from "./csv-parse-table.js";

/** Yields bytes in chunks of `size`. */
async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}

export type Options = Partial<TableOptions> & {
  readonly chunkSize?: number;
  /** Whether csv-parse reads the table, as the reference. */
  readonly strict?: boolean;
};

/** Opens a table given as text (UTF-8), bytes or chunks; errors call it `list.csv`. */
export function open(
  table: string | Uint8Array | AsyncIterable<Uint8Array>,
  { chunkSize = 65_536, strict = false, ...options }: Options = {},
): Promise<Table> {
  const bytes = typeof table === "string" ? Buffer.from(table) : table;
  return openTable(
    { name: "list.csv", bytes: bytes instanceof Uint8Array ? chunksOf(bytes, chunkSize) : bytes },
    { profile: profiles.email, ...options, ...(strict && { rewrite: writtenAnew }) },
  );
}

/** Yields the records of a table below its header. */
export async function* chunksIn({ scanned }: Pick<Table, "scanned">): AsyncGenerator<ScannedChunk> {
  const { shape, target, first, blocks, assembler, onBadRow } = scanned;
  const read = readerOf(shape, target, { names: [], indices: [] }, onBadRow);
  yield* [...first.pieces()].map((chunk) => read(chunk)!);
  for await (const { bytes } of blocks()) yield read(assembler.assemble(bytes))!;
  yield read(assembler.assemble(undefined))!;
}

/** Returns the values of the chosen column; undefined for a record that is not a row. */
export const valuesOf = (chunk: ScannedChunk): (string | undefined)[] =>
  Array.from({ length: chunk.count }, (_, row) => (chunk.isRow(row) ? chunk.value(row) : undefined));

/** Returns the values of the chosen column of a table. */
export async function readValues(table: Table): Promise<(string | undefined)[]> {
  const values: (string | undefined)[] = [];
  for await (const chunk of chunksIn(table)) values.push(...valuesOf(chunk));
  return values;
}

/**
 * Returns the table rewritten with one added column, whose fields are all the same.
 *
 * @param replaced index of the column that it replaces
 * @param onValues gets the values of the chosen column
 */
export async function rewrite(
  table: Table,
  column = "status",
  {
    replaced = undefined as number | undefined,
    field = "x",
    onValues = (_values: readonly (string | undefined)[]): void => {},
  } = {},
): Promise<Buffer> {
  const columns = { names: [column], indices: [replaced] };
  const parts = [table.start(columns)];
  const writer = writerOf(table.scanned.shape, table.scanned.target, columns);
  const added = writer.prepare([field]);
  for await (const chunk of chunksIn(table)) {
    onValues(valuesOf(chunk));
    const { bytes } = writer.write(chunk, (row) => (chunk.isRow(row) ? added : unchanged));
    parts.push(Buffer.from(bytes));
  }
  return Buffer.concat(parts);
}
