/** A lock on a folder, for changes of several files: SQLite's lock on an empty file, which ends with the process. */
import { closeSync, openSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { platform } from "node:process";
import { cannotWrite } from "../../files/errors.js";
import { type Database, deadlineOf, type LockWait, loadSqlite, retryWhileBusy } from "./database.js";

const lockName = ".idv-lock";

/** Waits for other runs, then does `work`. @throws FileError when the lock cannot be taken */
export async function withFolderLock<Result>(folder: string, wait: LockWait, work: () => Promise<Result>) {
  const lock = await takeLock(folder, wait).catch((error: unknown) => {
    throw wait.signal?.aborted ? wait.signal.reason : cannotWrite(folder, error);
  });
  try {
    return await work();
  } finally {
    // Windows removes no open file. Elsewhere, the lock file of another run would go once ours is closed.
    if (platform === "win32") lock.close();
    await rm(join(folder, lockName), { force: true }).catch(() => {});
    if (platform !== "win32") lock.close();
  }
}

async function takeLock(folder: string, wait: LockWait): Promise<Database> {
  const path = join(folder, lockName);
  const { DatabaseSync } = await loadSqlite();
  const deadline = deadlineOf(wait);
  for (;;) {
    let isTaken = false;
    // Mode 0666, less the umask: every user who may write to the folder may take the lock.
    closeSync(openSync(path, "a", 0o666));
    const before = inodeOf(path);
    const database = new DatabaseSync(path);
    // The previous holder removes the file: the lock counts only while the path still leads to the locked file.
    const isCurrent = () => before !== undefined && before === inodeOf(path);
    try {
      const wasCurrent = isCurrent();
      await retryWhileBusy(() => database.exec("BEGIN IMMEDIATE"), deadline, wait.signal);
      isTaken = wasCurrent && isCurrent();
      if (isTaken) return database;
    } catch (error) {
      if (isCurrent()) throw error;
    } finally {
      if (!isTaken) database.close();
    }
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;
