/** Common parts of all commands: their definition, and the layout of their help. */
import type { Command } from "commander";
import { type EnvironmentVariable, environmentVariables } from "../config/environment.js";
import { type ExitCode, exitCodeMeanings } from "../exit-codes.js";
import { addOptions, type OptionRecords } from "../options/option.js";
import { terminalWidth, wrap } from "../terminal/wrap.js";

export type DefineCommand = (command: Command) => void;

interface CommandHelp {
  readonly description: string;
  readonly details?: readonly string[];
  /** Command lines without `idv`, the most common first. */
  readonly examples: readonly string[];
  readonly options?: OptionRecords;
  readonly environment?: readonly EnvironmentVariable[];
  readonly topics?: readonly string[];
  readonly exitCodes?: readonly ExitCode[];
}

const helps = new WeakMap<Command, CommandHelp>();

export const helpOf = (command: Command): CommandHelp | undefined => helps.get(command);

export function describe(command: Command, help: CommandHelp): Command {
  helps.set(command, help);
  const { description, details = [], examples, options = {}, environment = [], exitCodes = [], topics = [] } = help;
  addOptions(command, options);
  const lines = examples.map((example) => `  $ idv ${example}`);
  return command
    .description(`${[description, ...details].join("\n")}\n\nExamples:\n${lines.join("\n")}`)
    .helpCommand(false)
    .addHelpText("after", () => {
      const variables = environment.map((name) => [name, environmentVariables[name]] as const);
      const codes = [...new Set<ExitCode>([0, ...exitCodes, 2, 6])]
        .sort((a, b) => a - b)
        .map((code) => [String(code), exitCodeMeanings[code]] as const);
      const more = topics.length > 0 ? `More: ${topics.map((topic) => `idv help ${topic}`).join(", ")}` : "";
      const sections = [section("Environment", variables), section("Exit codes", codes), more].filter(Boolean);
      return sections.map((text) => `\n${text}`).join("\n");
    });
}

/** Defines the commands of a described group, with its environment. A longer description is in `help`. */
export const commandsOf =
  (group: Command) =>
  (usage: string, help: Partial<CommandHelp>, description: string, ...examples: readonly string[]): Command => {
    const { environment = [] } = helps.get(group)!;
    return describe(group.command(usage).summary(description), { description, examples, environment, ...help });
  };

function section(heading: string, lines: readonly (readonly [string, string])[]): string {
  if (lines.length === 0) return "";
  const width = Math.max(...lines.map(([name]) => name.length));
  const texts = lines.map(([name, text]) => wrap(text, terminalWidth(), `  ${name.padEnd(width)}  `));
  return `${heading}:\n${texts.join("\n")}`;
}
