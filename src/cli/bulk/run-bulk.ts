// One bulk run in five steps: plan, open, validate, commit, report. A failure or a signal before the commit discards
// new outputs and leaves old ones unchanged. Once the last output is there, the run has ended well: signals change
// neither its exit code nor what another run pays.

import { existsSync } from "node:fs";
import type { Facts } from "../../core/facts/facts.js";
import { abandonLast, countsOf, countsSince } from "../../core/run/session.js";
import { TableError } from "../../core/table/errors.js";
import { ChoiceError, FileError } from "../../files/errors.js";
import { mayHoldTables } from "../../formats/file-start.js";
import { UnitsLost } from "../../state/quota/units-lost.js";
import { EmptyInput, failureFor, Interrupted, UsageError } from "../errors.js";
import { all } from "../options/input.js";
import { interruptible } from "../terminal/interruption.js";
import { allPrinted } from "../terminal/standard-output.js";
import { sayFailure } from "../terminal/terminal.js";
import { openRun, type Run } from "./open/engine.js";
import { isStream } from "./open/output.js";
import { Resources } from "./open/resources.js";
import { isNothing, openStandardInput } from "./open/standard-input.js";
import { type BulkRequest, type Plan, type Plans, planRun } from "./plan/plan.js";
import { exitCodeOf } from "./report/exit-code.js";
import { costOrResumption, hasOwnLimit, sayUnvalidated } from "./report/failed-run.js";
import { appendSummary, printSummary } from "./report/print.js";
import { validateFile } from "./validate.js";

export async function runBulk(request: BulkRequest): Promise<number> {
  const { signal, interrupted, finish, end } = interruptible(outputName(request));
  const resources = new Resources(signal);
  // A signal ends the run even while it waits for a key command, for more input, or for the reader of the output.
  const unlessStopped = <Result>(work: Promise<Result>) => Promise.race([work, interrupted]);
  let run: Run | undefined;
  let plans: Plans | undefined;
  try {
    plans = await unlessStopped(plansOf(request, resources));
    run = await unlessStopped(openRun(plans, resources));
    const exitCode = await unlessStopped(validateFiles(plans, run, resources, finish));
    await unlessStopped(allPrinted());
    finish();
    return exitCode;
  } catch (error) {
    // A commit that has begun cannot be stopped: the files appear.
    const isWritten = error instanceof Interrupted && (await resources.isCommitted());
    if (isWritten) error.message = `stopped by ${error.signal} after the output was written`;
    await resources.discardFile();
    // Answers in flight may be paid for, so they still go into the cache.
    await resources.close(error instanceof Interrupted);
    if (run !== undefined && !isWritten) await abandonLast(run.session);
    if (plans !== undefined && run !== undefined && error instanceof Error && !isWritten)
      error.message += costOrResumption(error, run, plans[0]);
    end();
    throw error;
  } finally {
    await resources.close();
  }
}

async function plansOf(request: BulkRequest, resources: Resources): Promise<Plans> {
  const taken = request.options.column?.find((name) => existsSync(name));
  if (request.files.length === 0 && (isNothing() || (process.stdin.isTTY && taken !== undefined)))
    throw new UsageError(`no FILE is given${taken ? `; -c has taken ${taken}` : ", and standard input is empty"}`);
  const files = request.files.length === 0 ? ["-"] : request.files;
  const isStandardInput = files.length === 1 && files[0] === "-";
  const standardInput = isStandardInput ? await openStandardInput(resources) : undefined;
  const isPlain = typeof standardInput !== "string" && request.options.sheet !== all;
  if (isPlain && !files.some(mayHoldTables)) {
    const inputs = files.map((path) => ({ path, standardInput }));
    return planRun(request, inputs);
  }
  const { inputsOf, prepareContainers } = await import("./open/containers.js");
  const copy = typeof standardInput === "string" ? standardInput : undefined;
  const inputs = await inputsOf(files, copy, request, resources);
  return prepareContainers(await planRun(request, inputs), resources);
}

function outputName({ files, options: { inPlace, output } }: BulkRequest): string | undefined {
  if (files.length > 1) return "the file at hand";
  if (inPlace !== undefined) return files[0];
  return output === "-" ? undefined : output;
}

