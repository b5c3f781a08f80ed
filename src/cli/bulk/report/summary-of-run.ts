/** Collects the figures of a run over one file for its summary. */
import { found } from "../../../files/found.js";
import { isSplit, type TableSink } from "../../../files/table-sink.js";
import { columnName } from "../../../run/open/open-input.js";
import type { RunReport } from "../../../run/run-options.js";
import type { Table } from "../../../table/table.js";
import { notChecked } from "../../../validator/validator.js";
import type { Run } from "../open/engine.js";
import type { RunFiles } from "../open/files.js";
import type { Plan } from "../plan/plan.js";
import { cleanCommand, resumeCommand } from "./next-commands.js";
import type { DryRun, Summary } from "./result.js";

/** Call after the commit: it looks up the sizes of the written files. Counts over all files are added by the caller. */
export async function summaryOf(
  plan: Plan,
  { engine: { validator, reason, paidBefore } }: Run,
  { table, sheet, sink, badRows, isUnchanged }: RunFiles & { readonly isUnchanged: boolean },
  report: RunReport,
): Promise<Omit<Summary, "requests" | "dns" | "seconds">> {
  return {
    input: plan.inputName,
    kind: plan.kind,
    engine: validator.name,
    engineReason: reason,
    column: table.column + 1,
    columnName: table.columnName,
    otherColumns: table.otherColumns.map((column) => columnName(table, column)),
    passedOver: table.passedOver.map((column) => `${column + 1} "${columnName(table, column)}"`),
    report,
    paidBefore: paidBefore?.() ?? 0,
    encoding: report.notUtf8 > 0 ? await table.surelyIn() : undefined,
    linesLeftOut: table.linesLeftOut,
    emptyFormulas: sheet?.emptyFormulas() ?? null,
    hiddenRows: sheet?.hiddenRows() ?? null,
    otherElements: table.elements?.others() ?? null,
    badRows: badRows.count,
    badRowKinds: badRows.kinds,
    dialect: table.dialect,
    files: writtenFiles(plan, sink, isUnchanged, badRows.sink !== undefined),
    isExplained: plan.columns.withReasons,
    isFixed: plan.columns.fixes !== undefined,
    ...nextOf(plan, table, report),
  };
}

function nextOf(plan: Plan, table: Table, report: RunReport): Pick<Summary, "resume" | "next"> {
  const resume = report.statuses.has(notChecked.status) ? resumeCommand(plan, table) : undefined;
  return {
    resume,
    next: report.statuses.has(notChecked.status) ? resume : cleanCommand(plan, table, report),
  };
}

export const dryRunOf = (
  { inputName }: Plan,
  { table: { column, columnName: name, names, dialect }, badRows }: RunFiles,
  counts: DryRun["dryRun"],
): DryRun => ({
  input: inputName,
  column: column + 1,
  columnName: name,
  columns: names,
  dialect,
  badRows: badRows.count,
  badRowKinds: badRows.kinds,
  dryRun: counts,
});

function writtenFiles(
  { output, backup, badRows }: Plan,
  sink: TableSink,
  isUnchanged: boolean,
  hasBadRows: boolean,
): Summary["files"] {
  const outputs = isSplit(sink) ? sink.paths() : isUnchanged ? [] : [output, backup];
  return [...outputs, hasBadRows ? badRows.file : undefined].flatMap((path) => {
    const file = path === undefined ? undefined : found(path);
    return file?.isFile() ? [{ path: path!, bytes: file.size }] : [];
  });
}
