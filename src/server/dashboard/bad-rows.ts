/** The first bad rows of a result, for its page. They are read from the result itself, and stored nowhere else. */
import { open } from "node:fs/promises";
import { parse } from "csv-parse/sync";
import type { InputFacts } from "../../core/facts/facts.js";
import { badStatuses } from "../../core/facts/groups.js";

export type BadRow = { readonly item: string; readonly status: string };

const mostRows = 10;
/** Read and parsed at once while the server answers nobody else: some milliseconds. */
const mostBytes = 262_144;

/** Returns those in the first 256 KiB of the files; none of other formats and of packed files. */
export async function badRowsIn(paths: readonly string[], input: InputFacts): Promise<readonly BadRow[]> {
  const rows: BadRow[] = [];
  for (const path of paths) {
    if (rows.length >= mostRows) break;
    if (!/\.(?:csv|tsv|txt|tab)$/i.test(path)) continue;
    rows.push(...rowsIn(await startOf(path), input));
  }
  return rows.slice(0, mostRows);
}

function rowsIn(text: string, { column, columns, dialect }: InputFacts): readonly BadRow[] {
  const records: string[][] = parse(text, {
    delimiter: dialect.delimiter ?? ",",
    quote: dialect.quote,
    escape: dialect.escape,
    bom: true,
    relax_quotes: true,
    relax_column_count: true,
    skip_records_with_error: true,
  });
  const header = columns.length === 0 ? undefined : records.shift();
  return records.flatMap((record) => {
    const status = record.at(header === undefined ? -1 : header.lastIndexOf("status")) ?? "";
    return badStatuses.includes(status) ? [{ item: record[column - 1] ?? "", status }] : [];
  });
}

/** Without the line that is cut off. */
async function startOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(mostBytes) });
    const isWhole = bytesRead < mostBytes;
    return buffer.subarray(0, isWhole ? bytesRead : buffer.lastIndexOf("\n")).toString();
  } finally {
    await file.close();
  }
}
