/** The state of the service in a SQLite file. */
import type { LockWait } from "../../sqlite/database.js";
import { SqlServiceStore } from "../sql-store.js";
import { openStateFile } from "./state-database.js";

/**
 * Opens the file. Creates it if it is absent.
 *
 * @param now clock in milliseconds since the epoch
 * @throws StoreError
 */
export async function openSqliteServiceStore(
  path: string,
  now: () => number,
  wait: LockWait = {},
): Promise<SqlServiceStore> {
  return new SqlServiceStore(await openStateFile(path, now, wait), now);
}
