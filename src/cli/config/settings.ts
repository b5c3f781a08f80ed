/** The settings of a run. To add one, add its entry to {@link settings}: help, `idv doctor` and files pick it up. */

import { meantBy } from "../../core/meant.js";
import type { Rate } from "../../engines/api/engine.js";
import { mostInFlight } from "../../engines/dns/vocabulary.js";
import { day } from "../../time.js";
import { UsageError } from "../errors.js";
import { type DnsUse, dnsServers, dnsUse, listUrl, serviceUrl } from "../options/addresses.js";
import { insteadOfSetting } from "../options/others-words.js";
import {
  duration,
  filled,
  itemRate,
  oneOf,
  parsed,
  showRate,
  truthValue,
  wholeNumber,
  wordList,
} from "../options/values.js";
import { showTime } from "../terminal/time.js";

/** A value with its source. */
export interface Resolved<Value> {
  readonly value: Value;
  readonly source: string;
  /** From a project's file, for an origin that is not the user's: a clone must not decide where a key goes. */
  readonly isUntrusted?: true;
}

interface Setting {
  readonly help: string;
  readonly parse: (text: string) => unknown;
  readonly show?: (value: never) => string;
  readonly fallback?: string;
  /** How the default is shown, if it is no text. */
  readonly fallbackText?: string;
  /** Absent if the command line gives the setting by `--set` only. */
  readonly flags?: string;
  readonly belongsTo?: "api" | "dns";
  /** A project's file may not give it: a clone must not decide where a user's domains or keys are sent, and how. */
  readonly isOwn?: true;
  /** In a command that the run suggests; `inPlace` by default. */
  readonly next?: "repeat" | "prevent";
}

export const longestCacheTtl = 366 * day;

const time = (least: number, most: number) => ({ parse: duration(least, most), show: showTime });
const rate = { parse: itemRate, show: ({ items, milliseconds }: Rate) => showRate({ requests: items, milliseconds }) };
const number = (least: number, most: number, fallback: number) => {
  return { parse: wholeNumber(least, most), fallback: String(fallback) };
};
const truth = (fallback: "true" | "false") => ({ parse: truthValue, fallback });
const oneOfFirst = <const Word extends string>(...words: readonly [Word, ...Word[]]) => {
  const fallback: string = words[0];
  return { parse: oneOf(...words), fallback };
};
const words = (list: readonly string[]) => list.join(",");
const showDnsUse = (use: DnsUse) =>
  typeof use === "string" ? use : `strict:${Number((100 * use.mostUndecided).toFixed(3))}%`;

const settings = defineSettings({
  engine: { help: "api, offline, or auto: api if there is a key", ...oneOfFirst("auto", "api", "offline") },
  ...ofService({
    baseUrl: { flags: "--base-url <URL>", help: "URL that /emails/validate is appended to", parse: serviceUrl },
    apiKeyFile: { help: "file that holds the key and nothing else", parse: filled, isOwn: true },
    batchSize: { help: "send up to N items in a request", ...number(1, 100_000, 100) },
    concurrency: { help: "send up to N requests at a time", ...number(1, 64, 4) },
    rate: { help: "submit up to N items in that time", ...rate },
    timeout: { help: "longest time for one try", ...time(1, day), fallback: "30s" },
    maxRetries: { help: "how often a failed batch is sent again", ...number(0, 100, 4) },
    retryBudget: { help: "longest time for all tries", ...time(0, day), fallback: "2m" },
    cacheTtl: { help: "oldest cached verdict that is used", ...time(0, longestCacheTtl), fallback: "30d" },
    precheck: { help: "whether items that cannot be valid are fake without asking", ...truth("true") },
    allowInsecureHttp: {
      help: "whether the key may be sent unencrypted to another machine",
      ...truth("false"),
      isOwn: true,
    },
  }),
  ...ofDns({
    dns: {
      flags: "--dns [=strict]",
      help: "look up whether domains receive mail; strict[:5%]: exit 5 if over half (5 %) are undecided",
      parse: dnsUse,
      show: showDnsUse,
      fallback: "off",
    },
    dnsServer: { help: "DNS servers to query, instead of the system's: IP[:PORT],...", parse: dnsServers, show: words },
    dnsConcurrency: { help: "most DNS queries in flight", ...number(1, mostInFlight, mostInFlight) },
    dnsRate: { help: "most DNS queries in a time: 100/s", ...rate },
  }),
  databaseConnections: { help: "idv serve: most connections to a PostgreSQL state", ...number(1, 1000, 8) },
  databaseTimeout: { help: "idv serve: longest wait for an answer of PostgreSQL", ...time(1, day), fallback: "5s" },
  cell: {
    help: "which of several items in a field counts: worst, first or best",
    ...oneOfFirst("worst", "first", "best"),
  },
  emptyValues: {
    help: "words for no item, instead of n/a, null ...",
    ...{ parse: wordList, show: words, fallbackText: "built in" },
  },
  listUrl: {
    flags: "--list-url <URL>",
    help: "where idv data update fetches the public list; none: nowhere",
    ...{ parse: listUrl, fallbackText: "built in", isOwn: true },
  },
  dailyListUrl: {
    help: "where idv data update fetches the list of the day; none: nowhere",
    ...{ parse: listUrl, fallbackText: "built in", isOwn: true },
  },
  header: {
    help: "write the header: always, never, or first: in the first shard only",
    ...oneOfFirst("always", "first", "never"),
    next: "prevent",
  },
  statusColumn: { help: "name of the added column", parse: filled, fallback: "status", next: "repeat" },
  escapeFormulas: {
    help: "whether added fields that are formulas get a ' before them",
    ...truth("false"),
    next: "repeat",
  },
  ragged: { help: "rows with too few fields: pad, or error", ...oneOfFirst("pad", "error") },
});

