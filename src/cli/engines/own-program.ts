/** The words that start idv again, as another process. */
import { threadLoader } from "../../package/own-files.js";

/** In a program of a single file, that is the program itself. */
export function ownProgram(): { readonly program: string; readonly words: readonly string[] } {
  return { program: process.execPath, words: threadLoader === undefined ? [process.argv[1]!] : [] };
}
