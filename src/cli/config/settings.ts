/**
 * The settings of a run, given by option, variable, project file or user file. To add one, add its entry to
 * {@link settings}: the help, `idv doctor` and the settings files pick it up.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import { mostInFlight } from "../../dns/vocabulary.js";
import { readFault } from "../../files/errors.js";
import { found } from "../../files/found.js";
import type { Rate } from "../../validator/api/engine.js";
import { UsageError } from "../errors.js";
import { readLogin } from "./api-key.js";
import {
  day,
  dnsServers,
  dnsUse,
  duration,
  engineName,
  itemRate,
  serviceUrl,
  wholeNumber,
} from "./option-values.js";
import { configFolder } from "./paths.js";
import type { Resolved } from "./resolved.js";

/** A setting: how it is given, and what its values are. */
interface Setting<Value> {
  readonly flag: string;
  readonly variable: string;
  readonly description: string;
  /** @throws InvalidArgumentError */
  readonly parse: (text: string) => Value;
  /** Returns a value as text for people. */
  readonly show: (value: NonNullable<Value>) => string;
  /** The default, as the user would write it; absent for none. */
  readonly fallback?: string;
}

function setting<Value>(
  flag: string,
  variable: string,
  description: string,
  { parse, show = String }: { parse: Setting<Value>["parse"]; show?: Setting<Value>["show"] },
  fallback?: string,
): Setting<Value> {
  return { flag, variable, description, parse, show, ...(fallback !== undefined && { fallback }) };
}

/** The longest age of a cached verdict, in milliseconds. */
export const longestCacheTtl = 366 * day;

const text = <Value>(parse: (text: string) => Value) => ({ parse });
const time = (least: number, most: number) => ({ parse: duration(least, most), show: showTime });
const rate = {
  parse: itemRate,
  show: ({ items, milliseconds }: Rate) => `${items} in ${milliseconds / 1000} s`,
};

/** All settings, by their names in the files. */
export const settings = {
  engine: setting(
    "--engine <ENGINE>",
    "IDV_ENGINE",
    "api, offline, or auto: api if there is a key",
    text(engineName),
    "auto",
  ),
  baseUrl: setting(
    "--base-url <URL>",
    "IDV_BASE_URL",
    "URL that /emails/validate is appended to",
    text(serviceUrl),
  ),
  batchSize: setting(
    "--batch-size <N>",
    "IDV_BATCH_SIZE",
    "send up to N items in a request",
    text(wholeNumber(1, 100_000)),
    "100",
  ),
  concurrency: setting(
    "--concurrency <N>",
    "IDV_CONCURRENCY",
    "send up to N requests at a time",
    text(wholeNumber(1, 64)),
    "4",
  ),
  timeout: setting("--timeout <TIME>", "IDV_TIMEOUT", "longest time for one try", time(1, day), "30s"),
  maxRetries: setting(
    "--max-retries <N>",
    "IDV_MAX_RETRIES",
    "resend a failed batch up to N times",
    text(wholeNumber(0, 100)),
    "4",
  ),
  retryBudget: setting(
    "--retry-budget <TIME>",
    "IDV_RETRY_BUDGET",
    "longest time for all tries",
    time(0, day),
    "2m",
  ),
  rate: setting("--rate <N/s|N/m|N/h>", "IDV_RATE", "submit up to N items in that time", rate),
  cacheTtl: setting(
    "--cache-ttl <TIME>",
    "IDV_CACHE_TTL",
    "use cached verdicts up to this age",
    time(0, longestCacheTtl),
    "30d",
  ),
  dns: setting(
    "--dns [=strict]",
    "IDV_DNS",
    "look up whether domains receive mail; strict: exit 5 if most fail",
    text(dnsUse),
    "off",
  ),
  dnsServer: setting(
    "--dns-server <IP[:PORT],...>",
    "IDV_DNS_SERVER",
    "DNS servers to query, instead of the system's",
    { parse: dnsServers, show: (servers: readonly string[]) => servers.join(",") },
  ),
  dnsConcurrency: setting(
    "--dns-concurrency <N>",
    "IDV_DNS_CONCURRENCY",
    "have up to N queries in flight",
    text(wholeNumber(1, mostInFlight)),
    String(mostInFlight),
  ),
  dnsRate: setting("--dns-rate <N/s|N/m|N/h>", "IDV_DNS_RATE", "send up to N queries in that time", rate),
} as const;

