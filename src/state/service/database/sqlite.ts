/** The state of the service in a SQLite file. */
import type { LockWait } from "../../sqlite/database.js";
import { ServiceStore } from "../service-store.js";
import { openStateFile } from "./state-database.js";

/** @throws StoreError when the state cannot be opened */
export async function openSqliteServiceStore(path: string, now: () => number, wait: LockWait = {}) {
  return new ServiceStore(await openStateFile(path, now, wait), now);
}