/** A fault of one file does not stop the others. */
async function validateFiles(plans: readonly Plan[], run: Run, resources: Resources, finish: () => void) {
  const { session, totals } = run;
  for (const fault of resources.faults) {
    const failure = failureFor(fault);
    sayFailure(failure);
    totals.addFailure(failure.exitCode);
  }
  for (const [index, plan] of plans.entries()) {
    resources.startFile();
    delete session.abandon;
    const isLast = index === plans.length - 1;
    // The rows of a pipe are there when they are read; an archive appears after its last table.
    const isFile = plan.output !== undefined || plan.split !== undefined;
    if (isLast && isFile && !plan.member?.container.returned) resources.onAppear = finish;
    const writtenBefore = session.writtenKeys?.size ?? 0;
    const before = countsOf(session);
    try {
      const place = session.isSeveral ? `file ${index + 1} of ${plans.length}` : undefined;
      const found = await validatePaid(plan, run, resources, place);
      await endFile(plan, found, { run, resources, later: plans.slice(index + 1), finish });
    } catch (error) {
      // A signal has ended the run: later errors are its consequences.
      resources.signal.throwIfAborted();
      nameFileIn(error, plan, session);
      const failure = failureFor(error);
      // An archive appears with all of its tables, or not at all.
      const isAlone = !session.isSeveral || plan.member?.container.returned !== undefined;
      if (isAlone || !isFaultOfFile(error) || failure.message === undefined) throw error;
      sayFailure(failure);
      await resources.discardFile();
      await abandonLast(session);
      // Count this file's units in the total, not in the next file's summary.
      const { charged, distinct } = countsSince(before, countsOf(session));
      totals.addFailure(failure.exitCode, charged);
      const hadItems = distinct > 0 || (session.writtenKeys?.size ?? 0) > writtenBefore;
      if (isLast || !needsAll(plan, run, hadItems)) continue;
      const later = plans.slice(index + 1);
      sayUnvalidated(plan, later);
      for (const _ of later) totals.addFailure(failure.exitCode);
      break;
    }
  }
  await endAll(plans[0]!, run, resources);
  return totals.exitCode;
}

/** Which items are new in a file depends on those before it; what the name of a run has paid, on which are new. */
const needsAll = ({ run: name, filter }: Plan, run: Run, hadItems: boolean): boolean =>
  (name !== undefined && hasOwnLimit(run)) || (filter.dedupe !== undefined && hadItems);

/**
 * What the name of a run has paid is lent to a file of the same size, which may have other items. If the quota has too
 * few units for them, the file is validated again, with no larger loan than that: the quota ends somewhere in it.
 */
async function validatePaid(plan: Plan, run: Run, resources: Resources, place: string | undefined): Promise<Facts> {
  try {
    return await validateFile(plan, run, resources, place);
  } catch (error) {
    const { isSeveral } = run.session;
    const isAnnotated = plan.log.isAnnotated || run.findings.length > 0;
    // Other tables share the outputs or what was written, and annotations are there already.
    const isAlone = plan.split === undefined && plan.member === undefined && !isAnnotated;
    const isWhole = plan.input !== undefined && plan.output !== undefined && !isStream(plan);
    const isRepeatable = isAlone && isWhole && !(isSeveral && plan.filter.dedupe);
    if (!(error instanceof UnitsLost) || !error.isOther || !isRepeatable) throw error;
    await resources.discardFile();
    await abandonLast(run.session);
    resources.startFile();
    return validateFile(plan, isSeveral ? run : { ...run, session: { isSeveral } }, resources, place);
  }
}

/** A choice that fits the other files need not fit this one. */
function nameFileIn(error: unknown, { inputName }: Plan, { isSeveral }: Run["session"]): void {
  if (isSeveral && error instanceof ChoiceError && error.code === "column") error.nameFile(inputName);
}

async function endAll({ log }: Plan, run: Run, resources: Resources): Promise<void> {
  const { session, totals } = run;
  const { summaryFile } = log;
  // The last table has failed: the others' rows are in standard output, or in files that appear together.
  await resources.delivery.secure?.();
  if (run.split !== undefined) await resources.commit(run.split.commit(), false);
  await resources.delivery.deliver?.();
  totals.addPaid(run.engine.takePaidBefore?.() ?? 0);
  await beside(run, () => run.report?.write((sum) => totals.completed(sum)));
  for (const file of run.findings) await beside(run, () => file.write());
  if (session.isSeveral) {
    const facts = totals.facts();
    await printSummary(log.summary, "total", facts, true);
    if (summaryFile !== undefined) await beside(run, () => appendSummary(summaryFile, "total", facts));
  }
}

type EndOfFile = { run: Run; resources: Resources; later: readonly Plan[]; finish: () => void };

async function endFile(plan: Plan, found: Facts, { run, resources, later, finish }: EndOfFile): Promise<void> {
  const { session, totals } = run;
  const { summary, summaryFile } = plan.log;
  const isLast = later.length === 0;
  if (plan.member && isLast) resources.onAppear = finish;
  const finishing = plan.member && (await import("./open/containers.js"));
  const returned = (await finishing?.finishContainer(plan, later, resources)) ?? [];
  const own = totals.withPaid(found, run.engine.takePaidBefore?.() ?? 0);
  run.report?.add(own);
  const reports = (isLast && (await beside(run, () => run.report?.write((sum) => totals.completed(sum))))) || [];
  const facts = { ...own, outputs: [...own.outputs, ...returned, ...reports] };
  await printSummary(summary, "summary", facts, !session.isSeveral);
  if (summaryFile !== undefined) await beside(run, () => appendSummary(summaryFile, "summary", facts));
  totals.add(facts, exitCodeOf(facts, plan));
}

/** If the file beside the output fails, the run has another exit code, but loses no other file. */
async function beside<Result>({ totals }: Run, write: () => Promise<Result> | undefined): Promise<Result | undefined> {
  try {
    return await write();
  } catch (error) {
    const failure = failureFor(error);
    if (failure.stack !== undefined) throw error;
    sayFailure(failure);
    totals.worsen(failure.exitCode);
    return undefined;
  }
}

const isFaultOfFile = (error: unknown): boolean =>
  [FileError, TableError, ChoiceError, EmptyInput].some((known) => error instanceof known);
