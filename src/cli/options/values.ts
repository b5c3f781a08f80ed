/** Parsers of option values. Each returns the value, or throws an InvalidValue that says what is accepted. */

import { existsSync } from "node:fs";
import { meantBy } from "../../core/meant.js";
import type { Rate } from "../../engines/api/engine.js";
import { endingOf, isPage } from "../../files/ending.js";
import { sheetKind, tableEndings } from "../../formats/registry.js";
import type { Permission } from "../../state/service/api-key.js";
import type { RequestRate } from "../../state/service/rates.js";
import { day, utcTime } from "../../time.js";
import { UsageError } from "../errors.js";
import { showTime, unitMilliseconds } from "../terminal/time.js";
import { dateMeant, numberMeant, rateMeant, shardMeant, sizeMeant, timeMeant } from "./meant-forms.js";
import { choiceCalled } from "./others-words.js";

export class InvalidValue extends Error {
  override readonly name = "InvalidValue";

  constructor(
    message: string,
    readonly what?: string,
  ) {
    super(message);
  }
}

/** `where` is the option, the variable or the place in a file, for the message. @throws UsageError */
export function parsed<Value>(where: string, value: string, parse: (text: string, where: string) => Value): Value {
  try {
    return parse(value, where);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new UsageError(`${where}: ${error.what ?? `"${value}"`} is invalid. ${error.message}`);
  }
}

/** Says what was meant by a value that `parse` refuses, or why it would refuse that, too. */
function guessing<Value>(parse: (text: string) => Value, meant: (text: string) => string | undefined) {
  return (value: string): Value => {
    try {
      return parse(value);
    } catch (error) {
      const guess = error instanceof InvalidValue ? meant(value.trim()) : undefined;
      if (guess === undefined || guess === value) throw error;
      parse(guess);
      throw new InvalidValue(`Did you mean ${guess}? ${(error as InvalidValue).message}`);
    }
  };
}

export function knownWord<const Word extends string>(
  text: string,
  words: readonly Word[],
  meant: (text: string) => string | undefined = (text) => choiceCalled(text, words) ?? meantBy(text, words),
  accepted = `It takes one of ${words.join(", ")}.`,
): Word {
  const word = words.find((each) => each === text.trim().toLowerCase());
  if (word !== undefined) return word;
  const guess = meant(text);
  throw new InvalidValue(`${guess === undefined ? "" : `Did you mean ${guess}? `}${accepted}`, `"${text}"`);
}

export function filled(value: string): string {
  if (value.trim() === "") throw new InvalidValue("It must not be empty.");
  return value;
}

export function personName(value: string): string {
  if (!/^(?!\s)\P{C}{1,100}(?<!\s)$/u.test(value))
    throw new InvalidValue("It takes 1 to 100 characters, without blanks around them.");
  return value;
}

const mistypedEndings = new Map(
  Object.entries({ csv: "cvs csvv ccsv scv", tsv: "tvs tsvv", json: "josn jsno jsn", xlsx: "xslx xlxs xlsxx" }).flatMap(
    ([ending, slips]) => slips.split(" ").map((slip) => [slip, ending] as const),
  ),
);

/** A file, or - for standard output. */
export function outputName(value: string): string {
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(value)) throw new InvalidValue("It takes a file; idv writes to no URL.");
  if (value.startsWith("~/")) throw new InvalidValue("The shell knows ~ only without quotes.");
  if (/^(?:csv|tsv|jsonl|json|xlsx)$/i.test(value))
    throw new InvalidValue(`It takes a file, such as checked.${value}; for a file of that name, write ./${value}.`);
  const meant = mistypedEndings.get(endingOf(value));
  if (meant !== undefined) throw new InvalidValue(`Did you mean .${meant}?`);
  return filled(value);
}

/** An address to listen on, without what belongs elsewhere. */
export function hostName(value: string): string {
  const [, scheme] = /^(https?:\/\/)/i.exec(value) ?? [];
  const bare = value.slice(scheme?.length ?? 0).replace(/\/.*$/, "");
  const [, named = bare, port] = /^([^:]+|\[[\da-f:]+\]):(\d+)$/i.exec(bare) ?? [];
  const host = named.replace(/^\[(.*)\]$/, "$1");
  if (host === "") throw new InvalidValue("It takes an address, such as 127.0.0.1.");
  if (host !== value) throw new InvalidValue(`Write --host ${host}${port === undefined ? "" : ` --port ${port}`}.`);
  return value;
}

