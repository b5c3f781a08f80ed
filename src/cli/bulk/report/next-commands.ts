// Commands that a run suggests when it is done. None may lose rows or charge them twice: they read the output with
// `--update`, and repeat only options that `optionsBy` names. Others replaced backups and charged lists again.

import { existsSync } from "node:fs";
import type { RunReport } from "../../../core/run/run-options.js";
import type { Table } from "../../../core/table/table.js";
import { nameWith } from "../../../files/ending.js";
import { isDevicePath } from "../../../files/found.js";
import { pathWord } from "../../../text.js";
import { isDatabase } from "../../config/quota-location.js";
import { settingNames, settingOf } from "../../config/settings.js";
import type { BulkOptions } from "../../options/bulk.js";
import type { GivenOption } from "../../options/option.js";
import { noItem } from "../../options/words.js";
import { commandFor, commandLine } from "../command-line.js";
import type { Plan } from "../plan/plan.js";

export function resumeCommand(plan: Plan, table: Table): string | undefined {
  const { output } = plan;
  const words = repeatedWords(plan);
  if (plan.member) return undefined;
  // A spreadsheet file would be replaced together with its backup.
  if (!isUpdatable(plan, table) || plan.sheets || words === undefined) return undefined;
  // With --fix, replacing a file takes a backup, which may not replace that of the first run.
  const needsBackup = plan.columns.fixes !== undefined;
  if (needsBackup && existsSync(`${output}.bak`)) return undefined;
  return commandLine([...words, needsBackup ? "-I.bak" : "-I", "--update", pathWord(output!)]);
}

export function limitCommand({ quota, given }: Plan): string {
  const words =
    "state" in quota && "keyId" in quota.from
      ? ["keys", "set", ...(isDatabase(quota.state) ? [] : ["--state", quota.state]), quota.from.keyId]
      : ["quota", "set", ...given.flatMap(({ name, words }) => (name === "quota" ? words : []))];
  return commandLine([...words, "--limit", "N"]);
}

/** Drops disposable, fake and empty rows, unless none or all are such. Reads the output, to charge no unit again. */
export function cleanCommand(plan: Plan, table: Table, { statuses, statuses: { size }, emptyRows, quota }: RunReport) {
  const useless = ["disposable", "fake"].filter((status) => statuses.has(status));
  const dropped = [...useless, ...(emptyRows > 0 ? [noItem] : [])];
  const { input, output, isInPlace, columns } = plan;
  const words = repeatedWords(plan);
  const isWanted = useless.length > 0 && useless.length < size;
  if (isInPlace || plan.member || !isWanted || words === undefined) return undefined;
  const update = isUpdatable(plan, table) ? ["--update"] : [];
  const from = update.length > 0 ? output : input;
  const isFree = update.length > 0 || (quota?.left === null && columns.update === undefined);
  const to = from === undefined ? undefined : nameWith(from, "clean");
  if (to === undefined || !isFree || existsSync(to)) return undefined;
  return commandLine([...words, ...update, pathWord(from!), "--drop", dropped.join(","), "-o", pathWord(to)]);
}

/** Returns the command that writes the input with its mistyped items repaired, if that costs no units. */
export function repairCommand(plan: Plan, { repairable, quota }: RunReport): string | undefined {
  const { input, columns } = plan;
  const words = repeatedWords(plan);
  const isFree = quota?.left === null && columns.update === undefined;
  if (repairable === 0 || columns.fixes !== undefined || !isFree || words === undefined) return undefined;
  if (input === undefined || plan.isInPlace || plan.member || plan.sheets) return undefined;
  // A report is for others, and the URL of a list may have a password.
  if (words.some((word) => word.includes("://"))) return undefined;
  const to = nameWith(input, "fixed");
  return existsSync(to) ? undefined : commandLine([...words, pathWord(input), "--fix", "-o", pathWord(to)]);
}

function isUpdatable({ output, omitsHeader, given }: Plan, table: Table): boolean {
  if (output === undefined || isDevicePath(output) || omitsHeader || table.header === undefined) {
    return false;
  }
  // The members of an object have no columns of their own in CSV.
  const losesMembers = table.scanned.shape.json !== undefined && table.format !== "jsonl" && table.format !== "json";
  return !losesMembers || !given.some(({ name }) => name === "column");
}

function repeatedWords({ kind, given, isInPlace }: Plan): readonly string[] | undefined {
  const staysAsItIs = isInPlace && !given.some(({ name }) => name === "format");
  if (given.map(nextOf).some((next) => next === "prevent" || (next === "inPlace" && !staysAsItIs))) {
    return undefined;
  }
  return [commandFor(kind), ...given.flatMap(wordsOf)];
}

type Next = "repeat" | "inPlace" | "prevent";

/** Repeated, repeated only where a file is replaced, or no command is suggested. Other options are left out. */
const optionsBy: Readonly<Record<Next, readonly (keyof BulkOptions)[]>> = {
  repeat: ["column", "explain", "fix", "add", "offline", "allow", "deny", "allowOnly", "quota"],
  inPlace: [
    ...(["delimiter", "skipLines", "quote", "comment", "force", "only", "drop", "dedupe", "badRows"] as const),
    ...(["baseUrl", "cache", "dns", "set"] as const),
  ],
  prevent: ["headers", "sheet", "encoding", "split", "shard"],
};

function nextOf({ name, words }: GivenOption): Next | undefined {
  const setting = name === "set" ? settingNames.find((each) => words[1]?.startsWith(`${each}=`)) : undefined;
  const ofOption = (Object.keys(optionsBy) as Next[]).find((next) => optionsBy[next].some((each) => each === name));
  return (setting && settingOf(setting).next) ?? ofOption;
}

function wordsOf(option: GivenOption): readonly string[] {
  const { name, words } = option;
  if (nextOf(option) === undefined) return [];
  if (name !== "badRows") return words;
  // Skipped rows are lost to a second run: they are only in FILE, which it would replace.
  return words[1]!.startsWith("keep") ? [words[0]!, "keep"] : [];
}
