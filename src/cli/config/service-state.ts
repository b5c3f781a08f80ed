/**
 * Opens the state of `idv serve`: a SQLite file, or a PostgreSQL database. Each driver is loaded only when it is used.
 */
import { statSync } from "node:fs";
import type { PostgresSettings } from "../../state/postgres/database.js";
import type { ServiceStore } from "../../state/service/service-store.js";
import type { LockWait } from "../../state/sqlite/database.js";
import { UsageError } from "../errors.js";
import { stateLocation } from "./paths.js";
import { isDatabase } from "./quota-location.js";

interface StateSettings extends Pick<PostgresSettings, "connections" | "statementMilliseconds"> {
  /** Whether a state that is absent is created; false by default: a command that reads would hide a wrong path. */
  readonly creates?: boolean;
  /** Limits of the wait for a lock on a file. */
  readonly lockWait?: LockWait;
}

/**
 * Opens the state that `option` names, else IDV_STATE, else IDV_STATE_FILE, else the usual file.
 *
 * @param option path, or `postgres://` URL
 * @throws StoreError when it cannot be opened
 * @throws UsageError when there is no such file, or the option holds a password, which other users could see in the list
 *   of processes
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
 * @throws UsageError when there is no such file, or the option holds a password
 */
export async function openState(
  location: string,
  option: "--state" | "--quota" | undefined,
  env: NodeJS.ProcessEnv,
  settings: StateSettings = {},
): Promise<ServiceStore> {
  const { lockWait, creates = false, ...connections } = settings;
  if (!isDatabase(location)) {
    if (!creates && isAbsent(location)) {
      throw new UsageError(
        `${location}: there is no such file; idv serve, idv keys create and idv quota set create one`,
      );
    }
    const { openSqliteServiceStore } = await import("../../state/service/database/sqlite.js");
    return openSqliteServiceStore(location, Date.now, lockWait);
  }
  const url = option !== undefined && URL.canParse(location) ? new URL(location) : undefined;
  if (url !== undefined && (url.password !== "" || url.searchParams.has("password"))) {
    const variable = option === "--state" ? "IDV_STATE" : "IDV_QUOTA";
    throw new UsageError(
      `${option}: a password does not belong on a command line; use PGPASSWORD or ${variable}`,
    );
  }
  const { openPostgresServiceStore } = await import("../../state/service/database/postgres.js");
  return openPostgresServiceStore(location, { env, creates, ...connections });
}

/** Returns whether there is no file, or an empty one, which opening it would fill. */
export function isAbsent(path: string): boolean {
  try {
    return !statSync(path, { throwIfNoEntry: false })?.size;
  } catch {
    // Not accessible; opening the file fails and reports why.
    return false;
  }
}
