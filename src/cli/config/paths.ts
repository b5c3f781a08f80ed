/** Paths of idv's own files: settings, state and data. Opens none of them. */
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

export const stateLocation = (option: string | undefined, env: NodeJS.ProcessEnv): string =>
  option ?? (env["IDV_STATE"] || env["IDV_STATE_FILE"] || join(stateFolder(env), "service.db"));

/** A relative XDG folder counts as unset, as the XDG specification demands. */
export function dataTablePath(env: NodeJS.ProcessEnv): string {
  const dataHome = env["XDG_DATA_HOME"] ?? "";
  const dataFolder = isAbsolute(dataHome) ? dataHome : join(homeFolder(), ".local", "share");
  return join(dataFolder, "idv", "disposable.bin");
}

export const quotaFilePath = (env: NodeJS.ProcessEnv): string => join(stateFolder(env), "quota.db");

/**
 * IDV_CACHE_FILE, else `idv/verdicts.db` in the XDG state folder. Not in the XDG cache folder, which users delete:
 * these verdicts are worth money.
 */
export function cachePath(env: NodeJS.ProcessEnv): string {
  return env["IDV_CACHE_FILE"] || join(stateFolder(env), "verdicts.db");
}

/** `idv` in the XDG configuration folder: the settings, the key of `idv login` and the cache's secret. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  const configHome = env["XDG_CONFIG_HOME"] ?? "";
  return join(isAbsolute(configHome) ? configHome : join(homeFolder(), ".config"), "idv");
}

/** The user's own list of allowed or denied domains, which `idv allow` and `idv deny` change. */
export const ownListPath = (list: "allow" | "deny", env: NodeJS.ProcessEnv): string =>
  join(configFolder(env), `${list}.txt`);

/** Copies of lists at URLs, beside the cache of verdicts. */
export const listFolder = (env: NodeJS.ProcessEnv): string => join(dirname(cachePath(env)), "lists");

function stateFolder(env: NodeJS.ProcessEnv): string {
  const stateHome = env["XDG_STATE_HOME"] ?? "";
  return join(isAbsolute(stateHome) ? stateHome : join(homeFolder(), ".local", "state"), "idv");
}

/**
 * Some containers and cron jobs have neither HOME nor a user entry; they get `/dev/null`. Reads find nothing below it,
 * and writes fail with an error that names it, even for root.
 */
function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return "/dev/null";
  }
}