type Group = Readonly<Record<string, Setting>>;

function withCommon<const All extends Group, const Common extends Partial<Setting>>(all: All, common: Common) {
  const entries = Object.entries(all).map(([name, setting]) => [name, { ...setting, ...common }]);
  return Object.fromEntries(entries) as { readonly [Name in keyof All]: All[Name] & Common };
}

function ofService<const All extends Group>(all: All) {
  return withCommon(all, { belongsTo: "api" });
}

function ofDns<const All extends Group>(all: All) {
  return withCommon(all, { belongsTo: "dns", isOwn: true });
}

function defineSettings<const All extends Group>(all: All): All {
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
  const [, word, blank = ""] = /^(\w+)(\s*)[:=]?/.exec(text) ?? [];
  const meant = settingNames.find((name) => name === word);
  if (meant !== undefined)
    throw new UsageError(`${where}: write ${meant}=VALUE${blank === "" ? "" : ", without blanks around ="}`);
  // The value may be a key in the wrong place, so it is not shown.
  if (!/^[\w-]{1,30}$/.test(given)) throw new UsageError(`${where}: takes NAME=VALUE, as in timeout=1m`);
  throw new UsageError(`${where}: ${unknownName(given, "setting", settingNames)}; see idv help settings`);
}

export function unknownName(name: string, what: "setting" | "option", known: readonly string[]): string {
  // A long or odd name may be a password or a key in the wrong place.
  const shown = /^(?:[A-Za-z_-]{1,30}|\$schema|(?:\/\/|#)[ \w]{0,30})$/.test(name) ? `"${name}"` : "one of its names";
  const meant = meantBy(name, known);
  const guess = (what === "setting" ? insteadOfSetting(name) : undefined) ?? (meant && `did you mean ${meant}?`);
  return `${shown} is not a known ${what}${guess === undefined ? "" : ` (${guess})`}`;
}

/** Reads JSON. @throws UsageError without the text, which may hold a password or be a key */
export function objectIn(text: string, path: string): Readonly<Record<string, unknown>> {
  const json = text.replace(/^\ufeff/, "");
  let values: unknown;
  try {
    values = JSON.parse(json);
  } catch (error) {
    // V8 does not name the position of each fault.
    const [, position] = /in JSON at position (\d+)/.exec(String(error)) ?? [];
    if (position === undefined) throw new UsageError(`${path}: not JSON, which looks like {"batchSize": 500}`);
    const before = json.slice(0, Number(position)).split("\n");
    throw new UsageError(`${path}:${before.length}:${before.at(-1)!.length + 1}: not JSON from here on`);
  }
  if (typeof values === "object" && values !== null && !Array.isArray(values)) return { ...values };
  throw new UsageError(`${path}: not a JSON object`);
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
  const { show = String, fallbackText = "none" } = settingOf(name);
  return value === undefined ? fallbackText : (show as (value: unknown) => string)(value);
}
