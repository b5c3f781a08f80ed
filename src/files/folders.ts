/** Creates the folders of files. */

import { FileError } from "./errors.js";
import { makeFolder } from "./make-folder.js";

/**
 * Creates a folder and its missing parents.
 *
 * @param mode permissions of new folders; 0777 less the umask by default
 * @throws FileError when a folder cannot be created
 */
export function createFolder(path: string, mode?: number): void {
  try {
    makeFolder(path, mode);
  } catch (error) {
    throw new FileError(
      `${path}: the folder does not exist and cannot be created: ${(error as Error).message}`,
    );
  }
}
