/**
 * Options as records. The options of commander, the types of their values, the help, the manual, the completion, the commands that a
 * run suggests and the refusals of options that do not fit are all made of them. To add an option of `idv emails`, add its record in
 * this folder.
 */
import { type Command, Option } from "commander";

/** An option of a command. */
interface OptionRecord {
  /** As commander reads it: `-o, --output <FILE>`. In `--dedupe [=KEY]` the value may be left out. */
  readonly flags: string;
  /** Its line in the help. */
  readonly help: string;
  /**
   * Returns the value.
   *
   * @throws InvalidArgumentError
   */
  readonly parse?: (text: string) => unknown;
  readonly choices?: readonly string[];
  readonly fallback?: string | number;
  /** The default as the user would write it, where that is not its value. */
  readonly fallbackText?: string;
  /** What is taken for a value that is left out. */
  readonly implied?: string;
  /** Words that the completion suggests, where any value may follow them, or others are possible. */
  readonly words?: readonly string[];
  /** Whether it may be repeated; then all its values count. */
  readonly isList?: true;
  /** Whether it may be repeated; then its values count as one, with commas between them. */
  readonly isJoined?: true;
  /** The options that it contradicts, by their names here. */
  readonly conflicts?: readonly string[];
  /** The only engine that it concerns. */
  readonly belongsTo?: "offline" | "api";
  /**
   * Whether a command that the run suggests repeats it, because it decides what is judged, repeats it only for a file that is replaced
   * in its own format, or cannot be suggested because of it. Otherwise that command does without it.
   */
  readonly next?: "repeat" | "inPlace" | "prevent";
  /** Returns the value with which it is repeated, if that is another one; undefined to leave it out. */
  readonly repeatedAs?: (text: string) => string | undefined;
}

/** Options by the names of their values. */
export type OptionRecords = Readonly<Record<string, OptionRecord>>;

/** Returns options with the types of their literals, from which {@link OptionValues} infers. */
export const optionRecords = <const Records extends OptionRecords>(records: Records): Records => records;

type Single<Of> = Of extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : Of extends { readonly parse: (text: string) => infer Value }
    ? Value
    : Of extends { readonly flags: `${string}${"<" | "["}${string}` }
      ? string
      : true;

type Value<Of> = Of extends { readonly isList: true } ? readonly Single<Of>[] : Single<Of>;

/** Options that have a value even if the user gives none. */
type Filled<Records> = {
  [Name in keyof Records]: Records[Name] extends { readonly fallback: unknown } ? Name : never;
}[keyof Records];

/** Switches that are on unless the user turns them off: `--no-headers`. */
type Negated<Records> = {
  [Name in keyof Records]: Records[Name] extends { readonly flags: `${string}--no-${string}` } ? Name : never;
}[keyof Records];

/** The values of options, as commander gives them. */
export type OptionValues<Records> = {
  readonly [Name in Filled<Records>]: Value<Records[Name]>;
} & { readonly [Name in Negated<Records>]: boolean } & {
  readonly [Name in Exclude<keyof Records, Filled<Records> | Negated<Records>>]?: Value<Records[Name]>;
};

/** An option that the user has given, with the words that gave it. */
export interface GivenOption {
  readonly name: string;
  readonly record: OptionRecord;
  readonly words: readonly string[];
}

const recordsOf = new WeakMap<Option, OptionRecord>();

/** Returns the words that the completion suggests as values of an option. */
export const wordsFor = (option: Option): readonly string[] =>
  option.argChoices ?? recordsOf.get(option)?.words ?? [];

const given = new WeakMap<Command, GivenOption[]>();

/** Returns the options on the command line in their order, with the words that gave them. */
export const givenOptions = (command: Command): readonly GivenOption[] => given.get(command) ?? [];

/**
 * Adds options to a command.
 *
 * @param group their heading in the help
 */
export function addOptions(command: Command, records: OptionRecords, group = "Options"): void {
  const all = given.get(command) ?? [];
  given.set(command, all);
  for (const [name, record] of Object.entries(records)) {
    const option = optionOf(record).helpGroup(`${group}:`);
    command.addOption(option);
    recordsOf.set(option, record);
    command.on(`option:${option.name()}`, (value: string | null | undefined) => {
      all.push({ name, record, words: wordsOf(option, value ?? undefined) });
    });
  }
}

/** Returns the words that give an option. */
function wordsOf({ long, short, optional }: Option, value: string | undefined): readonly string[] {
  if (optional) return [value ? `${long}=${value}` : long!];
  return [short ?? long!, ...(value === undefined ? [] : [value])];
}

function optionOf(record: OptionRecord): Option {
  const { flags, help, parse, choices, fallback, fallbackText, implied, conflicts, isList, isJoined } =
    record;
  const option = new Option(flags, help);
  if (implied !== undefined) option.preset(implied);
  if (choices !== undefined) option.choices(choices);
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
 * Rewrites options whose value may be left out, for which commander would take the next word. A value is taken only after `=`, or
 * attached to a short option, as in sed: in `-I list.csv`, `list.csv` is the FILE. Where the flags have no `=`, as in `--wait [TIME]`,
 * the next word is taken, too, if it is a time.
 *
 * @param words the words that the user typed, with or without those that start idv
 */
export function normalizeWords(words: readonly string[], command: Command): string[] {
  const end = words.indexOf("--");
  const optional = command.options.filter((option) => option.optional);
  const switches = command.options.flatMap(({ short, required, optional }) =>
    short && !required && !optional ? [short[1]!] : [],
  );
  // `-qI`: flags in one word. In `-cKPI`, the letters behind `-c` are its value.
  const isBundle = (word: string, short: string | undefined) =>
    short !== undefined &&
    word.length > 2 &&
    word.endsWith(short[1]!) &&
    /^-[a-zA-Z]+$/.test(word) &&
    [...word.slice(1, -1)].every((letter) => switches.includes(letter));
  const normal: string[] = [];
  for (const [i, word] of words.entries()) {
    if (end !== -1 && i >= end) {
      normal.push(word);
      continue;
    }
    const before = optional.find(({ long }) => normal.at(-1) === `${long}=`);
    if (before && !before.flags.includes("[=") && isTime(word)) {
      normal[normal.length - 1] += word;
      continue;
    }
    const option = optional.find(
      ({ long, short }) => word === long || word === short || isBundle(word, short),
    );
    if (option === undefined) {
      normal.push(word);
      continue;
    }
    if (isBundle(word, option.short)) normal.push(word.slice(0, -1));
    normal.push(`${option.long}=${option.presetArg ?? ""}`);
  }
  return normal;
}

const isTime = (word: string): boolean => /^\d+(?:\.\d+)?(?:ms|s|m|h|d)?$/.test(word);
