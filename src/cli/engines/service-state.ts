/** Opens the state of `idv serve`: a SQLite file, or a PostgreSQL database. Each is loaded only when it is used. */
import type { ServiceStore } from "../../store/service-store.js";
import type { LockWait } from "../../store/sqlite.js";
import { stateFilePath } from "../config/paths.js";
import { UsageError } from "../errors.js";

/**
 * Opens the state that the option names, else IDV_STATE, else IDV_STATE_FILE, else the usual file.
 *
 * @param option path, or `postgres://` URL
 * @param wait limits of the wait for a lock on a file
 * @throws StoreError when it cannot be opened
 * @throws UsageError when the option holds a password, which other users could see in the list of processes
 */
export async function openServiceState(
  option: string | undefined,
  env: NodeJS.ProcessEnv,
  wait: LockWait = {},
): Promise<ServiceStore> {
  const place = option ?? (env["IDV_STATE"] || undefined);
  if (place === undefined || !/^postgres(?:ql)?:\/\//.test(place)) {
    const { SqliteServiceStore } = await import("../../store/sqlite-service-store.js");
    return SqliteServiceStore.open(stateFilePath(place, env), Date.now, wait);
  }
  const url = option !== undefined && URL.canParse(option) ? new URL(option) : undefined;
  if (url !== undefined && (url.password !== "" || url.searchParams.has("password"))) {
    throw new UsageError(
      "--state: a password does not belong on a command line; use PGPASSWORD or IDV_STATE",
    );
  }
  const { PostgresServiceStore } = await import("../../store/postgres-service-store.js");
  return PostgresServiceStore.open(place, env);
}
