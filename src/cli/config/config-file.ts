/** A file with options of a command, in JSON, for commands that run as a service. */
import { readFileSync, statSync } from "node:fs";
import { type Command, InvalidArgumentError } from "commander";
import { UsageError } from "../errors.js";
import type { OptionRecords } from "../options/option.js";
import { type SetSetting, textsOf, variableOf } from "./settings.js";

/** Value of an option in the file. */
type Value = string | number | boolean | readonly string[];

/** A command that takes options from a file. */
interface Target {
  readonly command: Command;
  readonly records: OptionRecords;
  /** The variables that go before the file, by the names of the options. */
  readonly variables: Readonly<Record<string, readonly string[]>>;
}

/**
 * Takes the options of a command from a file, unless the command line gives them, or a variable does. Their names are those on
 * the command line, without the hyphens: `--max-items` is `maxItems`.
 *
 * @throws UsageError when the file cannot be read, is not a JSON object, or has an unknown name or an invalid value; or holds a
 *   password and can be read by other users
 */
export function takeOptionsFrom(path: string, { command, records, variables }: Target): void {
  const { config: _, ...known } = records;
  const given = (command.getOptionValue("set") ?? []) as readonly SetSetting[];
  for (const [name, value] of Object.entries(readObject(path))) {
    const record = Object.hasOwn(known, name) ? known[name] : undefined;
    if (record === undefined) throw new UsageError(`${path}: ${unknownName(name, Object.keys(known))}`);
    if (isUrlWithPassword(value) && (statSync(path).mode & 0o077) !== 0) {
      throw new UsageError(`${path}: other users can read the password in it; run chmod 600 ${path}`);
    }
    const parsed = readValue(record, value, `${path}: ${name}`);
    if (name === "set") {
      // Each setting by itself: its variable goes before it, and the last value counts.
      const own = (parsed as readonly SetSetting[]).filter(([each]) => !process.env[variableOf(each)]);
      command.setOptionValueWithSource(name, [...own, ...given], "config");
      continue;
    }
    const isGiven =
      command.getOptionValueSource(name) === "cli" ||
      given.some(([each]) => each === name) ||
      variables[name]?.some((variable) => process.env[variable]);
    if (!isGiven) command.setOptionValueWithSource(name, parsed, "config");
  }
}

function readObject(path: string): Readonly<Record<string, Value>> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`${path}: cannot be read: ${(error as Error).message}`);
  }
  let values: unknown;
  try {
    values = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    // The text may hold a password, so it is not shown.
    throw new UsageError(`${path}: not JSON`);
  }
  if (typeof values === "object" && values !== null && !Array.isArray(values)) {
    return values as Readonly<Record<string, Value>>;
  }
  throw new UsageError(`${path}: not a JSON object`);
}

function unknownName(name: string, known: readonly string[]): string {
  // A long or odd name may be a password in the wrong place.
  const what = /^[A-Za-z-]{1,30}$/.test(name) ? `"${name}"` : "one of its names";
  return `${what} is not an option; known: ${known.join(", ")}`;
}

const isUrlWithPassword = (value: Value): boolean =>
  typeof value === "string" && /^[a-z]+:\/\/[^/?#]*:[^/?#]*@|[?&]password=/i.test(value);

/** @throws UsageError when the value is not one that the option takes */
function readValue({ flags, parse, isList }: OptionRecords[string], value: Value, where: string): unknown {
  if (!/[<[]/.test(flags)) {
    if (typeof value === "boolean") return value || undefined;
    throw new UsageError(`${where}: takes true or false`);
  }
  const texts = textsOf(value, where);
  if (texts.length !== 1 && !isList) throw new UsageError(`${where}: takes one value`);
  const values = texts.map((text) => {
    try {
      return parse ? parse(text) : text;
    } catch (error) {
      // The parsers of settings name the option, which is a name in this file.
      if (error instanceof UsageError) throw new UsageError(error.message.replace(/^--\w+:?/, `${where}:`));
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw new UsageError(`${where}: "${text}" is invalid. ${error.message}`);
    }
  });
  return isList ? values : values[0];
}
