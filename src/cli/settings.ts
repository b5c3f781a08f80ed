import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import { UsageError } from "./errors.js";
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

/** Any of the settings, for whoever needs only what all have. */
export type AnySetting = SettingKind<unknown>;

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
    parse: duration(0, 10 * 365 * 86_400_000),
    fallback: "30d",
  }),
} as const;

type SettingName = keyof typeof settingKinds;

/** A setting's value, and where it comes from, for people. */
export interface Resolved<Value> {
  readonly value: Value;
  readonly source: string;
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
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Finds every setting: the option, else the environment variable, else the project's file, else the user's, else the default.
 * An empty variable counts as unset.
 *
 * @throws UsageError when a value is none, or a file holds what it must not
 */
export async function resolveSettings(
  options: SettingOptions,
  env: NodeJS.ProcessEnv,
  folder: string,
  onNotice: (text: string) => void,
): Promise<Settings> {
  const files = await readSettingsFiles(env, folder, onNotice);
  const names = Object.keys(settingKinds) as SettingName[];
  return Object.fromEntries(
    names.map((name) => [name, resolveSetting(name, options, env, files)]),
  ) as Settings;
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

function parse(name: SettingName, text: string, where: string): unknown {
  try {
    return settingKinds[name].parse(text);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new UsageError(`${where}: "${text}" is invalid. ${error.message}`);
  }
}

/** The file of the project that a folder belongs to: in it, or the nearest above. */
const projectFileName = ".idvrc.json";

/** The project's file and the user's, those that there are. */
async function readSettingsFiles(
  env: NodeJS.ProcessEnv,
  folder: string,
  onNotice: (text: string) => void,
): Promise<SettingsFile[]> {
  const files: SettingsFile[] = [];
  for (let here = resolve(folder); ; here = dirname(here)) {
    const path = join(here, projectFileName);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile()) {
      // It could have the key sent anywhere.
      if (found.uid === process.getuid?.() || found.uid === 0 || process.getuid === undefined) {
        files.push(await readSettingsFile(path));
      } else onNotice(`${path}: not read, it belongs to another user`);
      break;
    }
    if (here === dirname(here)) break;
  }
  const path = userSettingsPath(env);
  if (await stat(path).catch(() => undefined)) files.push(await readSettingsFile(path));
  return files;
}

/** The user's own file of settings. */
const userSettingsPath = (env: NodeJS.ProcessEnv): string => join(configFolder(env), "config.json");

async function readSettingsFile(path: string): Promise<SettingsFile> {
  let values: unknown;
  try {
    values = JSON.parse((await readFile(path, "utf8")).replace(/^\ufeff/, ""));
  } catch (error) {
    throw new UsageError(`${path}: cannot be read: ${(error as Error).message}`);
  }
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    throw new UsageError(`${path}: has to be a JSON object`);
  }
  for (const name of Object.keys(values)) {
    if (Object.hasOwn(settingKinds, name)) continue;
    if (/key|token|secret/i.test(name)) {
      throw new UsageError(
        `${path}: "${name}": a key does not belong here; idv login keeps it in a file of its own`,
      );
    }
    throw new UsageError(
      `${path}: "${name}" is no setting; those are ${Object.keys(settingKinds).join(", ")}`,
    );
  }
  return { path, values: values as Readonly<Record<string, unknown>> };
}
