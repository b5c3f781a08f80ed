/** The settings of a run. To add one, add its entry to {@link settings}: help, `idv doctor` and files pick it up. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Rate } from "../../engines/api/engine.js";
import { mostInFlight } from "../../engines/dns/vocabulary.js";
import { readFault } from "../../files/errors.js";
import { found } from "../../files/found.js";
import { UsageError } from "../errors.js";
import { type DnsUse, dnsServers, dnsUse, listUrl, serviceUrl } from "../options/addresses.js";
import { meantBy } from "../options/meant.js";
import {
  day,
  duration,
  filled,
  itemRate,
  oneOf,
  parsed,
  truthValue,
  wholeNumber,
  wordList,
} from "../options/values.js";
import { readLogin } from "./api-key.js";
import { configFolder } from "./paths.js";
import type { Resolved } from "./resolved.js";

interface Setting {
  readonly help: string;
  readonly parse: (text: string) => unknown;
  readonly show?: (value: never) => string;
  readonly fallback?: string;
  /** Absent if the command line gives the setting by `--set` only. */
  readonly flags?: string;
  readonly belongsTo?: "api" | "dns";
  /** A project's file may not give it: a clone must not decide where a user's domains or keys are sent, and how. */
  readonly isOwn?: true;
  /** In a command that the run suggests, as with options; `inPlace` by default. */
  readonly next?: "repeat" | "prevent";
}

export const longestCacheTtl = 366 * day;

const time = (least: number, most: number) => ({ parse: duration(least, most), show: showTime });
const rate = { parse: itemRate, show: ({ items, milliseconds }: Rate) => `${items} in ${milliseconds / 1000} s` };
const words = (list: readonly string[]) => list.join(",");
const showDnsUse = (use: DnsUse) =>
  typeof use === "string" ? use : `strict:${Number((100 * use.mostUndecided).toFixed(3))}%`;

const settings = defineSettings({
  engine: {
    help: "api, offline, or auto: api if there is a key",
    parse: oneOf("auto", "api", "offline"),
    fallback: "auto",
  },
  baseUrl: {
    flags: "--base-url <URL>",
    help: "URL that /emails/validate is appended to",
    parse: serviceUrl,
    belongsTo: "api",
  },
  apiKeyFile: { help: "file that holds the key and nothing else", parse: filled, belongsTo: "api", isOwn: true },
  batchSize: {
    help: "send up to N items in a request",
    parse: wholeNumber(1, 100_000),
    fallback: "100",
    belongsTo: "api",
  },
  concurrency: { help: "send up to N requests at a time", parse: wholeNumber(1, 64), fallback: "4", belongsTo: "api" },
  rate: { help: "submit up to N items in that time", ...rate, belongsTo: "api" },
  timeout: { help: "longest time for one try", ...time(1, day), fallback: "30s", belongsTo: "api" },
  maxRetries: {
    help: "how often a failed batch is sent again",
    parse: wholeNumber(0, 100),
    fallback: "4",
    belongsTo: "api",
  },
  retryBudget: { help: "longest time for all tries", ...time(0, day), fallback: "2m", belongsTo: "api" },
  cacheTtl: {
    help: "oldest cached verdict that is used",
    ...time(0, longestCacheTtl),
    fallback: "30d",
    belongsTo: "api",
  },
  precheck: {
    help: "whether items that cannot be valid are fake without asking",
    parse: truthValue,
    fallback: "true",
    belongsTo: "api",
  },
  allowInsecureHttp: {
    help: "whether the key may be sent unencrypted to another machine",
    parse: truthValue,
    fallback: "false",
    belongsTo: "api",
    isOwn: true,
  },
  dns: {
    flags: "--dns [=strict]",
    help: "look up whether domains receive mail; strict, strict:5%: exit 5 if more fail",
    parse: dnsUse,
    show: showDnsUse,
    fallback: "off",
    belongsTo: "dns",
    isOwn: true,
  },
  dnsServer: {
    help: "DNS servers to query, instead of the system's: IP[:PORT],...",
    parse: dnsServers,
    show: words,
    belongsTo: "dns",
    isOwn: true,
  },
  dnsConcurrency: {
    help: "most DNS queries in flight",
    parse: wholeNumber(1, mostInFlight),
    fallback: String(mostInFlight),
    belongsTo: "dns",
    isOwn: true,
  },
  dnsRate: { help: "most DNS queries in a time: 100/s", ...rate, belongsTo: "dns", isOwn: true },
  databaseConnections: {
    help: "idv serve: most connections to a PostgreSQL state",
    parse: wholeNumber(1, 1000),
    fallback: "8",
  },
  databaseTimeout: { help: "idv serve: longest wait for an answer of PostgreSQL", ...time(1, day), fallback: "5s" },
  cell: {
    help: "which of several items in a field counts: worst, first or best",
    parse: oneOf("worst", "first", "best"),
    fallback: "worst",
  },
  emptyValues: { help: "words for no item, instead of n/a, null ...", parse: wordList, show: words },
  listUrl: {
    flags: "--list-url <URL>",
    help: "where idv data update fetches the public list, or none",
    parse: listUrl,
    isOwn: true,
  },
  dailyListUrl: { help: "where idv data update fetches the list of the day, or none", parse: listUrl, isOwn: true },
  header: {
    help: "write the header: always, never, or first: in the first shard only",
    parse: oneOf("always", "first", "never"),
    fallback: "always",
    next: "prevent",
  },
  statusColumn: { help: "name of the added column", parse: filled, fallback: "status", next: "repeat" },
  escapeFormulas: {
    help: "whether added fields that are formulas get a ' before them",
    parse: truthValue,
    fallback: "false",
    next: "repeat",
  },
  ragged: { help: "rows with too few fields: pad, or error", parse: oneOf("pad", "error"), fallback: "pad" },
});

