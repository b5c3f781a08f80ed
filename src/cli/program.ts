import { Command, CommanderError, Option } from "commander";
import { type Period, periods } from "../store/period.js";
import type { Kind } from "../validator/validator.js";
import type { BulkOptions } from "./bulk/run-bulk.js";
import type { DoctorOptions } from "./commands/doctor.js";
import type { KeyOptions } from "./commands/keys.js";
import type { ServeOptions } from "./commands/serve.js";
import {
  duration,
  expiryDate,
  filled,
  markCharacter,
  oneCharacter,
  permissionList,
  statusList,
  unitLimit,
  waitTime,
  webOrigin,
  wholeNumber,
} from "./config/option-values.js";
import type { OwnListOptions } from "./config/own-lists.js";
import {
  longestCacheTtl,
  parseSettingOption,
  type SettingName,
  type SettingOptions,
  settingKinds,
} from "./config/settings.js";
import { UsageError } from "./errors.js";
import { exitCodes } from "./exit-codes.js";
import { helpTail } from "./terminal/help.js";
import { print } from "./terminal/standard-output.js";
import { say } from "./terminal/terminal.js";

/** Builds the command line: names, options and help. What a command does is loaded when it runs. */
export function createProgram(version: string): Command {
  const program = new Command("idv");
  program
    .description("Validates e-mail addresses and domains in bulk.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print the help")
    .addHelpText("after", helpTail("idv"))
    .exitOverride()
    .configureOutput({ writeOut: print, outputError: (text) => say(oneLine(text)) })
    .configureHelp({ showGlobalOptions: false });
  addBulkCommand(program, "email");
  addBulkCommand(program, "domain");
  addCheckCommand(program);
  addQuotaCommand(program);
  addDataCommand(program);
  addServeCommand(program);
  addKeysCommand(program);
  addLoginCommands(program);
  addDoctorCommand(program);
  addCacheCommand(program);
  return program;
}

/**
 * What is behind an option that may go without is only what is behind its `=` or directly behind `-I`, as with sed:
 * `-I list.csv` names the file. commander would take the next word.
 *
 * @param argv what the user typed, with two words before it
 */
export function normalizeArguments(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  const complete: Readonly<Record<string, string>> = {
    "-I": "--in-place=",
    "--in-place": "--in-place=",
    "--dedupe": "--dedupe=item",
  };
  const words: string[] = [];
  for (const [i, word] of argv.entries()) {
    const isOption = end === -1 || i < end;
    // A time behind it is its own, anything else is the file.
    if (isOption && words.at(-1) === "--wait=" && /^\d+(\.\d+)?(ms|s|m|h|d)?$/.test(word)) {
      words[words.length - 1] += word;
    } else if (isOption) words.push(word === "--wait" ? "--wait=" : (complete[word] ?? word));
    else words.push(word);
  }
  return words;
}

/** commander's messages come as `error: ...` and may have a suggestion on a second line. */
function oneLine(text: string): string {
  return text
    .trim()
    .replace(/^error: /, "")
    .replace(/\n+/g, " ");
}

const nouns: Readonly<Record<Kind, readonly [string, string]>> = {
  email: ["e-mail address", "e-mail addresses"],
  domain: ["domain", "domains"],
};

