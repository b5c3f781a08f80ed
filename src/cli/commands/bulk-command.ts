/** `idv emails` and `idv domains`: their options and their action. The run itself is in `bulk/`. */
import { CommanderError, Option } from "commander";
import type { Kind } from "../../validator/validator.js";
import type { BulkOptions } from "../bulk/plan.js";
import {
  filled,
  limit,
  markCharacter,
  noItem,
  oneCharacter,
  path,
  quoteCharacter,
  shardOf,
  statusList,
  waitTime,
  wholeNumber,
  wordList,
} from "../config/option-values.js";
import { dnsSettingNames, settingNames } from "../config/settings.js";
import { exitCodes } from "../exit-codes.js";
import { progressModes } from "../terminal/progress.js";
import {
  allowOption,
  apiKeyFileOption,
  type DefineCommand,
  denyOption,
  describe,
  insecureHttpOption,
  listOption,
  quotaOptions,
  settingOption,
} from "./command.js";

/** Defines the command for a kind of items. */
export function bulkCommand(kind: Kind, examples: readonly string[]): DefineCommand {
  const one = kind === "email" ? "e-mail address" : "domain";
  return (command) => {
    describe(command, {
      description: `Gives every row of a table the status of its ${one}.`,
      examples,
      environment: [
        ...(["IDV_API_KEY", "IDV_API_KEY_COMMAND", "IDV_ALLOW", "IDV_DENY"] as const),
        ...([
          "IDV_QUOTA_FILE",
          "IDV_QUOTA",
          "IDV_QUOTA_NAME",
          "IDV_RUN",
          "IDV_CACHE_FILE",
          "NO_COLOR, FORCE_COLOR",
          "CI, TERM=dumb",
        ] as const),
      ],
      exitCodes: [1, 3, 4, 5],
      topics: ["tables", "statuses", "settings", "service"],
    }).argument(
      "[FILE...]",
      "tables or plain lists; - or none for standard input",
      (file: string, files: string[] = []) => [...files, filled(file)],
    );
    for (const [group, options] of Object.entries(optionGroups(kind))) {
      for (const option of options) command.addOption(option.helpGroup(`${group}:`));
    }
    command.action(async (files: readonly string[], options: BulkOptions) => {
      if (files.length === 0 && process.stdin.isTTY) {
        command.outputHelp({ error: true });
        throw new CommanderError(exitCodes.usage, "idv.noInput", "no input");
      }
      const { runBulk } = await import("../bulk/run-bulk.js");
      const isSummaryWanted = !options.quiet || command.getOptionValueSource("summary") === "cli";
      process.exitCode = await runBulk(kind, files, {
        ...options,
        summary: isSummaryWanted ? options.summary : "none",
      });
    });
  };
}

