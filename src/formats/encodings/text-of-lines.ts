/** Text of lines in any encoding, for outputs that are made of text. */
import { isUtf8 } from "node:buffer";
import { lineFeed } from "../../core/table/ascii.js";
import { decodeWindows1252 } from "../../core/table/bytes.js";

/** Reads lines that are not UTF-8 as windows-1252, as cells are read. */
export function textOfLines(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  const hasMark = bytes.subarray(0, 3).toString() === "\ufeff";
  const lines = hasMark ? ["\ufeff"] : [];
  for (let start = hasMark ? 3 : 0; start < bytes.length; ) {
    const end = bytes.indexOf(lineFeed, start) + 1 || bytes.length;
    const line = bytes.subarray(start, end);
    lines.push(isUtf8(line) ? line.toString() : decodeWindows1252(line));
    start = end;
  }
  return lines.join("");
}
