/** The first step of a bulk run: decides all that depends on options and settings, which later steps do not read. */
import type { ClassifierSource } from "../../../core/classifier/tables/load-classifier.js";
import { isFirstShard } from "../../../core/run/blocks/block-options.js";
import { itemTest, usualEmptyValues } from "../../../core/run/items/cells.js";
import { profiles } from "../../../core/run/items/profiles.js";
import type { RowFilter } from "../../../core/run/run-options.js";
import type { TableOptions } from "../../../core/table/table.js";
import { type Kind, notChecked } from "../../../core/validator/validator.js";
import { tableSource } from "../../../engines/data/installed-table.js";
import { endingOf } from "../../../files/ending.js";
import { resolvedPath } from "../../../files/found.js";
import { compressionByName } from "../../../formats/compression/compression-format.js";
import { refuse, type SheetKind } from "../../../formats/format.js";
import type { ColumnChoices, WrittenSheets } from "../../../formats/open/open-input.js";
import { formatByName, formatOfKind, sheetKind, sheetKindOf } from "../../../formats/registry.js";
import { printable } from "../../../text.js";
import { noteUnaskedExchanges, ownListFiles, readOwnLists } from "../../config/own-lists.js";
import { dataTablePath } from "../../config/paths.js";
import { quotaLocation, quotaTarget } from "../../config/quota-location.js";
import { resolveSettings } from "../../config/resolve-settings.js";
import type { Settings } from "../../config/settings.js";
import { chooseEngine } from "../../engines/engine-choice.js";
import { UsageError } from "../../errors.js";
import type { DnsUse } from "../../options/addresses.js";
import type { BulkOptions } from "../../options/bulk.js";
import { all } from "../../options/input.js";
import type { GivenOption } from "../../options/option.js";
import { type BadRowHandling, flagPrefix, needsDns, noItem } from "../../options/words.js";
import type { ProgressMode } from "../../terminal/progress.js";
import { say } from "../../terminal/terminal.js";
import { checkOffline, checkServiceOptions, checkTogether, noteLostRows, noteServiceOptions } from "./checks.js";
import { checkNotItself, type FilePaths, type Input, pathsOf } from "./paths.js";
import { checkSideOutputs, type SideOutput } from "./side-outputs.js";
import { checkTargets } from "./targets.js";

type CommonPlan = Readonly<Awaited<ReturnType<typeof planCommon>>>;

export type LogPlan = Readonly<ReturnType<typeof logOf>>;

export interface Plan extends CommonPlan, FilePaths {
  readonly inputName: string;
  readonly sheets: (WrittenSheets & { readonly kind: SheetKind }) | undefined;
  /** Undefined for the first sheet with items. */
  readonly sheet: string | undefined;
  readonly table: Omit<TableOptions, "onBadRow">;
  readonly filter: RowFilter;
}

/** Plans of the files of a run, in their order. */
export type Plans = readonly [Plan, ...Plan[]];

export interface BulkRequest {
  readonly kind: Kind;
  readonly files: readonly string[];
  readonly options: BulkOptions;
  readonly given: readonly GivenOption[];
}

/** May run the key command. Opens no file of the run. @throws UsageError, ChoiceError, AuthorisationError, FileError */
export async function planRun(request: Omit<BulkRequest, "files">, inputs: readonly Input[]): Promise<Plans> {
  const { options } = request;
  const { env } = process;
  const note = options.quiet ? () => {} : say;
  const settings = await resolveSettings(options, env, process.cwd(), note);
  checkTogether(options, settings);
  noteLostRows(options, note);
  const paths = pathsOf(request.kind, inputs, options);
  const log = logOf(options);
  const sides = sideOutputsOf(options, log);
  checkTargets(paths, {
    ...options,
    ...ownListFiles(options, env),
    apiKeyFile: settings.apiKeyFile.value,
    sides,
    quotaPath: quotaTarget(options, env),
  });
  checkSideOutputs(sides);
  for (const each of paths) checkWritten(each, options, settings);
  noteTextForSheets(paths, options, note);
  const common = await planCommon(request, settings, { note, log, sides });
  return paths.map((each) => planFile(common, each, options)) as [Plan, ...Plan[]];
}

interface Outputs {
  readonly note: (text: string) => void;
  readonly log: ReturnType<typeof logOf>;
  readonly sides: readonly SideOutput[];
}

