/** The command line; only the file of the command in use is loaded. To add one, add its file, and its line here. */

import { existsSync } from "node:fs";
import { Command } from "commander";
import { meantBy } from "../core/meant.js";
import { found } from "../files/found.js";
import { isHostUrl, isUrl, shellWord } from "../text.js";
import { itemHint } from "./bulk/plan/missing-file.js";
import type { DefineCommand } from "./commands/command.js";
import { UsageError } from "./errors.js";
import { exitCodes } from "./exit-codes.js";
import { topicNames } from "./help/topic-names.js";
import { addOptions, optionRecords, wordsFor } from "./options/option.js";
import { insteadOf, insteadOfCommand, optionFor, topicAbout, verbCalled } from "./options/others-words.js";
import { normalizeWords, unseenIn } from "./options/typed-words.js";
import { print } from "./terminal/standard-output.js";
import { type ColourChoice, chooseColour, colourChoices, sayFailure } from "./terminal/terminal.js";
import { terminalWidth, wrap } from "./terminal/wrap.js";

interface CommandEntry {
  readonly name: string;
  readonly group: string;
  readonly summary: string;
  readonly load: () => Promise<{ readonly define: DefineCommand }>;
}

/** By their headings in the help. */
const commandsByGroup: Readonly<Record<string, Readonly<Record<string, readonly [string, CommandEntry["load"]]>>>> = {
  Validate: {
    emails: ["check the e-mail addresses of a table", () => import("./commands/bulk-command.js")],
    domains: ["check the domains of a table", () => import("./commands/bulk-command.js")],
    check: ["check a few values", () => import("./commands/check.js")],
    page: ["serve or write a page that checks lists in a browser", () => import("./commands/page.js")],
  },
  "This machine": {
    allow: ["keep a list of domains that are ok", () => import("./commands/own/own-list.js")],
    deny: ["keep a list of domains that are disposable", () => import("./commands/own/own-list.js")],
    quota: ["show or change the quota of the offline engine", () => import("./commands/own/quota.js")],
    data: ["show or update the lists", () => import("./commands/own/data.js")],
    doctor: ["show settings, and find faults", () => import("./commands/doctor.js")],
    completion: ["let a shell complete commands and options", () => import("./commands/completion.js")],
    mcp: ["serve the tools of idv to an assistant (MCP)", () => import("./commands/mcp.js")],
  },
  "With a service": {
    login: ["keep the key of a service", () => import("./commands/own/login.js")],
    logout: ["remove that key", () => import("./commands/own/login.js")],
    cache: ["show or shrink the cache of verdicts", () => import("./commands/own/cache.js")],
  },
  "Your own service": {
    serve: ["run the service", () => import("./commands/service/serve.js")],
    keys: ["create and manage its keys", () => import("./commands/service/keys.js")],
    usage: ["show what its keys have used", () => import("./commands/service/usage.js")],
    audit: ["show who has changed what", () => import("./commands/service/audit.js")],
    dashboard: ["print a link to its pages", () => import("./commands/service/dashboard.js")],
    state: ["move its keys, quotas and usage", () => import("./commands/service/state.js")],
  },
};
const commands: readonly CommandEntry[] = Object.entries(commandsByGroup).flatMap(([group, entries]) =>
  Object.entries(entries).map(([name, [summary, load]]) => ({ name, group, summary, load })),
);

const seesAll: ReadonlySet<string> = new Set(["help", "completion"]);

const asksForTree = (words: readonly string[]): boolean =>
  words.length === 2 && words.includes("--json") && words.some((word) => ["--help", "-h"].includes(word));

/** Options may be in front of it, where they do not belong, with their values. */
function commandIn(words: readonly string[]): string | undefined {
  const isCommand = (word: string) => word === "help" || commands.some(({ name }) => name === word);
  const known = words[0]?.startsWith("-") ? words.find(isCommand) : undefined;
  return known ?? words.find((word) => !word.startsWith("-"));
}

