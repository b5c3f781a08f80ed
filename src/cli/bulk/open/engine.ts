/** Opens what the runs over all files share: engine, DNS stage, report, and outputs besides the tables. */

import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { daysOld } from "../../../core/classifier/tables/disposable-table.js";
import { prepareThreads } from "../../../core/run/blocks/classified-chunks.js";
import type { RunSession } from "../../../core/run/session.js";
import { findTable } from "../../../engines/data/installed-table.js";
import { FileError } from "../../../files/errors.js";
import { createFolder } from "../../../files/folders.js";
import { found } from "../../../files/found.js";
import { mayHoldTables } from "../../../formats/file-start.js";
import { fileOf } from "../../../formats/format.js";
import { dataTablePath } from "../../config/paths.js";
import type { Engine } from "../../engines/engine.js";
import type { OpenMailCheck } from "../../engines/mail-check.js";
import { loadOfflineRules, openOfflineEngine } from "../../engines/offline-engine.js";
import type { Plan, Plans } from "../plan/plan.js";
import { badRowsTable } from "../report/bad-rows.js";
import type { FindingsFile } from "../report/findings-file.js";
import type { ListReport } from "../report/list-report.js";
import { noFacts, Totals } from "../report/totals.js";
import { lookAhead } from "./input.js";
import { isStream } from "./output.js";
import type { Resources } from "./resources.js";
import type { SplitFolder } from "./split-output.js";

export type Run = Readonly<Awaited<ReturnType<typeof openRun>>>;

export async function openRun(plans: Plans, resources: Resources) {
  const [plan] = plans;
  const engine = await openEngine(plans, resources);
  const mail = await openDns(plan, engine, resources);
  prepareFolders(plan);
  const report = await openReport(plan, engine, resources);
  const session: RunSession = { isSeveral: plans.length > 1 };
  if (session.isSeveral && plan.isInPlace) await lookAhead(plans, resources.signal);
  const badRowsPath = plan.isDryRun ? undefined : plan.badRows.file;
  const badRows = badRowsPath === undefined ? undefined : badRowsTable(badRowsPath, plan.isInPlace);
  const dataDays = daysOfData(plan);
  const totals = new Totals(noFacts(plan, { engine, dataDays }));
  const findings = await openFindings(plan, resources);
  const split = await openSplit(plans, resources);
  return { engine, mail, session, report, badRowsTable: badRows, findings, split, totals, dataDays };
}

/** Files beside the output may be in its folder, which appears with the first table. @throws FileError for no folder */
function prepareFolders({ folder = "", split = "", log: { summaryFile }, sides, isDryRun }: Plan): void {
  const folderOf = (path: string) => join(resolve(dirname(path)), "/");
  const isIn = (path: string) => folder !== "" && folderOf(path) === join(resolve(folder), "/");
  const isThere = sides.some(({ path, kind }) => kind !== "summary" && isIn(path));
  if (isThere && !isDryRun) createFolder(folder);
  if (summaryFile === undefined || found(dirname(summaryFile)) !== undefined) return;
  // It is written when the run is paid for, and the folders of the outputs are there by then.
  const appears = [folder, split].some(
    (made) => made !== "" && join(resolve(made), "/").startsWith(folderOf(summaryFile)),
  );
  if (!appears) throw new FileError(`${summaryFile}: cannot be written: the folder does not exist`);
}

async function openEngine(plans: Plans, resources: Resources): Promise<Engine> {
  const [plan] = plans;
  const { engine: choice, note } = plan;
  const { signal } = resources;
  let engine: Engine;
  if (choice.name === "offline") {
    const { kind, quota, wait, shard, run } = plan;
    const part = `${kind} ${shard === undefined ? "" : `${shard.index}/${shard.count}`}`;
    const isWhole = plan.split !== undefined || (plan.output !== undefined && !isStream(plan));
    const files = new Set(plans.map(({ input, member }) => (member ? fileOf(member.container) : input)));
    const bytes = [...files].reduce((sum, file) => sum + sizeOf(file), 0);
    // A spreadsheet has no use for threads, and what is compressed seldom.
    const isPlain = plans.length === 1 && plan.input !== undefined && !mayHoldTables(plan.input);
    if (isPlain) await prepareThreads(bytes, availableParallelism());
    const options = { kind, quota, wait, run, part, bytes, isWhole, reason: choice.reason, note };
    engine = await openOfflineEngine(plan.classifierSource, options, signal);
  } else {
    // Printed before the run costs money; the summary names the engine too.
    note(`api engine at ${choice.baseUrl.value} (${choice.reason})`);
    const { openApiEngine } = await import("../../engines/api-engine.js");
    engine = await openApiEngine(choice, { ...plan, signal });
  }
  await resources.atEnd(engine.close);
  if (!plan.isDryRun) {
    resources.delivery = engine;
    return engine;
  }
  const { dryRunOf } = await import("../../engines/dry-run.js");
  return dryRunOf(engine);
}

/** In bytes; 0 for what is not a file. An archive on standard input has no name that is found. */
function sizeOf(input: string | undefined): number {
  const file = (input !== undefined && found(input)) || found(0);
  return file?.isFile() ? file.size : 0;
}

async function openDns(plan: Plan, { validator }: Engine, resources: Resources): Promise<OpenMailCheck | undefined> {
  if (plan.dns === "off" || plan.isDryRun) return undefined;
  const { openMailCheck } = await import("../../engines/mail-check.js");
  const classifier = validator.embedded?.classifier ?? loadOfflineRules();
  const { cache, note, columns, filter } = plan;
  const wantsExchanges = columns.withReasons || columns.added?.includes("flags") || filter.keepsFlagged !== undefined;
  const options = { cache, wantsExchanges, note };
  const mail = await openMailCheck(plan.settings, classifier, options, resources.signal);
  await resources.atEnd(() => mail.close());
  return mail;
}

async function openReport(plan: Plan, engine: Engine, resources: Resources): Promise<ListReport | undefined> {
  if (plan.report === undefined) return undefined;
  const { openListReport } = await import("../report/list-report.js");
  const report = await openListReport(plan.report, plan.kind, engine);
  await resources.atEnd(() => report.discard());
  return report;
}

async function openSplit(plans: Plans, resources: Resources): Promise<SplitFolder | undefined> {
  const [{ split, isDryRun }] = plans;
  if (split === undefined || isDryRun) return undefined;
  const { SplitFolder } = await import("./split-output.js");
  const folder = new SplitFolder(split, plans.length, resources.signal);
  await resources.atEnd(() => folder.discard());
  return folder;
}

async function openFindings({ log, isDryRun }: Plan, resources: Resources): Promise<FindingsFile[]> {
  if (log.findings.length === 0 || isDryRun) return [];
  const { openFindingsFile } = await import("../report/findings-file.js");
  const files: FindingsFile[] = [];
  for (const target of log.findings) {
    const file = await openFindingsFile(target);
    await resources.atEnd(() => file.discard());
    files.push(file);
  }
  return files;
}

/** Age of the newest list of disposable domains; null for a service, or without a reader: it costs a small run 2 ms. */
function daysOfData({ engine, log, report }: Plan): number | null {
  const isRead = log.summary === "json" || log.summaryFile !== undefined || report !== undefined;
  if (engine.name !== "offline" || !(isRead || process.stderr.isTTY)) return null;
  return daysOld(findTable(dataTablePath(process.env), () => {}).table.sources, Date.now()) ?? null;
}
