/** Makes the facts of a run over one file, once, at its end. */

import { type Facts, factsOf, inputFactsOf } from "../../../core/facts/facts.js";
import { noRows, type RunReport } from "../../../core/run/run-options.js";
import { notChecked } from "../../../core/validator/validator.js";
import type { MailStatistics } from "../../../engines/dns/mail-domains.js";
import { undecidedCauses } from "../../../engines/dns/vocabulary.js";
import { found } from "../../../files/found.js";
import { isSplit, type TableSink } from "../../../files/table-sink.js";
import type { Run } from "../open/engine.js";
import type { RunFiles } from "../open/files.js";
import type { Plan } from "../plan/plan.js";
import { cleanCommand, repairCommand, resumeCommand } from "./next-commands.js";
import { noFacts } from "./totals.js";

interface EndOfFile {
  readonly report: RunReport;
  readonly usage: ReturnType<ReturnType<typeof usageSince>>;
  readonly isUnchanged: boolean;
  readonly seconds: number;
}

/** Call after the commit: it looks up the sizes of the written files. */
export async function factsOfRun(
  plan: Plan,
  run: Run,
  files: RunFiles,
  { report, usage, isUnchanged, seconds }: EndOfFile,
): Promise<Facts> {
  const { kind } = plan;
  const { counts: bad } = files.badRows;
  const inputs = [await inputFactsOf(plan.inputName, files, bad.kinds, report)];
  const { requests = null, dns = null } = usage;
  const found: Facts = { ...noFacts(plan, run), inputs, badRows: bad.count, requests, dns, seconds };
  if (plan.isDryRun) {
    const { rows, distinct, cached, prechecked } = report;
    const counts = factsOf(kind, { ...noRows, rows, distinct, cached, prechecked, quota: report.quota });
    return { ...found, ...counts, units: { ...counts.units, used: usage.items } };
  }
  const isExhausted = report.statuses.has(notChecked.status);
  const resume = (isExhausted && resumeCommand(plan, files.table)) || null;
  return {
    ...found,
    ...factsOf(kind, report),
    groups: run.report?.groups() ?? [],
    outputs: outputsOf(plan, files.sink, isUnchanged, files.badRows.sink !== undefined),
    resume,
    next: isExhausted ? resume : (cleanCommand(plan, files.table, report) ?? null),
    repair: repairCommand(plan, report) ?? null,
  };
}

function outputsOf({ output, backup, badRows }: Plan, sink: TableSink, isUnchanged: boolean, hasBadRows: boolean) {
  const outputs = isSplit(sink) ? sink.paths() : isUnchanged ? [] : [output, backup];
  return filesAt([...outputs, hasBadRows ? badRows.file : undefined]);
}

/** Returns the files that are there, with their sizes. */
export const filesAt = (paths: readonly (string | undefined)[]): Facts["outputs"] =>
  paths.flatMap((path) => {
    const file = path === undefined ? undefined : found(path);
    return file?.isFile() ? [{ path: path!, bytes: file.size }] : [];
  });

export function usageSince({ engine, mail }: Run) {
  const items = engine.dryRunItems?.() ?? 0;
  const requests = engine.requests?.() ?? 0;
  const before = mail?.check.statistics;
  return () => ({
    items: (engine.dryRunItems?.() ?? 0) - items,
    requests: engine.requests && engine.requests() - requests,
    dns: mail && mailCounts(mail.check.statistics, before!),
  });
}

function mailCounts(after: MailStatistics, before: MailStatistics): MailStatistics {
  const counts = undecidedCauses.map((cause) => [cause, (after.causes[cause] ?? 0) - (before.causes[cause] ?? 0)]);
  return {
    asked: after.asked - before.asked,
    cached: after.cached - before.cached,
    undecided: after.undecided - before.undecided,
    causes: Object.fromEntries(counts.filter(([, count]) => count !== 0)),
  };
}