async function planCommon(
  { kind, options, given }: Omit<BulkRequest, "files">,
  settings: Settings,
  { note, ...outputs }: Outputs,
) {
  const { env } = process;
  const { split, shard, by, failOn, report = [] } = options;
  const badRows: BadRowHandling = options.badRows ?? { policy: "error" };
  const header = settings.header.value;
  const byDns = [...(options.only ?? []), ...(options.drop ?? [])].find(needsDns);
  if (byDns !== undefined && settings.dns.value === "off") {
    throw new UsageError(`${byDns} is known from DNS only; add --dns`);
  }
  const engine = await chooseEngine(settings, options, env);
  const isOffline = engine.name === "offline";
  // --offline promises no network at all, so it also overrides IDV_DNS.
  const dns: DnsUse = options.offline ? "off" : settings.dns.value;
  if (isOffline) noteServiceOptions(given, options, dns !== "off", note);
  else checkServiceOptions(given, env, note);
  const ownLists = isOffline ? await readOwnLists(options, env, note) : undefined;
  if (ownLists !== undefined) noteUnaskedExchanges(ownLists, dns !== "off", note);
  /** Empty for the api engine. */
  const classifierSource: ClassifierSource =
    ownLists === undefined ? {} : { ...tableSource(dataTablePath(env), say), ownLists };
  const quota = quotaLocation(options, isOffline ? env : { ...env, IDV_QUOTA: undefined, IDV_QUOTA_KEY: undefined });
  checkOffline(options, quota);
  const columns: ColumnChoices = {
    status: settings.statusColumn.value,
    withReasons: options.explain === true,
    withExchange: options.explain === true && dns !== "off",
    added: options.add,
    withFixes: options.fix !== undefined,
    escapesFormulas: settings.escapeFormulas.value,
    update: options.update,
  };
  const request = { kind, settings, given, note };
  const choices = { engine, quota, classifierSource, dns, badRows, shard, split, failOn, by };
  return {
    ...request,
    ...choices,
    cache: options.cache ?? "use",
    /** Name of the run, which is paid once, however often it is tried. */
    run: env["IDV_RUN"] || undefined,
    /** Longest wait for the renewal of the quota, in milliseconds. */
    wait: options.wait ?? 0,
    isDryRun: options.dryRun === true,
    isDebug: logFormatsOf(options).includes("debug"),
    encoding: options.encoding?.input,
    outputEncoding: options.encoding?.output,
    isForced: options.force === true,
    cells: { emptyValues: settings.emptyValues.value ?? usualEmptyValues, deciding: settings.cell.value },
    columns: { ...columns, fixes: options.fix },
    omitsHeader: header === "never" || (header === "first" && !isFirstShard({ shard })),
    hasMark: options.encoding?.hasMark === true,
    ...outputs,
    report:
      report.length === 0 && by === undefined
        ? undefined
        : { targets: report, withFlags: options.add?.includes("flags") === true },
  };
}

const sideOutputsOf = (
  { report = [], badRows }: BulkOptions,
  { summaryFile, findings }: ReturnType<typeof logOf>,
): readonly SideOutput[] => [
  ...report.map(({ path }) => ({ path, kind: "report" as const })),
  ...(badRows?.file === undefined
    ? []
    : [{ path: badRows.file, kind: "badRows" as const, option: `--bad-rows ${badRows.policy}:` }]),
  ...(summaryFile === undefined ? [] : [{ path: summaryFile, kind: "summary" as const }]),
  ...findings.map(({ path, format }) => ({ path, kind: format })),
];

/** Keeps only the targets of `--log` if quiet. @throws UsageError for several formats besides `github` and `debug` */
function logOf({ log = [], quiet }: BulkOptions) {
  const all = logFormatsOf({ log });
  const formats = new Set(all.filter((format) => format !== "github" && format !== "debug"));
  const files = new Set(log.flatMap((target) => ("summaryFile" in target ? [target.summaryFile] : [])));
  if (formats.size > 1 || files.size > 1) {
    const others = "github, debug, gitlab:FILE and sarif:FILE may be added";
    throw new UsageError(`--log takes one of text, plain, json and none, and one json:FILE; ${others}`);
  }
  const [format] = formats;
  const isText = format !== "json" && format !== "none";
  const progress: ProgressMode = format === undefined || format === "text" ? "auto" : format;
  return {
    summary: isText ? (quiet ? "none" : "text") : format,
    progress: quiet ? "none" : progress,
    isAnnotated: all.includes("github"),
    findings: log.flatMap((target) => ("findingsFile" in target ? [target.findingsFile] : [])),
    summaryFile: [...files][0],
  };
}

const logFormatsOf = ({ log = [] }: Pick<BulkOptions, "log">) =>
  log.flatMap((target) => ("format" in target ? [target.format] : []));

function sheetsOf(
  { input, output, isInPlace, member, returned }: FilePaths,
  { shard, badRows, split }: BulkOptions,
  { header }: Settings,
): Plan["sheets"] {
  const container = returned === undefined ? undefined : sheetKind(member!.container.format);
  const kind = container ?? sheetKindOf((isInPlace ? input : output) ?? "");
  if (kind === undefined) return undefined;
  const isWhole = [shard, badRows, split].every((option) => option === undefined);
  return { kind, mayReturn: isWhole && header.value !== "never" };
}

