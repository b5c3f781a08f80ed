/** Converts the properties of a table for the scanner, and scans single records again for their fields. */
import type { Marks } from "../dialect.js";
import type { TableShape } from "../records.js";
import { recordWords, scanRecords } from "./scanner.js";

const oneRecord = new Int32Array(recordWords);

const known = new WeakMap<TableShape, ReturnType<typeof scanMarks> & { readonly column: number }>();

export function scanShape(shape: TableShape) {
  let marks = known.get(shape);
  if (marks === undefined) {
    marks = { ...scanMarks(shape.dialect.delimiter, shape.dialect), column: shape.column };
    known.set(shape, marks);
  }
  return marks;
}

export function scanMarks(delimiter: string | null, { quote, escape: escaping, comment, skipsSpaces }: Marks) {
  const codeOf = (character: string | null) => character?.charCodeAt(0);
  return {
    delimiter: codeOf(delimiter),
    quote: codeOf(quote),
    comment: codeOf(comment),
    skipsSpaces,
    escape: escaping === quote ? undefined : codeOf(escaping),
  };
}

export function boundsIn(shape: TableShape, bytes: Uint8Array, from: number, end: number): readonly number[] {
  const bounds: number[] = [];
  const options = { from, bounds, most: 1, memory: oneRecord };
  scanRecords(bytes.subarray(0, end), scanShape(shape), true, options);
  return bounds;
}
