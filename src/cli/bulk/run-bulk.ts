/**
 * One bulk run as the user sees it, in five steps: plan (decide everything), open, validate, commit, report. A failure
 * or a signal before the commit discards new outputs and leaves old ones unchanged.
 */
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { ChoiceError, FileError } from "../../files/errors.js";
import { found } from "../../files/found.js";
import { isSplit, type TableSink } from "../../files/output.js";
import { extractItem } from "../../run/item.js";
import { validateTable } from "../../run/run.js";
import { countsOf, countsSince, type RunSession } from "../../run/session.js";
import { TableError } from "../../table/errors.js";
import { type Kind, notChecked } from "../../validator/validator.js";
import type { Engine } from "../engines/engine.js";
import { EmptyInput, failureFor, Interrupted } from "../errors.js";
import { interruptible } from "../terminal/interruption.js";
import type { Progress } from "../terminal/progress.js";
import { standardOutput } from "../terminal/standard-output.js";
import { counted, say, sayFailure } from "../terminal/terminal.js";
import type { Annotations } from "./annotations.js";
import { commitOutputs } from "./commit-outputs.js";
import { costOrResumption, isCharged } from "./failed-run.js";
import type { ListReport } from "./list-report.js";
import { cleanCommand, limitCommand, nextCommand } from "./next-commands.js";
import {
  loadOfflineRules,
  lookAhead,
  type Opened,
  openDns,
  openEngine,
  openFiles,
  type RunFiles,
} from "./open.js";
import { columnName } from "./open-input.js";
import { appendSummary, exitCodeOf, printSummary } from "./outcome.js";
import { type BulkOptions, failStatuses, isFirstShard, type Plan, planRun } from "./plan.js";
import { progressOf } from "./run-progress.js";
import { type DryRun, mailCounts, type Summary } from "./summary.js";
import { Totals } from "./totals.js";

/** Time in which a signal arrives that has ended the sender of a pipe, in milliseconds. */
const signalMilliseconds = 20;

/**
 * Runs `idv emails` or `idv domains`.
 *
 * @param inputs paths of the inputs; none, or `-` alone, for standard input
 * @returns the exit code
 */
export async function runBulk(kind: Kind, inputs: readonly string[], options: BulkOptions): Promise<number> {
  const interruption = interruptible(outputName(inputs, options));
  const { signal, interrupted } = interruption;
  const opened: Opened = { files: [] };
  try {
    // A signal ends the run even while it waits for a key command, for more input, or for the reader of the output.
    return await Promise.race([runFiles(kind, inputs, options, opened, signal), interrupted]);
  } catch (error) {
    const { engine, files, report, commit } = opened;
    // Too late to stop: the files appear.
    const isWritten =
      error instanceof Interrupted &&
      (await commit?.then(
        () => true,
        () => false,
      ));
    if (isWritten) error.message = `stopped by ${error.signal} after the output was written`;
    await Promise.all([...files, report].map((sink) => sink?.discard()));
    // Answers in flight may be paid for, so they still go into the cache.
    await engine?.close(error instanceof Interrupted);
    await opened.mail?.close();
    if (error instanceof Error && !isWritten)
      error.message += costOrResumption(error, opened, inputs, options.refresh);
    throw error;
  } finally {
    await opened.engine?.close();
    await opened.mail?.close();
    interruption.end();
  }
}

/** Returns what a signal leaves unwritten; undefined for standard output. */
function outputName(inputs: readonly string[], { inPlace, output }: BulkOptions): string | undefined {
  if (inputs.length > 1) return "the file at hand";
  if (inPlace !== undefined) return inputs[0];
  return output === "-" ? undefined : output;
}

