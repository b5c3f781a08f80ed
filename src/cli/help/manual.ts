/**
 * The manual page: made from the commands and the help topics, in the macros of man(7). Its first line makes man run
 * tbl(1) for the tables.
 */
import type { Command, Option } from "commander";
import { exitCodeMeanings } from "../exit-codes.js";
import { type Block, plain, readMarkdown } from "./markdown.js";

/**
 * @param program with the options of all commands
 * @param topics the Markdown of each help topic
 */
export function manualPage(program: Command, version: string, topics: readonly string[]): string {
  const commands = program.commands.filter((command) => command.name() !== "help");
  return `${[
    "'\\\" t",
    `.TH IDV 1 "" "idv ${version}" "User Commands"`,
    ".SH NAME",
    "idv \\- validate e\\-mail addresses and domains in bulk",
    ".SH SYNOPSIS",
    ...commands.flatMap(synopsis),
    ".SH DESCRIPTION",
    roff(
      "idv reads a table, finds the column with the e-mail addresses or domains, and writes the same table with the status of each row in a new column: ok, alias, disposable, fake or quota_exceeded. It asks a service, or judges offline.",
    ),
    ".SH COMMANDS",
    ...commands.flatMap(describe),
    ...topics.filter((topic) => !/^# (?:Exit codes|Environment)$/m.test(topic)).flatMap(topicSection),
    ".SH EXIT STATUS",
    ...Object.entries(exitCodeMeanings).flatMap(([code, meaning]) => [".TP", `.B ${code}`, roff(meaning)]),
    ...topics.filter((topic) => /^# Environment$/m.test(topic)).flatMap(topicSection),
  ].join("\n")}\n`;
}

function synopsis(command: Command): readonly string[] {
  const { commands } = command;
  if (commands.length > 0) return commands.flatMap(synopsis);
  return [`.B ${roff(nameOf(command))}`, roff(usageOf(command)), ".br"];
}

const nameOf = (command: Command): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;

const usageOf = ({ registeredArguments }: Command): string =>
  [
    "[options]",
    ...registeredArguments.map((argument) => {
      const text = argument.name() + (argument.variadic ? "..." : "");
      return argument.required ? text : `[${text}]`;
    }),
  ].join(" ");

function describe(command: Command): readonly string[] {
  if (command.commands.length > 0) return command.commands.flatMap(describe);
  const [description = "", examples = ""] = command.description().split("\n\nExamples:\n");
  const options = command.name() === "domains" ? asEmails : command.options.flatMap(optionLines);
  const lines = examples.split("\n").map((line) => roff(line.trim()));
  return [
    `.SS ${roff(nameOf(command))}`,
    roff(description),
    ...options,
    ".PP",
    "Examples:",
    ...verbatim(lines),
  ];
}

const optionLines = ({ flags, description }: Option): readonly string[] => [
  ".TP",
  `.B ${roff(flags)}`,
  roff(description),
];
const asEmails = [".PP", "The options are those of idv emails."];

const verbatim = (lines: readonly string[]): readonly string[] => [
  ".PP",
  ".RS 4",
  ".nf",
  ...lines,
  ".fi",
  ".RE",
];

const topicSection = (markdown: string): readonly string[] => readMarkdown(markdown).flatMap(renderBlock);

function renderBlock(block: Block): readonly string[] {
  switch (block.kind) {
    case "code":
      return verbatim(block.lines.map(roff));
    case "heading":
      return [`.SH ${roff(plain(block.text)).toUpperCase()}`];
    case "list":
      return block.lines.flatMap((item) => [".IP \\(bu 2", roff(plain(item))]);
    case "paragraph":
      return [".PP", roff(plain(block.text))];
    case "table":
      return [
        ...[".PP", ".na", ".TS", "tab(\t);", `${block.rows[0]!.map(() => "lbx").join(" ")}`],
        `${block.rows[0]!.map(() => "lx").join(" ")}.`,
        ...block.rows.map((row) => row.map((cell) => `T{\n${roff(plain(cell))}\nT}`).join("\t")),
        ...[".TE", ".ad"],
      ];
  }
}

/** Escapes backslashes, hyphens, which roff would turn into dashes, and control characters at the start of a line. */
const roff = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/gm, "\\&$1");
