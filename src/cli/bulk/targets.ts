/** Prevents a run from overwriting files that it or idv needs. */
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { loginPath } from "../config/api-key.js";
import { cacheSecretPath } from "../config/cache-secret.js";
import { cachePath } from "../config/paths.js";
import { UsageError } from "../errors.js";

/** The files of a run. */
interface Targets {
  readonly input: string | undefined;
  readonly quotaPath: string;
  readonly output: string | undefined;
  readonly backup: string | undefined;
  readonly badRowsFile?: string;
  readonly report?: string;
  readonly summaryFile?: string;
  readonly apiKeyFile?: string;
  readonly isInPlace: boolean;
}

/**
 * Checks that no file has two roles. Only the output may be the same file as the input.
 *
 * @throws UsageError when a file has two roles
 */
export function checkTargets(targets: Targets): void {
  const { input, quotaPath, output, backup, badRowsFile, report, summaryFile, apiKeyFile, isInPlace } =
    targets;
  const roles = [
    ["the quota file", quotaPath],
    ["the cache", cachePath(process.env)],
    ["the cache's secret", cacheSecretPath(process.env)],
    ["the key of idv login", loginPath(process.env)],
    ["the key file", apiKeyFile],
    ["the output", output],
    ["the file of bad rows", badRowsFile],
    ["the report", report],
    ["the summary file", summaryFile],
    ["the backup", backup],
    // With --in-place, the output is the input.
    ["the input", isInPlace ? undefined : input],
  ] as const;
  const taken = new Map<string, string>();
  for (const [role, path] of roles) {
    if (path === undefined || path.startsWith("/dev/")) continue;
    const place = placeOf(path);
    const other = taken.get(place);
    const isItself = role === "the input" && other === "the output";
    if (other !== undefined && !isItself)
      throw new UsageError(`${path}: cannot be ${role} and ${other} at once`);
    taken.set(place, role);
  }
}

/** Returns the path with symbolic links resolved. The file itself need not exist. */
function placeOf(path: string): string {
  for (const follow of [() => realpathSync(path), () => join(realpathSync(dirname(path)), basename(path))]) {
    try {
      return follow();
    } catch {
      // Missing or inaccessible. If that matters, opening the file reports it.
    }
  }
  return resolve(path);
}
