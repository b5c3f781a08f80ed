import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { StoreError } from "../store/sqlite.js";

/**
 * Writes a file that only its owner may read; it appears whole or not at all, and is on the disk when this resolves.
 *
 * @param ifAbsent leaves a file that is there already as it is
 * @throws StoreError
 */
export async function writePrivately(path: string, text: string, { ifAbsent = false } = {}): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(temporary, text, { mode: 0o600, flag: "wx", flush: true });
    if (ifAbsent) await link(temporary, path);
    else await rename(temporary, path);
    const folder = await open(dirname(path));
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    if (ifAbsent && (error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw new StoreError(
      `${path}: cannot be written: ${(error as Error).message}; make its folder writable, or name another in XDG_CONFIG_HOME`,
    );
  } finally {
    await rm(temporary, { force: true });
  }
}

/**
 * Removes a file, if it is there.
 *
 * @throws StoreError
 */
export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true }).catch((error: Error) => {
    throw new StoreError(`${path}: cannot be removed: ${error.message}; remove it by hand`);
  });
}

/**
 * The text of a file; undefined where there is none.
 *
 * @throws StoreError when it cannot be read
 */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new StoreError(
      `${path}: cannot be read: ${(error as Error).message}; make it readable, or remove it`,
    );
  }
}
