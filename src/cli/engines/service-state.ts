/**
 * Opens the state of `idv serve`: a SQLite file, or a PostgreSQL database. Each driver is loaded only when it is used.
 */

import type { PostgresSettings } from "../../store/postgres/database.js";
import type { LockWait } from "../../store/sqlite/database.js";
import type { ServiceStore } from "../../store/state/service-store.js";
import { stateLocation } from "../config/paths.js";
import { isDatabase } from "../config/quota-location.js";
import { UsageError } from "../errors.js";

interface StateSettings extends Pick<PostgresSettings, "connections" | "statementMilliseconds"> {
  /** Limits of the wait for a lock on a file. */
  readonly lockWait?: LockWait;
}

/**
 * Opens the state that `option` names, else IDV_STATE, else IDV_STATE_FILE, else the usual file.
 *
 * @param option path, or `postgres://` URL
 * @throws StoreError when it cannot be opened
 * @throws UsageError when the option holds a password, which other users could see in the list of processes
 */
export function openServiceState(
  option: string | undefined,
  env: NodeJS.ProcessEnv,
  settings: StateSettings = {},
): Promise<ServiceStore> {
  return openState(stateLocation(option, env), option === undefined ? undefined : "--state", env, settings);
}

/**
 * @param location path, or `postgres://` URL
 * @param option the option that named it; undefined if a variable did
 * @throws StoreError when it cannot be opened
 * @throws UsageError when the option holds a password
 */
export async function openState(
  location: string,
  option: "--state" | "--quota" | undefined,
  env: NodeJS.ProcessEnv,
  settings: StateSettings = {},
): Promise<ServiceStore> {
  const { lockWait, ...connections } = settings;
  if (!isDatabase(location)) {
    const { openSqliteServiceStore } = await import("../../store/state/sqlite.js");
    return openSqliteServiceStore(location, Date.now, lockWait);
  }
  const url = option !== undefined && URL.canParse(location) ? new URL(location) : undefined;
  if (url !== undefined && (url.password !== "" || url.searchParams.has("password"))) {
    const variable = option === "--state" ? "IDV_STATE" : "IDV_QUOTA";
    throw new UsageError(
      `${option}: a password does not belong on a command line; use PGPASSWORD or ${variable}`,
    );
  }
  const { openPostgresServiceStore } = await import("../../store/state/postgres.js");
  return openPostgresServiceStore(location, { env, ...connections });
}