function checkWritten(paths: FilePaths, options: BulkOptions, settings: Settings): void {
  const { output, isInPlace, backup, folder, returned } = paths;
  const sheets = sheetsOf(paths, options, settings);
  const isNamed = output !== undefined && !isInPlace && returned === undefined;
  // Also a name with the ending of the input: what is written is text.
  // Of several files, the others are validated.
  if (isNamed && folder === undefined) formatByName(output);
  if (sheets !== undefined) {
    const { loses, refuses } = formatOfKind(sheets.kind);
    if (isNamed && compressionByName(output) !== undefined) {
      throw new UsageError(`${output}: a spreadsheet file is compressed already; leave its last ending out`);
    }
    if (returned !== undefined && !sheets.mayReturn) {
      const advice = "write the sheets to a folder with -o FOLDER/";
      throw new UsageError(`${printable(returned.path)}: it would be reduced to one sheet of text; ${advice}`);
    }
    if (isInPlace && backup === undefined && !sheets.mayReturn) {
      throw new UsageError(`${printable(output!)}: ${loses}`);
    }
    refuse(output!, refuses.output, {
      keptRows: options.badRows?.policy === "keep",
      outputEncoding: options.encoding?.output !== undefined,
      format: options.format !== undefined,
    });
  }
  checkNotItself(paths, options);
}

function noteTextForSheets(paths: readonly FilePaths[], { split, dryRun }: BulkOptions, note: (text: string) => void) {
  if (split !== undefined || dryRun || paths.every(({ output }) => output !== undefined)) return;
  const kind = sheetKindOf(resolvedPath("/dev/stdout"));
  if (kind !== undefined)
    note(`standard output is text, also in a file named .${kind}; for sheets, write -o FILE.${kind}`);
}

function planFile(common: CommonPlan, paths: FilePaths, options: BulkOptions): Plan {
  const { kind, settings, cells } = common;
  const { input, output, isInPlace, member } = paths;
  const sheets = sheetsOf(paths, options, settings);
  // A file named .csv may hold tabs. An output with the same ending then gets tabs, too.
  const isSameEnding = input !== undefined && output !== undefined && endingOf(input) === endingOf(output);
  const named = output === undefined || isInPlace || isSameEnding ? undefined : formatByName(output);
  const namedFormat = sheets ? "csv" : named;
  const { column, delimiter, quote, comment, format, skipLines, headers } = options;
  // Tables beside spreadsheet files in an archive have no sheets.
  const sheet = member !== undefined && options.sheet === all ? undefined : options.sheet;
  return {
    ...common,
    ...paths,
    inputName: input ?? "standard input",
    sheets,
    sheet: member?.container.isOfSheets ? member.table : sheet,
    table: {
      profile: profiles[kind],
      items: itemTest({ kind, emptyValues: cells.emptyValues }),
      ...(column?.includes(all) ? { allColumns: true } : column !== undefined && { columns: column }),
      ...(delimiter !== undefined && { delimiter: delimiter === "" ? null : delimiter }),
      dialect: { ...quote, ...(comment !== undefined && { comment }) },
      ...(format !== undefined && { format }),
      ...(!headers && { header: false }),
      ...(skipLines !== undefined && { skipLines }),
      ragged: settings.ragged.value,
      badRows: options.badRows?.policy ?? "error",
      force: options.force === true,
      // The sample shows whether a column holds the statuses of an earlier run, and which columns a report counts.
      needsSample: options.update !== undefined || common.report !== undefined,
      ...(namedFormat !== undefined && { namedFormat }),
    },
    filter: rowFilter(options, settings, isInPlace),
  };
}

/** A replaced file keeps the rows that wait for the quota: they are in no other file. */
function rowFilter({ only, drop, dedupe, failOn }: BulkOptions, { cell }: Settings, isInPlace: boolean): RowFilter {
  const isFiltered = only !== undefined || drop !== undefined;
  const isChosen = (name: string) => (only?.includes(name) ?? true) && !drop?.includes(name);
  const isWanted = (status: string) => isChosen(status === "" ? noItem : status);
  const flagsIn = (words: readonly string[] = []) =>
    words.filter((word) => word.startsWith(flagPrefix)).map((word) => word.slice(flagPrefix.length));
  const onlyFlags = flagsIn(only);
  const dropFlags = flagsIn(drop);
  const isFlagged = onlyFlags.length + dropFlags.length > 0;
  return {
    ...(isFiltered && { keeps: (status) => isWanted(status) || (isInPlace && status === notChecked.status) }),
    ...(isFlagged && {
      keepsFlagged: (flags, isKept) =>
        !flags.some((flag) => dropFlags.includes(flag)) && (isKept || flags.some((flag) => onlyFlags.includes(flag))),
    }),
    fails: (status) => failOn?.statuses.includes(status) === true,
    sparesGood: cell.value === "best",
    ...(dedupe !== undefined && { dedupe }),
  };
}
