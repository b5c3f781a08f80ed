/** The first step of a bulk run: decides everything that the command line, the environment and the settings decide. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { ClassifierSource } from "../../classifier/classifier.js";
import { tableSource } from "../../data/installed-table.js";
import { endingOf, formatByName } from "../../files/format-by-name.js";
import { found } from "../../files/found.js";
import { itemTest, usualEmptyValues } from "../../run/cells.js";
import { profiles } from "../../run/item.js";
import type { RowFilter } from "../../run/run-options.js";
import type { BadRowPolicy } from "../../table/bad-rows.js";
import type { TableFormat } from "../../table/records.js";
import type { TableOptions } from "../../table/table.js";
import { type Kind, notChecked } from "../../validator/validator.js";
import { type Limit, noItem } from "../config/option-values.js";
import { type OwnListOptions, ownListFiles, readOwnLists } from "../config/own-lists.js";
import { dataTablePath } from "../config/paths.js";
import {
  isDatabase,
  type QuotaOptions,
  type QuotaPlace,
  quotaPlace,
  quotaTarget,
} from "../config/quota-place.js";
import {
  dnsSettingNames,
  resolveSettings,
  type SettingOptions,
  type Settings,
  settingNames,
  settings,
} from "../config/settings.js";
import type { ApiEngineOptions } from "../engines/api-engine.js";
import { chooseEngine, type EngineChoice } from "../engines/engine-choice.js";
import { UsageError } from "../errors.js";
import type { ProgressMode } from "../terminal/progress.js";
import { printable, say } from "../terminal/terminal.js";
import { checkTargets, isSameFile } from "./targets.js";

/** The options of `idv emails` and `idv domains`, as commander gives them. */
export interface BulkOptions extends OwnListOptions, QuotaOptions, ApiEngineOptions, SettingOptions {
  readonly column?: readonly string[];
  readonly allColumns?: true;
  readonly cell: "first" | "worst" | "best";
  readonly emptyValues?: readonly string[];
  /** Which rows of an earlier run are validated: those without a status, or all. */
  readonly update?: "rest" | "all";
  readonly bom?: true;
  readonly failOnEmpty?: true;
  readonly delimiter?: string;
  readonly quote?: string;
  readonly escape?: string;
  readonly comment?: string;
  readonly encoding?: string;
  /** False with `--no-headers`; commander's default is true. */
  readonly headers: boolean;
  readonly skipLines?: number;
  readonly sheet?: string;
  readonly output?: string;
  /** Suffix of the backup, empty for no backup; absent when FILE is not replaced. */
  readonly inPlace?: string;
  /** Folder that gets a file for each status, instead of one output. */
  readonly split?: string;
  readonly append?: true;
  readonly format?: TableFormat;
  readonly statusColumn: string;
  readonly explain?: true;
  readonly escapeFormulas?: true;
  readonly ragged: "pad" | "error";
  readonly badRows: BadRowPolicy;
  readonly badRowsFile?: string;
  readonly strict?: true;
  readonly force?: true;
  readonly only?: readonly string[];
  readonly drop?: readonly string[];
  readonly dedupe?: "item" | "canonical";
  readonly shard?: { readonly index: number; readonly count: number };
  readonly header: "always" | "first" | "never";
  readonly canonical?: true;
  readonly failOn?: readonly string[];
  readonly summary: "text" | "json" | "none";
  readonly maxBad?: Limit;
  readonly annotations?: "github";
  readonly summaryFile?: string;
  readonly report?: string;
  readonly reportAddresses?: true;
  readonly progress: ProgressMode;
  readonly quiet?: true;
}

/** Where the files of one input are. */
interface Places {
  /** Path of the input; undefined for standard input. */
  readonly input: string | undefined;
  /** Path of the output; undefined for standard output and `--split`. */
  readonly output: string | undefined;
  /** Folder of the output, if the user named the folder only: it is created if it is missing. */
  readonly folder: string | undefined;
  /** Whether the output replaces the input. */
  readonly isInPlace: boolean;
  /** Path of the backup of the replaced file; undefined for no backup. */
  readonly backup: string | undefined;
}

