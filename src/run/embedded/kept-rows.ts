/** Finds the rows of a chunk that keep the status of an earlier run (`--update`), by the bytes of their status column. */
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import { Place, recordWords } from "../../table/scan/scanner.js";
import { knownStatuses, notChecked, type Status } from "../../validator/validator.js";
import { isRow, mostStatuses, offlineStatuses } from "../status-codes.js";

/** Lowest code of a kept status; those below are codes of offline verdicts. */
const firstKeptCode = offlineStatuses.length;

/** The statuses of a run by their codes: those of offline verdicts, then those that rows keep. The list grows. */
export const statusesWithKept = (): Status[] => [...offlineStatuses, ...knownStatuses];

/** Returns whether a record with this code is a row that keeps its status. */
export const isKept = (code: number): boolean => code >= firstKeptCode && isRow(code);

/** Returns the code of a row whose status column holds something else than a known status. */
export type OtherStatus = (chunk: ScannedChunk, row: number, status: Status) => number;

const known = knownStatuses.map((status) => Buffer.from(status));
const longest = Math.max(...known.map(({ length }) => length));

/**
 * Returns the codes of the records that are not judged; 0 for the others.
 *
 * @param quote the quote of the table; empty if there is none
 * @param place index of the status column
 * @param keeps whether rows keep their statuses
 * @param other undefined where such rows are left to another thread
 * @returns undefined if there is such a row, and no `other`
 */
export function findKept(
  chunk: ScannedChunk,
  quote: string,
  place: number,
  keeps: boolean,
  other: OtherStatus | undefined,
): Uint8Array | undefined {
  const quoteCode = quote.charCodeAt(0);
  const codes = new Uint8Array(chunk.count);
  for (let row = 0; row < codes.length; row++) {
    if (!chunk.isRow(row)) continue;
    const [start, end] = chunk.fieldBounds(place, row);
    if (start === undefined || end === undefined || start >= end || start < 0) continue;
    const status = statusIn(chunk.bytes, start, end, quoteCode);
    if (status !== -1) {
      if (keeps && knownStatuses[status] !== notChecked.status) codes[row] = firstKeptCode + status;
      continue;
    }
    const text = chunk.field(row, place);
    if (text === "") continue;
    if (other === undefined) return undefined;
    codes[row] = other(chunk, row, text);
  }
  return codes;
}

/** Returns the index of the known status in some bytes, without the quotes around it; -1 if it is another one. */
function statusIn(bytes: Uint8Array, start: number, end: number, quote: number): number {
  let [from, to] = [start, end];
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

/** Returns the code of a status that is kept, and adds it to the list of statuses if it is new. Returns -1 if there are too many. */
export function codeOfKept(statuses: Status[], status: Status): number {
  const code = statuses.indexOf(status, firstKeptCode);
  if (code !== -1) return code;
  return statuses.length > mostStatuses ? -1 : statuses.push(status) - 1;
}

/** Judges the items of a chunk but for those of rows whose codes are known, which are hidden from the kernel meanwhile. */
export function judgeWithout(
  kept: Uint8Array,
  { at }: ScannedChunk,
  codes: Uint8Array,
  judge: () => void,
): void {
  const fields: number[] = [];
  for (const [row, code] of kept.entries()) {
    const word = row * recordWords + Place.fields;
    if (code === 0) continue;
    fields.push(at[word]!);
    at[word] = 0;
  }
  judge();
  let next = 0;
  for (const [row, code] of kept.entries()) {
    if (code === 0) continue;
    codes[row] = code;
    at[row * recordWords + Place.fields] = fields[next++]!;
  }
}
