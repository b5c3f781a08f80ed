/**
 * One bulk run as the user sees it, in five steps: plan (decide everything), open, validate, commit, report. A failure
 * or a signal before the commit discards new outputs and leaves old ones unchanged.
 */
import { availableParallelism } from "node:os";
import { validateTable } from "../../run/run.js";
import type { Kind } from "../../validator/validator.js";
import type { Engine } from "../engines/engine.js";
import { EmptyInput, failureFor, Interrupted } from "../errors.js";
import { exitCodes } from "../exit-codes.js";
import { interruptible } from "../terminal/interruption.js";
import { type Progress, showsProgress, startProgress } from "../terminal/progress.js";
import { counted, showsColour } from "../terminal/terminal.js";
import { commitOutputs } from "./commit-outputs.js";
import { columnName, type Opened, openEngine, openFiles, type RunFiles } from "./open.js";
import { exitCodeOf, printSummary } from "./outcome.js";
import { type BulkOptions, type Plan, planRun } from "./plan.js";
import { resumeCommand, updateCommand } from "./resume-command.js";
import type { DryRun, Summary } from "./summary.js";

/**
 * Runs `idv emails` or `idv domains`.
 *
 * @param file path of the input; `-` or absent for standard input
 * @returns the exit code
 */
export async function runBulk(kind: Kind, file: string | undefined, options: BulkOptions): Promise<number> {
  const interruption = interruptible(options.inPlace === undefined ? options.output : file);
  const { signal, interrupted } = interruption;
  const isShown = showsProgress(process.env, options.quiet === true);
  const progress = isShown ? startProgress(showsColour(process.stderr, process.env)) : undefined;
  const opened: Opened = { files: [] };
  const work = async (): Promise<Summary | DryRun> => {
    const started = performance.now();
    const plan = await planRun(kind, file, options);
    const engine = await openEngine(plan, opened, signal);
    const files = await openFiles(plan, opened, signal);
    return validate(plan, engine, files, signal, progress, started);
  };
  try {
    // A signal ends the run even while it waits for a key command, for more input, or for the reader of the output.
    const summary = await Promise.race([work(), interrupted]);
    progress?.stop();
    await printSummary(options.summary, summary);
    const hasNext = options.inPlace !== undefined;
    const next = hasNext ? updateCommand(process.argv.slice(2)) : undefined;
    return exitCodeOf(summary, options.failOn ?? [], next);
  } catch (error) {
    progress?.stop();
    const { engine, files } = opened;
    await Promise.all(files.map((sink) => sink.discard()));
    // Answers in flight may be paid for, so they still go into the cache.
    await engine?.close(error instanceof Interrupted);
    if (engine?.kept && canBeResumed(error)) error.message += resumption(engine, file);
    throw error;
  } finally {
    await opened.engine?.close();
    progress?.stop();
    interruption.end();
  }
}

/** Validates all rows and commits the outputs. */
async function validate(
  plan: Plan,
  engine: Engine,
  files: RunFiles,
  signal: AbortSignal,
  progress: Progress | undefined,
  started: number,
): Promise<Summary | DryRun> {
  const { kind, inputName, isInPlace, filter, note } = plan;
  const { input, table, stream, columns, cells, sink, backup, badRows, badRowsFile, share } = files;
  const { validator, cache } = engine;
  const dryRun = plan.options.dryRun
    ? (await import("../engines/dry-run.js")).dryRunValidator(engine)
    : undefined;
  const report = await validateTable({
    ...{ kind, table: stream, sink, columns, cells, filter, signal },
    validator: dryRun?.validator ?? validator,
    ...(cache && { cache }),
    cores: availableParallelism(),
    onProgress(rows) {
      progress?.update(rows, share());
      return badRows.flush();
    },
  });
  await badRows.flush();
  signal.throwIfAborted();
  if (dryRun) return { input: inputName, dryRun: { ...report, ...dryRun.counts } };
  if (report.rows === 0 && plan.options.failOnEmpty) {
    throw new EmptyInput(`--fail-on-empty: ${inputName} has no rows; nothing is written`);
  }
  await commitOutputs({
    ...{ input, inputName, isInPlace, note, sink },
    ...(backup && { backup }),
    ...(badRowsFile && { badRowsFile }),
  });
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
    requests: engine.requests?.(),
    badRows: badRows.count,
    seconds: Math.round(performance.now() - started) / 1000,
  };
}

/** Returns whether running the same command again may succeed. */
function canBeResumed(error: unknown): error is Error {
  const { exitCode } = failureFor(error);
  return (
    error instanceof Interrupted || exitCode === exitCodes.service || exitCode === exitCodes.notAuthorised
  );
}

/** Returns the end of the error message: the command that resumes the run with the verdicts in the cache. */
function resumption({ kept }: Engine, file: string | undefined): string {
  const verdicts = counted(kept?.() ?? 0, "new verdict is", "new verdicts are");
  const input = file === undefined || file === "-" ? ", with the same input" : "";
  return `; ${verdicts} in the cache; to resume, run: ${resumeCommand(process.argv.slice(2))}${input}`;
}
