/** Opens the state of `idv serve`: a SQLite file, or a PostgreSQL database. Drivers are loaded when they are used. */

import { meantBy } from "../../core/meant.js";
import { FileError } from "../../files/errors.js";
import { isAbsent } from "../../files/found.js";
import type { PostgresSettings } from "../../state/postgres/database.js";
import { UnknownKeyError } from "../../state/service/api-key.js";
import type { ServiceStore } from "../../state/service/service-store.js";
import type { LockWait } from "../../state/sqlite/database.js";
import { printable } from "../../text.js";
import { UsageError } from "../errors.js";
import { optionRecords } from "../options/option.js";
import { filled } from "../options/values.js";
import { stateLocation } from "./paths.js";
import { isDatabase } from "./quota-location.js";

export const stateOptions = optionRecords({
  state: { flags: "--state <FILE|URL>", help: "keys and quotas: a file, or postgres://host/database", parse: filled },
});

export const stateEnvironment = ["IDV_STATE", "IDV_STATE_FILE", "XDG_STATE_HOME"] as const;

interface StateSettings extends Pick<PostgresSettings, "connections" | "statementMilliseconds"> {
  /** False by default: a command that reads would hide a wrong path. */
  readonly creates?: boolean;
  readonly lockWait?: LockWait;
}

/** `option`, else IDV_STATE, else IDV_STATE_FILE, else the usual file. @throws StoreError, UsageError */
export function openServiceState(option: string | undefined, env: NodeJS.ProcessEnv, settings: StateSettings = {}) {
  return openState(stateLocation(option, env), option === undefined ? undefined : "--state", env, settings);
}

/** Opens the state of a command for `work`. An unknown key may be the name of one. @throws StoreError, UsageError */
export async function withServiceState<Result>(
  { state }: { readonly state?: string },
  work: (store: ServiceStore) => Promise<Result>,
  creates = false,
): Promise<Result> {
  const store = await openServiceState(state, process.env, { creates });
  try {
    return await work(store);
  } catch (error) {
    if (!(error instanceof UnknownKeyError)) throw error;
    const { id } = error;
    const keys = (await store.list()).filter(({ revoked }) => revoked === null);
    const meant = meantBy(
      id,
      keys.map(({ name }) => name),
    );
    const named = keys.find(({ name }) => name === meant);
    const what = meant === id ? "that is the name of" : `did you mean ${printable(meant ?? "")}? It is`;
    throw new UsageError(named === undefined ? error.message : `no key "${id}"; ${what} ${named.id}`);
  } finally {
    await store.close();
  }
}

/** An option must not hold a password: other users see the list of processes. @throws FileError, StoreError, UsageError */
export async function openState(
  location: string,
  option: "--state" | "--quota" | undefined,
  env: NodeJS.ProcessEnv,
  settings: StateSettings = {},
): Promise<ServiceStore> {
  const { lockWait, creates = false, ...connections } = settings;
  if (!isDatabase(location)) {
    const [scheme] = /^[a-z][a-z\d+.-]+:\/\//i.exec(location) ?? [];
    if (scheme !== undefined)
      throw new UsageError(`${scheme}... is not supported; write postgres://host/database, or name a file`);
    const makers = "idv serve and idv keys create make one";
    if (!creates && isAbsent(location)) throw new FileError(`${location}: there is no such file; ${makers}`);
    const { openSqliteServiceStore } = await import("../../state/service/database/sqlite.js");
    return openSqliteServiceStore(location, Date.now, lockWait);
  }
  const url = option !== undefined && URL.canParse(location) ? new URL(location) : undefined;
  if (url !== undefined && (url.password !== "" || url.searchParams.has("password"))) {
    const variable = option === "--state" ? "IDV_STATE" : "IDV_QUOTA";
    throw new UsageError(`${option}: a password does not belong on a command line; use PGPASSWORD or ${variable}`);
  }
  const { openPostgresServiceStore } = await import("../../state/service/database/postgres.js");
  return openPostgresServiceStore(location, { env, creates, ...connections });
}
