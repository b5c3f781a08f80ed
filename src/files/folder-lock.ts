/**
 * A lock on a folder, for changes of several files that must not mix with those of another run. It is SQLite's lock on an
 * empty file: the system releases it when its process ends, however that ends.
 */
import { closeSync, openSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Database, deadlineOf, type LockWait, loadSqlite, retryWhileBusy } from "../store/sqlite.js";

const lockName = ".idv-lock";

/**
 * Runs `work` while no other run has the lock of the folder. The lock's file is removed afterwards.
 *
 * @throws what `work` throws; SQLite's or the system's error when the lock cannot be had; the signal's reason
 */
export async function withFolderLock<Result>(
  folder: string,
  wait: LockWait,
  work: () => Promise<Result>,
): Promise<Result> {
  const path = join(folder, lockName);
  const { DatabaseSync } = await loadSqlite();
  const deadline = deadlineOf(wait);
  let lock: Database | undefined;
  while (lock === undefined) {
    // For all users who may write to the folder.
    closeSync(openSync(path, "a", 0o666));
    const before = inodeOf(path);
    const database = new DatabaseSync(path);
    // The run that had the lock before removes the file: a lock on a file that nobody else can open locks nothing.
    const isCurrent = () => before !== undefined && before === inodeOf(path);
    try {
      const wasCurrent = isCurrent();
      await retryWhileBusy(() => database.exec("BEGIN IMMEDIATE"), deadline, wait.signal);
      if (wasCurrent && isCurrent()) lock = database;
    } catch (error) {
      if (isCurrent()) throw error;
    } finally {
      if (lock === undefined) database.close();
    }
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true }).catch(() => {});
    lock.close();
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;