/** Validates one file after the other. A fault of one of several files does not keep the others from being validated. */
async function runFiles(
  kind: Kind,
  inputs: readonly string[],
  options: BulkOptions,
  opened: Opened,
  signal: AbortSignal,
): Promise<number> {
  const plans = await planRun(kind, inputs, options);
  const engine = await openEngine(plans[0], opened, signal);
  await openDns(plans[0], engine, opened, signal);
  const listReport = await openReport(plans[0], engine, opened);
  const isSeveral = plans.length > 1;
  if (isSeveral && plans[0].isInPlace) await lookAhead(plans, signal);
  const session: RunSession = { isSeveral };
  const totals = new Totals(options.dryRun === true);
  let failedUnits = 0;
  for (const [index, plan] of plans.entries()) {
    opened.files.length = 0;
    delete opened.commit;
    const before = countsOf(session);
    const writtenBefore = session.writtenKeys?.size ?? 0;
    const counts = () => countsSince(before, countsOf(session));
    opened.cost = () => (isCharged(engine, session) && !options.dryRun ? failedUnits + counts().charged : 0);
    try {
      let summary = await runFile(plan, engine, session, opened, signal);
      listReport?.add(summary);
      if (plan === plans.at(-1)) summary = withFiles(summary, (await listReport?.write()) ?? []);
      await printSummary(options.summary, summary);
      if (options.summaryFile !== undefined) await appendSummary(options.summaryFile, summary);
      const commands = { next: nextCommand(plan), limit: limitCommand(plan.quota, options) };
      totals.add(summary, exitCodeOf(summary, options, commands));
      delete opened.cost;
    } catch (error) {
      // A signal has ended the run: what fails now is its consequence.
      signal.throwIfAborted();
      const failure = failureFor(error);
      if (!isSeveral || !isFaultOfFile(error) || failure.message === undefined) throw error;
      sayFailure(failure);
      await Promise.all(opened.files.map((sink) => sink.discard()));
      // What the file has cost is told with the others, and is no part of the next summary.
      const { charged, distinct } = counts();
      totals.addFailure(failure.exitCode, charged);
      failedUnits += charged;
      const later = plans.slice(index + 1);
      const hadItems = distinct > 0 || (session.writtenKeys?.size ?? 0) > writtenBefore;
      if (!plan.filter.dedupe || !hadItems || later.length === 0) continue;
      // Rows that the failed file has in common with them would be in no output.
      const others = later.length > 1 ? ` and ${counted(later.length - 1, "more file")}` : "";
      say(
        `${later[0]!.inputName}${others}: not validated, because --dedupe compares all files, and ${plan.inputName} failed; repair it, and run these files together again`,
      );
      for (const _ of later) totals.addFailure(failure.exitCode);
      break;
    }
  }
  await listReport?.write();
  // A command of which a file has failed is run again: then the others need not be paid again either.
  if (!totals.hasFailed) await engine.end?.();
  if (isSeveral && options.summary !== "none") process.stderr.write(`${totals.render(options.summary)}\n`);
  return totals.exitCode;
}

/** Adds written files to a summary. */
const withFiles = (summary: Summary | DryRun, files: Summary["files"]): Summary | DryRun =>
  "report" in summary ? { ...summary, files: [...summary.files, ...files] } : summary;

/** Opens the report, if it is wanted. */
async function openReport(plan: Plan, engine: Engine, opened: Opened): Promise<ListReport | undefined> {
  const { report } = plan.options;
  if (report === undefined) return undefined;
  const { ListReport } = await import("./list-report.js");
  opened.report = await ListReport.open(report, plan, engine);
  return opened.report;
}

/** Returns whether an error is about one of the files only. */
const isFaultOfFile = (error: unknown): boolean =>
  [FileError, TableError, ChoiceError, EmptyInput].some((known) => error instanceof known);

/** Opens the files of a plan, validates all rows, and commits the outputs. */
async function runFile(
  plan: Plan,
  engine: Engine,
  session: RunSession,
  opened: Opened,
  signal: AbortSignal,
): Promise<Summary | DryRun> {
  const started = performance.now();
  const files = await openFiles(plan, opened, signal);
  const progress = progressOf(plan, engine, opened.mail, files);
  // A signal ends the run elsewhere, while this function still waits.
  signal.addEventListener("abort", () => progress?.stop(), { once: true });
  try {
    return await validate(plan, engine, opened, session, files, signal, progress, started);
  } finally {
    progress?.stop();
  }
}

