/** The second step of a bulk run: opens its engine, its input and its outputs. */
import { type Classifier, loadClassifier } from "../../classifier/classifier.js";
import type { DataSource } from "../../classifier/disposable-table.js";
import { daysOld, findTable, tableSource } from "../../data/installed-table.js";
import { createFolder } from "../../files/folders.js";
import { type FileCopy, openCopy, openOutputFile, type TableSink } from "../../files/output.js";
import { dataTablePath } from "../config/paths.js";
import type { dryRunValidator } from "../engines/dry-run.js";
import type { Engine } from "../engines/engine.js";
import type { OpenMailCheck } from "../engines/mail-check.js";
import { openOfflineEngine } from "../engines/offline-engine.js";
import { counted, say } from "../terminal/terminal.js";
import { BadRowsReport } from "./bad-rows.js";
import type { ListReport } from "./list-report.js";
import { type OpenInput, openInput } from "./open-input.js";
import { checkReplaceable, nowhere, openSink } from "./open-output.js";
import { isFirstShard, type Plan } from "./plan.js";

/** Engine and files to close or discard. Filled as they are opened, so that a failure half-way leaves none open. */
export interface Opened {
  engine?: Engine;
  mail?: OpenMailCheck;
  readonly files: Pick<TableSink, "discard">[];
  report?: ListReport;
  /** Whether a file before has written the file of bad rows. */
  hasBadRows?: boolean;
  /** The validator of a dry run. */
  dryRun?: ReturnType<typeof dryRunValidator>;
  /** Returns the units that failed files and the one at hand have taken from a limited quota, or from a service, so far. */
  cost?: () => number;
  /** The commit of the outputs, once it has begun: it cannot be stopped. */
  commit?: Promise<void>;
}

/** The files of a run. */
export interface RunFiles extends OpenInput {
  readonly sink: TableSink;
  readonly backup: FileCopy | undefined;
  readonly badRows: BadRowsReport;
  readonly badRowsFile: TableSink | undefined;
}

/** Opens the engine chosen by the plan. */
export async function openEngine(plan: Plan, opened: Opened, signal: AbortSignal): Promise<Engine> {
  const { kind, engine, settings, options, note } = plan;
  if (engine.name === "offline") {
    const offline = {
      ...{ kind, quota: plan.quota, isDry: options.dryRun === true, wait: options.wait ?? 0 },
      ...{ reason: engine.reason, note },
    };
    opened.engine = await openOfflineEngine(plan.classifierSource, offline, signal);
    // In a nightly job the remark would fill the log.
    if (process.stderr.isTTY) {
      const { table } = findTable(dataTablePath(process.env), () => {});
      const remark = oldDataRemark(table.sources, Date.now());
      if (remark !== undefined) note(remark);
    }
  } else {
    // Printed before the run costs money. The summary names the engine in either case.
    note(`api engine at ${engine.baseUrl.value} (${engine.reason})`);
    const { openApiEngine } = await import("../engines/api-engine.js");
    opened.engine = await openApiEngine(kind, settings, engine, options, note, signal);
  }
  return opened.engine;
}

/**
 * Opens the stage that asks DNS, if the plan wants it.
 *
 * @throws FileError, StoreError when its cache cannot be used
 */
export async function openDns(
  { dns, options, settings, note }: Plan,
  { validator }: Engine,
  opened: Opened,
  signal: AbortSignal,
): Promise<void> {
  if (dns === "off" || options.dryRun) return;
  const { openMailCheck } = await import("../engines/mail-check.js");
  const classifier = validator.embedded?.classifier ?? loadOfflineRules();
  const { cache, refresh = false, explain = false } = options;
  opened.mail = await openMailCheck(
    settings,
    classifier,
    { cache, refresh, wantsExchanges: explain, note },
    signal,
  );
}

/** Age of the lists from which on a run mentions it, in days: by then they miss two of three new disposable domains. */
const oldDays = 60;

/**
 * Returns a remark if the lists of disposable domains are old.
 *
 * @param now milliseconds since the epoch
 */
export function oldDataRemark(sources: readonly DataSource[], now: number): string | undefined {
  const days = daysOld(sources, now);
  if (days === undefined || days <= oldDays) return undefined;
  return `the newest list of disposable domains is ${counted(days, "day")} old; idv data update fetches newer ones`;
}

/** Loads the offline rules, which explain the verdicts of a service. Without lists of the user's own. */
export const loadOfflineRules = (): Classifier =>
  loadClassifier(tableSource(dataTablePath(process.env), say));

/**
 * Opens the input, finds its table, and opens the outputs.
 *
 * @throws FileError, TableError, ChoiceError when a file cannot be used
 */
export async function openFiles(plan: Plan, opened: Opened, signal: AbortSignal): Promise<RunFiles> {
  const { input: path, options } = plan;
  const keep = <File extends Pick<TableSink, "discard">>(file: File): File => {
    opened.files.push(file);
    return file;
  };
  // Done before the input is opened, because opening a named pipe waits for its other end.
  if (plan.isInPlace && path !== undefined) await checkReplaceable(path);
  // The shards read the same bad rows; one is enough to report them.
  const reportsBadRows = isFirstShard(plan);
  const { badRowsFile: badRowsPath, dryRun } = options;
  const isContinued = opened.hasBadRows === true;
  const badRowsFile =
    badRowsPath !== undefined && !dryRun && reportsBadRows
      ? keep(await openOutputFile(badRowsPath, isContinued ? "append" : "replace", signal))
      : undefined;
  const { annotateBadRow } = options.annotations ? await import("./annotations.js") : {};
  const badRows = new BadRowsReport(badRowsFile, isContinued, annotateBadRow);
  const input = await openInput(
    plan,
    (fault, record) => reportsBadRows && badRows.add(fault, record),
    (close) => keep({ discard: close }),
    signal,
  );
  if (plan.folder !== undefined && !dryRun) createFolder(plan.folder);
  const sink = keep(dryRun ? nowhere : await openSink(plan, input, signal));
  const hasBackup = plan.backup !== undefined && path !== undefined && !dryRun;
  const backup = hasBackup ? keep(await openCopy(path, plan.backup)) : undefined;
  return { ...input, sink, backup, badRows, badRowsFile };
}

/**
 * Opens several files that are to be replaced and closes them again, before the first of them is touched.
 *
 * @throws FileError, TableError, ChoiceError when one of them cannot be replaced
 */
export async function lookAhead(plans: readonly Plan[], signal: AbortSignal): Promise<void> {
  for (const plan of plans) {
    const path = plan.input!;
    let close = async () => {};
    try {
      await checkReplaceable(path);
      if (plan.backup !== undefined) await openCopy(path, plan.backup);
      await openInput(
        { ...plan, note: () => {} },
        () => {},
        (closeInput) => {
          close = closeInput;
        },
        signal,
      );
    } catch (error) {
      if (error instanceof Error) error.message += "; no file is replaced";
      throw error;
    } finally {
      await close();
    }
  }
}
