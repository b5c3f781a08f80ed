/** Options as records: the source of commander's options, their types, help, completion, and suggested commands. */
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
