/** Options as records: the source of commander's options, their types, help, completion, and suggested commands. */
import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import { UsageError } from "../errors.js";
import { oneOf, parsed } from "./values.js";

interface OptionRecord {
  /** In commander's syntax: `-o, --output <FILE>`. In `--dedupe [=KEY]`, the value is optional. */
  readonly flags: string;
  readonly help: string;
  readonly parse?: (text: string, where: string) => unknown;
  readonly choices?: readonly string[];
  readonly fallback?: string | number;
  /** The default as the user would write it, if it differs from `fallback`. */
  readonly fallbackText?: string;
  /** Used if an optional value is left out. */
  readonly implied?: string;
  /** Suggested by the completion, for options that take other values too. */
  readonly words?: readonly string[];
  /** Must not be repeated: the first value would be lost. */
  readonly isOnce?: true;
  /** May be repeated; all values count. */
  readonly isList?: true;
  /** May be repeated; the values are joined by commas and parsed as one. */
  readonly isJoined?: true;
  readonly conflicts?: readonly string[];
  readonly belongsTo?: "offline" | "api";
}

export type OptionRecords = Readonly<Record<string, OptionRecord>>;

export const optionRecords = <const Records extends OptionRecords>(records: Records): Records => records;

export const jsonOption = optionRecords({ json: { flags: "--json", help: "print a JSON object" } });

export const jsonLinesOption = optionRecords({ json: { flags: "--json", help: "print one JSON object a line" } });

export const csvOption = optionRecords({
  csv: { flags: "--csv", help: "print CSV with a header", conflicts: ["json"] },
});

type Single<Of> = Of extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : Of extends { readonly parse: (text: string, where: string) => infer Value }
    ? Value
    : Of extends { readonly flags: `${string}${"<" | "["}${string}` }
      ? string
      : true;

type Value<Of> = Of extends { readonly isList: true } ? readonly Single<Of>[] : Single<Of>;

type Filled<Records> = {
  [Name in keyof Records]: Records[Name] extends { readonly fallback: unknown } ? Name : never;
}[keyof Records];

type Negated<Records> = {
  [Name in keyof Records]: Records[Name] extends { readonly flags: `${string}--no-${string}` } ? Name : never;
}[keyof Records];

export type OptionValues<Records> = {
  readonly [Name in Filled<Records>]: Value<Records[Name]>;
} & { readonly [Name in Negated<Records>]: boolean } & {
  readonly [Name in Exclude<keyof Records, Filled<Records> | Negated<Records>>]?: Value<Records[Name]>;
};

export interface GivenOption {
  readonly name: string;
  readonly record: OptionRecord;
  readonly words: readonly string[];
}

const recordsOf = new WeakMap<Option, OptionRecord>();

export const choicesFor = (option: Option): readonly string[] | undefined => recordsOf.get(option)?.choices;

export const wordsFor = (option: Option): readonly string[] => choicesFor(option) ?? recordsOf.get(option)?.words ?? [];

export const isJoined = (option: Option): boolean => recordsOf.get(option)?.isJoined === true;

const given = new WeakMap<Command, GivenOption[]>();

export const givenOptions = (command: Command): readonly GivenOption[] => given.get(command) ?? [];

export function addOptions(command: Command, records: OptionRecords, group = "Options"): void {
  const all = given.get(command) ?? [];
  given.set(command, all);
  for (const [name, record] of Object.entries(records)) {
    const option = optionOf(record).helpGroup(`${group}:`);
    command.addOption(option);
    recordsOf.set(option, record);
    command.on(`option:${option.name()}`, (value: string | null | undefined) => {
      if (record.isOnce && all.some((each) => each.name === name))
        throw new UsageError(`${option.long} is given twice; leave out one of them`);
      all.push({ name, record, words: wordsOf(option, value ?? undefined) });
    });
  }
}

function wordsOf({ long, short, optional }: Option, value: string | undefined): readonly string[] {
  if (optional) return [value ? `${long}=${value}` : long!];
  return [short ?? long!, ...(value === undefined ? [] : [value])];
}

function optionOf(record: OptionRecord): Option {
  const { flags, help, choices, fallback, fallbackText, implied, conflicts, isList, isJoined } = record;
  const option = new Option(flags, help);
  const parser = record.parse ?? (choices && oneOf(...choices));
  const parse = parser && ((text: string) => parsed(option.long!, text, parser));
  if (implied !== undefined) option.preset(implied);
  if (isList && parse !== undefined) {
    option.argParser((text, before: readonly unknown[] = []) => [...before, parse(text)]);
  } else if (isJoined && parse !== undefined) {
    const texts: string[] = [];
    option.argParser((text) => {
      texts.push(text);
      return parse(texts.join(","));
    });
  } else if (parse !== undefined) option.argParser((text) => parse(text));
  if (fallback !== undefined) option.default(fallback, fallbackText);
  if (conflicts !== undefined) option.conflicts([...conflicts]);
  return option;
}

/**
 * commander would take the next word for an optional value. As in sed, only a value after `=`, or attached to a short
 * option, is taken: in `-I list.csv`, `list.csv` is the FILE. Without `=` in the flags, as in `--wait [TIME]`, the next
 * word is taken, too, if it is a time. @throws UsageError for a value after a blank that is not a file
 */
