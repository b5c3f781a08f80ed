/** Prevents a run from overwriting files that it or idv needs. */
import { basename, dirname } from "node:path";
import { knownStatuses } from "../../../core/validator/validator.js";
import { isDevicePath, resolvedPath } from "../../../files/found.js";
import { printable } from "../../../text.js";
import { loginPath } from "../../config/api-key.js";
import { cacheSecretPath } from "../../config/cache-secret.js";
import { cachePath } from "../../config/paths.js";
import { UsageError } from "../../errors.js";
import type { FilePaths } from "./paths.js";
import { roleOf, type SideOutput } from "./side-outputs.js";

interface CommonTargets {
  readonly quotaPath: string;
  readonly sides: readonly SideOutput[];
  readonly apiKeyFile?: string | undefined;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly split?: string;
  readonly dryRun?: true;
}

interface Role {
  readonly name: string;
  readonly path: string | undefined;
  readonly isWritten: boolean;
}

/** An output may replace its own input. @throws UsageError when a written file has a second role */
export function checkTargets(files: readonly FilePaths[], common: CommonTargets): void {
  const { allow, deny, dryRun } = common;
  const split = dryRun ? undefined : common.split;
  const rolesOf = (isWritten: boolean, name: string, paths: readonly Role["path"][]) =>
    paths.map((path): Role => ({ name, path, isWritten }));
  const read = (name: string, ...paths: Role["path"][]) => rolesOf(false, name, paths);
  const written = (name: string, ...paths: Role["path"][]) => rolesOf(true, name, paths);
  const containers = files.flatMap(({ returned }) => returned ?? []);
  const returned = [...new Map(containers.map((each) => [each.path, each])).values()];
  const roles = [
    ...written("the quota file", common.quotaPath),
    ...written("the cache", cachePath(process.env)),
    ...written("the cache's secret", cacheSecretPath(process.env)),
    ...written("the key of idv login", loginPath(process.env)),
    ...read("the key file", common.apiKeyFile),
    ...read("a list of your own", ...allow, ...deny),
    ...written("the output", ...files.map(({ output }) => output), ...returned.map(({ path }) => path)),
    ...common.sides.flatMap((side) => written(roleOf(side), side.path)),
    ...written("the backup", ...[...files, ...returned].map(({ backup }) => backup)),
    ...read("the input", ...inputsOf(files)),
  ];
  const taken = new Map<string, Role>();
  for (const role of roles) {
    const { name, path, isWritten } = role;
    if (path === undefined || isDevicePath(path)) continue;
    const resolved = resolvedPath(path);
    if (split !== undefined && isOfSplit(resolved, split)) {
      throw new UsageError(`${printable(path)}: cannot be ${name} and a file of --split at once`);
    }
    const other = taken.get(resolved);
    if (other?.name === "the input" && name === "the input" && split !== undefined) {
      throw new UsageError(`${printable(path)}: is given twice, and its rows would be written twice; name it once`);
    }
    if (other?.name === name && isWritten) {
      throw new UsageError(`${printable(path)}: two of the files would be written there; rename one of them`);
    }
    if (other && (isWritten || other.isWritten)) {
      throw new UsageError(`${printable(path)}: cannot be ${name} and ${other.name} at once`);
    }
    taken.set(resolved, role);
  }
}

/** An archive is one input, whatever the number of its tables. */
const inputsOf = (files: readonly FilePaths[]): readonly Role["path"][] => [
  ...files.map(({ input, isInPlace, member }) => (isInPlace || member ? undefined : input)),
  ...new Set(files.map(({ isInPlace, member }) => (isInPlace ? undefined : member?.container.name))),
];

function isOfSplit(resolved: string, folder: string): boolean {
  const [, status = ""] = /^(\w+)\.(?:csv|tsv|jsonl|json)$/.exec(basename(resolved)) ?? [];
  return dirname(resolved) === resolvedPath(folder) && [...knownStatuses, "empty"].includes(status);
}
