/** What the scanner needs to know of a table, and the fields of a record that it has found. */

import type { Dialect } from "../dialect.js";
import type { TableShape } from "../records.js";
import { recordWords, scanRecords } from "./scanner.js";

/** Memory for scanning a record again. */
const oneRecord = new Int32Array(recordWords);

/** Returns what the scanner needs to know of a table. */
export function scanShape({ dialect, column }: TableShape) {
  return { ...scanMarks(dialect), column };
}

/** Returns the same for a dialect. */
export function scanMarks({
  delimiter,
  quote,
  escape: escaping,
  comment,
  skipsSpaces,
}: Omit<Dialect, "lineEnding" | "byteOrderMark">) {
  const codeOf = (character: string | null) => character?.charCodeAt(0);
  return {
    ...{ delimiter: codeOf(delimiter), quote: codeOf(quote), comment: codeOf(comment), skipsSpaces },
    escape: escaping === quote ? undefined : codeOf(escaping),
  };
}

/** Returns the start and the end of each field of a record, quotes included. */
export function boundsIn(shape: TableShape, bytes: Uint8Array, from: number, end: number): readonly number[] {
  const bounds: number[] = [];
  const options = { from, bounds, most: 1, memory: oneRecord };
  scanRecords(bytes.subarray(0, end), scanShape(shape), true, options);
  return bounds;
}
