/** Rejects options that contradict each other, or mean nothing for the engine of a run. */

import { found } from "../../../files/found.js";
import { ownListPath } from "../../config/paths.js";
import { isDatabase, type QuotaLocation } from "../../config/quota-location.js";
import { type Settings, settingOf } from "../../config/settings.js";
import { UsageError } from "../../errors.js";
import type { BulkOptions } from "../../options/bulk.js";
import { all } from "../../options/input.js";
import type { GivenOption } from "../../options/option.js";

export function checkTogether(options: BulkOptions, settings: Settings): void {
  const { delimiter, quote, comment, badRows, format, split } = options;
  checkShard(options);
  if (split !== undefined && options.encoding?.output !== undefined) {
    throw new UsageError("--encoding: the files of --split are UTF-8; leave out the encoding of the output");
  }
  if (options.dryRun && (options.failOn?.statuses.length ?? 0) > 0) {
    throw new UsageError("--fail-on: a dry run has no statuses; leave out --dry-run, or use --fail-on no-rows");
  }
  if (options.column?.includes(all) && options.column.length > 1) {
    throw new UsageError(`-c "${all}" stands for all columns; leave out the others`);
  }
  if (options.inPlace !== undefined) checkReplaces(options, settings);
  if (options.fix !== undefined && options.inPlace === "") {
    throw new UsageError("--fix with --in-place needs a backup: -I.bak, or write with -o");
  }
  const { quote: around = '"', escape: before = around } = quote ?? {};
  // An empty mark stands for none. Quote and escape may be the same character.
  const marks = [delimiter, comment, ...new Set([around, before])].filter((mark) => mark);
  if (new Set(marks).size < marks.length) {
    throw new UsageError("--delimiter, --quote and --comment need different characters");
  }
  if (badRows?.policy === "keep" && (format !== undefined || split !== undefined)) {
    throw new UsageError(
      "--bad-rows keep works only in the text format of the input and with one output; use --bad-rows skip",
    );
  }
}

function checkReplaces({ inPlace, badRows, comment, format, shard }: BulkOptions, { header }: Settings): void {
  if (inPlace === "" && badRows?.policy === "skip" && badRows.file === undefined) {
    const advice = "keep them with --bad-rows skip:FILE, or the old file with -I.bak";
    throw new UsageError(`--in-place would lose the bad rows: ${advice}`);
  }
  if (comment !== undefined && format !== undefined) {
    throw new UsageError("--in-place would lose the comments: --format drops them; use -o");
  }
  if (shard !== undefined) {
    throw new UsageError("--in-place would lose the rows of the other shards; use -o with --shard");
  }
  if (header.value !== "always")
    throw new UsageError(`--in-place would lose the header with header=${header.value} (${header.source}); use -o`);
}

function checkShard({ shard, column = [], dedupe, fix }: BulkOptions): void {
  if (shard === undefined) return;
  if (column.length > 1 || column.includes(all)) {
    throw new UsageError("--shard needs one column: the items of a row in several ones are in different shards");
  }
  const why = "addresses of a mailbox are in different shards";
  if (dedupe === "canonical") throw new UsageError(`--dedupe=canonical does not work with --shard: ${why}`);
  if (dedupe !== undefined && fix !== undefined)
    throw new UsageError("--fix with --dedupe does not work with --shard: equal addresses may be in different shards");
}

export function checkOffline({ offline, set = [] }: BulkOptions, quota: QuotaLocation): void {
  if (!offline) return;
  const allowed: Readonly<Record<string, unknown>> = { dns: "off", engine: "offline" };
  const wrong = set.find(([name, value]) => name in allowed && value !== allowed[name]);
  if (wrong !== undefined) {
    throw new UsageError(`--offline uses no network; leave out --set ${wrong[0]}, or use --set engine=offline`);
  }
  if (!("state" in quota) || !isDatabase(quota.state)) return;
  throw new UsageError("--offline uses no network, and the shared quota is in a database; use --set engine=offline");
}

type Note = (text: string) => void;

/** Notes ignored variables. @throws UsageError when an option is for the offline engine only */
export function checkServiceOptions(given: readonly GivenOption[], env: NodeJS.ProcessEnv, note: Note): void {
  const wrong = given.find(({ record }) => record.belongsTo === "offline");
  if (wrong !== undefined) {
    // With --offline, a database is refused.
    const choice = wrong.name === "quota" && isDatabase(wrong.words[1]!) ? "--set engine=offline" : "--offline";
    // As it was typed, without the value that it has by itself.
    const typed = wrong.words[0]!.replace(`=${wrong.record.implied}`, "");
    throw new UsageError(`${typed} is for the offline engine; add ${choice}`);
  }
  const kept = (["allow", "deny"] as const).filter((list) => found(ownListPath(list, env))?.size);
  const ignored = [
    ...kept.map((list) => `idv ${list}`),
    ...["IDV_ALLOW", "IDV_DENY", "IDV_QUOTA", "IDV_QUOTA_KEY"].filter((name) => env[name]),
  ];
  if (ignored.length > 0) {
    note(`${ignored.join(", ")}: ignored, because a service is asked; for the offline engine, add --offline`);
  }
}

/** Notes that rows will be lost, as the user wants: not a reason to refuse them. */
export function noteLostRows({ inPlace, dryRun, only, drop, dedupe }: BulkOptions, note: Note): void {
  const given = Object.entries({ only, drop, dedupe }).flatMap(([name, value]) => (value ? [`--${name}`] : []));
  if (inPlace !== "" || dryRun || given.length === 0) return;
  note(`-I: rows that ${given.join(" or ")} leaves out will be lost; -I.bak keeps the old file`);
}

export function noteServiceOptions(given: readonly GivenOption[], options: BulkOptions, usesDns: boolean, note: Note) {
  const { set = [] } = options;
  const useless = [
    ...given
      .filter(({ name, record }) => record.belongsTo === "api" || (name === "cache" && !usesDns))
      .map(({ words }) => words[0]!),
    ...set.filter(([name]) => settingOf(name).belongsTo === "api").map(([name]) => `--set ${name}`),
  ];
  if (useless.length === 0) return;
  const them = useless.length === 1 ? "it" : "them";
  note(`${useless.join(", ")}: for a service only; the offline engine does not need ${them}`);
}