export function normalizeWords(words: readonly string[], command: Command): string[] {
  const end = words.indexOf("--");
  const own = end === -1 ? words : words.slice(0, end);
  for (const [i, word] of own.entries()) {
    refuseSlip(word, own[i - 1], command);
    refuseUnjoined(word, own.slice(0, i), command);
  }
  const optional = command.options.filter((option) => option.optional);
  const switches = command.options.flatMap(({ short, required, optional }) =>
    short && !required && !optional ? [short[1]!] : [],
  );
  // In `-qI`, I is a flag. In `-cKPI`, the letters after `-c` are its value.
  const isBundle = (word: string, short: string | undefined) =>
    short !== undefined &&
    word.length > 2 &&
    word.endsWith(short[1]!) &&
    /^-[a-zA-Z]+$/.test(word) &&
    [...word.slice(1, -1)].every((letter) => switches.includes(letter));
  const normal: string[] = [];
  for (const word of own) {
    const before = optional.find(({ long, presetArg }) => normal.at(-1) === `${long}=${presetArg ?? ""}`);
    const takesTime = before !== undefined && !before.flags.includes("[=");
    if (takesTime && isTime(word)) {
      normal[normal.length - 1] += word;
      continue;
    }
    const values = before === undefined || !takesFiles(command) ? [] : takesTime ? ["TIME"] : wordsFor(before);
    if (values.length > 0 && /^\w+$/.test(word) && !existsSync(word)) {
      const written = `${before!.long}=${values.includes(word) ? word : values.join("|")}`;
      throw new UsageError(`${word}: no such file; the value of ${before!.long} is written ${written}`);
    }
    const option = optional.find(({ long, short }) => word === long || word === short || isBundle(word, short));
    if (option === undefined) {
      normal.push(word);
      continue;
    }
    if (isBundle(word, option.short)) normal.push(word.slice(0, -1));
    normal.push(`${option.long}=${option.presetArg ?? ""}`);
  }
  return [...normal, ...words.slice(own.length)];
}

/** For other commands, a word may be a value of their own. */
const takesFiles = (command: Command): boolean => ["emails", "domains"].includes(command.name());

/** What text programs, other shells and other programs make of an option. @throws UsageError */
function refuseSlip(word: string, before: string | undefined, command: Command): void {
  const { options } = command;
  const [, quoted] = /^[\u201c-\u201e](.*)[\u201c-\u201e]$/s.exec(word) ?? [];
  if (quoted !== undefined && !existsSync(word))
    throw new UsageError(`${word}: has the quotation marks of a text program; type "${quoted}"`);
  const own = options.find(({ short, long }) => before !== undefined && (before === short || before === long));
  if (own && !own.required && !own.optional && /^(?:yes|no|true|false|on|off)$/i.test(word) && !existsSync(word))
    throw new UsageError(`${own.long} takes no value; leave out ${word}`);
  const isOption =
    ["-h", "--help"].includes(word) || options.some(({ short, long }) => word === short || word === long);
  if (own?.required && isOption)
    throw new UsageError(`${before}: needs a value, and ${word} is an option; write ${own.flags}`);
  // A value may be anything else.
  if (own?.required) return;
  if (word === "\\") throw new UsageError('"\\": a line goes on in the next one only if nothing follows its \\');
  const [dash] = /^[\u2010-\u2015]+(?=[A-Za-z])/.exec(word) ?? [];
  if (dash !== undefined && !existsSync(word)) {
    const typed = word.slice(dash.length);
    throw new UsageError(`${word}: has the dash of a text program; type ${typed.length > 1 ? "--" : "-"}${typed}`);
  }
  const [, bare] = /^([a-z-]{2,})=./.exec(word) ?? [];
  if (
    bare !== undefined &&
    takesFiles(command) &&
    options.some(({ long }) => long === `--${bare}`) &&
    !existsSync(word)
  )
    throw new UsageError(`${bare}=: an option starts with --: --${bare}`);
  const [, name = "", value = ""] = /^-([A-Za-z][\w-]*)(=.*)?$/s.exec(word) ?? [];
  if (name.length > 2 && options.some(({ long }) => long === `--${name}`))
    throw new UsageError(`-${name}: write --${name}${value}`);
  const short = options.find((option) => option.short === `-${name}`);
  // In `-d=`, the delimiter is =.
  if (value.length < 2 || short === undefined) return;
  throw new UsageError(`${word}: write ${short.optional ? `${short.long}${value}` : `-${name} ${value.slice(1)}`}`);
}

/** @throws UsageError for the second of several values, which is no file */
function refuseUnjoined(word: string, before: readonly string[], { options }: Command): void {
  const [, name = before.at(-2), value = before.at(-1)] = /^(--[\w-]+)=(.+)$/s.exec(before.at(-1) ?? "") ?? [];
  const option = options.find(({ short, long }) => name !== undefined && (name === short || name === long));
  const isUnjoined = option && isJoined(option) && wordsFor(option).includes(word);
  if (!isUnjoined || existsSync(word)) return;
  throw new UsageError(`${word}: values are joined by commas, as in ${name} ${value},${word}`);
}

const isTime = (word: string): boolean => /^\d+(?:\.\d+)?(?:ms|s|m|h|d)?$/.test(word);
