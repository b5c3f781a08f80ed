/** Finds the value of each setting among options, variables and files. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { meantBy } from "../../core/meant.js";
import { FileError, readFault } from "../../files/errors.js";
import { found } from "../../files/found.js";
import { UsageError } from "../errors.js";
import { parsed } from "../options/values.js";
import { readLogin } from "./api-key.js";
import { environmentVariables } from "./environment.js";
import { configFolder } from "./paths.js";
import * as settings from "./settings.js";

interface SettingsFile {
  readonly path: string;
  readonly isProject: boolean;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Order: option, `--set`, variable, project's file (upwards from `folder`), user's file, default. A base URL or engine
 * from the project's file is untrusted unless an option, a variable, the user's file or `idv login` names its origin.
 * @throws UsageError
 */
export async function resolveSettings(
  options: settings.SettingOptions,
  env: NodeJS.ProcessEnv,
  folder: string | undefined,
  onNotice: (text: string) => void,
): Promise<settings.Settings> {
  noteUnknownVariables(env, onNotice);
  const files = await readSettingsFiles(env, folder, onNotice);
  const ownFiles = files.filter(({ isProject }) => !isProject);
  const entries = settings.settingNames.map((name) => [name, resolveSetting(name, options, env, files)] as const);
  const resolved = Object.fromEntries(entries);
  const [projectFile] = files.filter(({ isProject }) => isProject);
  if (projectFile) {
    const own = resolveSetting("baseUrl", options, env, ownFiles).value as string | undefined;
    const trusted = [own, (await readLogin(env))?.baseUrl].flatMap((url) => (url ? new URL(url).origin : []));
    const baseUrl = resolved["baseUrl"]!.value as string | undefined;
    const isTrusted = baseUrl !== undefined && trusted.includes(new URL(baseUrl).origin);
    for (const name of ["baseUrl", "engine"] as const) {
      const { value, source } = resolved[name]!;
      // The offline engine sends nothing.
      if (source !== projectFile.path || isTrusted || value === "offline") continue;
      resolved[name] = { value, source, isUntrusted: true };
    }
  }
  return resolved as settings.Settings;
}

/** Set by idv's own processes, its tests, and Kubernetes and Docker for a service of this name. */
const foreignVariable = /^IDV_(?:TEST_|RESERVATION$|SERVICE_(?:HOST|PORT)|PORT(?:_|$))/;

export function unknownVariables(env: NodeJS.ProcessEnv) {
  const known = [...Object.keys(environmentVariables), ...settings.settingNames.map(settings.variableOf)];
  return Object.keys(env)
    .filter((name) => name.startsWith("IDV_") && !foreignVariable.test(name) && !known.includes(name))
    .map((name) => ({ name, meant: meantBy(name, known) }));
}

/** A mistyped one would be ignored, and addresses sent that were to stay here. */
function noteUnknownVariables(env: NodeJS.ProcessEnv, onNotice: (text: string) => void): void {
  for (const { name, meant } of unknownVariables(env)) {
    // It promises that no address is sent: a note could be missed.
    if (name === "IDV_OFFLINE" && env[name] !== "")
      throw new UsageError("IDV_OFFLINE: idv has no such variable; use IDV_ENGINE=offline or --offline");
    onNotice(`${name}: idv has no such variable${meant === undefined ? "" : ` (did you mean ${meant}?)`}`);
  }
}

function resolveSetting(
  name: settings.SettingName,
  options: settings.SettingOptions,
  env: NodeJS.ProcessEnv,
  files: readonly SettingsFile[],
): settings.Resolved<unknown> {
  const { flags, fallback } = settings.settingOf(name);
  const option = (options as Readonly<Record<string, unknown>>)[name];
  if (option !== undefined) return { value: option, source: flags!.split(" ")[0]! };
  const set = options.set?.findLast(([each]) => each === name);
  if (set !== undefined) return { value: set[1], source: "--set" };
  const variable = settings.variableOf(name);
  const given = env[variable];
  if (given) return { value: parsed<unknown>(variable, given, settings.parserOf(name)), source: variable };
  for (const { path, values } of files) {
    const value = values[name];
    if (value === undefined) continue;
    const where = `${path}: ${name}`;
    const text = settings.textsOf(value, where).join(",");
    return { value: parsed<unknown>(where, text, settings.parserOf(name)), source: path };
  }
  return { value: fallback === undefined ? undefined : settings.parserOf(name)(fallback), source: "default" };
}

/** The nearest one counts, from the working folder upwards. */
const projectFileName = ".idvrc.json";

async function readSettingsFiles(env: NodeJS.ProcessEnv, folder: string | undefined, onNotice: (text: string) => void) {
  const files: SettingsFile[] = [];
  for (let here = folder && resolve(folder); here; here = here === dirname(here) ? "" : dirname(here)) {
    const path = join(here, projectFileName);
    const file = await openIfPresent(path, "run idv in another folder").catch((error: unknown) => {
      const owner = found(path)?.uid;
      if (owner === undefined || !isForeign(owner)) throw error;
      return { path, text: "", owner };
    });
    if (file === undefined) continue;
    // Any user can leave a file in a folder like /tmp.
    if (isForeign(file.owner)) onNotice(`${path}: not read, because it belongs to another user`);
    else files.push(withoutOwn(parseSettingsFile(file, true), onNotice));
    break;
  }
  const own = await openIfPresent(userSettingsPath(env), "set XDG_CONFIG_HOME to another folder");
  return own ? [...files, parseSettingsFile(own, false)] : files;
}

function withoutOwn(file: SettingsFile, onNotice: (text: string) => void): SettingsFile {
  const isOwn = (name: string) => settings.settingOf(name as settings.SettingName).isOwn === true;
  const entries = Object.entries(file.values);
  const ignored = Object.keys(file.values).filter(isOwn);
  if (ignored.length === 0) return file;
  onNotice(
    `${file.path}: ${ignored.join(", ")}: ignored: a project's file may not set these; use options, variables or your own config.json`,
  );
  return { ...file, values: Object.fromEntries(entries.filter(([name]) => !isOwn(name))) };
}

const isForeign = (user: number): boolean => process.getuid !== undefined && ![process.getuid(), 0].includes(user);

/** `otherwise` advises a user who cannot make the file readable. @throws FileError when it cannot be read */
async function openIfPresent(path: string, otherwise: string) {
  let file: FileHandle | undefined;
  try {
    // Owner and text through one handle: the file could be replaced. Without O_NONBLOCK, a named pipe would block.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const state = await file.stat();
    if (!state.isFile()) throw new Error("not a regular file");
    return { path, text: await file.readFile("utf8"), owner: state.uid };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new FileError(`${path}: cannot be read: ${readFault(error)}; make it readable, or ${otherwise}`);
  } finally {
    await file?.close();
  }
}

const userSettingsPath = (env: NodeJS.ProcessEnv): string => join(configFolder(env), "config.json");

function parseSettingsFile({ path, text }: { path: string; text: string }, isProject: boolean): SettingsFile {
  const values = settings.objectIn(text, path);
  for (const name of Object.keys(values)) {
    if (settings.settingNames.some((each) => each === name)) continue;
    const isNear = settings.settingNames.some((each) => each.toLowerCase() === name.toLowerCase().replace(/[_-]/g, ""));
    if (/key|token|secret/i.test(name) && !isNear) {
      throw new UsageError(`${path}: a key does not belong here; idv login keeps it in a file of its own`);
    }
    const unknown = settings.unknownName(name, "setting", settings.settingNames);
    throw new UsageError(`${path}: ${unknown}; see idv help settings`);
  }
  return { path, isProject, values };
}
