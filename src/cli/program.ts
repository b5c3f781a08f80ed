/** The command line; only the file of the command in use is loaded. To add one, add its file, and its line here. */

import { Command } from "commander";
import { isUrl } from "../text.js";
import type { DefineCommand } from "./commands/command.js";
import { exitCodes } from "./exit-codes.js";
import { topicNames } from "./help/topic-names.js";
import { meantBy } from "./options/meant.js";
import { addOptions, normalizeWords, optionRecords } from "./options/option.js";
import { insteadOf, insteadOfCommand } from "./options/others-words.js";
import { print } from "./terminal/standard-output.js";
import { type ColourChoice, chooseColour, colourChoices, sayFailure } from "./terminal/terminal.js";
import { terminalWidth, wrap } from "./terminal/wrap.js";

interface CommandEntry {
  readonly name: string;
  readonly group: string;
  readonly summary: string;
  readonly load: () => Promise<{ readonly define: DefineCommand }>;
}

const validate = "Validate";
const machine = "This machine";
const service = "With a service";
const server = "Your own service";
const commands: readonly CommandEntry[] = [
  {
    name: "emails",
    group: validate,
    summary: "check the e-mail addresses of a table",
    load: () => import("./commands/emails.js"),
  },
  {
    name: "domains",
    group: validate,
    summary: "check the domains of a table",
    load: () => import("./commands/domains.js"),
  },
  { name: "check", group: validate, summary: "check a few values", load: () => import("./commands/check.js") },
  {
    name: "page",
    group: validate,
    summary: "serve or write a page that checks lists in a browser",
    load: () => import("./commands/page.js"),
  },
  {
    name: "allow",
    group: machine,
    summary: "keep a list of domains that are ok",
    load: () => import("./commands/own/allow.js"),
  },
  {
    name: "deny",
    group: machine,
    summary: "keep a list of domains that are disposable",
    load: () => import("./commands/own/deny.js"),
  },
  {
    name: "quota",
    group: machine,
    summary: "show or change the quota of the offline engine",
    load: () => import("./commands/own/quota.js"),
  },
  { name: "data", group: machine, summary: "show or update the lists", load: () => import("./commands/own/data.js") },
  {
    name: "doctor",
    group: machine,
    summary: "show settings, and find faults",
    load: () => import("./commands/doctor.js"),
  },
  {
    name: "completion",
    group: machine,
    summary: "let a shell complete commands and options",
    load: () => import("./commands/completion.js"),
  },
  {
    name: "mcp",
    group: machine,
    summary: "serve the tools of idv to an assistant (MCP)",
    load: () => import("./commands/mcp.js"),
  },
  {
    name: "login",
    group: service,
    summary: "keep the key of a service",
    load: () => import("./commands/own/login.js"),
  },
  { name: "logout", group: service, summary: "remove that key", load: () => import("./commands/own/logout.js") },
  {
    name: "cache",
    group: service,
    summary: "show or shrink the cache of verdicts",
    load: () => import("./commands/own/cache.js"),
  },
  { name: "serve", group: server, summary: "run the service", load: () => import("./commands/service/serve.js") },
  {
    name: "keys",
    group: server,
    summary: "create and manage its keys",
    load: () => import("./commands/service/keys.js"),
  },
  {
    name: "usage",
    group: server,
    summary: "show what its keys have used",
    load: () => import("./commands/service/usage.js"),
  },
  {
    name: "audit",
    group: server,
    summary: "show who has changed what",
    load: () => import("./commands/service/audit.js"),
  },
  {
    name: "dashboard",
    group: server,
    summary: "print a link to its pages",
    load: () => import("./commands/service/dashboard.js"),
  },
  {
    name: "state",
    group: server,
    summary: "move its keys, quotas and usage",
    load: () => import("./commands/service/state.js"),
  },
];

const seesAll: ReadonlySet<string> = new Set(["help", "completion"]);

const asksForTree = (words: readonly string[]): boolean =>
  words.length === 2 && words.includes("--json") && words.some((word) => ["--help", "-h"].includes(word));

/** Only the command in `words` gets its options. */
export async function createProgram(version: string, words: readonly string[]): Promise<Command> {
  const program = new Command("idv");
  const used = asksForTree(words) ? "help" : words.find((word) => !word.startsWith("-"));
  program
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print the help")
    .exitOverride()
    .configureOutput({
      writeOut: print,
      outputError: (text) => sayFailure({ exitCode: exitCodes.usage, message: oneLine(text, program, words) }),
    })
    .showSuggestionAfterError(false)
    .configureHelp({
      showGlobalOptions: false,
      minWidthToWrap: 20,
      subcommandTerm: (command) => command.name(),
      optionDescription: ({ description, defaultValue, defaultValueDescription }) =>
        typeof defaultValue === "string" || typeof defaultValue === "number"
          ? `${description} (default: ${defaultValueDescription ?? defaultValue})`
          : description,
    });
  for (const { name, summary, load } of commands) {
    const command = program.command(name).summary(summary);
    if (name !== used && !seesAll.has(used ?? "")) continue;
    (await load()).define(command);
    for (const each of command.commands.length > 0 ? command.commands : [command]) addOptions(each, colourOptions);
  }
  program.hook("preAction", (_, command) => chooseColour(command.opts<{ color?: ColourChoice }>().color ?? "auto"));
  program
    .helpCommand(false)
    .command("help [TOPIC]", { hidden: true })
    .option("--json")
    .action((topic: string | undefined, { json }: { json?: true }) => help(program, topic, json));
  // Set last: commands copy the help settings of the program when they are added.
  return program.configureHelp({ formatHelp: overview });
}