function addBulkCommand(program: Command, kind: Kind): void {
  const name = `${kind}s`;
  const [one, many] = nouns[kind];
  const command = program
    .command(name)
    .description(`Give every row of a table the status of its ${one}.`)
    .argument("[FILE]", "a table or a plain list; standard input when absent or -", filled)
    .option(
      "-c, --column <NAME|INDEX>",
      `the column with the ${many}: name, index from 1, or NAME[2]`,
      filled,
    )
    .option("-d, --delimiter <CHAR>", "the character between fields; \\t for tab", oneCharacter)
    .option("--quote <CHAR>", 'the character around fields, if it is not "', markCharacter)
    .option(
      "--escape <CHAR>",
      "what stands before a quote in a quoted field, if not another quote",
      markCharacter,
    )
    .option(
      "--comment <CHAR>",
      "lines that start with it are no rows; written as they are, but for --strict and what goes its way",
      markCharacter,
    )
    .option(
      "--encoding <NAME>",
      "the encoding of FILE, such as windows-1252; the output is UTF-8 then",
      filled,
    )
    .option("-n, --no-headers", "the first record is data")
    .option("-o, --output <FILE>", "where to write; it appears whole or not at all", filled)
    .addOption(
      new Option(
        "-I, --in-place [=SUFFIX]",
        "replace FILE itself; with SUFFIX keep the old one as FILE and SUFFIX",
      ).conflicts(["output", "split"]),
    )
    .addOption(
      new Option("--split <DIR>", "append the rows of each status to a file of its own, DIR/ok.csv ...")
        .argParser(filled)
        .conflicts("output"),
    )
    .addOption(
      new Option("--format <FORMAT>", "what to write, if it is not the format of FILE").choices([
        "csv",
        "tsv",
        "jsonl",
      ]),
    )
    .option("--status-column <NAME>", "the name of the column to add", filled, "status")
    .option("--explain", "add the columns reason and suggestion too")
    .option("--escape-formulas", "put ' before fields of ours that a spreadsheet would take for formulas")
    .addOption(
      new Option("--only <STATUS,...>", "write only rows of these statuses")
        .argParser(statusList(kind))
        .conflicts("drop"),
    )
    .option("--drop <STATUS,...>", "write all rows but those of these statuses", statusList(kind))
    .addOption(
      new Option(
        "--dedupe [=KEY]",
        "write only the first row of each item, or with =canonical of each mailbox",
      ).choices(["item", "canonical"]),
    )
    .option("--canonical", "add a column with the address that reaches the same mailbox")
    .addOption(
      new Option("--ragged <POLICY>", "what is done with rows that are too short: padded, or bad")
        .choices(["pad", "error"])
        .default("pad"),
    )
    .addOption(
      new Option("--bad-rows <POLICY>", "what is done with rows that are too long or broken")
        .choices(["error", "skip", "keep"])
        .default("error"),
    )
    .option("--bad-rows-file <FILE>", "a table of the rows that were skipped or kept so", filled)
    .option("--strict", "read with csv-parse and write with csv-stringify: slower, quotes fields anew")
    .addOption(new Option("--offline", "use the embedded classifier; no network at all").conflicts("engine"))
    .addOption(quotaFileOption())
    .addOption(listOption("--allow", "domains and addresses that are ok whatever else; one a line"))
    .addOption(listOption("--deny", "domains and addresses that are disposable; one a line"))
    .option("--fail-on <STATUS,...>", "exit 1 when a row has one of these statuses", statusList(kind))
    .addOption(
      new Option("--summary <FORMAT>", "what stderr says at the end")
        .choices(["text", "json", "none"])
        .default("text"),
    )
    .option("-q, --quiet", "no progress, no notes, and no summary unless --summary asks for one")
    .addHelpText("after", helpTail(name));
  addServiceOptions(command);
  command.action(async (file: string | undefined, options) => {
    if (file === undefined && process.stdin.isTTY) {
      command.outputHelp({ error: true });
      throw new CommanderError(exitCodes.usage, "idv.noInput", "no input");
    }
    const { inPlace, ...others } = options as Omit<BulkOptions, "inPlace"> & {
      readonly inPlace?: string;
    };
    if (inPlace !== undefined && (file === undefined || file === "-")) {
      throw new UsageError("--in-place needs a FILE; standard input cannot be replaced");
    }
    checkTogether(others, inPlace !== undefined);
    const { runBulk } = await import("./bulk/run-bulk.js");
    const isSummaryWanted = !options.quiet || command.getOptionValueSource("summary") === "cli";
    process.exitCode = await runBulk(kind, file ?? "-", {
      ...others,
      ...(inPlace !== undefined && file !== undefined && { output: file }),
      inPlace: inPlace !== undefined,
      ...(inPlace && { backup: `${file}${inPlace}` }),
      summary: isSummaryWanted ? options.summary : "none",
    });
  });
}

/** What is about the service, in a group of its own. */
function addServiceOptions(command: Command): void {
  const options = [
    ...settingOptions(),
    new Option("--api-key-file <FILE>", "a file with the key and nothing else").argParser(filled),
    new Option("--allow-insecure-http", "send the key over plain http to another machine"),
    new Option(
      "--wait [TIME]",
      "wait for the renewal of a quota that is exhausted, so long at most",
    ).argParser(waitTime),
    new Option("--no-precheck", "submit what cannot be an address too"),
    new Option("--no-cache", "neither use the cache of verdicts nor fill it"),
    new Option("--refresh", "ask for all again, and fill the cache anew"),
    new Option("--dry-run", "send and write nothing; say what would be charged"),
    new Option("--debug", "say every request on stderr; no address, no key"),
  ];
  for (const option of options) command.addOption(option.helpGroup("The service:"));
}

function settingOption(name: SettingName): Option {
  const { flag, description, fallback } = { fallback: undefined, ...settingKinds[name] };
  const otherwise = fallback === undefined ? "" : ` (default: ${fallback})`;
  return new Option(flag, `${description}${otherwise}`).argParser((value: string): unknown =>
    parseSettingOption(name, value),
  );
}