/** Only the command in `words` gets its options. */
export async function createProgram(version: string, words: readonly string[]): Promise<Command> {
  const program = new Command("idv");
  const used = asksForTree(words) ? "help" : commandIn(words);
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
  program.hook("preAction", (_, command) => {
    chooseColour(command.opts<{ color?: ColourChoice }>().color ?? "auto");
    const variable = pathVariables.find((name) => process.env[name]?.endsWith("\r"));
    if (variable !== undefined && command.name() !== "doctor")
      throw new UsageError(
        `${variable}: ends in a carriage return; save the file that sets it with line ends of Unix (LF)`,
      );
  });
  program
    .helpCommand(false)
    .command("help [TOPIC...]", { hidden: true })
    .option("--json")
    .action((words: readonly string[], { json }: { json?: true }) => help(program, words, json));
  // Set last: commands copy the help settings of the program when they are added.
  return program.configureHelp({ formatHelp: overview });
}

/** Variables with paths: a stray character would name another file. */
const pathVariables = ["IDV_QUOTA", "IDV_CACHE_FILE", "IDV_STATE", "IDV_STATE_FILE", "IDV_ALLOW", "IDV_DENY"];

export function normalizeArguments(program: Command, words: readonly string[]): string[] {
  if (asksForTree(words)) return ["help", "--json"];
  const used = commandIn(words);
  const command = program.commands.find((command) => command.name() === used);
  // With --help, commander would print the overview, and not say that there is no such command.
  if (command === undefined && used !== undefined && words.some((word) => ["--help", "-h"].includes(word)))
    return [used];
  if (command === undefined) return [...words];
  const shown = shownAlone(words, command);
  return normalizeWords(shown, commandsOn(shown, program).at(-1)!);
}

/** A group of commands alone shows what it is about: `idv quota` is `idv quota show`. */
function shownAlone(words: readonly string[], group: Command): readonly string[] {
  const isAlone = words.every((word) => word === group.name() || (word.startsWith("-") && !/^--?h/.test(word)));
  const shows = group.commands.find((each) => ["show", "list", "stats"].includes(each.name()));
  if (!isAlone || shows === undefined) return words;
  return words.flatMap((word) => (word === group.name() ? [word, shows.name()] : [word]));
}

