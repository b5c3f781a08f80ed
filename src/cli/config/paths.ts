/** Where files of idv are: settings, state and data. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Where the service keeps keys and quotas: the option, else IDV_STATE_FILE, else `idv/service.db` like the quota file. */
export function stateFilePath(option: string | undefined, env: NodeJS.ProcessEnv): string {
  return option ?? (env["IDV_STATE_FILE"] || join(stateFolder(env), "service.db"));
}

/** Where `idv data update` puts the table of disposable domains: `idv/disposable.bin` in the XDG data folder. */
export function dataTablePath(env: NodeJS.ProcessEnv): string {
  const dataHome = env["XDG_DATA_HOME"] ?? "";
  const dataFolder = isAbsolute(dataHome) ? dataHome : join(homeFolder(), ".local", "share");
  return join(dataFolder, "idv", "disposable.bin");
}

/**
 * Where the quota file is: the option, else IDV_QUOTA_FILE, else `idv/quota.db` in the XDG state folder. Empty
 * variables count as unset, and so does a relative XDG folder, as the XDG specification wants it.
 */
export function quotaFilePath(option: string | undefined, env: NodeJS.ProcessEnv): string {
  return option ?? (env["IDV_QUOTA_FILE"] || join(stateFolder(env), "quota.db"));
}

/** Where the cache of paid verdicts is: IDV_CACHE_FILE, else `idv/verdicts.db` like the quota file: it is worth money. */
export function cachePath(env: NodeJS.ProcessEnv): string {
  return env["IDV_CACHE_FILE"] || join(stateFolder(env), "verdicts.db");
}

/** Where settings, the key of `idv login` and the cache's secret are: `idv` in the XDG configuration folder. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  const configHome = env["XDG_CONFIG_HOME"] ?? "";
  return join(isAbsolute(configHome) ? configHome : join(homeFolder(), ".config"), "idv");
}

function stateFolder(env: NodeJS.ProcessEnv): string {
  const stateHome = env["XDG_STATE_HOME"] ?? "";
  return join(isAbsolute(stateHome) ? stateHome : join(homeFolder(), ".local", "state"), "idv");
}

/**
 * The user's home. Without HOME and an entry in the list of users, as in some containers and cron jobs, it is Debian's name
 * for a home that there is not: nothing is found there, and writing there fails with an error that names it.
 */
function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return "/nonexistent";
  }
}
