/** `idv --help --json`: the tree of commands for programs, from the records that the help is made of. */
import type { Command, Option } from "commander";
import { factsSchema } from "../../core/facts/facts-schema.js";
import { helpOf } from "../commands/command.js";
import { exitCodeMeanings } from "../exit-codes.js";
import { choicesFor, wordsFor } from "../options/option.js";
import { print } from "../terminal/standard-output.js";
import { version } from "../version.js";

export function printCommandTree(program: Command): void {
  const leaves = leavesOf(program, []).filter(({ name }) => name !== "help");
  const commands = leaves.map(({ name, command }) => {
    const { environment = [], exitCodes = [], examples = [] } = helpOf(command) ?? {};
    return {
      name,
      summary: command.summary() || firstLine(command),
      arguments: command.registeredArguments.map((argument) => {
        return { name: argument.name(), required: argument.required, repeatable: argument.variadic };
      }),
      options: command.options.map(optionFacts),
      environment,
      exitCodes: [...new Set([0, ...exitCodes, 2, 6])].sort((a, b) => a - b),
      examples: examples.map((example) => `idv ${example}`),
    };
  });
  const tree = { version: version(), commands, exitCodes: exitCodeMeanings, facts: factsSchema };
  print(`${JSON.stringify(tree, undefined, 2)}\n`);
}

const leavesOf = (command: Command, path: readonly string[]): { name: string; command: Command }[] =>
  command.commands.flatMap((each) => {
    const own = [...path, each.name()];
    return each.commands.length > 0 ? leavesOf(each, own) : [{ name: own.join(" "), command: each }];
  });

const firstLine = (command: Command): string => command.description().split("\n", 1)[0]!;

function optionFacts(option: Option) {
  const { short, long, description, required, optional, variadic, defaultValue, negate } = option;
  const value = /[<[]=?([^\]>]+)[\]>]/.exec(option.flags)?.[1];
  const words = wordsFor(option);
  return {
    flags: [short, long].filter((flag) => flag !== undefined && flag !== null),
    help: description,
    type: value === undefined ? "boolean" : typeof defaultValue === "number" ? "number" : "string",
    ...(value !== undefined && { value, valueOptional: optional && !required }),
    ...(words.length > 0 && { [choicesFor(option) ? "choices" : "examples"]: words }),
    ...(defaultValue !== undefined && !negate && { default: defaultValue }),
    ...(variadic && { repeatable: true }),
  };
}