const colourHelp = "colours: auto (on terminals), always or never";
const colourOptions = optionRecords({
  color: { flags: "--color <WHEN>", help: colourHelp, choices: colourChoices, fallback: "auto" },
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

/** `words` are a topic, or the names of a command. */
async function help(program: Command, words: readonly string[], json = false): Promise<void> {
  if (json) {
    const { printCommandTree } = await import("./help/command-tree.js");
    return printCommandTree(program);
  }
  const topic = words.join(" ");
  if (topicNames.includes(topic.toLowerCase())) {
    const { printTopic } = await import("./help/topics.js");
    return print(printTopic(topic.toLowerCase()));
  }
  const path = commandsOn(
    words.map((word) => word.toLowerCase()),
    program,
  );
  if (path.length > words.length) return path.at(-1)!.outputHelp();
  if (/^(?:all|commands|options)$/i.test(topic)) return program.outputHelp();
  const about = topicAbout(topic);
  const meant = meantBy(topic, [...topicNames, ...commands.map(({ name }) => name)]);
  const guess = meant === undefined ? "" : ` (did you mean ${meant}?)`;
  const hint = about === undefined ? guess : ` (write idv help ${about})`;
  program.error(`unknown topic ${topic}${hint}; topics: ${topicNames.join(", ")}`);
}

function oneLine(text: string, program: Command, words: readonly string[]): string {
  const said = text.trim().replace(/^error: /, "");
  const line = said.replace(/\n+/g, " ");
  const path = commandsOn(words, program);
  const command = path.at(-1)!;
  const name = path.map((each) => each.name()).join(" ");
  const ownName = name.slice("idv ".length);
  const help = `see ${name} --help`;
  const [, missing] = /^missing required argument '(.+)'$/.exec(line) ?? [];
  const isPiped = missing !== undefined && ownName === "check" && !process.stdin.isTTY;
  if (isPiped) return `${ownName} needs ${missing}; for standard input, write ${name} -`;
  if (missing !== undefined) return `${ownName} needs ${missing}; ${help}`;
  const [, one, other] = /^option '(?:-\w, )?(\S+).*' cannot be used with option '(?:-\w, )?(\S+).*'$/.exec(line) ?? [];
  if (one !== undefined) return `${one} and ${other} do not go together; leave out one of them`;
  const [, flags, flag] = /^option '((?:-\w, )?(\S+).*)' argument missing$/.exec(line) ?? [];
  if (flag !== undefined) return `${flag} needs a value: ${flags}`;
  if (line.startsWith("too many arguments for "))
    return `too many words for ${name}${remarkOn(ownName, words)}; ${help}`;
  const [, what, word = ""] = /^unknown (option|command) '(.+)'$/s.exec(line) ?? [];
  if (what === undefined) return line;
  // What follows = may be a key.
  const shown = what === "option" ? word.replace(/=.*/s, "") : word;
  const hint = what === "option" ? optionMeant(shown, command, ownName) : commandMeant(word, command);
  if (hasOption(command, shown)) {
    const isBefore = words.indexOf(word) < words.indexOf(command.name());
    return `${shown} ${isBefore ? `goes after idv ${ownName}` : "takes no value"}; ${help}`;
  }
  return `unknown ${what} ${shown}${hint === undefined ? "" : ` (${hint})`}; ${help}`;
}

function remarkOn(name: string, words: readonly string[]): string {
  const option = optionFor(name);
  if (name === "serve" && words.some((word) => /^(?:start|stop|status|restart)$/.test(word)))
    return " (idv serve starts it, Ctrl-C ends it, --ready asks whether it runs)";
  if (option !== undefined && !words.includes(option.split(" ")[0]!)) return ` (write ${option})`;
  if (name !== "login") return "";
  const file = words.slice(1).find((word) => existsSync(word) || (!isUrl(word) && /\.(?:txt|key)$/.test(word)));
  // It may hold a password.
  if (file === undefined && words.slice(1).some(isUrl)) return " (write --base-url URL)";
  return file === undefined
    ? "; a key on the command line is visible to others and in the shell history: replace that key"
    : ` (write idv login < ${file})`;
}

/** The commands that `words` name, each a part of the one before it. */
function commandsOn(words: readonly string[], program: Command): readonly Command[] {
  const path = [program];
  for (const each of words) path.push(...path.at(-1)!.commands.filter((command) => command.name() === each));
  return path;
}

const hasOption = (command: Command, flag: string): boolean =>
  ["-h", "--help"].includes(flag) || command.options.some(({ long, short }) => flag === long || flag === short);

function optionMeant(flag: string, command: Command, name: string): string | undefined {
  const instead = insteadOf(name, flag);
  if (instead !== undefined) return instead;
  const set = command.options.find(({ long }) => long === "--set");
  const typed = flag.replaceAll("-", "").toLowerCase();
  const setting = set && wordsFor(set).find((word) => word.toLowerCase() === `${typed}=`);
  if (setting !== undefined) return `write --set ${setting}VALUE`;
  const known = command.options.flatMap((option) => option.long ?? []);
  const long = meantBy(flag, known);
  return long && `did you mean ${long}?`;
}

function commandMeant(word: string, command: Command): string | undefined {
  const instead = command.parent === null ? insteadOfCommand(word) : undefined;
  if (instead !== undefined) return instead;
  const mark = unseenIn(word);
  if (mark !== undefined) return `it ${mark}`;
  const [, called, rest] = /^([a-z]+)[ =](.+)$/s.exec(word) ?? [];
  if (command.parent === null && command.commands.some((each) => each.name() === called))
    return `${word.includes("=") ? "write" : "leave out the quotes:"} idv ${called} ${rest}`;
  if (command.parent === null && /[./\\]|.@./.test(word)) return commandFor(word);
  if (["allow", "deny"].includes(command.name()) && /[.@]/.test(word)) return `write idv ${command.name()} add ${word}`;
  const known = command.commands.map((each) => each.name());
  if (command.parent === null && topicNames.some((topic) => topic === word)) return `write idv help ${word}`;
  const meant = verbCalled(word.toLowerCase(), known) ?? meantBy(word, known);
  return meant && `did you mean ${meant}?`;
}

function commandFor(word: string): string | undefined {
  const folder = word.replace(/\/*$/, "/").replace(/^\.\//, "");
  if (found(word)?.isDirectory())
    return `it is a folder; to check its lists: idv emails ${folder && shellWord(folder)}*.csv`;
  if (isHostUrl(word)) return `to check a domain: idv check ${shellWord(word)}`;
  if (isUrl(word)) return `to check a list: curl -sSf ${shellWord(word)} | idv emails`;
  return (existsSync(word) ? undefined : itemHint(word)) ?? `to check a list: idv emails ${shellWord(word)}`;
}
