/** What the tests of this folder need: programs that may be missing, `idv` by its name, lists, and a quota. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathWithIdv } from "../support/processes.js";
import { readQuota } from "../support/quota.js";
import { idv, program } from "../support/run-idv.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Says that a test is left out because packages are missing. @throws Error in CI, where nothing is left out */
export function leaveOut(test: string, install: string): void {
  const message = `${test} needs: ${install}`;
  if (process.env["CI"]) throw new Error(message);
  process.stderr.write(`left out: ${message}\n`);
}

/**
 * Returns whether programs are there, and says which packages of Debian have those that are not.
 *
 * @param commands the packages by commands that succeed if they are installed
 */
export function areInstalled(commands: Readonly<Record<string, string>>): boolean {
  const missing = Object.entries(commands)
    .filter(([command]) => spawnSync("sh", ["-c", command], { stdio: "ignore" }).status !== 0)
    .map(([, name]) => name);
  if (missing.length > 0) leaveOut("a test", `apt-get install ${[...new Set(missing)].join(" ")}`);
  return missing.length === 0;
}

/** Returns a recipe as `idv help machines` prints it. */
export const recipe = (name: string): string =>
  readFileSync(new URL(`../../src/package/deploy/engines/${name}`, import.meta.url), "utf8");

/** Returns addresses of a list. */
export const addresses = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${name}${i}@larch-and-oak.com`);

/** Writes a list with a header. */
export const writeList = (path: string, rows: readonly string[]): void =>
  writeFileSync(path, `email\n${rows.map((row) => `${row}\n`).join("")}`);

/**
 * Makes a home with a quota.
 *
 * @param limit the limit of the quota
 * @returns its path; an environment in which `idv` is in the PATH; the units used
 */
export async function homeWithQuota(limit: number) {
  const home = temporaryFolder();
  const path = pathWithIdv(home);
  await idv(["quota", "set", "--limit", String(limit)], { home });
  const env = { IDV_ENGINE: "offline", PATH: path, HOME: home, XDG_STATE_HOME: join(home, "state") };
  return { home, env, used: async (): Promise<number> => (await readQuota(home)).used };
}

/** Returns the rows of an output, without its header. */
export const rowsOf = (path: string): string[] => readFileSync(path, "latin1").trimEnd().split("\n").slice(1);

/** Kills a process. Returns whether there was one. */
export function killed(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}

/** Returns the process IDs of the runs of idv with a word among their arguments. */
export function runsWith(word: string): number[] {
  const { stdout } = spawnSync("pgrep", ["-f", `${program} emails .*${word}`], { encoding: "utf8" });
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : Number(line)));
}
