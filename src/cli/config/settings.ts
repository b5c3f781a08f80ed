import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import { UsageError } from "../errors.js";
import { readLogin } from "./api-key.js";
import { duration, engineName, itemRate, serviceUrl, wholeNumber } from "./option-values.js";
import { configFolder } from "./paths.js";

/** A setting: how it is given, what it may be, and what it is otherwise. */
interface SettingKind<Value> {
  readonly flag: string;
  readonly variable: string;
  readonly description: string;
  /** @throws InvalidArgumentError */
  readonly parse: (text: string) => Value;
  /** As the user would write it; absent for none. */
  readonly fallback?: string;
}

/** No verdict is used for longer, in milliseconds: a year. */
export const longestCacheTtl = 366 * 86_400_000;

const setting = <Value>(kind: SettingKind<Value>): SettingKind<Value> => kind;

/** What may be set by option, by environment variable and in the files. */
export const settingKinds = {
  engine: setting({
    flag: "--engine <ENGINE>",
    variable: "IDV_ENGINE",
    description: "auto, api or offline; auto is api when a key is configured",
    parse: engineName,
    fallback: "auto",
  }),
  baseUrl: setting({
    flag: "--base-url <URL>",
    variable: "IDV_BASE_URL",
    description: "where the service is; /emails/validate goes behind it",
    parse: serviceUrl,
  }),
  batchSize: setting({
    flag: "--batch-size <N>",
    variable: "IDV_BATCH_SIZE",
    description: "items a request at most",
    parse: wholeNumber(1, 100_000),
    fallback: "100",
  }),
  concurrency: setting({
    flag: "--concurrency <N>",
    variable: "IDV_CONCURRENCY",
    description: "requests at a time at most",
    parse: wholeNumber(1, 64),
    fallback: "4",
  }),
  timeout: setting({
    flag: "--timeout <TIME>",
    variable: "IDV_TIMEOUT",
    description: "how long a request may take",
    parse: duration(1, 86_400_000),
    fallback: "30s",
  }),
  maxRetries: setting({
    flag: "--max-retries <N>",
    variable: "IDV_MAX_RETRIES",
    description: "how often a batch that failed is sent again",
    parse: wholeNumber(0, 100),
    fallback: "4",
  }),
  retryBudget: setting({
    flag: "--retry-budget <TIME>",
    variable: "IDV_RETRY_BUDGET",
    description: "for how long a batch that failed is sent again, in all",
    parse: duration(0, 86_400_000),
    fallback: "2m",
  }),
  rate: setting({
    flag: "--rate <N/s|N/m|N/h>",
    variable: "IDV_RATE",
    description: "items in a second, minute or hour at most",
    parse: itemRate,
  }),
  cacheTtl: setting({
    flag: "--cache-ttl <TIME>",
    variable: "IDV_CACHE_TTL",
    description: "how old a verdict from the cache may be",
    parse: duration(0, longestCacheTtl),
    fallback: "30d",
  }),
} as const;

export type SettingName = keyof typeof settingKinds;

/** A setting's value, and where it comes from, for people. */
export interface Resolved<Value> {
  readonly value: Value;
  readonly source: string;
  /**
   * It comes from a project's file, and says where requests go, while the user's own settings do not name that origin: a
   * clone or an unpacked archive must not decide where a key is sent.
   */
  readonly isUntrusted?: true;
}

type ValueOf<Name extends SettingName> = ReturnType<(typeof settingKinds)[Name]["parse"]>;
/** Every setting: the base URL and the rate may be absent. */
export type Settings = {
  readonly [Name in SettingName]: Resolved<
    Name extends "baseUrl" | "rate" ? ValueOf<Name> | undefined : ValueOf<Name>
  >;
};

/** The settings among the options of a command, as commander gives them: parsed. */
export type SettingOptions = { readonly [Name in SettingName]?: ValueOf<Name> };

