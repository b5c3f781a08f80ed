import { DatabaseSync } from "@photostructure/sqlite";

/**
 * Holds the write lock of a state file, as a hanging process would.
 *
 * @returns releases it
 */
export async function lockStore(path: string): Promise<() => Promise<void>> {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE");
  return async () => {
    database.exec("ROLLBACK");
    database.close();
  };
}
