/** The third step of a bulk run: validates the rows of one file, and has its outputs committed. */
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fixerOf } from "../../core/run/items/fixes.js";
import { extractItem } from "../../core/run/items/item.js";
import { validateTable } from "../../core/run/run.js";
import type { RunReport } from "../../core/run/run-options.js";
import { checkFound } from "../../formats/open/no-items.js";
import { formatByName } from "../../formats/registry.js";
import { loadOfflineRules } from "../engines/offline-engine.js";
import { EmptyInput } from "../errors.js";
import type { Progress } from "../terminal/progress.js";
import { isContinued, standardOutput } from "../terminal/standard-output.js";
import { commitOutputs, unchanged } from "./commit.js";
import type { Run } from "./open/engine.js";
import { openFiles, type RunFiles } from "./open/files.js";
import { isStream } from "./open/output.js";
import type { Resources } from "./open/resources.js";
import type { Plan } from "./plan/plan.js";
import { annotatedStatuses } from "./report/exit-code.js";
import { factsOfRun, usageSince } from "./report/facts-of-run.js";
import { progressOf } from "./report/progress.js";
import { unknownEndings } from "./report/unknown-endings.js";

// In milliseconds, after a pipe ends. Ctrl-C also ends its sender; that end may arrive before the signal.
const signalMilliseconds = 20;

/** Commits the outputs, too. @param place `file 2 of 3` @throws EmptyInput for no rows with `--fail-on no-rows` */
export async function validateFile(plan: Plan, run: Run, resources: Resources, place: string | undefined) {
  const started = performance.now();
  // A file may have a name by which no table can be written; the others in the folder can.
  if (plan.folder !== undefined) formatByName(plan.output!);
  const files = await openFiles(plan, run, resources);
  const usage = usageSince(run);
  try {
    const { report, isUnchanged } = await validateAndCommit(plan, run, files, resources, place);
    const seconds = Math.round(performance.now() - started) / 1000;
    return await factsOfRun(plan, run, files, { report, usage: usage(), isUnchanged, seconds });
  } finally {
    // A spreadsheet file is not read to its end.
    await files.input.close();
  }
}

async function validateAndCommit(plan: Plan, run: Run, files: RunFiles, resources: Resources, place?: string) {
  const progress = progressOf(plan, run, files, place);
  const { signal } = resources;
  // A signal ends the run elsewhere, while this function still waits.
  const stop = () => progress?.stop();
  signal.addEventListener("abort", stop, { once: true });
  let report: RunReport;
  try {
    report = await validateRows(plan, run, files, { progress, signal });
  } finally {
    stop();
    signal.removeEventListener("abort", stop);
  }
  if (plan.input === undefined && files.sink !== standardOutput) await sleep(signalMilliseconds);
  signal.throwIfAborted();
  checkFound({ ...plan, isPart: plan.shard !== undefined }, files.table, report);
  if (plan.isDryRun) return { report, isUnchanged: false };
  if (report.rows === 0 && plan.failOn?.needsRows) {
    throw new EmptyInput(`--fail-on no-rows: ${plan.inputName} has no rows; nothing is written`);
  }
  const appears = plan.split ? run.split?.isLast === true : plan.output !== undefined && plan.member === undefined;
  const isAlone = plan.output === undefined && !plan.split && !run.session.isSeveral;
  const appear = () => resources.appear(appears || isAlone);
  const committed = commitOutputs({ ...plan, ...files, badRowsFile: files.badRows.sink, appear });
  const isUnchanged = await resources.commit(committed, appears);
  if (appears) delete run.session.abandon;
  if (isUnchanged) plan.note(unchanged(plan.inputName));
  run.badRowsTable?.startNext();
  if (files.table.width === 0) plan.note(`${plan.inputName} is empty`);
  return { report, isUnchanged };
}

type Watch = { readonly progress: Progress | undefined; readonly signal: AbortSignal };

async function validateRows(plan: Plan, run: Run, files: RunFiles, { progress, signal }: Watch): Promise<RunReport> {
  const { kind, inputName, filter, shard } = plan;
  const { table, stream, columns, cells, update, sink, badRows } = files;
  const { engine, mail, session } = run;
  const { validator, cache } = engine;
  const { lineEnding } = table.dialect;
  const isAnnotated = plan.log.isAnnotated || run.findings.length > 0;
  const annotations = isAnnotated ? await openAnnotations(plan, run) : undefined;
  const endings = unknownEndings(kind, validator.embedded?.classifier, Date.now());
  const observers = [annotations, run.report?.observerOf(plan, table, session.isSeveral), endings];
  const parts = { kind, table: stream, sink, columns, cells, update, filter, signal, validator, session };
  const report = await validateTable({
    ...parts,
    ...(shard && { shard: { ...shard, list: inputName } }),
    fixer: plan.columns.fixes && fixerOf(validator.embedded!.classifier.classify, kind, plan.columns.fixes),
    isMade: table.madeOf !== undefined,
    omitsHeader: plan.omitsHeader,
    // Another try of a named run has to send a service the same batches.
    answersPauses: files.input.size === undefined && (!plan.run || validator.embedded !== undefined),
    deliversRows: (sink === standardOutput || plan.output !== undefined) && isStream(plan) && !plan.run,
    // Other rows, or the summary, may follow the last row.
    ...((plan.split || shard || (plan.output === undefined && isContinued())) && { lineEnding }),
    needsRows: plan.failOn?.needsRows === true,
    ...(cache && { cache }),
    ...(mail && { mailCheck: mail.check }),
    ...(plan.columns.withReasons && !validator.explain && { offlineRules: loadOfflineRules().classify }),
    observers: observers.filter((observer) => observer !== undefined),
    // A sheet is read so slowly that further threads would take memory and save no time. Other files may want them.
    cores: files.sheet !== undefined && !session.isSeveral ? 1 : availableParallelism(),
    inputShare: files.share,
    onProgress(current) {
      progress?.update(current);
      return badRows.flush();
    },
  });
  progress?.stop();
  const remark = endings?.remark();
  if (remark !== undefined) plan.note(`${inputName}: ${remark}`);
  if (plan.log.isAnnotated) annotations?.end(report.statuses);
  await badRows.flush();
  return report;
}

async function openAnnotations(plan: Plan, { engine: { validator }, findings }: Run) {
  const { kind, inputName } = plan;
  const { annotationsOf, sinksOf } = await import("./report/annotations.js");
  const explain = validator.explain ?? loadOfflineRules().classify;
  const explainItem = (item: string) => explain(kind, extractItem(kind, item));
  return annotationsOf(inputName, annotatedStatuses(plan), explainItem, sinksOf(plan.log.isAnnotated, findings));
}
