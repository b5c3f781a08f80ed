/** Collects the facts of a run over one file for its summary. */
import { found } from "../../../files/found.js";
import { isSplit, type TableSink } from "../../../files/output.js";
import type { RunReport } from "../../../run/run-options.js";
import { notChecked } from "../../../validator/validator.js";
import type { Run } from "../open/engine.js";
import type { RunFiles } from "../open/files.js";
import { columnName } from "../open/input.js";
import type { Plan } from "../plan/plan.js";
import { cleanCommand, nextCommand } from "./next-commands.js";
import type { DryRun, Summary } from "./summary.js";

/** Returns the facts of a run whose outputs were committed, but for those that are counted over all files. */
export async function summaryOf(
  plan: Plan,
  { engine: { validator, reason } }: Run,
  { table, sheet, sink, badRows }: RunFiles,
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
    encoding: report.notUtf8 > 0 ? await table.surelyIn() : undefined,
    linesLeftOut: table.linesLeftOut,
    emptyFormulas: sheet?.emptyFormulas() ?? null,
    badRows: badRows.count,
    badRowKinds: badRows.kinds,
    dialect: table.dialect,
    files: writtenFiles(plan, sink, badRows.sink !== undefined),
    isExplained: plan.columns.isExplained,
    next: report.statuses.has(notChecked.status) ? nextCommand(plan) : cleanCommand(plan, report),
  };
}

/** Returns the facts of a dry run. */
export const dryRunOf = (
  { inputName }: Plan,
  { table: { column, columnName: name, names, dialect }, badRows }: RunFiles,
  counts: DryRun["dryRun"],
): DryRun => ({
  input: inputName,
  ...{ column: column + 1, columnName: name, columns: names, dialect },
  ...{ badRows: badRows.count, badRowKinds: badRows.kinds, dryRun: counts },
});

/** Returns the files that a run has written, with their sizes. */
function writtenFiles(
  { output, backup, badRows }: Plan,
  sink: TableSink,
  hasBadRows: boolean,
): Summary["files"] {
  const outputs = isSplit(sink) ? sink.paths : [output];
  return [...outputs, backup, hasBadRows ? badRows.file : undefined].flatMap((path) => {
    const file = path === undefined ? undefined : found(path);
    return file?.isFile() ? [{ path: path!, bytes: file.size }] : [];
  });
}
