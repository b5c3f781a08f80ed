/** Common parts of all commands: how they are defined, and how their help is laid out. */
import type { Command } from "commander";
import { type EnvironmentVariable, environmentVariables } from "../config/environment.js";
import { type ExitCode, exitCodeMeanings } from "../exit-codes.js";
import { addOptions, type OptionRecords } from "../options/option.js";

/** Adds arguments, options, help and the action to a command. */
export type DefineCommand = (command: Command) => void;

/** Options and help of a command. */
interface CommandHelp {
  readonly description: string;
  /** Command lines without `idv`, the most common first. */
  readonly examples: readonly string[];
  readonly options?: OptionRecords;
  /** The environment variables that concern it. */
  readonly environment?: readonly EnvironmentVariable[];
  /** The help topics that say more. */
  readonly topics?: readonly string[];
  /** The exit codes that concern it, besides those of every command. */
  readonly exitCodes?: readonly ExitCode[];
}

/** Describes a command: what it does and examples on top, then its options; variables, exit codes and topics at the end. */
export function describe(command: Command, help: CommandHelp): Command {
  const { description, examples, options = {}, environment = [], exitCodes = [], topics = [] } = help;
  addOptions(command, options);
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
