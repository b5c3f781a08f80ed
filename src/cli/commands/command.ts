/** Common parts of all commands: how they are defined, and how their help is laid out. */
import { type Command, Option } from "commander";
import { type EnvironmentVariable, environmentVariables } from "../config/environment.js";
import { filled } from "../config/option-values.js";
import { parseSettingOption, type SettingName, settings } from "../config/settings.js";
import { type ExitCode, exitCodeMeanings } from "../exit-codes.js";

/** Adds arguments, options, help and the action to a command. */
export type DefineCommand = (command: Command) => void;

/** Help of a command besides its options. */
interface CommandHelp {
  readonly description: string;
  /** Command lines without `idv`, the most common first. */
  readonly examples: readonly string[];
  /** The environment variables that concern it. */
  readonly environment?: readonly EnvironmentVariable[];
  /** The help topics that say more. */
  readonly topics?: readonly string[];
  /** The exit codes that concern it, besides those of every command. */
  readonly exitCodes?: readonly ExitCode[];
}

/** Describes a command: what it does and examples on top, variables, exit codes and topics at the end. */
export function describe(command: Command, help: CommandHelp): Command {
  const { description, examples, environment = [], exitCodes = [], topics = [] } = help;
  const lines = examples.map((example) => `  $ idv ${example}`);
  return command
    .description(`${description}\n\nExamples:\n${lines.join("\n")}`)
    .helpCommand(false)
    .addHelpText("after", () => {
      const variables = environment.map((name) => [name, environmentVariables[name]] as const);
      const codes = [...new Set<ExitCode>([0, ...exitCodes, 2, 6])]
        .sort((a, b) => a - b)
        .map((code) => [String(code), exitCodeMeanings[code]] as const);
      const more = topics.length > 0 ? `More: ${topics.map((topic) => `idv help ${topic}`).join(", ")}` : "";
      const sections = [section("Environment", variables), section("Exit codes", codes), more];
      return sections
        .filter((text) => text !== "")
        .map((text) => `\n${text}`)
        .join("\n");
    });
}

/** Returns lines of two columns under a heading; an empty text without lines. */
function section(heading: string, lines: readonly (readonly [string, string])[]): string {
  if (lines.length === 0) return "";
  const width = Math.max(...lines.map(([name]) => name.length));
  const texts = lines.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
  return `${heading}:\n${texts.join("\n")}`;
}

/** Returns the option of a setting. Its default is in the text only: as a value, it would hide variable and files. */
export function settingOption(name: SettingName): Option {
  const { flag, description, fallback } = { fallback: undefined, ...settings[name] };
  const otherwise = fallback === undefined ? "" : ` (default: ${fallback})`;
  return new Option(flag, `${description}${otherwise}`).argParser((value: string): unknown =>
    parseSettingOption(name, value),
  );
}

/** Returns an option that may be given several times. */
export function listOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, before: string[] = []) => [
    ...before,
    filled(value),
  ]);
}

export const allowOption = () => listOption("--allow <FILE>", "domains and addresses that are ok");
export const denyOption = () => listOption("--deny <FILE>", "domains and addresses that are disposable");

export const apiKeyFileOption = () =>
  new Option("--api-key-file <FILE>", "file that holds the key and nothing else").argParser(filled);

export const insecureHttpOption = () =>
  new Option("--allow-insecure-http", "send the key unencrypted to another machine");

/** The options that name the quota of the offline engine. */
export const quotaOptions = (): readonly Option[] => [
  new Option("--quota-file <FILE>", "quota of the offline engine").argParser(filled),
  new Option("--quota <FILE|URL>", "state with a shared quota: a file, or postgres://host/database")
    .argParser(filled)
    .conflicts("quotaFile"),
  new Option("--quota-name <NAME>", "which quota of that state").argParser(filled),
];
