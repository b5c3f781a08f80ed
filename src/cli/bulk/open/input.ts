/** Opens the input of a file of the run, and refuses one whose items would not fit into the memory. */

import { existsSync } from "node:fs";
import { Fault } from "../../../fault.js";
import { FileError } from "../../../files/errors.js";
import { type InputFile, openInputFile } from "../../../files/input.js";
import { openReplaced } from "../../../files/output.js";
import { type InputEvents, type OpenedInput, openInput as openSource } from "../../../formats/open/open-input.js";
import { missingFileHint } from "../plan/missing-file.js";
import type { Plan } from "../plan/plan.js";
import { checkMemory } from "./memory.js";
import { checkReplaceable } from "./output.js";

/** @throws FileError, TableError, ChoiceError when the file cannot be used */
export async function openInput(plan: Plan, input: InputFile, events: InputEvents): Promise<OpenedInput> {
  const opened = await openSource(input, plan, events);
  const { table, compression, encoding, sheet, update } = opened;
  const isPlain = compression === undefined && encoding === undefined && sheet === undefined;
  const isSure = isPlain && update === undefined && !plan.isForced;
  if (isSure && input.size !== undefined && table.recordBytes !== undefined) {
    const rows = input.size / table.recordBytes;
    checkMemory(plan.inputName, rows, 1 + table.otherColumns.length, { shards: plan.shard?.count });
  }
  return opened;
}

export async function tryInput(plan: Plan, signal: AbortSignal): Promise<OpenedInput> {
  const input = await inputFileOf(plan, signal);
  try {
    return await openInput({ ...plan, note: () => {} }, input, { onBadRow: () => {}, signal });
  } finally {
    await input.close();
  }
}

/** Looks at all files that are to be replaced, before the first of them is. */
export async function lookAhead(plans: readonly Plan[], signal: AbortSignal): Promise<void> {
  for (const plan of plans) {
    // The tables of archives have been opened already.
    if (plan.member) continue;
    const path = plan.input!;
    try {
      await checkReplaceable(path);
      await openReplaced(path, plan.backup);
      await tryInput(plan, signal);
    } catch (error) {
      if (error instanceof Fault) error.add("no file is replaced");
      throw error;
    }
  }
}

export async function inputFileOf({ kind, input, member, standardInput }: Plan, signal: AbortSignal) {
  if (member) return member.container.read(member.table);
  if (typeof standardInput === "object") return standardInput;
  const path = standardInput ?? input!;
  return openInputFile(path, signal).catch((error: unknown) => {
    const hint = existsSync(path) ? undefined : missingFileHint(path, kind);
    if (hint !== undefined && error instanceof FileError) error.add(hint);
    throw error;
  });
}
