/** `idv allow` and `idv deny`: lists of the user's own that every offline run and `idv serve` use. */

import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { isFreeProvider } from "../../../core/classifier/flags/free-providers.js";
import { findSuffix } from "../../../core/classifier/rules/domain/public-suffix.js";
import { Fault } from "../../../core/classifier/syntax/fault.js";
import { type ListName, parseListLine } from "../../../core/classifier/tables/own-lists.js";
import { findSuffixIn } from "../../../core/classifier/tables/suffix-walk.js";
import { endingOf } from "../../../files/ending.js";
import { createFolder } from "../../../files/folders.js";
import { found } from "../../../files/found.js";
import { readIfPresent, writePrivately } from "../../../files/private-file.js";
import { tableEndings } from "../../../formats/registry.js";
import { withFolderLock } from "../../../state/sqlite/folder-lock.js";
import { printable } from "../../../text.js";
import { ownListPath } from "../../config/paths.js";
import { UsageError } from "../../errors.js";
import { jsonLinesOption, type OptionValues, optionRecords } from "../../options/option.js";
import { filled } from "../../options/values.js";
import { printListing } from "../../terminal/listing.js";
import { print } from "../../terminal/standard-output.js";
import { say } from "../../terminal/terminal.js";
import { commandsOf, type DefineCommand, describe } from "../command.js";

const addOptions = optionRecords({
  note: { flags: "--note <TEXT>", help: "why, for whoever reads the list", parse: filled },
});

const lockMilliseconds = 10_000;

export const define: DefineCommand = (command) => {
  const list: ListName = command.name() === "allow" ? "allow" : "deny";
  const becomes = list === "allow" ? "ok if its syntax is" : "disposable";
  describe(command, {
    description: `Keeps a list of domains and addresses: each is ${becomes}, in every offline run and in idv serve.`,
    examples: [`${list} add larch-and-oak.com --note "our shop"`, `${list} list`, `${list} remove larch-and-oak.com`],
    environment: ["XDG_CONFIG_HOME"],
  });
  const define = commandsOf(command);
  const adds = "Add domains, which count with all names below them, and addresses.";
  define("add", { options: addOptions }, adds, `${list} add larch-and-oak.com ann@example.net`)
    .argument(
      "<ENTRY...>",
      list === "allow" ? "domains, addresses and MAILBOX@*" : "domains, addresses, MAILBOX@* and mx:HOST",
    )
    .action((entries: readonly string[], options: OptionValues<typeof addOptions>) => add(list, entries, options));
  define("remove", {}, "Remove entries.", `${list} remove larch-and-oak.com`)
    .argument("<ENTRY...>", "entries as idv shows them")
    .action((entries: readonly string[]) => remove(list, entries));
  define("list", { options: jsonLinesOption }, "Print the entries and their notes.", `${list} list --json`).action(
    (options: OptionValues<typeof jsonLinesOption>) => show(list, options),
  );
};

async function add(list: ListName, entries: readonly string[], { note = "" }: OptionValues<typeof addOptions>) {
  const file = entries.find((entry) => isFileName(entry));
  if (file !== undefined)
    throw new UsageError(`${printable(file)}: is a file; runs take its entries with --${list} FILE`);
  const bare = entries.find((entry) => /^[^.*]/.test(entry) && isSuffix(entry.toLowerCase().replace(/\.$/, "")));
  if (bare !== undefined)
    throw new UsageError(`${bare}: is a public suffix; if all domains that end in it are meant, write .${bare}`);
  const word = entries.find((entry) => entry !== "-" && /^[^.@:*\s]+$/.test(entry));
  if (word !== undefined) {
    const advice = note === "" ? "" : "; a --note of several words needs quotes";
    throw new UsageError(
      `${printable(word)}: has no dot; for all domains that end in it, write .${printable(word)}${advice}`,
    );
  }
  const keys = new Set(entries.map((entry) => normalized(list, entry)));
  const comment = note === "" ? "" : ` # ${note.replace(/[\r\n]+/g, " ")}`;
  await change(list, (lines) => [
    ...lines.filter((line) => !keys.has(keyOf(list, line) ?? "")),
    // Without its dot, a public suffix is rejected.
    ...[...keys].map((key) => `${isSuffix(key) ? "." : ""}${key}${comment}`),
  ]);
  say(`${[...keys].map(printable).join(", ")}: ${list === "allow" ? "allowed" : "denied"}`);
  const allowed = list === "deny" ? new Set((await linesOf("allow")).map((line) => keyOf("allow", line))) : undefined;
  for (const key of keys) {
    const name = printable(key);
    const first =
      allowed && [key, findSuffixIn(domainOf(key), (name) => allowed.has(name))].find((each) => allowed.has(each));
    if (key === "*") say("*: stands for all domains");
    else if (/^[^.@:]+$/.test(key) || isSuffix(key)) say(`${name}: stands for all domains that end in .${name}`);
    else if (first !== undefined)
      say(`${name} is still ok, because ${printable(first)} is in the list of idv allow, which wins`);
    else if (!key.endsWith("*") && findSuffix(domainOf(key)) === "unknown-tld")
      say(`${name}: no top-level domain ends it; if a file is meant, runs take its entries with --${list} FILE`);
    else if (list === "deny" && isFreeProvider(key))
      say(`${name}: a public mail provider; all its addresses are now disposable`);
  }
}