/** Decisions about one file. */
interface FilePlan extends Places {
  /** Name of the input in messages. */
  readonly inputName: string;
  /** Whether the output is a spreadsheet file. */
  readonly isWorkbook: boolean;
  readonly table: Omit<TableOptions, "onBadRow">;
}

/** All decisions about a run over a file. They are made before any of its files is opened. */
export interface Plan extends FilePlan {
  readonly kind: Kind;
  readonly options: BulkOptions;
  readonly quota: QuotaPlace;
  readonly settings: Settings;
  readonly engine: EngineChoice;
  /** Whether DNS is asked about the items that pass. */
  readonly dns: "off" | "on" | "strict";
  /** Table and lists for the offline engine; empty for the api engine. */
  readonly classifierSource: ClassifierSource;
  readonly filter: RowFilter;
  /** Prints a note on standard error, unless `--quiet` is given. */
  readonly note: (text: string) => void;
}

/**
 * Plans a run over some files. May run the user's key command. Opens no file of the run.
 *
 * @param files paths of the inputs; none, or `-` alone, for standard input
 * @returns a plan for each file; they differ in what belongs to the file
 * @throws UsageError when options contradict each other or a setting is invalid
 * @throws ChoiceError when the name of an output asks for a format that cannot be written
 * @throws AuthorisationError when the service is wanted and there is no key
 * @throws FileError when one of the user's own lists cannot be read
 */
export async function planRun(
  kind: Kind,
  files: readonly string[],
  options: BulkOptions,
): Promise<readonly [Plan, ...Plan[]]> {
  const { env } = process;
  checkTogether(options);
  checkSeveral(files, options);
  const places = (files.length === 0 ? ["-"] : files).map((file) =>
    placesOf(file, files.length > 1, options),
  );
  checkTargets(places, {
    ...{ ...options, ...ownListFiles(options, env) },
    quotaPath: quotaTarget(options, env),
  });
  const filePlans = places.map((filePlaces) => planFile(kind, filePlaces, options));
  const note = options.quiet ? () => {} : say;
  const settings = await resolveSettings(options, env, process.cwd(), note);
  const engine = await chooseEngine(settings, options, env);
  // --offline promises no network at all, so it also overrides IDV_DNS.
  const dns = options.offline ? "off" : settings.dns.value;
  if (engine.name === "api") checkServiceOptions(options, env, note);
  else noteServiceOptions(options, dns !== "off", note);
  const classifierSource =
    engine.name === "api"
      ? {}
      : { ...tableSource(dataTablePath(env), say), ownLists: await readOwnLists(options, env) };
  // With a service, the variable is ignored.
  const quota = quotaPlace(options, engine.name === "api" ? { ...env, IDV_QUOTA: undefined } : env);
  if (options.offline && "state" in quota && isDatabase(quota.state)) {
    throw new UsageError(
      "--offline uses no network, and the shared quota is in a database; use --engine offline",
    );
  }
  const common = { kind, options, quota, settings, engine, dns, classifierSource, note };
  const [first, ...others] = filePlans.map(
    (file): Plan => ({ ...common, ...file, filter: rowFilter(options, file) }),
  );
  return [first!, ...others];
}

/** Decides where the files of one input are. */
function placesOf(file: string, isSeveral: boolean, options: BulkOptions): Places {
  const input = file === "-" ? undefined : file;
  if (options.inPlace !== undefined && input === undefined) {
    throw new UsageError("--in-place needs a FILE; standard input cannot be replaced");
  }
  // The way `sed -i` is typed on a Mac.
  if (options.inPlace === "" && /^\.\w+$/.test(file) && !existsSync(file)) {
    throw new UsageError(`${file}: no such file; to keep the old files, write -I${file}, without a space`);
  }
  const wanted = options.output === "-" ? undefined : options.output;
  const isNamed = wanted !== undefined && (isSeveral ? isFolder(wanted) : wanted.endsWith("/"));
  const folder = input !== undefined && isNamed ? wanted : undefined;
  const named = folder === undefined ? wanted : join(folder, basename(input!));
  const output = options.inPlace === undefined ? named : input;
  const isInPlace = options.inPlace !== undefined;
  if (!isInPlace && input !== undefined && output !== undefined && isSameFile(input, output)) {
    throw new UsageError(
      `-o ${printable(output)}: is the input itself; to replace it, use -I, or -I.bak to keep the old one`,
    );
  }
  const backup = options.inPlace ? `${input}${options.inPlace}` : undefined;
  return { input, output, folder, isInPlace, backup };
}

