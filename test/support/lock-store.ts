/** Locks state files on behalf of another process. */
import { DatabaseSync } from "@photostructure/sqlite";

/**
 * Takes and holds the write lock of a state file, like a process that hangs.
 *
 * @returns a function that releases the lock
 */
export async function lockStore(path: string): Promise<() => Promise<void>> {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE");
  return async () => {
    database.exec("ROLLBACK");
    database.close();
  };
}
