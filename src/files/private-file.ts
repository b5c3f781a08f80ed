/** Small text files that only their owner may read, such as keys and secrets. Knows nothing of their content. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { FileError, readFault } from "./errors.js";
import { makeFolder } from "./folders.js";
import { moveIntoPlace } from "./replace-file.js";
import { temporaryBeside } from "./temporary-files.js";

/** Atomic, and durable when this resolves. `ifAbsent` leaves an existing file unchanged. @throws FileError */
export async function writePrivately(path: string, text: string, { ifAbsent = false } = {}): Promise<void> {
  const temporary = temporaryBeside(path);
  try {
    makeFolder(dirname(path), 0o700);
    await writeFile(temporary, text, { mode: 0o600, flag: "wx", flush: true });
    await moveIntoPlace(temporary, path, { ifAbsent });
  } catch (error) {
    if (ifAbsent && (error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw new FileError(
      `${path}: cannot be written: ${(error as Error).message}; make its folder writable, or set XDG_CONFIG_HOME to another folder`,
    );
  } finally {
    await rm(temporary, { force: true });
  }
}

export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true }).catch((error: Error) => {
    throw new FileError(`${path}: cannot be removed: ${error.message}; remove it by hand`);
  });
}

/** Returns undefined when the file does not exist. @throws FileError when it cannot be read */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new FileError(`${path}: cannot be read: ${readFault(error)}; make it readable, or remove it`);
  }
}