const domainOf = (key: string): string => key.slice(key.lastIndexOf("@") + 1);

/** `notes.txt` is a name of a file, and `larch.com` is a domain, even beside a file of that name. */
const isFileName = (entry: string): boolean => tableEndings.has(endingOf(entry)) && found(entry)?.isFile() === true;

const isSuffix = (key: string): boolean => !/[@:]/.test(key) && findSuffix(key) === "public-suffix";

async function remove(list: ListName, entries: readonly string[]): Promise<void> {
  const keys = new Set(entries.map((entry) => normalized(list, `${isSuffix(entry.toLowerCase()) ? "." : ""}${entry}`)));
  await change(list, (lines) => {
    const known = new Set(lines.map((line) => keyOf(list, line)));
    const missing = [...keys].find((key) => !known.has(key));
    if (missing !== undefined) throw new UsageError(`${printable(missing)}: is not in the list; see idv ${list} list`);
    return lines.filter((line) => !keys.has(keyOf(list, line) ?? ""));
  });
  say(`${[...keys].map(printable).join(", ")}: removed`);
}

async function show(list: ListName, { json }: OptionValues<typeof jsonLinesOption>): Promise<void> {
  const rows = (await linesOf(list)).flatMap((line) => {
    if (keyOf(list, line) === undefined) return [];
    const [, entry = line, note = ""] = /^(.*?)\s+#\s?(.*)$/.exec(line) ?? [];
    return [{ entry: entry.trim(), note: note.trim() }];
  });
  if (json) for (const row of rows) print(`${JSON.stringify(row)}\n`);
  else {
    const none = `the list is empty; to add a domain: idv ${list} add DOMAIN`;
    await printListing({ header: ["entry", "note"], rows: rows.map(({ entry, note }) => [entry, note]), none });
  }
}

/** Replaces the file as a whole; two changes at once follow each other. Other lines stay as people have written them. */
async function change(list: ListName, to: (lines: readonly string[]) => readonly string[]): Promise<void> {
  const named = ownListPath(list, process.env);
  createFolder(dirname(named), 0o700);
  // People who keep their settings elsewhere have a link here.
  const path = await realpath(named).catch(() => named);
  await withFolderLock(dirname(named), { milliseconds: lockMilliseconds }, async () => {
    const lines = to(linesIn((await readIfPresent(path)) ?? ""));
    await writePrivately(path, lines.map((line) => `${line}\n`).join(""));
  });
}

const linesOf = async (list: ListName): Promise<readonly string[]> =>
  linesIn((await readIfPresent(ownListPath(list, process.env))) ?? "");

const linesIn = (text: string): readonly string[] => text.split(/\r\n|\r|\n/).filter((line) => line !== "");

function keyOf(list: ListName, line: string): string | undefined {
  const parsed = parseListLine(line, list);
  return parsed instanceof Fault ? undefined : parsed;
}

/** What to write in the place of a list of entries, or of an address or a URL with what is around it. */
function entryMeant(list: ListName, entry: string): string | undefined {
  if (entry === "-") return `standard input is not read; runs take the entries of a file with --${list} FILE`;
  const parts = entry.split(/[\s,;]+/).filter((part) => part !== "");
  const inner = parts.map((part) => part.replace(/^(?:<|mailto:|https?:\/\/(?:www\.)?)|[/>].*$/gi, ""));
  const isEntry = (part: string) => /[.@]/.test(part) && !(parseListLine(part, list) instanceof Fault);
  return inner.length > 0 && inner.every(isEntry) ? `write ${inner.map(printable).join(" ")}` : undefined;
}

/** Lower case, the domain in A-labels. @throws UsageError when no address can match it */
function normalized(list: ListName, entry: string): string {
  const parsed = parseListLine(entry, list);
  if (parsed === undefined || parsed instanceof Fault) {
    const why = parsed === undefined ? "it is empty" : parsed.what;
    throw new UsageError(`${printable(entry)}: neither a domain nor an address: ${entryMeant(list, entry) ?? why}`);
  }
  if (!/[\s#"]/.test(parsed)) return parsed;
  throw new UsageError(`${printable(entry)}: cannot be kept, because of its space, quote or #; use a FILE`);
}