/** Refuses `-`, which stands for standard output in other options. */
export function path(value: string): string {
  if (value === "-") throw new InvalidValue("It takes a path; for one that is -, write ./-.");
  if (value.trim() === "") throw new InvalidValue("The name of a file or folder is missing.");
  return value;
}

/** Refuses a new folder that has the name of a table. */
export function folder(value: string): string {
  if (tableEndings.has(endingOf(value)) && !existsSync(value))
    throw new InvalidValue(`It takes a folder; for one file, write -o ${value} with --only STATUS.`);
  return path(value);
}

export function oneCharacter(value: string): string {
  if (value === "none") return "";
  const character = value === "\\t" || value === "tab" ? "\t" : value;
  const named = ["comma ,", "semicolon ;", "pipe |", "colon :", "space  ", "hash #"].find(
    (each) => each.slice(0, -2) === value.toLowerCase(),
  );
  if (named !== undefined) throw new InvalidValue(`Write "${named.at(-1)}".`);
  if (/^(?:tabs|tabulator)$/i.test(value)) throw new InvalidValue("Write tab.");
  if (/^[a-z]$/i.test(value)) throw new InvalidValue("A letter separates nothing; for a tab, write tab.");
  if (!/^[\0-\x7f]$/.test(character) || /["\r\n]/.test(character)) {
    throw new InvalidValue('It takes one ASCII character other than " and line ends, or none.');
  }
  return character;
}

export function markCharacter(value: string): string {
  const named = ["hash #", "semicolon ;", 'double "', "single '"].find((each) => each.startsWith(`${value} `));
  if (named !== undefined) throw new InvalidValue(`Write ${named.at(-1) === '"' ? `'"'` : `"${named.at(-1)}"`}.`);
  if (!/^[!-~\t]$/.test(value) || /[A-Za-z0-9]/.test(value)) {
    throw new InvalidValue("It takes one ASCII character other than letters, digits and space.");
  }
  return value;
}

/** Characters around fields, and before a quote within them. `quote` is empty for none. */
export interface Quoting {
  readonly quote: string;
  readonly escape?: string;
}

export function quoting(value: string): Quoting {
  if (value === "none") return { quote: "" };
  const [quote = "", escaping, ...rest] = value;
  if (rest.length > 0) throw new InvalidValue(`It takes a quote character, such as ' or "\\, or none.`);
  return { quote: markCharacter(quote), ...(escaping !== undefined && { escape: markCharacter(escaping) }) };
}

/** `none` is not null, which commander takes for an option without a value. */
export const unitLimit = guessing((value): number | "none" => {
  if (value === "none") return value;
  if (!/^\d{1,15}$/.test(value)) throw new InvalidValue("It takes a whole number, such as 10000, or none.");
  return Number(value);
}, numberMeant);

export const wholeNumber = (least: number, most: number) =>
  guessing((value): number => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidValue(`It takes a whole number from ${least} to ${most}.`);
  }, numberMeant);

export const portOption = (help: string, fallback: number) => {
  return { flags: "--port <PORT>", help, parse: wholeNumber(0, 65_535), fallback };
};

export const byteCount = guessing((value): number => {
  const [, digits = "", unit = ""] = /^(\d{1,12})([KMG]?)$/i.exec(value) ?? [];
  const bytes = Number(digits || Number.NaN) * 1024 ** " KMG".indexOf(unit.toUpperCase() || " ");
  if (bytes >= 1 && bytes <= 2 ** 40) return bytes;
  throw new InvalidValue("It takes a number of bytes, such as 512K, 256M or 2G.");
}, sizeMeant);

const mostShards = 10_000;

/** Slurm is left out: its arrays start anywhere, and tasks that are submitted again are an array of their own. */
const taskIndices: readonly (readonly [index: string, count?: string])[] = [
  ["JOB_COMPLETION_INDEX"],
  ["AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE"],
  ["CLOUD_RUN_TASK_INDEX", "CLOUD_RUN_TASK_COUNT"],
];

