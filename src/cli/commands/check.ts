/** `idv check`: verdicts on a few values. Nothing is charged. */
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Classifier } from "../../core/classifier/classifier.js";
import { flagsOf } from "../../core/classifier/flags/flags.js";
import { findSuffix } from "../../core/classifier/rules/domain/public-suffix.js";
import { loadClassifier } from "../../core/classifier/tables/load-classifier.js";
import type { Classification, Kind } from "../../core/classifier/verdict.js";
import { type Why, whyOf } from "../../core/classifier/why.js";
import { extractItem } from "../../core/run/items/item.js";
import type { Verdict } from "../../core/validator/validator.js";
import { tableSource } from "../../engines/data/installed-table.js";
import { endingOf } from "../../files/ending.js";
import { FileError } from "../../files/errors.js";
import { tableEndings } from "../../formats/registry.js";
import { counted, printable, shellWord } from "../../text.js";
import { noteUnaskedExchanges, readOwnLists } from "../config/own-lists.js";
import { dataTablePath } from "../config/paths.js";
import { resolveSettings } from "../config/resolve-settings.js";
import type { Settings } from "../config/settings.js";
import type { OpenMailCheck } from "../engines/mail-check.js";
import { UsageError } from "../errors.js";
import { exitCodes } from "../exit-codes.js";
import { jsonLinesOption, type OptionValues, optionRecords } from "../options/option.js";
import { dnsOptions, setOptions } from "../options/service.js";
import { listOptions } from "../options/verdicts.js";
import { statusesOf, statusList } from "../options/words.js";
import { statusColour } from "../terminal/bars.js";
import { interruptible } from "../terminal/interruption.js";
import { type Listing, printListing } from "../terminal/listing.js";
import { print } from "../terminal/standard-output.js";
import { say } from "../terminal/terminal.js";
import { type DefineCommand, describe } from "./command.js";

const options = optionRecords({
  ...jsonLinesOption,
  failOn: {
    flags: "--fail-on <STATUS,...>",
    help: "exit 1 when a value has one of these statuses",
    parse: statusList("email"),
    words: statusesOf("email"),
    isJoined: true,
  },
  why: { flags: "--why", help: "print where each verdict comes from: rule, source, lists, corrections" },
  flags: { flags: "--flags", help: "print facts about each item, too: role, free-provider, no-reply, relay ..." },
  ...listOptions,
  ...dnsOptions,
  ...setOptions,
});

type CheckOptions = OptionValues<typeof options>;

export const define: DefineCommand = (command) => {
  describe(command, {
    description: "Prints the verdict on a few addresses or domains. Nothing is charged.",
    examples: [
      "check ann.lee@gmial.com mailinator.com",
      "check --json ann+news@example.net",
      "check --why x@mailinator.com",
      "check --fail-on fake,disposable - < new.txt",
    ],
    options,
    environment: ["IDV_ALLOW", "IDV_DENY", "XDG_DATA_HOME"],
    exitCodes: [1, 5],
  }).argument("<VALUE...>", "e-mail addresses, domains or URLs; - for the lines of standard input");
  command.action(check);
};

/** Value, status, reason, suggestion, with `--dns` the MX host and with `--flags` the flags, separated by tabs. */
async function check(values: readonly string[], options: CheckOptions): Promise<void> {
  const file = values.find((value) => tableEndings.has(endingOf(value)) && existsSync(value));
  if (file !== undefined) throw new UsageError(`${file}: is a file; to check a list: idv emails ${shellWord(file)}`);
  const lines = values.find((value) => value.startsWith("@") && existsSync(value.slice(1)));
  if (lines !== undefined)
    throw new UsageError(`${lines}: for the lines of a file, write idv check - < ${shellWord(lines.slice(1))}`);
  const [missing = ""] = values.length === 1 ? values : [];
  if (tableEndings.has(endingOf(missing)) && !missing.includes("@") && findSuffix(missing) === "unknown-tld")
    throw new FileError(`${printable(missing)}: no such file; to check a list: idv emails FILE`);
  noteForms(values);
  const ownLists = await readOwnLists(options, process.env, say);
  const classifier = loadClassifier({ ...tableSource(dataTablePath(process.env), say), ownLists });
  const interruption = interruptible(undefined);
  const settings = await resolveSettings(options, process.env, process.cwd(), say);
  const { baseUrl, engine } = settings;
  if (baseUrl.source === "--set" || (engine.source === "--set" && engine.value === "api"))
    throw new UsageError(
      "--set: idv check asks no service; leave it out, or put the values into a list for idv emails",
    );
  const mail = await openMail(classifier, settings, interruption.signal);
  noteUnaskedExchanges(ownLists, mail !== undefined, say);
  const found = new Map<string, number>();
  // Standard input may be long: its verdicts are printed one by one.
  const isList = process.stdout.isTTY && !options.json && !options.why && !values.includes("-");
  const work = async () => {
    const rows: (readonly string[])[] = [];
    for await (const value of valuesOf(values)) {
      const row = await verdictOn(value, classifier, mail, options, isList);
      found.set(row[1]!, (found.get(row[1]!) ?? 0) + 1);
      if (isList) rows.push(row);
    }
    const more = [...(mail ? ["mx"] : []), ...(options.flags ? ["flags"] : [])];
    const header = ["value", "status", "reason", "suggestion", ...more];
    const colourOf: NonNullable<Listing["colourOf"]> = (chalk, column, text) =>
      column === 1 ? statusColour(chalk, text) : undefined;
    if (isList) await printListing({ header, rows, colourOf });
  };
  try {
    await Promise.race([work(), interruption.interrupted]);
  } finally {
    await mail?.close();
    interruption.end();
  }
  const { asked = 0, undecided = 0 } = mail?.check.statistics ?? {};
  const { value: dns } = settings.dns;
  if (typeof dns === "object" && undecided > dns.mostUndecided * asked) {
    say(`DNS gave no usable answer for ${undecided} of ${counted(asked, "domain")}`);
    process.exitCode = exitCodes.service;
    return;
  }
  const matched = (options.failOn ?? []).filter((status) => found.has(status));
  if (matched.length === 0) return;
  say(`--fail-on: values found: ${matched.map((status) => `${found.get(status)} ${status}`).join(", ")}`);
  process.exitCode = exitCodes.failOn;
}