const settingOptions = (): Option[] => (Object.keys(settingKinds) as SettingName[]).map(settingOption);

/** @throws UsageError when options contradict each other */
function checkTogether(options: Partial<BulkOptions>, isInPlace: boolean): void {
  const { delimiter, quote, escape: escaping, comment, badRows, format, split, strict } = options;
  const isWrittenAnew = strict || quote !== undefined || escaping !== undefined || format !== undefined;
  if (isInPlace && comment !== undefined && isWrittenAnew) {
    throw new UsageError(
      "--in-place would lose the comments: --strict, --quote, --escape and --format drop them; use -o",
    );
  }
  const characters = [delimiter, quote, comment].filter((character) => character !== undefined);
  if (new Set(characters).size < characters.length) {
    throw new UsageError("--delimiter, --quote and --comment need different characters");
  }
  if (badRows === "keep" && (format !== undefined || split !== undefined)) {
    throw new UsageError("--bad-rows keep needs the format of FILE and one output; use --bad-rows skip");
  }
}

function addCheckCommand(program: Command): void {
  program
    .command("check")
    .description("Say what idv thinks of a few addresses or domains. Nothing is charged.")
    .argument("<VALUE...>", "e-mail addresses, domains or URLs")
    .option("--json", "one JSON object a line")
    .addOption(listOption("--allow", "domains and addresses that are ok whatever else; one a line"))
    .addOption(listOption("--deny", "domains and addresses that are disposable; one a line"))
    .addHelpText("after", helpTail("check"))
    .action(async (values: string[], options: OwnListOptions & { json?: true }) => {
      const { runCheck } = await import("./commands/check.js");
      await runCheck(values, options);
    });
}

function addQuotaCommand(program: Command): void {
  const quota = program
    .command("quota")
    .description("Show or change the quota of the offline engine.")
    .addHelpText("after", helpTail("quota"));
  quota
    .command("show")
    .description("Print the quota: limit, used, left and when it renews.")
    .addOption(quotaFileOption())
    .option("--json", "as a JSON object")
    .addHelpText("after", helpTail("quota show"))
    .action(async (options: { quotaFile?: string; json?: true }) => {
      await (await import("./commands/quota.js")).showQuota(options);
    });
  quota
    .command("set")
    .description("Set the limit, the period or both. What is used in this period stays used.")
    .addOption(quotaFileOption())
    .option("--limit <N|none>", "units a period", unitLimit)
    .addOption(new Option("--period <PERIOD>", "when used units renew, UTC calendar").choices(periods))
    .addHelpText("after", helpTail("quota set"))
    .action(async (options: { quotaFile?: string; limit?: number | "none"; period?: Period }) => {
      await (await import("./commands/quota.js")).setQuota(options);
    });
  quota
    .command("reset")
    .description("Set the used units back to 0.")
    .addOption(quotaFileOption())
    .addHelpText("after", helpTail("quota reset"))
    .action(async (options: { quotaFile?: string }) => {
      await (await import("./commands/quota.js")).resetQuota(options);
    });
}

function addDataCommand(program: Command): void {
  const data = program
    .command("data")
    .description("Show or update the data of the offline engine.")
    .addHelpText("after", helpTail("data"));
  data
    .command("show")
    .description("Print where the disposable domains come from: sources, versions, dates, counts, licences.")
    .option("--json", "as a JSON object")
    .addHelpText("after", helpTail("data show"))
    .action(async (options: { json?: true }) => (await import("./commands/data.js")).showData(options));
  data
    .command("update")
    .description("Fetch newer lists of disposable domains from the npm registry; npm has to be installed.")
    .addHelpText("after", helpTail("data update"))
    .action(async () => (await import("./commands/data.js")).updateData());
}

function addServeCommand(program: Command): void {
  program
    .command("serve")
    .description("Run the validation service: HTTP, over the embedded classifier, with keys and quotas.")
    .addOption(new Option("--host <HOST>", "the address to listen on").argParser(filled).default("127.0.0.1"))
    .addOption(
      new Option("--port <PORT>", "the port; 0 for any that is free")
        .argParser(wholeNumber(0, 65_535))
        .default(8787),
    )
    .addOption(stateOption())
    .addOption(
      new Option("--cors-origin <URL>", "an origin whose pages may call the service").argParser(webOrigin),
    )
    .addOption(
      new Option("--max-items <N>", "items a request at most")
        .argParser(wholeNumber(1, 100_000))
        .default(1000),
    )
    .option("-q, --quiet", "no log of requests")
    .addHelpText("after", helpTail("serve"))
    .action(async (options: ServeOptions) => (await import("./commands/serve.js")).serve(options));
}