/** `2/8` is the second shard of eight, `index/8` that of the index of this task, from the variables of its scheduler. */
export const shardOf = (value: string, env: NodeJS.ProcessEnv = process.env) =>
  guessing((text) => parseShard(text, env), shardMeant)(value);

function parseShard(value: string, env: NodeJS.ProcessEnv) {
  let text = value;
  if (value.startsWith("index/")) {
    const [own, all = ""] = taskIndices.find(([name]) => env[name]) ?? [];
    if (own === undefined) {
      const names = taskIndices.map(([name]) => name).join(", ");
      throw new InvalidValue(`index/N needs the index of a task: none of ${names} is set.`);
    }
    const wanted = value.slice("index/".length);
    if (env[all] !== undefined && env[all] !== wanted) {
      throw new InvalidValue(`There are ${env[all]} tasks (${all}), not ${wanted}.`);
    }
    text = `${/^\d+$/.test(env[own]!) ? Number(env[own]) + 1 : env[own]}/${wanted}`;
  }
  const [, index = 0, count = 0] = (/^(\d{1,5})\/(\d{1,5})$/.exec(text) ?? []).map(Number);
  if (index >= 1 && index <= count && count <= mostShards) return { index, count };
  const from = text === value ? "" : ` The index of this task gives ${text}.`;
  const accepted = `I/N, such as 1/4, with I from 1 to N and N at most ${mostShards}`;
  throw new InvalidValue(`It takes ${accepted}.${from}`);
}