/** Says what was probably meant otherwise: an address without its @, or several values in one word. */
function noteForms(values: readonly string[]): void {
  for (const value of values) {
    const parts = value.split(/[\s,;]+/).filter((part) => part !== "");
    const isDomain = value !== "-" && kindOf(value) === "domain";
    if (parts.length > 1 && parts.every((part) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(part)))
      say(`${printable(value)}: checked as one value; separate several with spaces: ${parts.map(printable).join(" ")}`);
    else if (isDomain && mailNames.test(value)) say(`${printable(value)}: checked as a domain, since it has no @`);
  }
}

/** A large provider with something in front, as in `annleegmail.com` and `ann.lee.gmail.com`. */
const mailNames =
  /^(?!(?:www|mail|smtp|imap|pop|webmail)\.[^.]+\.[a-z]{2,3}(?:\.[a-z]{2})?$).+(?:gmail|googlemail|hotmail|outlook|yahoo|icloud|gmx|protonmail)\.[a-z]{2,3}(?:\.[a-z]{2})?$/i;

async function openMail(classifier: Classifier, settings: Settings, signal: AbortSignal) {
  if (settings.dns.value === "off") return undefined;
  const { openMailCheck } = await import("../engines/mail-check.js");
  // A cache would have to be created, which a few values are not worth.
  const bare = { cache: "off", wantsExchanges: true, note: say } as const;
  return openMailCheck(settings, classifier, bare, signal);
}

async function* valuesOf(values: readonly string[]): AsyncGenerator<string> {
  for (const value of values) {
    if (value !== "-") {
      yield value;
      continue;
    }
    if (process.stdin.isTTY) say("reading standard input; Ctrl-D ends it");
    for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line.trim() !== "") yield line;
    }
  }
}

/** The verdict is printed at once if there is no list. */
async function verdictOn(
  value: string,
  classifier: Classifier,
  mail: OpenMailCheck | undefined,
  { json, flags: isFlagged, why: isExplained }: CheckOptions,
  isList: boolean,
): Promise<readonly string[]> {
  const kind = kindOf(value);
  const item = extractItem(kind, value);
  const byRules = classifier.classify(kind, item);
  const verdict: Verdict = mail ? await mail.check.check(kind, item, byRules) : byRules;
  const { status, reason = null, suggestion = null, mx = null } = verdict;
  const flags = isFlagged ? flagsOf(kind, item, mx ?? undefined) : undefined;
  const fields = { value, kind, item, status, reason, suggestion, ...(mail && { mx }), ...(flags && { flags }) };
  const more = [...(mail ? [mx ?? ""] : []), ...(flags ? [flags.join(" ")] : [])];
  const row = [value, status, reason ?? (kind === "domain" && isList ? "(domain)" : ""), suggestion ?? "", ...more];
  const why = isExplained ? whyOf(classifier, verdict as Classification) : undefined;
  const line = json ? JSON.stringify({ ...fields, ...(why && { why }) }) : row.map(printable).join("\t").trimEnd();
  const below = why && !json ? linesOf(why).map((text) => `  ${printable(text)}\n`) : [];
  if (!isList) print(`${line}\n${below.join("")}`);
  return row;
}

function linesOf({ rule, source, forPerson, listed, lists, isOwn }: Why): readonly string[] {
  return [
    ...(rule === undefined ? ["no rule objects"] : [`rule: ${rule}; source: ${source}`]),
    ...lists.map(({ name, published, corrections }) => {
      const page = corrections === undefined ? "" : `; corrections: ${corrections}`;
      return `${listed} is in ${name}, as of ${published}${page}`;
    }),
    ...(isOwn ? [`${listed} is in idv's own list`] : []),
    `for the person: ${forPerson}`,
  ];
}

function kindOf(value: string): Kind {
  const hasAt = /@|\uff20|[([{]\s*at\s*[)\]}]/i.test(value);
  return hasAt && !value.includes("://") ? "email" : "domain";
}