function defineSettings<const All extends Readonly<Record<string, Setting>>>(all: All): All {
  return all;
}

type All = typeof settings;
export type SettingName = keyof All;
export const settingNames = Object.keys(settings) as SettingName[];

export const settingOf = (name: SettingName): Setting => settings[name];

export const variableOf = (name: SettingName): string => `IDV_${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`;

type ValueOf<Name extends SettingName> = ReturnType<All[Name]["parse"]>;

export type Settings = {
  readonly [Name in SettingName]: Resolved<
    ValueOf<Name> | (All[Name] extends { readonly fallback: string } ? never : undefined)
  >;
};

export type SetSetting = readonly [name: SettingName, value: unknown];

export type SettingOptions = {
  readonly [Name in SettingName as All[Name] extends { readonly flags: string } ? Name : never]?: ValueOf<Name>;
} & { readonly set?: readonly SetSetting[] };

/** `timeout=1m`; `where` is the option, or the place in a file. @throws UsageError */
export function setSetting(text: string, where: string): SetSetting {
  const [, given = "", value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  const name = settingNames.find((name) => name === given);
  if (value !== undefined && name !== undefined)
    return [name, parsed<unknown>(`${where} ${name}`, value, parserOf(name))];
  // The value may be a key in the wrong place, so it is not shown.
  if (!/^[\w-]{1,30}$/.test(given)) throw new UsageError(`${where}: takes NAME=VALUE, as in timeout=1m`);
  throw new UsageError(`${where}: ${unknownName(given, "setting", settingNames)}; see idv help settings`);
}

export function unknownName(name: string, what: "setting" | "option", known: readonly string[]): string {
  // A long or odd name may be a password or a key in the wrong place.
  const shown = /^[A-Za-z_-]{1,30}$/.test(name) ? `"${name}"` : "one of its names";
  const meant = meantBy(name, known);
  return `${shown} is not a known ${what}${meant === undefined ? "" : ` (did you mean ${meant}?)`}`;
}

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
  options: SettingOptions,
  env: NodeJS.ProcessEnv,
  folder: string | undefined,
  onNotice: (text: string) => void,
): Promise<Settings> {
  const files = await readSettingsFiles(env, folder, onNotice);
  const ownFiles = files.filter(({ isProject }) => !isProject);
  const resolved = Object.fromEntries(settingNames.map((name) => [name, resolveSetting(name, options, env, files)]));
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
  return resolved as Settings;
}

