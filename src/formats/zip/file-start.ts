/** Tells zip archives, spreadsheet files among them, by their first bytes, before anything about them is loaded. */
import { closeSync, openSync, readSync } from "node:fs";
import { found } from "../../files/found.js";
import { isZipStart } from "./zip-start.js";

/** Returns whether a file starts as a zip archive does. Neither pipes nor devices are opened. */
export function startsAsZip(path: string): boolean {
  if (found(path)?.isFile() !== true) return false;
  try {
    const file = openSync(path, "r");
    const start = Buffer.alloc(4);
    try {
      return readSync(file, start) === 4 && isZipStart(start);
    } finally {
      closeSync(file);
    }
  } catch {
    // What is wrong with a file is said when it is opened as a table.
    return false;
  }
}
