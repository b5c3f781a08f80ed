/** The words that start idv again, as another process. */
import type { OwnProgram } from "../../child-program.js";
import { isBinary } from "../../package/own-files.js";

/** In a program of a single file, that is the program itself. */
export function ownProgram(): OwnProgram {
  return { program: process.execPath, words: isBinary ? [] : [process.argv[1]!] };
}
