/** Finds the rows of a chunk that keep the status of an earlier run (`--update`), by the bytes of their status column. */
import { itemText } from "../../table/bytes.js";
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import { knownStatuses, notChecked, type Status } from "../../validator/validator.js";
import { mostStatuses, offlineStatuses } from "../status-codes.js";

/** Lowest code of a kept status; those below are codes of offline verdicts. */
export const firstKeptCode = offlineStatuses.length;

/** The statuses of a run by their codes: those of offline verdicts, then those that rows keep. The list grows. */
export const statusesWithKept = (): Status[] => [...offlineStatuses, ...knownStatuses];

/** Codes of a run's records that the earlier run tells; 0 for those that have to be judged. */
export type KeptCodes = Uint8Array;

/** Returns the code of a row whose status column holds something else than a known status. */
export type OtherStatus = (chunk: ScannedChunk, row: number, status: Status) => number;

const known = knownStatuses.map((status) => Buffer.from(status));
const longest = Math.max(...known.map(({ length }) => length));
const [quoteCode, apostropheCode] = [0x22, 0x27];
const none: KeptCodes = new Uint8Array(0);

/**
 * Returns the codes of the records that are not judged.
 *
 * @param place index of the status column
 * @param keeps whether rows keep their statuses
 * @param other undefined where such rows are left to another thread
 * @returns undefined if there is such a row, and no `other`
 */
export function findKept(
  chunk: ScannedChunk,
  place: number,
  keeps: boolean,
  other: OtherStatus | undefined,
): KeptCodes | undefined {
  if (chunk.count === 0) return none;
  const codes = new Uint8Array(chunk.count);
  for (let row = 0; row < codes.length; row++) {
    if (!chunk.isRow(row)) continue;
    const [start, end] = chunk.boundsIn(place, row);
    if (start === undefined || end === undefined || start >= end || start < 0) continue;
    const status = statusIn(chunk.bytes, start, end);
    if (status !== -1) {
      if (keeps && known[status] !== undefined && knownStatuses[status] !== notChecked.status) {
        codes[row] = firstKeptCode + status;
      }
      continue;
    }
    const text = itemText(chunk.field(row, place));
    if (text === "") continue;
    if (other === undefined) return undefined;
    codes[row] = other(chunk, row, text);
  }
  return codes;
}

/** Returns the index of the known status in some bytes, or behind a quote there; -1 if it is another one. */
function statusIn(bytes: Uint8Array, start: number, end: number): number {
  let [from, to] = [start, end];
  if ((bytes[from] === quoteCode || bytes[from] === apostropheCode) && bytes[to - 1] === bytes[from]) {
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
