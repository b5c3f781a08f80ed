// Finds the rows that keep the status of an earlier run (`--update`), by the bytes of their status column. They are
// copied many at a time, unless `--shard` or `--dedupe` needs their items.
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import { Offset, recordWords } from "../../table/scan/scanner.js";
import { knownStatuses, notChecked, type Status } from "../../validator/validator.js";
import { firstKeptCode, isRow } from "../status-codes.js";

export type OtherStatus = (chunk: ScannedChunk, row: number, status: Status, nth: number) => number;

const known = knownStatuses.map((status) => Buffer.from(status));
const longest = Math.max(...known.map(({ length }) => length));

const undecided = /^"?undecided: /;
const isUndecided = (reasons: ScannedChunk | undefined, row: number): boolean =>
  reasons !== undefined && undecided.test(reasons.value(row));

/** 0 for what is judged; without `other`, undefined for an unknown status. With reasons, undecided items are judged. */
export function findKept(
  chunk: ScannedChunk,
  quote: string,
  earlier: readonly { readonly status: number | undefined; readonly reason: number | undefined }[],
  keeps: boolean,
  other: OtherStatus | undefined,
): Uint8Array | undefined {
  const quoteCode = quote.charCodeAt(0);
  const width = earlier.length;
  const codes = new Uint8Array(chunk.count * width);
  for (let nth = 0; nth < width; nth++) {
    const { status: index, reason } = earlier[nth]!;
    if (index === undefined) continue;
    const column = chunk.withColumn(index);
    const reasons = reason === undefined ? undefined : chunk.withColumn(reason);
    const codeOf = (row: number): number | undefined => {
      const word = row * recordWords;
      if (column.at[word + Offset.valueStart] === column.at[word + Offset.valueEnd]) return 0;
      const status = statusIn(column, row, quoteCode);
      if (status !== -1) {
        const isDecided = keeps && knownStatuses[status] !== notChecked.status;
        return isDecided && !isUndecided(reasons, row) ? firstKeptCode + status : 0;
      }
      const text = column.value(row);
      return text === "" ? 0 : other?.(chunk, row, text, nth);
    };
    for (let row = 0; row < chunk.count; row++) {
      if (!chunk.isRow(row)) continue;
      // The first column shows that the earlier run kept a bad row.
      const first = codes[row * width]!;
      const code = isRow(first) ? codeOf(row) : first;
      if (code === undefined) return undefined;
      codes[row * width + nth] = code;
    }
  }
  return codes;
}

function statusIn({ bytes, at: words }: ScannedChunk, row: number, quote: number): number {
  let from = words[row * recordWords + Offset.valueStart]!;
  let to = words[row * recordWords + Offset.valueEnd]!;
  if (bytes[from] === quote && bytes[to - 1] === quote) {
    from++;
    to--;
  }
  if (to - from > longest) return -1;
  for (let i = 0; i < known.length; i++) {
    const status = known[i]!;
    if (status.length !== to - from) continue;
    let at = 0;
    while (at < status.length && status[at] === bytes[from + at]) at++;
    if (at === status.length) return i;
  }
  return -1;
}

/** One of the columns with items: `width` is their number. */
export type ColumnPlace = { readonly nth: number; readonly width: number };

/** Fields with a code in `kept` (row by row over all columns) are hidden from the kernel meanwhile. */
export function judgeWithout(
  kept: Uint8Array,
  { nth, width }: ColumnPlace,
  { at }: ScannedChunk,
  codes: Uint8Array,
  judge: () => void,
): void {
  const fields: number[] = [];
  for (let field = nth; field < kept.length; field += width) {
    if (kept[field] === 0) continue;
    const word = ((field - nth) / width) * recordWords + Offset.fields;
    fields.push(at[word]!);
    at[word] = 0;
  }
  judge();
  let next = 0;
  for (let field = nth; field < kept.length; field += width) {
    if (kept[field] === 0) continue;
    const row = (field - nth) / width;
    codes[row] = kept[field]!;
    at[row * recordWords + Offset.fields] = fields[next++]!;
  }
}