/** Decides what belongs to one file. */
function planFile(kind: Kind, places: Places, options: BulkOptions): FilePlan {
  const { input, output, isInPlace, backup } = places;
  if (isInPlace) checkReplaces(options);
  const keepsFormat = isInPlace && !/\.xlsx$/i.test(input ?? "");
  const named = output === undefined || keepsFormat ? undefined : formatByName(output);
  // What is a table of tabs in a file named .csv stays one in another.
  const isSameEnding = input !== undefined && output !== undefined && endingOf(input) === endingOf(output);
  const isWorkbook = named === "xlsx";
  if (isInPlace && isWorkbook && backup === undefined) {
    throw new UsageError(
      `${printable(output!)}: would be written without its styles and formulas; keep the old one with -I.bak, or use -o for another file`,
    );
  }
  if (isWorkbook && options.format !== undefined) {
    throw new UsageError(`${output}: --format is for text; leave it out for a spreadsheet file`);
  }
  checkNotItself(input, output, options);
  // A workbook is made of CSV.
  const namedFormat = isWorkbook ? "csv" : isSameEnding ? undefined : named;
  return {
    ...places,
    ...{ inputName: input ?? "standard input", isWorkbook },
    table: { ...tableOptions(kind, options), ...(namedFormat !== undefined && { namedFormat }) },
  };
}

/** Returns whether an output names a folder, for files that keep their names. */
const isFolder = (output: string): boolean => output.endsWith("/") || found(output)?.isDirectory() === true;

/** @throws UsageError when several files have no place to go, or two of them the same one */
function checkSeveral(files: readonly string[], options: BulkOptions): void {
  if (files.length < 2) return;
  if (files.includes("-")) throw new UsageError("several files: standard input cannot be one of them");
  const { output, inPlace, split, dryRun } = options;
  if (split !== undefined || dryRun) return;
  if (inPlace === undefined && (output === undefined || !isFolder(output))) {
    throw new UsageError(
      `${files.length} files need a place each: write them to a folder with -o FOLDER/, or replace them with -I`,
    );
  }
}

/**
 * Checks that the options fit together.
 *
 * @throws UsageError when options contradict each other
 */
function checkTogether(options: BulkOptions): void {
  const { delimiter, quote, comment, badRows, format, split } = options;
  checkShard(options);
  // Empty for none.
  const characters = [delimiter, quote, comment].filter((character) => character);
  if (new Set(characters).size < characters.length) {
    throw new UsageError("--delimiter, --quote and --comment need different characters");
  }
  if (badRows === "keep" && (format !== undefined || split !== undefined)) {
    throw new UsageError("--bad-rows keep needs the format of FILE and one output; use --bad-rows skip");
  }
}

/** @throws UsageError when a run that replaces its input would lose a part of it */
function checkReplaces({ comment, format, shard, header }: BulkOptions): void {
  if (comment !== undefined && format !== undefined) {
    throw new UsageError("--in-place would lose the comments: --format drops them; use -o");
  }
  if (shard !== undefined)
    throw new UsageError("--in-place would lose the rows of the other shards; use -o with --shard");
  if (header !== "always") throw new UsageError("--in-place would lose the header with --header; use -o");
}

/** Returns whether a run validates the first shard, or the whole list. */
export const isFirstShard = ({ options: { shard } }: Pick<Plan, "options">): boolean =>
  shard === undefined || shard.index === 1;

/** @throws UsageError when an option of a run with shards would lose rows, or charge units in several shards */
function checkShard({ shard, column = [], allColumns, dedupe }: BulkOptions): void {
  if (shard === undefined) return;
  if (column.length > 1 || allColumns) {
    throw new UsageError(
      "--shard needs one column: the items of a row in several ones are in different shards",
    );
  }
  if (dedupe === "canonical") {
    throw new UsageError(
      "--dedupe=canonical does not work with --shard: addresses of a mailbox are in different shards",
    );
  }
}

/**
 * Checks the options of a run with the service. Notes the variables that it ignores.
 *
 * @throws UsageError when an option is for the offline engine only
 */