export type SettingName = keyof typeof settings;
export const settingNames = Object.keys(settings) as SettingName[];
/** The settings of the stage that asks DNS. Not accepted from a project's file, which could send the user's domains to its own server. */
export const dnsSettingNames: readonly SettingName[] = ["dns", "dnsServer", "dnsConcurrency", "dnsRate"];

type ValueOf<Name extends SettingName> = ReturnType<(typeof settings)[Name]["parse"]>;
/** Every setting with its value; the base URL, the rates and the DNS servers may be absent. */
export type Settings = {
  readonly [Name in SettingName]: Resolved<
    Name extends "baseUrl" | "rate" | "dnsServer" | "dnsRate" ? ValueOf<Name> | undefined : ValueOf<Name>
  >;
};

/** The settings among the options of a command, parsed. */
export type SettingOptions = { readonly [Name in SettingName]?: ValueOf<Name> };

/** A file with settings. */
interface SettingsFile {
  readonly path: string;
  /** It belongs to a project, not to the user. */
  readonly isProject: boolean;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Finds every setting: the option, else the environment variable, else the project's file, else the user's, else the
 * default. An empty variable counts as unset.
 *
 * A base URL from the project's file, and an engine from there other than `offline`, are marked as untrusted unless an
 * option, a variable, the user's file or `idv login` names the same origin.
 *
 * @param folder folder in which the search for the project's file starts, upwards; undefined for no search
 * @throws UsageError when a value is invalid, or a file cannot be read or is not a settings file
 */
export async function resolveSettings(
  options: SettingOptions,
  env: NodeJS.ProcessEnv,
  folder: string | undefined,
  onNotice: (text: string) => void,
): Promise<Settings> {
  const files = await readSettingsFiles(env, folder, onNotice);
  const ownFiles = files.filter(({ isProject }) => !isProject);
  const resolved = Object.fromEntries(
    settingNames.map((name) => [name, resolveSetting(name, options, env, files)]),
  );
  const [projectFile] = files.filter(({ isProject }) => isProject);
  if (projectFile) {
    const own = resolveSetting("baseUrl", options, env, ownFiles).value as string | undefined;
    const trusted = [own, (await readLogin(env))?.baseUrl].flatMap((url) => (url ? new URL(url).origin : []));
    const baseUrl = resolved["baseUrl"]!.value as string | undefined;
    const isTrusted = baseUrl !== undefined && trusted.includes(new URL(baseUrl).origin);
    for (const name of ["baseUrl", "engine"] as const) {
      const { value, source } = resolved[name]!;
      // The offline engine sends nothing anywhere.
      if (source !== projectFile.path || isTrusted || value === "offline") continue;
      resolved[name] = { value, source, isUntrusted: true };
    }
  }
  return resolved as Settings;
}

function resolveSetting(
  name: SettingName,
  options: SettingOptions,
  env: NodeJS.ProcessEnv,
  files: readonly SettingsFile[],
): Resolved<unknown> {
  const { flag, variable, fallback } = settings[name];
  const option = options[name];
  if (option !== undefined) return { value: option, source: flag.split(" ")[0]! };
  const given = env[variable];
  if (given) return { value: parse(name, given, variable), source: variable };
  for (const { path, values } of files) {
    const value = values[name];
    if (value !== undefined) return { value: parse(name, String(value), `${path}: ${name}`), source: path };
  }
  return { value: fallback === undefined ? undefined : parse(name, fallback, name), source: "default" };
}

/**
 * Parses the value of an option.
 *
 * @throws UsageError
 */
export const parseSettingOption = (name: SettingName, value: string): unknown =>
  parse(name, value, settings[name].flag.split(" ")[0]!);

/** @throws UsageError */
function parse(name: SettingName, value: string, where: string): unknown {
  try {
    return settings[name].parse(value);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    // A URL may hold a password, so it is not shown.
    const what = name === "baseUrl" ? "it" : `"${value}"`;
    throw new UsageError(`${where}: ${what} is invalid. ${error.message}`);
  }
}

/** Returns a setting's value as text for people; `none` where it has no value. */
export function showSetting(name: SettingName, value: unknown): string {
  return value === undefined ? "none" : (settings[name].show as (value: unknown) => string)(value);
}

const timeUnits = [
  ["d", day],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
] as const;

/** Returns a time in the largest unit that fits: `30d` for 2,592,000,000 milliseconds. */
function showTime(milliseconds: number): string {
  const [unit, size] = timeUnits.find(([, size]) => milliseconds % size === 0)!;
  return `${milliseconds / size}${unit}`;
}

/** Name of the project's file. The nearest one counts: in the working folder, else in a folder above it. */
const projectFileName = ".idvrc.json";

/** Reads the project's file and the user's, where they exist, in this order. */
async function readSettingsFiles(
  env: NodeJS.ProcessEnv,
  folder: string | undefined,
  onNotice: (text: string) => void,
): Promise<SettingsFile[]> {
  const files: SettingsFile[] = [];
  for (let here = folder && resolve(folder); here; here = here === dirname(here) ? "" : dirname(here)) {
    const path = join(here, projectFileName);
    const file = await openIfPresent(path, "run idv in another folder").catch((error: unknown) => {
      const owner = found(path)?.uid;
      if (owner === undefined || !isForeign(owner)) throw error;
      return { path, text: "", owner };
    });
    if (file === undefined) continue;
    // Anybody could leave a file in a folder like /tmp.
    if (isForeign(file.owner)) onNotice(`${path}: not read, because it belongs to another user`);
    else files.push(withoutDns(parseSettingsFile(file, true), onNotice));
    break;
  }
  const own = await openIfPresent(userSettingsPath(env), "set XDG_CONFIG_HOME to another folder");
  return own ? [...files, parseSettingsFile(own, false)] : files;
}

/** Returns a project's file without the settings that it may not set, and names them. */
function withoutDns(file: SettingsFile, onNotice: (text: string) => void): SettingsFile {
  const isDns = (name: string) => (dnsSettingNames as readonly string[]).includes(name);
  const entries = Object.entries(file.values);
  const ignored = entries.flatMap(([name]) => (isDns(name) ? [name] : []));
  if (ignored.length === 0) return file;
  onNotice(
    `${file.path}: ${ignored.join(", ")}: ignored: a project's file may not set these; use options, variables or your own config.json`,
  );
  return { ...file, values: Object.fromEntries(entries.filter(([name]) => !isDns(name))) };
}

interface FoundFile {
  readonly path: string;
  readonly text: string;
  /** Id of the user that owns it. */
  readonly owner: number;
}

/** Returns whether a user is neither root nor the one who runs this. */
const isForeign = (user: number): boolean =>
  process.getuid !== undefined && ![process.getuid(), 0].includes(user);

/**
 * Returns the text and owner of a file, or undefined when it does not exist.
 *
 * @param otherwise what to do for a user who cannot make the file readable
 * @throws UsageError when the file exists and cannot be read
 */
async function openIfPresent(path: string, otherwise: string): Promise<FoundFile | undefined> {
  try {
    // Owner and text are read through one handle, because the file could be replaced in between. Without O_NONBLOCK,
    // opening a named pipe would wait for a writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const state = await file.stat();
      if (!state.isFile()) throw new Error("not a regular file");
      return { path, text: await file.readFile("utf8"), owner: state.uid };
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new UsageError(`${path}: cannot be read: ${readFault(error)}; make it readable, or ${otherwise}`);
  }
}

/** Path of the user's own settings file. */
const userSettingsPath = (env: NodeJS.ProcessEnv): string => join(configFolder(env), "config.json");

/** @throws UsageError when the file is not a JSON object, or has other names than those of settings */
function parseSettingsFile({ path, text }: FoundFile, isProject: boolean): SettingsFile {
  let values: unknown;
  try {
    values = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    // The text may be a key, so it is not shown.
    throw new UsageError(`${path}: not JSON`);
  }
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    throw new UsageError(`${path}: not a JSON object`);
  }
  for (const name of Object.keys(values)) {
    if (Object.hasOwn(settings, name)) continue;
    if (/key|token|secret/i.test(name)) {
      throw new UsageError(`${path}: a key does not belong here; idv login keeps it in a file of its own`);
    }
    // A long or odd name may be a key in the wrong place.
    const what = /^[A-Za-z_]{1,30}$/.test(name) ? `"${name}"` : "one of its names";
    throw new UsageError(
      `${path}: ${what} is an unknown setting; known settings: ${settingNames.join(", ")}`,
    );
  }
  return { path, isProject, values: values as Readonly<Record<string, unknown>> };
}
