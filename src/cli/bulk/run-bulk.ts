import { constants, fstatSync } from "node:fs";
import { access, stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { tableSource } from "../../data/installed-table.js";
import { type Compression, compressInto, compressionByName } from "../../files/compression.js";
import { decodeInput } from "../../files/decoding.js";
import { type InputFile, openInputFile, readStream } from "../../files/input.js";
import { copyOf, openOutputFile, type TableSink } from "../../files/output.js";
import { ownerFault } from "../../files/owner.js";
import { openSplitOutput } from "../../files/split-output.js";
import { nameColumns } from "../../run/columns.js";
import { profiles } from "../../run/item.js";
import { validateTable } from "../../run/run.js";
import type { RowFilter } from "../../run/run-options.js";
import type { BadRowPolicy } from "../../table/bad-rows.js";
import { TableError } from "../../table/errors.js";
import { openTable, type TableFormat, type TableOptions } from "../../table/reader.js";
import type { Kind } from "../../validator/validator.js";
import { type OwnListOptions, readOwnLists } from "../config/own-lists.js";
import { quotaFilePath } from "../config/paths.js";
import { resolveSettings, type SettingOptions } from "../config/settings.js";
import {
  type ApiEngineOptions,
  dryRunValidator,
  type Engine,
  openApiEngine,
  openOfflineEngine,
} from "../engines/engine.js";
import { chooseEngine } from "../engines/engine-choice.js";
import { explainFailure, Interrupted, UsageError } from "../errors.js";
import { exitCodes } from "../exit-codes.js";
import { interruptible } from "../terminal/interruption.js";
import { type Progress, showsProgress, startProgress } from "../terminal/progress.js";
import { standardOutput } from "../terminal/standard-output.js";
import { colours, say, showsColour } from "../terminal/terminal.js";
import { BadRowsReport } from "./bad-rows.js";
import { commitOutputs } from "./commit-outputs.js";
import { continueCommand } from "./resume-command.js";
import { type DryRun, dryRunSummary, jsonSummary, type Summary, textSummary } from "./summary.js";
import { checkTargets } from "./targets.js";

/** The options of `idv emails` and `idv domains`, as commander gives them. */
export interface BulkOptions extends OwnListOptions, ApiEngineOptions, SettingOptions {
  readonly column?: string;
  readonly delimiter?: string;
  readonly quote?: string;
  readonly escape?: string;
  readonly comment?: string;
  readonly encoding?: string;
  /** False with `--no-headers`; commander's default is true. */
  readonly headers: boolean;
  readonly output?: string;
  /** Where the file that the output replaces is kept. */
  readonly backup?: string;
  /** Whether the output is the input itself. */
  readonly inPlace: boolean;
  /** A folder with a file for each status, instead of the output. */
  readonly split?: string;
  readonly format?: TableFormat;
  readonly statusColumn: string;
  readonly explain?: true;
  readonly escapeFormulas?: true;
  readonly ragged: "pad" | "error";
  readonly badRows: BadRowPolicy;
  readonly badRowsFile?: string;
  readonly strict?: true;
  readonly only?: readonly string[];
  readonly drop?: readonly string[];
  readonly dedupe?: "item" | "canonical";
  readonly canonical?: true;
  readonly quotaFile?: string;
  readonly failOn?: readonly string[];
  readonly summary: "text" | "json" | "none";
  readonly quiet?: true;
}

/** What leaves no trace when it is discarded. */
type Discardable = Pick<TableSink, "discard">;

/**
 * Runs `idv emails` or `idv domains`.
 *
 * @param file the input's path, or `-` for standard input
 * @returns the exit code
 */
export async function runBulk(kind: Kind, file: string, options: BulkOptions): Promise<number> {
  const quotaPath = quotaFilePath(options.quotaFile, process.env);
  checkTargets(file, quotaPath, options);
  const interruption = interruptible(options.output);
  const isShown = showsProgress(process.env, options.quiet === true);
  const progress = isShown ? startProgress(showsColour(process.stderr, process.env)) : undefined;
  const note = options.quiet ? () => {} : say;
  const sinks: Discardable[] = [];
  let engine: Engine | undefined;
  try {
    // A vault may let the key wait.
    engine = await Promise.race([
      openEngine(kind, options, quotaPath, note, interruption.signal),
      interruption.interrupted,
    ]);
    const work = validateFile(kind, file, engine, options, interruption.signal, progress, sinks);
    // A signal need not wait for input that does not come or output that nobody takes.
    const summary = await Promise.race([work, interruption.interrupted]);
    progress?.stop();
    await printSummary(options.summary, summary);
    return "report" in summary ? judge(summary, options.failOn ?? []) : exitCodes.done;
  } catch (error) {
    progress?.stop();
    await Promise.all(sinks.map((sink) => sink.discard()));
    // Answers in flight may be paid for: they still go into the cache.
    await engine?.close(error instanceof Interrupted);
    if (engine?.kept && endsEarly(error)) error.message += howToGoOn(engine, file);
    throw error;
  } finally {
    await engine?.close();
    progress?.stop();
    interruption.end();
  }
}

/** The engine that the options, the environment and the files ask for. */
async function openEngine(
  kind: Kind,
  options: BulkOptions,
  quotaPath: string,
  note: (text: string) => void,
  signal: AbortSignal,
): Promise<Engine> {
  const settings = await resolveSettings(options, process.env, process.cwd(), note);
  const choice = await chooseEngine(settings, options, process.env);
  if (choice.engine === "offline") {
    const source = { ...tableSource(process.env), ownLists: await readOwnLists(options, process.env) };
    return openOfflineEngine(source, quotaPath, choice.reason, signal);
  }
  checkEngineOptions(options);
  // What is about to cost money is said before; the summary says it of both engines.
  note(`api engine at ${choice.baseUrl.value} (${choice.reason})`);
  return openApiEngine(kind, settings, choice, options, note, signal);
}

/** @throws UsageError when an option is for the offline engine */
function checkEngineOptions({ allow, deny, quotaFile }: BulkOptions): void {
  const given = Object.entries({ "--allow": allow, "--deny": deny, "--quota-file": quotaFile });
  for (const [option, value] of given) {
    if (value !== undefined) throw new UsageError(`${option} is for the offline engine; add --offline`);
  }
}

/** Whether a run was ended by what the same command may overcome later. */
function endsEarly(error: unknown): error is Error {
  const { exitCode } = explainFailure(error);
  return (
    error instanceof Interrupted || exitCode === exitCodes.service || exitCode === exitCodes.notAuthorised
  );
}

/** The command that continues a run: what it was paid for comes from the cache then. */
function howToGoOn({ kept }: Engine, file: string): string {
  const count = kept?.() ?? 0;
  const input = file === "-" ? ", with the same input" : "";
  return `; ${count.toLocaleString("en")} new verdicts are in the cache; to go on: ${continueCommand(process.argv.slice(2))}${input}`;
}

/** The run itself: opens everything, validates and commits. What it opened for output is in `sinks`. */
async function validateFile(
  kind: Kind,
  file: string,
  engine: Engine,
  options: BulkOptions,
  signal: AbortSignal,
  progress: Progress | undefined,
  sinks: Discardable[],
): Promise<Summary | DryRun> {
  const started = performance.now();
  const note = options.quiet ? () => {} : say;
  const { validator, memory } = engine;
  const dryRun = options.dryRun ? dryRunValidator(engine) : undefined;
  const inputName = file === "-" ? "standard input" : file;
  // Before the input is opened: opening a named pipe waits for its other end.
  if (options.inPlace) await checkReplaceable(file);
  const input = file === "-" ? standardInput(signal) : await openInputFile(file, signal);
  // A reader that stops half-way leaves the file to the garbage collector, which complains.
  sinks.push({ discard: () => input.close() });
  const counted = countBytes(input);
  const decoded = await decodeInput(inputName, counted.bytes, options.encoding);
  if (decoded.encoding !== undefined && options.encoding === undefined) {
    note(`${inputName} is ${decoded.encoding.toUpperCase()}; the output is UTF-8`);
  }
  const badRowsFile =
    options.badRowsFile === undefined || dryRun ? undefined : await openOutputFile(options.badRowsFile);
  if (badRowsFile) sinks.push(badRowsFile);
  const badRows = new BadRowsReport(badRowsFile);
  const table = await openTable(
    { name: inputName, bytes: decoded.bytes },
    {
      profile: profiles[kind],
      ...tableOptions(options),
      onBadRow: (fault, record) => badRows.add(fault, record),
    },
  );
  const columns = nameColumns(table.names, options.statusColumn, {
    withReasons: options.explain === true,
    withCanonical: options.canonical === true,
    escapesFormulas: options.escapeFormulas === true,
  });
  for (const { usual, name } of columns.renamed) {
    note(`${inputName} has a column "${usual}" already; ours is "${name}"`);
  }
  const sink = dryRun ? nowhere : await openSink(options, table.format, decoded.compression, signal);
  sinks.push(sink);
  const report = await validateTable({
    kind,
    table,
    sink,
    validator: dryRun?.validator ?? validator,
    ...(memory && { memory }),
    columns,
    filter: rowFilter(options),
    cores: availableParallelism(),
    signal,
    onProgress(rows) {
      progress?.update(rows, counted.share());
      return badRows.flush();
    },
  });
  await badRows.flush();
  signal.throwIfAborted();
  if (dryRun) return { input: inputName, dryRun: { ...report, ...dryRun.counts } };
  const backup = options.backup === undefined ? undefined : copyOf(file, options.backup);
  if (backup) sinks.push(backup);
  await commitOutputs({
    ...{ input, inputName, isInPlace: options.inPlace, note, sink },
    ...(backup && { backup }),
    ...(badRowsFile && { badRowsFile }),
  });
  if (table.width === 0) note(`${inputName} is empty`);
  return {
    input: inputName,
    kind,
    engine: validator.engine,
    engineReason: engine.reason,
    column: table.column + 1,
    columnName: table.columnName,
    report,
    requests: engine.requests?.(),
    badRows: badRows.count,
    seconds: Math.round(performance.now() - started) / 1000,
  };
}

/** Where the rows of a dry run go. */
const nowhere: TableSink = { write: async () => {}, commit: async () => {}, discard: async () => {} };

function tableOptions(options: BulkOptions): Omit<TableOptions, "profile"> {
  const { column, delimiter, quote, escape: escaping, comment, format, headers, ragged, badRows } = options;
  return {
    ...(column !== undefined && { column }),
    ...(delimiter !== undefined && { delimiter }),
    dialect: {
      ...(quote !== undefined && { quote }),
      ...(escaping !== undefined && { escape: escaping }),
      ...(comment !== undefined && { comment }),
    },
    ...(format !== undefined && { format }),
    ...(!headers && { header: false }),
    ragged,
    badRows,
    strict: options.strict === true,
  };
}

/** @param compression that of the input: a file that is replaced stays compressed as it was */
async function openSink(
  { output, split, inPlace }: BulkOptions,
  format: TableFormat,
  compression: Compression | undefined,
  signal: AbortSignal,
): Promise<TableSink> {
  if (split !== undefined) return openSplitOutput(split, format, signal);
  if (output === undefined || output === "-") return standardOutput;
  const sink = await openOutputFile(output);
  const wanted = inPlace ? compression : compressionByName(output);
  if (wanted === undefined) return sink;
  try {
    return await compressInto(output, sink, wanted);
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

/**
 * Makes sure that a file can be replaced and stay what it is to others.
 *
 * @throws TableError when it is no regular file, is read-only, or would get another owner or group
 */
async function checkReplaceable(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  // Opening it says what is wrong.
  if (found === undefined || found.isDirectory()) return;
  if (!found.isFile()) throw new TableError(`${file}: not a regular file; cannot be replaced; use -o`);
  await access(file, constants.W_OK).catch(() => {
    throw new TableError(`${file}: is read-only; make it writable, or write elsewhere with -o`);
  });
  const fault = ownerFault(found);
  if (fault !== undefined) throw new TableError(`${file}: ${fault}; write elsewhere with -o`);
}

function rowFilter({ only, drop, dedupe }: BulkOptions): RowFilter {
  const isFiltered = only !== undefined || drop !== undefined;
  return {
    ...(isFiltered && { keeps: (status) => (only?.includes(status) ?? true) && !drop?.includes(status) }),
    ...(dedupe !== undefined && { dedupe }),
  };
}

async function printSummary(format: BulkOptions["summary"], summary: Summary | DryRun): Promise<void> {
  if (format === "none") return;
  const text = !("report" in summary)
    ? dryRunSummary(summary, format)
    : format === "json"
      ? jsonSummary(summary)
      : textSummary(summary, await colours(process.stderr, process.env));
  process.stderr.write(`${text}\n`);
}

/** Says what the user has to know even when quiet, and decides the exit code: an incomplete run comes first. */
function judge({ engine, report: { statuses, quota } }: Summary, failOn: readonly string[]): number {
  const waiting = statuses.get("quota_exceeded") ?? 0;
  if (waiting > 0) {
    const renewal =
      quota?.renewsAt == null
        ? engine === "api"
          ? "run again when there is more"
          : "it does not renew; raise it with idv quota set --limit N"
        : `it renews at ${new Date(quota.renewsAt).toISOString().replace(/:00\.000Z$/, "Z")}`;
    say(`quota exhausted: ${waiting.toLocaleString("en")} rows wait for it (quota_exceeded); ${renewal}`);
    return exitCodes.quotaExhausted;
  }
  const matched = failOn.filter((status) => statuses.has(status));
  if (matched.length === 0) return exitCodes.done;
  const counts = matched.map((status) => `${statuses.get(status)?.toLocaleString("en")} ${status}`);
  say(`--fail-on: rows found: ${counts.join(", ")}`);
  return exitCodes.failOn;
}

function standardInput(signal: AbortSignal): InputFile {
  if (fstatSync(0).isDirectory()) throw new TableError("standard input: is a folder; give a file");
  const bytes = readStream("standard input", process.stdin, signal);
  return { bytes, size: undefined, hasChanged: async () => false, close: async () => {} };
}

/** Counts what is read, for the share done. */
function countBytes({ bytes, size }: InputFile) {
  let count = 0;
  async function* counted() {
    for await (const chunk of bytes) {
      count += chunk.length;
      yield chunk;
    }
  }
  return { bytes: counted(), share: () => (size ? count / size : undefined) };
}