function resolveSetting(
  name: SettingName,
  options: SettingOptions,
  env: NodeJS.ProcessEnv,
  files: readonly SettingsFile[],
): Resolved<unknown> {
  const { flags, fallback } = settingOf(name);
  const option = (options as Readonly<Record<string, unknown>>)[name];
  if (option !== undefined) return { value: option, source: flags!.split(" ")[0]! };
  const set = options.set?.findLast(([each]) => each === name);
  if (set !== undefined) return { value: set[1], source: "--set" };
  const variable = variableOf(name);
  const given = env[variable];
  if (given) return { value: parsed<unknown>(variable, given, parserOf(name)), source: variable };
  for (const { path, values } of files) {
    const value = values[name];
    if (value === undefined) continue;
    const where = `${path}: ${name}`;
    return { value: parsed<unknown>(where, textsOf(value, where).join(","), parserOf(name)), source: path };
  }
  return { value: fallback === undefined ? undefined : parserOf(name)(fallback), source: "default" };
}

/** Takes a value, or an array of values. @throws UsageError when one is null or an object */
export function textsOf(value: unknown, where: string): string[] {
  return (Array.isArray(value) ? value : [value]).map((text: unknown) => {
    if (["string", "number", "boolean"].includes(typeof text)) return String(text);
    throw new UsageError(`${where}: takes text, a number, true or false`);
  });
}

export const parserOf = <Name extends SettingName>(name: Name): All[Name]["parse"] => settings[name].parse;

export function showSetting(name: SettingName, value: unknown): string {
  const { show = String } = settingOf(name);
  return value === undefined ? "none" : (show as (value: unknown) => string)(value);
}

const timeUnits = [
  ["d", day],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
] as const;

function showTime(milliseconds: number): string {
  const [unit, size] = timeUnits.find(([, size]) => milliseconds % size === 0)!;
  return `${milliseconds / size}${unit}`;
}

/** The nearest one counts, from the working folder upwards. */
const projectFileName = ".idvrc.json";

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
    // Any user can leave a file in a folder like /tmp.
    if (isForeign(file.owner)) onNotice(`${path}: not read, because it belongs to another user`);
    else files.push(withoutOwn(parseSettingsFile(file, true), onNotice));
    break;
  }
  const own = await openIfPresent(userSettingsPath(env), "set XDG_CONFIG_HOME to another folder");
  return own ? [...files, parseSettingsFile(own, false)] : files;
}

function withoutOwn(file: SettingsFile, onNotice: (text: string) => void): SettingsFile {
  const isOwn = (name: string) => settingOf(name as SettingName).isOwn === true;
  const entries = Object.entries(file.values);
  const ignored = entries.flatMap(([name]) => (isOwn(name) ? [name] : []));
  if (ignored.length === 0) return file;
  onNotice(
    `${file.path}: ${ignored.join(", ")}: ignored: a project's file may not set these; use options, variables or your own config.json`,
  );
  return { ...file, values: Object.fromEntries(entries.filter(([name]) => !isOwn(name))) };
}

interface FoundFile {
  readonly path: string;
  readonly text: string;
  readonly owner: number;
}

const isForeign = (user: number): boolean => process.getuid !== undefined && ![process.getuid(), 0].includes(user);

/** `otherwise` advises a user who cannot make the file readable. @throws UsageError when it cannot be read */
async function openIfPresent(path: string, otherwise: string): Promise<FoundFile | undefined> {
  try {
    // Owner and text through one handle: the file could be replaced. Without O_NONBLOCK, a named pipe would block.
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

const userSettingsPath = (env: NodeJS.ProcessEnv): string => join(configFolder(env), "config.json");

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
    throw new UsageError(`${path}: ${unknownName(name, "setting", settingNames)}; see idv help settings`);
  }
  return { path, isProject, values: values as Readonly<Record<string, unknown>> };
}
