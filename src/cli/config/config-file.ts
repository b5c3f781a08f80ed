/** Reads a JSON file with options, for commands that run as a service. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { FileError, readFault } from "../../files/errors.js";
import { rightsOfOthers } from "../../files/found.js";
import { UsageError } from "../errors.js";
import type { OptionRecords } from "../options/option.js";
import { oneOf, parsed } from "../options/values.js";
import { objectIn, type SetSetting, textsOf, unknownName, variableOf } from "./settings.js";

interface Target {
  readonly command: Command;
  readonly records: OptionRecords;
  /** They take precedence over the file, by option name. */
  readonly variables: Readonly<Record<string, readonly string[]>>;
}

/** Names have no hyphens: `maxItems`. @throws UsageError, also if others can read a file that holds a password */
export function takeOptionsFrom(path: string, { command, records, variables }: Target): void {
  const { config: _, ...known } = records;
  const given = (command.getOptionValue("set") ?? []) as readonly SetSetting[];
  for (const [name, value] of Object.entries(objectIn(readText(path), path))) {
    const record = Object.hasOwn(known, name) ? known[name] : undefined;
    if (record === undefined)
      throw new UsageError(`${path}: ${unknownName(name, "option", Object.keys(known))}; see idv serve --help`);
    if (isUrlWithPassword(value) && rightsOfOthers(path) !== 0) {
      throw new UsageError(`${path}: other users can read the password in it; run chmod 600 ${path}`);
    }
    const parsed = readValue(record, value, `${path}: ${name}`);
    if (name === "set") {
      // Settings are decided one by one: a variable takes precedence, and the last value counts.
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

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new FileError(`${path}: cannot be read: ${readFault(error)}`);
  }
}

const isUrlWithPassword = (value: unknown): boolean =>
  typeof value === "string" && /^[a-z]+:\/\/[^/?#]*:[^/?#]*@|[?&]password=/i.test(value);

function readValue({ flags, parse, choices, isList }: OptionRecords[string], value: unknown, where: string): unknown {
  if (!/[<[]/.test(flags)) {
    if (typeof value === "boolean") return value || undefined;
    throw new UsageError(`${where}: takes true or false`);
  }
  const texts = textsOf(value, where);
  if (texts.length !== 1 && !isList) throw new UsageError(`${where}: takes one value`);
  const parser = parse ?? (choices && oneOf(...choices));
  const values = texts.map((text) => (parser ? parsed<unknown>(where, text, parser) : text));
  return isList ? values : values[0];
}
