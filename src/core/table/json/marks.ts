// Bytes that stand for the layout of a JSON document while a run passes its records on as JSON Lines; a valid
// document has none of them. From `[\n  {"a": 1},\n  null,\n  {\n "a": 2}\n]` come these, with `break` for its \n:
//   note frame  [ break space space
//   hide 2 at 3 show  {"a": 1}
//   note other  hide , break space space 3 at 3 show  null
//   hide , break space space 4 at 3 show  { break space "a": 2}
//   note frame  break ]
// A run copies notes like comments. Hidden bytes count as white space: what is between two records, with the name
// of the second one if they are in an object, and its line and column.
import { space, tab } from "../../ascii.js";

export const hide = 0x01;
export const note = 0x02;
/** Starts the line and the column of a record: twice {@link locationDigits} bytes. */
export const location = 0x03;
export const show = 0x04;
export const lineFeedMark = 0x0e;
export const carriageReturnMark = 0x0f;

/** After {@link note}: the document around the records, the header of arrays, and another element beside the records. */
export const frameNote = 0x46;
export const headerNote = 0x48;
export const otherNote = 0x45;

export const locationDigits = 6;

/** Returns line and column, from 1, and the index of the value. `start` is the line's, or follows {@link otherNote}. */
export function locationOf(bytes: Uint8Array, start: number): { line: number; column: number; value: number } {
  const at = bytes.indexOf(location, start);
  const numberAt = (from: number) => {
    let number = 0;
    for (let digit = locationDigits - 1; digit >= 0; digit--) number = 64 * number + bytes[from + digit]! - 0x30;
    return number;
  };
  const column = at + 1 + locationDigits;
  return { line: numberAt(at + 1), column: numberAt(column), value: column + locationDigits + 1 };
}

export function breaksIn(bytes: Uint8Array): number {
  let count = 0;
  for (const [at, byte] of bytes.entries()) {
    if (byte === carriageReturnMark || (byte === lineFeedMark && bytes[at - 1] !== carriageReturnMark)) count++;
  }
  return count;
}

export const unmarked = (text: string): string =>
  text
    .replace(/^\x01[^\x04]*\x04/, "")
    .replaceAll("\x0e", "\n")
    .replaceAll("\x0f", "\r");

export const recordOf = (bytes: Buffer): Buffer => Buffer.from(unmarked(bytes.toString("latin1")), "latin1");

export const isFrame = (bytes: Uint8Array, start: number): boolean =>
  bytes[start] === note && bytes[start + 1] !== otherNote;

export const isLayout = (byte: number): boolean =>
  byte === space || byte === tab || byte === lineFeedMark || byte === carriageReturnMark;