/** A file with settings. */
interface SettingsFile {
  readonly path: string;
  /** It belongs to a project, not to the user. */
  readonly isProject: boolean;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Finds every setting: the option, else the environment variable, else the project's file, else the user's, else the default.
 * An empty variable counts as unset.
 *
 * A base URL of the project's file, and an engine that needs one, are marked as untrusted unless an option, a variable, the
 * user's file or `idv login` names the same origin.
 *
 * @param folder where the project's file is looked for, there and above; undefined for nowhere
 * @throws UsageError when a value is none, or a file holds what it must not
 */
export async function resolveSettings(
  options: SettingOptions,
  env: NodeJS.ProcessEnv,
  folder: string | undefined,
  onNotice: (text: string) => void,
): Promise<Settings> {
  const files = await readSettingsFiles(env, folder, onNotice);
  const names = Object.keys(settingKinds) as SettingName[];
  const resolve = (name: SettingName, from: readonly SettingsFile[]) =>
    resolveSetting(name, options, env, from);
  const settings = Object.fromEntries(names.map((name) => [name, resolve(name, files)]));
  const [projectFile] = files.filter(({ isProject }) => isProject);
  if (projectFile) {
    const own = resolve(
      "baseUrl",
      files.filter(({ isProject }) => !isProject),
    ).value as string | undefined;
    const trusted = [own, (await readLogin(env))?.baseUrl].flatMap((url) => (url ? new URL(url).origin : []));
    const baseUrl = settings["baseUrl"]!.value as string | undefined;
    const isTrusted = baseUrl !== undefined && trusted.includes(new URL(baseUrl).origin);
    for (const name of ["baseUrl", "engine"] as const) {
      const { value, source } = settings[name]!;
      // The offline engine sends nothing anywhere.
      if (source !== projectFile.path || isTrusted || value === "offline") continue;
      settings[name] = { value, source, isUntrusted: true };
    }
  }
  return settings as Settings;
}

function resolveSetting(
  name: SettingName,
  options: SettingOptions,
  env: NodeJS.ProcessEnv,
  files: readonly SettingsFile[],
): Resolved<unknown> {
  const { flag, variable, fallback } = settingKinds[name];
  const option = options[name];
  if (option !== undefined) return { value: option, source: flag.split(" ")[0]! };
  const text = env[variable];
  if (text) return { value: parse(name, text, variable), source: variable };
  for (const { path, values } of files) {
    const value = values[name];
    if (value !== undefined) return { value: parse(name, String(value), `${path}: ${name}`), source: path };
  }
  return { value: fallback === undefined ? undefined : parse(name, fallback, name), source: "default" };
}

/**
 * The value of an option.
 *
 * @throws UsageError
 */
export const parseSettingOption = (name: SettingName, text: string): unknown =>
  parse(name, text, settingKinds[name].flag.split(" ")[0]!);

/** @throws UsageError */
function parse(name: SettingName, text: string, where: string): unknown {
  try {
    return settingKinds[name].parse(text);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    // Some people write a password into a URL.
    const what = name === "baseUrl" ? "it" : `"${text}"`;
    throw new UsageError(`${where}: ${what} is invalid. ${error.message}`);
  }
}

/** The file of the project that a folder belongs to: in it, or the nearest above. */
const projectFileName = ".idvrc.json";

/** The project's file and the user's, those that there are. */
async function readSettingsFiles(
  env: NodeJS.ProcessEnv,
  folder: string | undefined,
  onNotice: (text: string) => void,
): Promise<SettingsFile[]> {
  const files: SettingsFile[] = [];
  for (let here = folder && resolve(folder); here; here = here === dirname(here) ? "" : dirname(here)) {
    const found = await openIfPresent(join(here, projectFileName));
    if (found === undefined) continue;
    // It could have the key sent anywhere.
    if (process.getuid && ![process.getuid(), 0].includes(found.owner)) {
      onNotice(`${found.path}: not read, it belongs to another user`);
    } else files.push(parseSettingsFile(found, true));
    break;
  }
  const own = await openIfPresent(userSettingsPath(env));
  return own ? [...files, parseSettingsFile(own, false)] : files;
}

interface FoundFile {
  readonly path: string;
  readonly text: string;
  /** The user that it belongs to, by number. */
  readonly owner: number;
}

/** @throws UsageError when it is there and cannot be read */
async function openIfPresent(path: string): Promise<FoundFile | undefined> {
  try {
    // By its handle: what is behind the name could change meanwhile.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = await file.stat();
      if (!found.isFile()) throw new Error("it is no file");
      return { path, text: await file.readFile("utf8"), owner: found.uid };
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new UsageError(`${path}: cannot be read: ${message}`);
  }
}

/** The user's own file of settings. */
const userSettingsPath = (env: NodeJS.ProcessEnv): string => join(configFolder(env), "config.json");

/** @throws UsageError when it holds what it must not */
function parseSettingsFile({ path, text }: FoundFile, isProject: boolean): SettingsFile {
  let values: unknown;
  try {
    values = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    // What it holds instead may be a key.
    throw new UsageError(`${path}: is not JSON`);
  }
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    throw new UsageError(`${path}: has to be a JSON object`);
  }
  for (const name of Object.keys(values)) {
    if (Object.hasOwn(settingKinds, name)) continue;
    if (/key|token|secret/i.test(name)) {
      throw new UsageError(`${path}: a key does not belong here; idv login keeps it in a file of its own`);
    }
    // What is no name may be a key in the wrong place.
    const what = /^[A-Za-z_]{1,30}$/.test(name) ? `"${name}"` : "one of its names";
    throw new UsageError(`${path}: ${what} is no setting; those are ${Object.keys(settingKinds).join(", ")}`);
  }
  return { path, isProject, values: values as Readonly<Record<string, unknown>> };
}
