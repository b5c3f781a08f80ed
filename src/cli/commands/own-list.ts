/** `idv allow` and `idv deny`: lists of the user's own that every offline run and `idv serve` use. */

import { dirname } from "node:path";
import { parseListLine } from "../../classifier/own-lists.js";
import { Fault } from "../../classifier/syntax/fault.js";
import { withFolderLock } from "../../files/folder-lock.js";
import { createFolder } from "../../files/folders.js";
import { readIfPresent, writePrivately } from "../../files/private-file.js";
import { ownListPath } from "../config/paths.js";
import { UsageError } from "../errors.js";
import { type OptionValues, optionRecords } from "../options/option.js";
import { filled } from "../options/values.js";
import { printListing } from "../terminal/listing.js";
import { print } from "../terminal/standard-output.js";
import { printable, say } from "../terminal/terminal.js";
import { type DefineCommand, describe } from "./command.js";

const environment = ["XDG_CONFIG_HOME"] as const;

const addOptions = optionRecords({
  note: { flags: "--note <TEXT>", help: "why, for whoever reads the list", parse: filled },
});
const listOptions = optionRecords({ json: { flags: "--json", help: "print one JSON object a line" } });

/** Longest wait for another change of the list, in milliseconds. */
const lockMilliseconds = 10_000;

interface Line {
  readonly entry: string;
  readonly note: string;
}

/** Returns the command for one of the lists. */
export const ownListCommand =
  (list: "allow" | "deny"): DefineCommand =>
  (command) => {
    const becomes = list === "allow" ? "ok if its syntax is" : "disposable";
    describe(command, {
      description: `Keeps a list of domains and addresses: each is ${becomes}, in every offline run and in idv serve.`,
      examples: [
        `${list} add larch-and-oak.com --note "our shop"`,
        `${list} list`,
        `${list} remove larch-and-oak.com`,
      ],
      environment,
    });
    const adds = "Add domains, which count with all names below them, and addresses.";
    describe(command.command("add").summary(adds), {
      description: adds,
      examples: [`${list} add larch-and-oak.com ann@example.net`],
      options: addOptions,
      environment,
    })
      .argument("<ENTRY...>", "domains and addresses")
      .action((entries: readonly string[], options: OptionValues<typeof addOptions>) =>
        add(list, entries, options),
      );
    const removes = "Remove entries.";
    describe(command.command("remove").summary(removes), {
      description: removes,
      examples: [`${list} remove larch-and-oak.com`],
      environment,
    })
      .argument("<ENTRY...>", "entries as idv shows them")
      .action((entries: readonly string[]) => remove(list, entries));
    const lists = "Print the entries and their notes.";
    describe(command.command("list").summary(lists), {
      description: lists,
      examples: [`${list} list --json`],
      options: listOptions,
      environment,
    }).action((options: OptionValues<typeof listOptions>) => show(list, options));
  };

type List = "allow" | "deny";

async function add(
  list: List,
  entries: readonly string[],
  { note = "" }: OptionValues<typeof addOptions>,
): Promise<void> {
  const added = entries.map((entry) => ({ entry: normalized(entry), note: note.replace(/[\r\n]+/g, " ") }));
  const keys = new Set(added.map(({ entry }) => entry));
  await change(list, (lines) => [...lines.filter(({ entry }) => !keys.has(normalized(entry))), ...added]);
  say(`${[...keys].map(printable).join(", ")}: ${list === "allow" ? "allowed" : "denied"}`);
}

async function remove(list: List, entries: readonly string[]): Promise<void> {
  const keys = new Set(entries.map(normalized));
  await change(list, (lines) => {
    const known = new Set(lines.map(({ entry }) => normalized(entry)));
    const missing = [...keys].find((key) => !known.has(key));
    if (missing !== undefined)
      throw new UsageError(`${printable(missing)}: is not in the list; see idv ${list} list`);
    return lines.filter(({ entry }) => !keys.has(normalized(entry)));
  });
  say(`${[...keys].map(printable).join(", ")}: removed`);
}

async function show(list: List, { json }: OptionValues<typeof listOptions>): Promise<void> {
  const lines = linesIn((await readIfPresent(ownListPath(list, process.env))) ?? "");
  if (json) for (const line of lines) print(`${JSON.stringify(line)}\n`);
  else await printListing({ header: ["entry", "note"], rows: lines.map(({ entry, note }) => [entry, note]) });
}

/** Changes the file as a whole; two changes at once follow each other. Lines that have only a comment stay. */
async function change(list: List, to: (lines: readonly Line[]) => readonly Line[]): Promise<void> {
  const path = ownListPath(list, process.env);
  createFolder(dirname(path), 0o700);
  let failure: unknown;
  await withFolderLock(dirname(path), { milliseconds: lockMilliseconds }, async () => {
    try {
      const text = (await readIfPresent(path)) ?? "";
      const comments = text.split("\n").filter((line) => /^\s*#/.test(line));
      const lines = to(linesIn(text)).map(({ entry, note }) => (note === "" ? entry : `${entry} # ${note}`));
      await writePrivately(path, [...comments, ...lines].map((line) => `${line}\n`).join(""));
    } catch (error) {
      failure = error;
    }
  });
  if (failure !== undefined) throw failure;
}

function linesIn(text: string): readonly Line[] {
  return text.split("\n").flatMap((line) => {
    const [, entry = "", note = ""] = /^\s*([^\s#]\S*)(?:\s+#\s?(.*))?\s*$/.exec(line) ?? [];
    return entry === "" ? [] : [{ entry, note: note.trim() }];
  });
}

/**
 * Returns an entry as it is stored: lower case, the domain in A-labels.
 *
 * @throws UsageError when no address can match it
 */
function normalized(entry: string): string {
  const parsed = parseListLine(entry);
  if (parsed === undefined || parsed instanceof Fault) {
    const why = parsed === undefined ? "it is empty" : parsed.what;
    throw new UsageError(`${printable(entry)}: neither a domain nor an address: ${why}`);
  }
  const text = "mailbox" in parsed ? `${parsed.mailbox}@${parsed.domain}` : parsed.domain;
  if (!/[\s#"]/.test(text)) return text;
  throw new UsageError(`${printable(entry)}: cannot be kept, because of its space, quote or #; use a FILE`);
}
