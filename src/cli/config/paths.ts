/** Paths of idv's own files: settings, state and data. Opens none of them. */
import { homedir, userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { platform } from "node:process";

export const stateLocation = (option: string | undefined, env: NodeJS.ProcessEnv): string =>
  option ?? (env["IDV_STATE"] || env["IDV_STATE_FILE"] || join(folderFor("STATE", env), "service.db"));

export const dataTablePath = (env: NodeJS.ProcessEnv): string => join(folderFor("DATA", env), "disposable.bin");

export const quotaFilePath = (env: NodeJS.ProcessEnv): string => join(folderFor("STATE", env), "quota.db");

/** Users delete the XDG cache folder, and these verdicts are worth money: they are in the state folder. */
export function cachePath(env: NodeJS.ProcessEnv): string {
  return env["IDV_CACHE_FILE"] || join(folderFor("STATE", env), "verdicts.db");
}

export const configFolder = (env: NodeJS.ProcessEnv): string => folderFor("CONFIG", env);

export const ownListPath = (list: "allow" | "deny", env: NodeJS.ProcessEnv): string =>
  join(configFolder(env), `${list}.txt`);

export const listFolder = (env: NodeJS.ProcessEnv): string => join(dirname(cachePath(env)), "lists");

const usual = { CONFIG: ".config", STATE: ".local/state", DATA: ".local/share" } as const;
/** Settings follow a user of Windows to other machines of the domain, state and data do not. */
const onWindows = { CONFIG: "APPDATA", STATE: "LOCALAPPDATA", DATA: "LOCALAPPDATA" } as const;

/** Below the XDG variable if it is absolute, as the XDG specification demands, else below the system's default. */
function folderFor(kind: keyof typeof usual, env: NodeJS.ProcessEnv): string {
  const named = [env[`XDG_${kind}_HOME`], platform === "win32" && env[onWindows[kind]]];
  return join(named.find((path) => path && isAbsolute(path)) || join(homeFolder(), usual[kind]), "idv");
}

/** Some containers have no HOME or user entry. Below `/dev/null`, reads find nothing; writes fail, even for root. */
function homeFolder(): string {
  try {
    return homedir() || userInfo().homedir;
  } catch {
    return "/dev/null";
  }
}
