/** Creates the folders of files. */

import { FileError } from "./errors.js";
import { makeFolder } from "./make-folder.js";

/** Creates missing parents, too, with 0777 less the umask by default. @throws FileError */
export function createFolder(path: string, mode?: number): void {
  try {
    makeFolder(path, mode);
  } catch (error) {
    throw new FileError(`${path}: the folder does not exist and cannot be created: ${(error as Error).message}`);
  }
}