/** The options by their headings in the help, the common ones first. */
function optionGroups(kind: Kind): Readonly<Record<string, readonly Option[]>> {
  const statuses = statusList(kind);
  const chosen = statusList(kind, noItem);
  return {
    Input: [
      listOption("-c, --column <NAME|INDEX>", "column with the items, from 1; repeat for several"),
      new Option("--all-columns", "validate every column with items").conflicts("column"),
      new Option(
        "-d, --delimiter <CHAR>",
        "character between fields; \\t for tab, none: a line is an item",
      ).argParser(oneCharacter),
      new Option("-n, --no-headers", "treat the first record as data"),
      new Option("--cell <WHICH>", "which of several items in a field counts")
        .choices(["first", "worst", "best"])
        .default("worst"),
      new Option("--empty-values <LIST>", "words for no item, instead of n/a, null ...").argParser(wordList),
      new Option("--skip-lines <N>", "copy the first N lines unchanged").argParser(wholeNumber(0, 10_000)),
      new Option("--sheet <NAME>", "sheet of a spreadsheet file").argParser(filled),
      new Option("--encoding <NAME>", "encoding of FILE; the output is UTF-8").argParser(filled),
      new Option("--quote <CHAR>", "character around fields; none: quotes are text").argParser(
        quoteCharacter,
      ),
      new Option("--escape <CHAR>", "character before a quote in a quoted field").argParser(markCharacter),
      new Option("--comment <CHAR>", "copy lines starting with CHAR unchanged").argParser(markCharacter),
      new Option("--strict", "read with csv-parse, write with csv-stringify"),
      new Option("--force", "go on where nearly all items are invalid, or most rows bad"),
    ],
    Rows: [
      new Option("--only <STATUS,...>", "write only rows with these statuses")
        .argParser(chosen)
        .conflicts("drop"),
      new Option(
        "--drop <STATUS,...>",
        "leave out rows with these statuses; empty: without an item",
      ).argParser(chosen),
      new Option("--dedupe [=KEY]", "write the first row of each item, or mailbox").choices([
        "item",
        "canonical",
      ]),
      new Option("--bad-rows <POLICY>", "broken rows: error, skip or keep")
        .choices(["error", "skip", "keep"])
        .default("error"),
      new Option("--bad-rows-file <FILE>", "write a table of the bad rows to FILE").argParser(path),
      new Option("--ragged <POLICY>", "short rows: pad or error").choices(["pad", "error"]).default("pad"),
      new Option("--shard <I/N>", "validate and write part I of N; an item is in one part only").argParser(
        shardOf,
      ),
    ],
    Output: [
      new Option("-o, --output <FILE>", "write to FILE; it appears whole or not at all").argParser(filled),
      new Option("-I, --in-place [=SUFFIX]", "replace FILE; keep the old one as FILE + SUFFIX").conflicts([
        "output",
        "split",
      ]),
      new Option("--update [=all]", "keep statuses of an earlier run; do the rest").choices(["rest", "all"]),
      new Option("--split <DIR>", "write the rows of each status to DIR/ok.csv ...")
        .argParser(path)
        .conflicts("output"),
      new Option("--append", "with --split, add to the files of earlier runs"),
      new Option("--format <FORMAT>", "write csv, tsv or jsonl").choices(["csv", "tsv", "jsonl"]),
      new Option("--header <WHEN>", "write the header: always, never, or first: in the first shard only")
        .choices(["always", "first", "never"])
        .default("always"),
      new Option("--bom", "start with a byte order mark, as Excel wants it"),
      new Option("--status-column <NAME>", "name of the added column").argParser(filled).default("status"),
      new Option("--explain", "add the columns reason and suggestion; with --dns also mx"),
      new Option("--canonical", "add the address that reaches the same mailbox"),
      new Option("--escape-formulas", "put ' before added fields that are formulas"),
    ],
    Verdicts: [
      new Option("--offline", "use the embedded classifier; no network at all").conflicts(["engine", "dns"]),
      allowOption(),
      denyOption(),
      new Option("--fail-on <STATUS,...>", "exit 1 when a row has one of these statuses").argParser(statuses),
      new Option(
        "--max-bad <N|N%>",
        "exit 1 only above N rows or N % of a file; --fail-on defaults to disposable,fake",
      ).argParser(limit),
      new Option("--annotations <FORMAT>", "github: annotate the lines of these rows, on stderr").choices([
        "github",
      ]),
      new Option("--fail-on-empty", "exit 1 and write nothing when there are no rows"),
    ],
    Quota: [
      ...quotaOptions(),
      new Option("--wait [TIME]", "wait up to TIME for the quota to renew").argParser(waitTime),
      new Option("--dry-run", "send and write nothing; say what it would cost").conflicts("report"),
    ],
    Service: [
      ...settingNames.filter((name) => !dnsSettingNames.includes(name)).map(settingOption),
      apiKeyFileOption(),
      insecureHttpOption(),
      new Option("--no-precheck", "also submit items that cannot be valid"),
      new Option("--no-cache", "neither read nor write the cache"),
      new Option("--refresh", "ask for all items again, and update the cache"),
    ],
    DNS: dnsSettingNames.map(settingOption),
    Run: [
      new Option("--summary <FORMAT>", "summary on stderr: text, json or none")
        .choices(["text", "json", "none"])
        .default("text"),
      new Option("--progress <MODE>", "progress on stderr: auto (terminals only), plain, json or none")
        .choices(progressModes)
        .default("auto"),
      new Option("--summary-file <FILE>", "append the summary to FILE as a line of JSON").argParser(path),
      new Option("--report <FILE>", "write a report as an HTML page, without addresses").argParser(path),
      new Option("--report-addresses", "with --report, list the first 100 bad rows too"),
      new Option("-q, --quiet", "no progress, notes or summary on stderr"),
      new Option("--debug", "log every request to stderr"),
    ],
  };
}
