/** Opens the input of a file of the run, and refuses one whose distinct items would not fit into the memory. */

import { existsSync } from "node:fs";
import { totalmem } from "node:os";
import { Fault } from "../../../fault.js";
import { FileError } from "../../../files/errors.js";
import { type InputFile, openInputFile } from "../../../files/input.js";
import { openReplaced } from "../../../files/output.js";
import { type InputEvents, type OpenedInput, openInput as openSource } from "../../../formats/open/open-input.js";
import { grouped, sizeOf } from "../../../text.js";
import { missingFileHint } from "../plan/missing-file.js";
import type { Plan } from "../plan/plan.js";
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

/** Bytes of a run without items, and of each distinct item; measured with 1 and 10 million in a memory cgroup. */
const runBytes = 45_000_000;
const itemBytes = 12.2;
const mostItems = 240_000_000;

/** Fewer items are not looked at, however little memory there is. */
const leastItems = 100_000;

const memoryLimit = (): number => Math.min(totalmem(), process.constrainedMemory() || totalmem());

type MemoryOptions = { readonly shards?: number | undefined; readonly limit?: number };

/** Assumes that all items are different; `limit` is in bytes. @throws FileError when they would not fit */
export function checkMemory(inputName: string, rows: number, columns: number, options: MemoryOptions = {}): void {
  const { shards = 1 } = options;
  const items = (rows * columns) / shards;
  if (items <= leastItems) return;
  const { limit = memoryLimit() } = options;
  const most = Math.min(mostItems, Math.max(0, limit - runBytes) / itemBytes);
  // With so little memory, no number of parts would do.
  if (items <= most || most < leastItems) return;
  const about = grouped(Number(items.toPrecision(2)));
  const needed = sizeOf(runBytes + itemBytes * items);
  const lack =
    most === mostItems
      ? `are more than a run holds, ${grouped(mostItems)}`
      : `need up to ${needed} of memory, but only ${sizeOf(limit)} are there`;
  const parts = Math.ceil((1.1 * rows * columns) / most);
  const advice = `use --shard 1/${parts} and so on, or --force if many items repeat`;
  throw new FileError(`${inputName}: about ${about} items ${lack}; ${advice}`);
}
