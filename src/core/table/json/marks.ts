/**
 * The bytes that stand for the layout of a JSON document while a run passes its records on as JSON Lines. None of them
 * can be in a valid document.
 *
 *     [\n  {"a": 1},\n  null,\n  {\n "a": 2}\n]
 *
 * becomes these lines, in which a line break of the document is a byte of its own:
 *
 *     note frame  [ break space space
 *     hide 2 at 3 show  {"a": 1}
 *     note other  hide , break space space 3 at 3 show  null
 *     hide , break space space 4 at 3 show  { break space "a": 2}
 *     note frame  break ]
 *
 * A run takes the notes for comments, and copies them. What is hidden counts as white space: the bytes between two
 * records, with the name of the second one if they are in an object, and its line and column.
 */

import { space, tab } from "../ascii.js";

/** Starts the bytes between two records. */
export const hide = 0x01;
/** Starts a line that holds no record. The byte after it tells which. */
export const note = 0x02;
/** Starts the line and the column of a record: twice {@link locationDigits} bytes. */
export const location = 0x03;
/** Ends what {@link hide} starts. */
export const show = 0x04;
/** A line feed and a carriage return of the document. */
export const lineFeedMark = 0x0e;
export const carriageReturnMark = 0x0f;

/** After {@link note}: the document around the records, the header of arrays, and another element beside the records. */
export const frameNote = 0x46;
export const headerNote = 0x48;
export const otherNote = 0x45;

/** Number of digits of a line or a column, which are to the base of 64, the lowest first. */
export const locationDigits = 6;

/**
 * Returns the line and the column of a record, from 1, and the index of its value.
 *
 * @param start start of its line, or of what follows {@link otherNote}
 */
export function locationOf(
  bytes: Uint8Array,
  start: number,
): { line: number; column: number; value: number } {
  const at = bytes.indexOf(location, start);
  const numberAt = (from: number) => {
    let number = 0;
    for (let digit = locationDigits - 1; digit >= 0; digit--)
      number = 64 * number + bytes[from + digit]! - 0x30;
    return number;
  };
  const column = at + 1 + locationDigits;
  return { line: numberAt(at + 1), column: numberAt(column), value: column + locationDigits + 1 };
}

/** Returns the number of line breaks of the document in a part of a record. */
export function breaksIn(bytes: Uint8Array): number {
  let count = 0;
  for (const [at, byte] of bytes.entries()) {
    if (byte === carriageReturnMark || (byte === lineFeedMark && bytes[at - 1] !== carriageReturnMark))
      count++;
  }
  return count;
}

/** Returns a part of a record as the document has it. */
export const unmarked = (text: string): string =>
  text
    .replace(/^\x01[^\x04]*\x04/, "")
    .replaceAll("\x0e", "\n")
    .replaceAll("\x0f", "\r");

/** Returns the record in a line as the document has it. */
export const recordOf = (bytes: Buffer): Buffer => Buffer.from(unmarked(bytes.toString("latin1")), "latin1");

/** Returns whether a line has a part of the document around the records, or their header. */
export const isFrame = (bytes: Uint8Array, start: number): boolean =>
  bytes[start] === note && bytes[start + 1] !== otherNote;

/** Returns whether a byte is white space in a record. */
export const isLayout = (byte: number): boolean =>
  byte === space || byte === tab || byte === lineFeedMark || byte === carriageReturnMark;
