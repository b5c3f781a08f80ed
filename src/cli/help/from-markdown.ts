/** Makes the help topics and the manual page, in macros of man(7). Only for the build: the program reads no Markdown. */
import { readFileSync } from "node:fs";
import type { Command, Option } from "commander";
import { lexer, Parser, type Token, type Tokens } from "marked";
import { reasons } from "../../core/classifier/rules/rules.js";
import { statusWords } from "../../core/validator/statuses.js";
import { knownStatuses } from "../../core/validator/validator.js";
import { environmentVariables } from "../config/environment.js";
import { settingNames, settingOf, variableOf } from "../config/settings.js";
import { exitCodeMeanings } from "../exit-codes.js";
import type { Block } from "./topics.js";

/** A line `{{settings}}` in the Markdown is replaced by the first one. */
const generated: Readonly<Record<string, () => string>> = {
  settings: () => {
    const rows = settingNames.map((name) => {
      const { fallbackText = "none", fallback = fallbackText, help } = settingOf(name);
      return [name, variableOf(name), fallback, help];
    });
    return table(["Setting", "Variable", "Default", "Meaning"], rows);
  },
  statuses: () => {
    const rows = knownStatuses.map((status) => {
      const { meaning, advice, command } = statusWords[status];
      return [status, meaning, command === undefined ? advice : `${advice} ${command}`];
    });
    return table(["Status", "Meaning", "What to do"], rows);
  },
  reasons: () => {
    const rows = reasons.map(({ code, status, example }) => [code, status, example]);
    return table(["Reason", "Status", "Example"], rows);
  },
  environment: () => table(["Variable", "Meaning"], Object.entries(environmentVariables)),
  "exit-codes": () => {
    const bySignals = ["129, 130, 143", "ended by SIGHUP, SIGINT, SIGTERM"];
    return table(["Code", "Meaning"], [...Object.entries(exitCodeMeanings), bySignals]);
  },
};

const sources = new URL("../../../src/", import.meta.url);

export const readTopic = (name: string): string =>
  readFileSync(new URL(`cli/help/topics/${name}.md`, sources), "utf8").replace(
    /^\{\{(deploy\/)?(.+)\}\}$/gm,
    (_, isFile: string | undefined, key: string) => (isFile ? codeOf(key) : generated[key]!()),
  );

const codeOf = (path: string): string =>
  `\`\`\`\n${readFileSync(new URL(`package/deploy/${path}`, sources), "utf8")}\`\`\``;

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replace(/[|_*<]/g, "\\$&")).join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}

export const blocksIn = (markdown: string): Block[] => lexer(markdown).flatMap(blockOf);

function blockOf(token: Token): Block[] {
  switch (token.type) {
    case "space":
      return [];
    case "code":
      return [{ kind: "code", lines: token["text"].split("\n") }];
    case "heading":
    case "paragraph":
      return [{ kind: token.type, text: plain(token.tokens) }];
    case "list":
      return [{ kind: "list", lines: (token as Tokens.List).items.map(({ tokens }) => tokens.map(textOf).join(" ")) }];
    case "table": {
      const { header, rows } = token as Tokens.Table;
      return [{ kind: "table", rows: [header, ...rows].map((cells) => cells.map(({ tokens }) => plain(tokens))) }];
    }
    default:
      throw new Error(`${token.type}: no such part in the help topics: ${token.raw}`);
  }
}

const textOf = (token: Token): string => plain("tokens" in token ? token.tokens : undefined);

const parser = new Parser();
const plain = (tokens: readonly Token[] = []): string =>
  parser.parseInline([...tokens], parser.textRenderer).replace(/\s+/g, " ");

/** Its first line makes man run tbl(1) for the tables. `program` needs the options of all commands. */
export function manualPage(
  program: Command,
  version: string,
  { "exit-codes": _, environment = [], ...topics }: Readonly<Record<string, readonly Block[]>>,
): string {
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
    ...Object.values(topics).flat().flatMap(roffOf),
    ".SH EXIT STATUS",
    ...Object.entries(exitCodeMeanings).flatMap(([code, meaning]) => [".TP", `.B ${code}`, roff(meaning)]),
    ...environment.flatMap(roffOf),
  ].join("\n")}\n`;
}

function synopsis(command: Command): readonly string[] {
  const { commands } = command;
  if (commands.length > 0) return commands.flatMap(synopsis);
  const words = command.registeredArguments.map((argument) => {
    const text = argument.name() + (argument.variadic ? "..." : "");
    return argument.required ? text : `[${text}]`;
  });
  return [`.B ${roff(nameOf(command))}`, roff(["[options]", ...words].join(" ")), ".br"];
}

const nameOf = (command: Command): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;

function describe(command: Command): readonly string[] {
  if (command.commands.length > 0) return command.commands.flatMap(describe);
  const [description = "", examples = ""] = command.description().split("\n\nExamples:\n");
  const optionLines = ({ flags, description }: Option) => [".TP", `.B ${roff(flags)}`, roff(description)];
  const isAsEmails = command.name() === "domains";
  return [
    `.SS ${roff(nameOf(command))}`,
    roff(description),
    ...(isAsEmails ? [".PP", "The options are those of idv emails."] : command.options.flatMap(optionLines)),
    ".PP",
    "Examples:",
    ...verbatim(examples.split("\n").map((line) => line.trim())),
  ];
}

const verbatim = (lines: readonly string[]): readonly string[] => [
  ...[".PP", ".RS 4", ".nf"],
  ...lines.map(roff),
  ...[".fi", ".RE"],
];

function roffOf(block: Block): readonly string[] {
  switch (block.kind) {
    case "code":
      return verbatim(block.lines);
    case "heading":
      return [`.SH ${roff(block.text).toUpperCase()}`];
    case "list":
      return block.lines.flatMap((item) => [".IP \\(bu 2", roff(item)]);
    case "paragraph":
      return [".PP", roff(block.text)];
    case "table":
      return [
        ...[".PP", ".na", ".TS", "tab(\t);", `${block.rows[0]!.map(() => "lbx").join(" ")}`],
        `${block.rows[0]!.map(() => "lx").join(" ")}.`,
        ...block.rows.map((row) => row.map((cell) => `T{\n${roff(cell)}\nT}`).join("\t")),
        ...[".TE", ".ad"],
      ];
  }
}

const roff = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/gm, "\\&$1");
