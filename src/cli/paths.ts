import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Where `idv data update` puts the table of disposable domains: `idv/disposable.bin` in the XDG data folder. */
export function dataTablePath(env: NodeJS.ProcessEnv): string {
  const dataHome = env["XDG_DATA_HOME"] ?? "";
  const dataFolder = isAbsolute(dataHome) ? dataHome : join(homedir(), ".local", "share");
  return join(dataFolder, "idv", "disposable.bin");
}

/**
 * Where the quota file is: the option, else IDV_QUOTA_FILE, else `idv/quota.db` in the XDG state folder. Empty
 * variables count as unset, and so does a relative XDG folder, as the XDG specification wants it.
 */
export function quotaFilePath(option: string | undefined, env: NodeJS.ProcessEnv): string {
  const stateHome = env["XDG_STATE_HOME"] ?? "";
  const stateFolder = isAbsolute(stateHome) ? stateHome : join(homedir(), ".local", "state");
  return option ?? (env["IDV_QUOTA_FILE"] || join(stateFolder, "idv", "quota.db"));
}