export function wordList(value: string): string[] {
  return value
    .toLowerCase()
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

/** Returns milliseconds since the epoch, or `never`. */
export const expiryDate = guessing((value): number | "never" => {
  if (value === "never") return value;
  const time = utcTime(value);
  if (time === undefined) throw new InvalidValue("It takes a date such as 2027-01-31, or never.");
  if (time <= Date.now()) throw new InvalidValue("It is in the past; idv keys revoke ends a key at once.");
  return time;
}, dateMeant);

export const permissionList = (value: string): Permission[] =>
  value
    .split(",")
    .map((name) => knownWord(name, ["emails", "domains"], undefined, "It takes emails, domains, or both."));

export interface Encodings {
  /** `auto` to find it. */
  readonly input?: string;
  /** `same` for that of the input. */
  readonly output?: string;
  readonly hasMark: boolean;
}

export function encodings(value: string): Encodings {
  const [input = "", output = "", more] = value.split(":");
  if (input + output === "" || more !== undefined) {
    throw new InvalidValue("It takes IN, IN:OUT or :OUT, as in auto:same or :utf-8-bom.");
  }
  const isMarked = /^utf-?8-bom$/i.test(output);
  // The mark of UTF-16 tells its order of bytes (RFC 2781, section 3.3), for idv, too.
  const hasMark = isMarked || /^utf-?16$/i.test(output);
  if (/^(?:utf-?8-bom|same)$/i.test(input)) throw new InvalidValue(`That is for the output: --encoding :${input}.`);
  return { ...(input !== "" && { input }), ...(output !== "" && !isMarked && { output }), hasMark };
}

export interface ReportTarget {
  readonly path: string;
  readonly isFull: boolean;
}

export function reportTarget(value: string): ReportTarget {
  const [, file] = /^full:(.*)$/s.exec(value) ?? [];
  const isFull = file !== undefined;
  const [, word, meant] = /^(full|html|md|json|pdf|svg)[:=](.+)$/is.exec(value) ?? [];
  if (meant !== undefined && !isFull)
    throw new InvalidValue(
      word!.toLowerCase() === "full" ? `Write full:${meant}.` : `The ending of FILE is its format: write ${meant}.`,
    );
  if (isFull && !isPage(file)) throw new InvalidValue("full: works only with a page or a PDF.");
  return { path: path(file ?? value), isFull };
}

const logFormats = ["text", "plain", "json", "github", "none", "debug"] as const;

export interface FindingsTarget {
  readonly path: string;
  readonly format: "gitlab" | "sarif";
}

export type LogTarget =
  | { readonly format: (typeof logFormats)[number] }
  | { readonly summaryFile: string }
  | { readonly findingsFile: FindingsTarget };

export function logTarget(value: string): LogTarget {
  const [, kind, file] = /^(json|gitlab|sarif):(.*)$/s.exec(value) ?? [];
  if (kind === "json") return { summaryFile: path(file!) };
  if (kind !== undefined) return { findingsFile: { path: path(file!), format: kind as FindingsTarget["format"] } };
  const all = `${logFormats.join(", ")}, json:FILE, gitlab:FILE, sarif:FILE`;
  if (/^[^:]+\.\w+$/.test(value))
    throw new InvalidValue(`Messages go to standard error: 2> ${value}. It takes one of ${all}.`);
  if (["gitlab", "sarif"].includes(value)) throw new InvalidValue(`It needs a file: --log ${value}:FILE.`);
  return { format: knownWord(value, logFormats, undefined, `It takes one of ${all}.`) };
}

const outputFormats = ["csv", "tsv", "jsonl", "json"] as const;

export function outputFormat(value: string): (typeof outputFormats)[number] {
  const kind = sheetKind(value.toLowerCase().replace(/^\./, ""));
  if (kind !== undefined) throw new InvalidValue(`A spreadsheet file has its name: -o FILE.${kind}.`);
  if (/^(?:excel|spreadsheet)$/i.test(value)) throw new InvalidValue("A spreadsheet file has its name: -o FILE.xlsx.");
  if (/^tabs?$/i.test(value)) throw new InvalidValue("Did you mean tsv?");
  const isLines = /^(?:nd-?json|json-?lines|ld-?json)$/i.test(value);
  return knownWord(value, outputFormats, isLines ? () => "jsonl" : undefined);
}

export const oneOf =
  <const Word extends string>(...words: readonly Word[]) =>
  (value: string): Word =>
    knownWord(value, words);

export function truthValue(value: string): boolean {
  if (/^(?:1|on|true|yes)$/i.test(value)) return true;
  if (/^(?:0|off|false|no)$/i.test(value)) return false;
  throw new InvalidValue("It takes true or false.");
}

/** `500ms`, `30s`, `2m`, `1h`, `30d`, or seconds without a unit. `least`, `most` and the result are milliseconds. */
export const duration = (least: number, most: number) =>
  guessing((value): number => {
    const [, number, unit] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)?$/.exec(value) ?? [];
    // Seconds for one person are days for another; 0 is the same for both.
    const milliseconds = Math.round(Number(number) * unitMilliseconds[unit ?? (Number(number) === 0 ? "s" : "")]!);
    if (milliseconds >= least && milliseconds <= most) return milliseconds;
    if (!Number.isNaN(milliseconds))
      throw new InvalidValue(`It takes a time from ${showTime(least)} to ${showTime(most)}.`);
    const lacks = number === undefined ? "" : " The unit is missing.";
    throw new InvalidValue(`It takes a time such as 500ms, 30s, 2m, 1h or 30d.${lacks}`);
  }, timeMeant);

/** The parser of an option with a time, and its default, which is valid. */
export const timeOr = (text: string, least: number, most: number) => {
  const parse = duration(least, most);
  return { parse, fallback: parse(text), fallbackText: text };
};

/** Returns milliseconds; infinity without a value. */
export function waitTime(value: string): number {
  return value === "" ? Number.POSITIVE_INFINITY : duration(1000, 366 * day)(value);
}

export function requestRate(value: string): RequestRate | "none" {
  if (value === "none") return value;
  const { items: requests, milliseconds } = itemRate(value);
  return { requests, milliseconds };
}

export function showRate({ requests, milliseconds }: RequestRate): string {
  const [unit] = Object.entries(unitMilliseconds).find(([, each]) => each === milliseconds) ?? [];
  return unit === undefined ? `${requests} in ${milliseconds / 1000} s` : `${requests}/${unit}`;
}

export const itemRate = guessing((value): Rate => {
  const [, items, unit = ""] = /^(\d{1,9})\/([smh])$/.exec(value) ?? [];
  if (Number(items) > 0) return { items: Number(items), milliseconds: unitMilliseconds[unit]! };
  throw new InvalidValue("It takes a rate such as 50/s, 1000/m or 10000/h.");
}, rateMeant);