export function normalizeArguments(program: Command, words: readonly string[]): string[] {
  if (asksForTree(words)) return ["help", "--json"];
  const used = words.find((word) => !word.startsWith("-"));
  const command = program.commands.find((command) => command.name() === used);
  return command === undefined ? [...words] : normalizeWords(shownAlone(words, command), command);
}

/** A group of commands alone shows what it is about: `idv quota` is `idv quota show`. */
function shownAlone(words: readonly string[], group: Command): readonly string[] {
  const isAlone = words.every((word) => word === group.name() || (word.startsWith("-") && !/^--?h/.test(word)));
  const shows = group.commands.find((each) => ["show", "list", "stats"].includes(each.name()));
  return isAlone && shows !== undefined
    ? words.flatMap((word) => (word === group.name() ? [word, shows.name()] : [word]))
    : words;
}

const colourOptions = optionRecords({
  color: {
    flags: "--color <WHEN>",
    help: "colours: auto (on terminals), always or never",
    choices: colourChoices,
    fallback: "auto",
  },
});

function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const groups = [...new Set(commands.map(({ group }) => group))].map((group) => [
    `${group}:`,
    ...commands
      .filter((command) => command.group === group)
      .map(({ name, summary }) => wrap(summary, terminalWidth(), `  ${name.padEnd(width)}  `)),
  ]);
  const sections = [
    ["Validates e-mail addresses and domains in bulk.", "Usage: idv COMMAND [options], idv COMMAND --help"],
    ...groups,
    ["Try:", "  idv check ann.lee@gmial.com", "  idv emails list.csv -o checked.csv"],
    [wrap(topicNames.join(", "), terminalWidth(), "Topics, with idv help: ")],
  ];
  return `${sections.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

async function help(program: Command, topic: string | undefined, json = false): Promise<void> {
  if (json) {
    const { printCommandTree } = await import("./help/command-tree.js");
    return printCommandTree(program);
  }
  if (topic !== undefined && topicNames.includes(topic)) {
    const { printTopic } = await import("./help/topics.js");
    return print(printTopic(topic));
  }
  if (topic === undefined) return program.outputHelp();
  const command = program.commands.find((command) => command.name() === topic);
  if (command) return command.outputHelp();
  program.error(`unknown topic '${topic}'; topics: ${topicNames.join(", ")}`);
}

function oneLine(text: string, program: Command, words: readonly string[]): string {
  const line = text
    .trim()
    .replace(/^error: /, "")
    .replace(/\n+/g, " ");
  const path = [program];
  for (const each of words) path.push(...path.at(-1)!.commands.filter((command) => command.name() === each));
  const command = path.at(-1)!;
  const help = `see ${path.map((each) => each.name()).join(" ")} --help`;
  if (line.startsWith("too many arguments for ")) {
    const isKey = command.name() === "login";
    const remark = isKey ? "; a key there is in the history of the shell, and other users see it: replace it" : "";
    return `too many words for ${path.map((each) => each.name()).join(" ")}${remark}; ${help}`;
  }
  const [, what, word = ""] = /^unknown (option|command) '(.+)'$/s.exec(line) ?? [];
  if (what === undefined) return line;
  // What follows = may be a key.
  const shown = what === "option" ? word.replace(/=.*/s, "") : word;
  const hint = what === "option" ? optionMeant(shown, command) : commandMeant(word, command);
  if (hasOption(command, shown)) return `${shown} takes no value; ${help}`;
  return `unknown ${what} ${shown}${hint === undefined ? "" : ` (${hint})`}; ${help}`;
}

const hasOption = (command: Command, flag: string): boolean =>
  command.options.some(({ long, short }) => flag === long || flag === short);

function optionMeant(flag: string, command: Command): string | undefined {
  const isBulk = ["emails", "domains"].includes(command.name());
  const instead = isBulk ? insteadOf(flag) : command.parent === null ? insteadOfCommand(flag) : undefined;
  if (instead !== undefined) return instead;
  const long = meantBy(
    flag,
    command.options.flatMap((option) => option.long ?? []),
  );
  return long && `did you mean ${long}?`;
}

function commandMeant(word: string, command: Command): string | undefined {
  if (command.parent === null && /[./\\]/.test(word)) return `to check a list: ${commandFor(word)}`;
  const instead = command.parent === null ? insteadOfCommand(word) : undefined;
  const meant = meantBy(
    word,
    command.commands.map((each) => each.name()),
  );
  return instead ?? (meant && `did you mean ${meant}?`);
}

const commandFor = (word: string): string => (isUrl(word) ? `curl -sSf ${word} | idv emails` : `idv emails ${word}`);