function addKeysCommand(program: Command): void {
  const keys = program
    .command("keys")
    .description("Make and manage the API keys of idv serve.")
    .addHelpText("after", helpTail("keys"));
  const command = (usage: string, description: string, name: string) =>
    keys
      .command(usage)
      .description(description)
      .addOption(stateOption())
      .addHelpText("after", helpTail(name));
  const withSettings = (command: Command) =>
    command
      .option("--name <NAME>", "what the key is for", filled)
      .option("--limit <N|none>", "validations a period", unitLimit)
      .addOption(new Option("--period <PERIOD>", "when they renew, UTC calendar").choices(periods))
      .option("--expires <DATE>", "when the key ends: 2027-01-31, or never", expiryDate)
      .option("--permissions <LIST>", "what it may validate: emails,domains", permissionList);
  withSettings(command("create", "Make a key and print it, once.", "keys create"))
    .option("--sandbox", "charges nothing and answers by fixed names")
    .action(async (options: KeyOptions) => {
      if (options.name === undefined) throw new UsageError("keys create needs --name NAME");
      await (await import("./commands/keys.js")).createKey(options);
    });
  command("list", "List the keys.", "keys list")
    .option("--json", "one JSON object a line")
    .action(async (options: KeyOptions) => (await import("./commands/keys.js")).listKeys(options));
  withSettings(command("set <ID>", "Change a key; the units used stay.", "keys set")).action(
    async (id: string, options: KeyOptions) => (await import("./commands/keys.js")).setKey(id, options),
  );
  command("revoke <ID>", "End a key for good.", "keys revoke").action(
    async (id: string, options: KeyOptions) => (await import("./commands/keys.js")).revokeKey(id, options),
  );
  command(
    "rotate <ID>",
    "Give a key a new secret and print it, once; the old one ends.",
    "keys rotate",
  ).action(async (id: string, options: KeyOptions) =>
    (await import("./commands/keys.js")).rotateKey(id, options),
  );
}

function addLoginCommands(program: Command): void {
  program
    .command("login")
    .description("Keep the key of a service, read from standard input or typed unseen.")
    .addOption(settingOption("baseUrl"))
    .addHelpText("after", helpTail("login"))
    .action(async (options: SettingOptions) => (await import("./commands/login.js")).login(options));
  program
    .command("logout")
    .description("Forget the key that idv login keeps.")
    .addHelpText("after", helpTail("logout"))
    .action(async () => (await import("./commands/login.js")).logout());
}

function addDoctorCommand(program: Command): void {
  const command = program
    .command("doctor")
    .description("Show every setting and where it comes from, and check files, rights and the service.");
  for (const option of settingOptions()) command.addOption(option);
  command
    .option("--api-key-file <FILE>", "a file with the key and nothing else", filled)
    .option("--allow-insecure-http", "send the key over plain http to another machine")
    .option("--online", "ask the service whether it answers; nothing is charged")
    .addHelpText("after", helpTail("doctor"))
    .action(async (options: DoctorOptions) => {
      process.exitCode = await (await import("./commands/doctor.js")).runDoctor(options);
    });
}

function addCacheCommand(program: Command): void {
  const cache = program
    .command("cache")
    .description("Show or shorten what is remembered of the service's verdicts.")
    .addHelpText("after", helpTail("cache"));
  cache
    .command("stats")
    .description("Print how many verdicts there are of each service, and how old they are.")
    .option("--json", "as a JSON object")
    .addHelpText("after", helpTail("cache stats"))
    .action(async (options: { json?: true }) => (await import("./commands/cache.js")).showCache(options));
  cache
    .command("clear")
    .description("Remove all.")
    .addHelpText("after", helpTail("cache clear"))
    .action(async () => (await import("./commands/cache.js")).clearCache());
  cache
    .command("prune")
    .description("Remove the old ones.")
    .addOption(
      new Option("--older-than <TIME>", "than so much (default: 30d)")
        .argParser(duration(0, longestCacheTtl))
        .default(30 * 86_400_000, "30d"),
    )
    .addHelpText("after", helpTail("cache prune"))
    .action(async (options: { olderThan: number }) =>
      (await import("./commands/cache.js")).pruneCache(options),
    );
}

function stateOption(): Option {
  return new Option("--state <FILE>", "where keys and quotas are kept").argParser(filled);
}

/** An option that may be given several times. */
function listOption(name: string, description: string): Option {
  return new Option(`${name} <FILE>`, description).argParser((value: string, before: string[] = []) => [
    ...before,
    filled(value),
  ]);
}

function quotaFileOption(): Option {
  return new Option("--quota-file <FILE>", "where the offline quota is kept").argParser(filled);
}
