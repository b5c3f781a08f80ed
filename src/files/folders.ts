/** Creates folders one by one: Node's recursive mkdir never returns below a folder such as /proc. */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { FileError, writeFault } from "./errors.js";
import { found } from "./found.js";

/** Creates missing parents, too, with 0777 less the umask by default. @throws FileError */
export function createFolder(path: string, mode?: number): void {
  try {
    makeFolder(path, mode);
  } catch (error) {
    if (found(path)?.isFile()) throw new FileError(`${path}: is a file; name a folder`);
    throw new FileError(`${path}: the folder does not exist and cannot be created: ${createFault(error)}`);
  }
}

/** The folder of a file system such as /proc takes none. */
const createFault = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code === "ENOENT" ? "nothing can be created there" : writeFault(error);

/** Creates missing parents, too, with 0777 less the umask by default. @throws the error of the system, with its code */
export function makeFolder(path: string, mode = 0o777): void {
  const existing = statSync(path, { throwIfNoEntry: false });
  if (existing?.isDirectory()) return;
  if (dirname(path) !== path && existing === undefined) makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have been faster.
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST" && statSync(path).isDirectory();
    if (!isThere) throw error;
  }
}
