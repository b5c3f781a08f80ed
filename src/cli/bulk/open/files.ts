/** Opens the files of a run: input, output, backup and table of bad rows. Nothing appears before they are committed. */

import { isFirstShard } from "../../../core/run/blocks/block-options.js";
import type { RowFault } from "../../../core/table/bad-rows.js";
import { createFolder } from "../../../files/folders.js";
import { openReplaced } from "../../../files/output.js";
import type { Plan } from "../plan/plan.js";
import { BadRows } from "../report/bad-rows.js";
import type { Run } from "./engine.js";
import { inputFileOf, openInput } from "./input.js";
import { checkReplaceable, nowhere, openSink } from "./output.js";
import type { Resources } from "./resources.js";

export type RunFiles = Readonly<Awaited<ReturnType<typeof openFiles>>>;

async function badRowAnnotator({ log }: Plan, { findings }: Run): Promise<((fault: RowFault) => void) | undefined> {
  if (!log.isAnnotated && findings.length === 0) return undefined;
  const { badRowFinding, sinksOf } = await import("../report/annotations.js");
  const sinks = sinksOf(log.isAnnotated, findings);
  return (fault) => {
    for (const sink of sinks) if (!sink.add(badRowFinding(fault))) sinks.delete(sink);
  };
}

export async function openFiles(plan: Plan, run: Run, resources: Resources) {
  const { input: path, isDryRun } = plan;
  const { signal } = resources;
  // Check before the input is opened, because opening a named pipe waits for its other end.
  if (plan.isInPlace && path !== undefined && !plan.member) await checkReplaceable(path);
  // All shards read the same bad rows; the first shard reports them.
  const reportsBadRows = isFirstShard(plan);
  const openBadRows = (table: NonNullable<Run["badRowsTable"]>) => resources.open(table.open(signal), (sink) => sink);
  const badRowsSink = reportsBadRows && run.badRowsTable ? await openBadRows(run.badRowsTable) : undefined;
  const badRows = new BadRows(badRowsSink, await badRowAnnotator(plan, run));
  const input = await inputFileOf(plan, signal);
  // If reading stops half-way, the garbage collector would close the file, and Node would print a warning.
  resources.keep({ discard: () => input.close() });
  const opened = await openInput(plan, input, {
    onBadRow: (fault, record) => reportsBadRows && badRows.add(fault, record),
    signal,
  });
  if (plan.folder !== undefined && !isDryRun) createFolder(plan.folder);
  const opening = async () => (isDryRun ? { sink: nowhere, file: undefined } : openSink(plan, opened, run.split));
  const { sink, file } = await resources.open(opening(), ({ sink }) => sink);
  const isReplaced = plan.isInPlace && file !== undefined && path !== undefined;
  const replaced = isReplaced ? await resources.open(openReplaced(path, plan.backup), (file) => file) : undefined;
  return { ...opened, input, sink, file, replaced, badRows };
}