/** Validates all rows and commits the outputs. */
async function validate(
  plan: Plan,
  engine: Engine,
  opened: Opened,
  session: RunSession,
  files: RunFiles,
  signal: AbortSignal,
  progress: Progress | undefined,
  started: number,
): Promise<Summary | DryRun> {
  const { kind, inputName, isInPlace, filter, note } = plan;
  const { mail, report: listReport } = opened;
  const { shard, header } = plan.options;
  const { input, table, stream, columns, cells, update, sink, backup, badRows, badRowsFile, share, sheet } =
    files;
  const { validator, cache } = engine;
  if (plan.options.dryRun) {
    const { dryRunValidator } = await import("../engines/dry-run.js");
    opened.dryRun ??= dryRunValidator(engine);
  }
  const { dryRun } = opened;
  const before = { ...dryRun?.counts, sent: engine.requests?.() ?? 0 };
  const mailBefore = mail?.check.statistics;
  const annotations = plan.options.annotations && (await openAnnotations(plan, engine));
  const report = await validateTable({
    ...{ kind, table: stream, sink, columns, cells, update, filter, signal },
    ...(shard && { shard: { ...shard, list: inputName } }),
    omitsHeader: header === "never" || (header === "first" && !isFirstShard(plan)),
    needsRows: plan.options.failOnEmpty === true,
    validator: dryRun?.validator ?? validator,
    ...(cache && { cache }),
    session,
    ...(mail && { mailCheck: mail.check }),
    ...(plan.options.explain && !validator.explain && { offlineRules: loadOfflineRules().classify }),
    observers: [annotations, listReport?.observerOf(plan, table)].filter(
      (observer) => observer !== undefined,
    ),
    cores: availableParallelism(),
    inputShare: share,
    onProgress(current) {
      progress?.update(current);
      return badRows.flush();
    },
  });
  progress?.stop();
  annotations?.end(report.statuses);
  await badRows.flush();
  // Ctrl-C ends the sender of a pipe as well: its end may arrive before the signal, and is not the end of the list.
  if (plan.input === undefined && sink !== standardOutput) await sleep(signalMilliseconds);
  signal.throwIfAborted();
  if (dryRun) {
    const { column, columnName: name, names, dialect } = table;
    const place = { column: column + 1, columnName: name, columns: names };
    const bad = { badRows: badRows.count, badRowKinds: badRows.kinds };
    const items = dryRun.counts.items - before.items!;
    const requests = engine.requests && dryRun.counts.requests - before.requests!;
    return { input: inputName, ...place, dialect, ...bad, dryRun: { ...report, items, requests } };
  }
  if (report.rows === 0 && plan.options.failOnEmpty) {
    throw new EmptyInput(`--fail-on-empty: ${inputName} has no rows; nothing is written`);
  }
  opened.commit = commitOutputs({
    ...{ input, inputName, isInPlace, note, sink },
    ...(backup && { backup }),
    ...(badRowsFile && { badRowsFile }),
  });
  await opened.commit;
  if (badRowsFile) opened.hasBadRows = true;
  if (table.width === 0) note(`${inputName} is empty`);
  return {
    input: inputName,
    kind,
    engine: validator.name,
    engineReason: engine.reason,
    column: table.column + 1,
    columnName: table.columnName,
    otherColumns: table.otherColumns.map((column) => columnName(table, column)),
    passedOver: table.passedOver.map((column) => `${column + 1} "${columnName(table, column)}"`),
    report,
    requests: engine.requests && engine.requests() - before.sent,
    dns: mail && { ...mailCounts(mail.check.statistics, mailBefore!), isStrict: plan.dns === "strict" },
    encoding: report.notUtf8 > 0 ? await table.surelyIn() : undefined,
    linesLeftOut: table.linesLeftOut,
    emptyFormulas: sheet?.emptyFormulas() ?? null,
    badRows: badRows.count,
    badRowKinds: badRows.kinds,
    dialect: table.dialect,
    seconds: Math.round(performance.now() - started) / 1000,
    files: writtenFiles(plan, sink, badRowsFile !== undefined),
    isExplained: plan.options.explain === true,
    next: report.statuses.has(notChecked.status) ? nextCommand(plan) : cleanCommand(plan, report),
  };
}

/** Returns the annotations of a run's input, with the reasons of the engine, or of the offline rules. */
async function openAnnotations(
  { kind, inputName, options }: Plan,
  { validator }: Engine,
): Promise<Annotations> {
  const { Annotations } = await import("./annotations.js");
  const explain = validator.explain ?? loadOfflineRules().classify;
  return new Annotations(inputName, failStatuses(options), (item) => explain(kind, extractItem(kind, item)));
}

/** Returns the files that a run has written, with their sizes. */
function writtenFiles(
  { output, backup, options }: Plan,
  sink: TableSink,
  hasBadRows: boolean,
): Summary["files"] {
  const outputs = isSplit(sink) ? sink.paths : [output];
  return [...outputs, backup, hasBadRows ? options.badRowsFile : undefined].flatMap((path) => {
    const file = path === undefined ? undefined : found(path);
    return file?.isFile() ? [{ path: path!, bytes: file.size }] : [];
  });
}
