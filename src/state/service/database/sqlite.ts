/** The state of the service in a SQLite file. */
import type { LockWait } from "../../sqlite/database.js";
import { SqlServiceStore } from "../sql-store.js";
import { openStateFile } from "./state-database.js";

/** @throws StoreError when the state cannot be opened */
export async function openSqliteServiceStore(
  path: string,
  now: () => number,
  wait: LockWait = {},
): Promise<SqlServiceStore> {
  return new SqlServiceStore(await openStateFile(path, now, wait), now);
}