function checkServiceOptions(
  { allow, deny, quotaFile, quota }: BulkOptions,
  env: NodeJS.ProcessEnv,
  note: (text: string) => void,
): void {
  const given = { "--allow": allow, "--deny": deny, "--quota-file": quotaFile, "--quota": quota };
  for (const [option, value] of Object.entries(given)) {
    const choice = option === "--quota" ? "--engine offline" : "--offline";
    if (value !== undefined) throw new UsageError(`${option} is for the offline engine; add ${choice}`);
  }
  const ignored = ["IDV_ALLOW", "IDV_DENY", "IDV_QUOTA", "IDV_QUOTA_FILE"].filter((name) => env[name]);
  if (ignored.length > 0) {
    note(`${ignored.join(", ")}: ignored, because a service is asked; for the offline engine, add --offline`);
  }
}

/** Says which options mean nothing without a service. */
function noteServiceOptions(options: BulkOptions, usesDns: boolean, note: (text: string) => void): void {
  const given = settingNames
    .filter((name) => name !== "engine" && !dnsSettingNames.includes(name) && options[name] !== undefined)
    .map((name) => settings[name].flag.split(" ")[0]!);
  const others = [
    ...(options.cache || usesDns ? [] : ["--no-cache"]),
    ...(options.precheck ? [] : ["--no-precheck"]),
    ...(options.refresh && !usesDns ? ["--refresh"] : []),
  ];
  const all = [...given, ...others];
  if (all.length === 0) return;
  note(
    `${all.join(", ")}: for a service only; the offline engine does not need ${all.length === 1 ? "it" : "them"}`,
  );
}

/** @throws UsageError when standard output is the input, which the shell has emptied by then */
function checkNotItself(
  input: string | undefined,
  output: string | undefined,
  { split, dryRun }: BulkOptions,
): void {
  if (input === undefined || output !== undefined || split !== undefined || dryRun) return;
  const [from, to] = [found(input), found(1)];
  if (from?.isFile() && from.ino === to?.ino && from.dev === to.dev) {
    throw new UsageError(
      `${input}: standard output goes to the same file, which the shell has emptied; to replace a file, use -I`,
    );
  }
}

function tableOptions(kind: Kind, options: BulkOptions): Plan["table"] {
  const { column, allColumns, delimiter, quote, escape: escaping, comment, format } = options;
  const { headers, skipLines, ragged, badRows } = options;
  return {
    profile: profiles[kind],
    items: itemTest({ kind, emptyValues: options.emptyValues ?? usualEmptyValues }),
    ...(column !== undefined && { columns: column }),
    ...(allColumns && { allColumns }),
    ...(delimiter !== undefined && { delimiter: delimiter === "" ? null : delimiter }),
    dialect: {
      ...(quote !== undefined && { quote }),
      ...(escaping !== undefined && { escape: escaping }),
      ...(comment !== undefined && { comment }),
    },
    ...(format !== undefined && { format }),
    ...(!headers && { header: false }),
    ...(skipLines !== undefined && { skipLines }),
    ragged,
    badRows,
    strict: options.strict === true,
    force: options.force === true,
  };
}

/** Returns the statuses of rows that count as bad: those of `--fail-on`, else disposable and fake. */
export const failStatuses = ({ failOn }: Pick<BulkOptions, "failOn">): readonly string[] =>
  failOn ?? ["disposable", "fake"];

/** Returns the filter of the rows. A file that is replaced keeps those that wait for the quota: they are nowhere else. */
function rowFilter(options: BulkOptions, { isInPlace }: FilePlan): RowFilter {
  const { only, drop, dedupe, failOn, maxBad, cell } = options;
  const failing = failOn === undefined && maxBad === undefined ? [] : failStatuses(options);
  const isFiltered = only !== undefined || drop !== undefined;
  const isChosen = (name: string) => (only?.includes(name) ?? true) && !drop?.includes(name);
  const isWanted = (status: string) => isChosen(status === "" ? noItem : status);
  return {
    ...(isFiltered && {
      keeps: (status) => isWanted(status) || (isInPlace && status === notChecked.status),
    }),
    fails: (status) => failing.includes(status),
    sparesGood: cell === "best",
    ...(dedupe !== undefined && { dedupe }),
  };
}
