/** Opens the input of a file of the run, and refuses one whose items would not fit into the memory. */

import { existsSync } from "node:fs";
import type { BadRowListener } from "../../../core/table/bad-rows.js";
import { FileError } from "../../../files/errors.js";
import { type InputFile, openInputFile } from "../../../files/input.js";
import { type OpenedInput, openInput as openSource } from "../../../formats/open/open-input.js";
import { missingFileHint } from "../plan/missing-file.js";
import type { Plan } from "../plan/plan.js";
import { checkMemory } from "./memory.js";

export interface OpenInput extends OpenedInput {
  readonly input: InputFile;
}

interface InputEvents {
  readonly onBadRow: BadRowListener;
  /** Called before anything is read. */
  readonly onOpen: (close: () => Promise<void>) => void;
  readonly signal: AbortSignal;
}

/** @throws FileError, TableError, ChoiceError when the file cannot be used */
export async function openInput(plan: Plan, { onBadRow, onOpen, signal }: InputEvents): Promise<OpenInput> {
  const input = await inputFileOf(plan, signal);
  // If reading stops half-way, the garbage collector would close the file, and Node would print a warning.
  onOpen(() => input.close());
  const opened = await openSource(input, plan, { onBadRow, signal });
  const { table, compression, encoding, sheet, update } = opened;
  const isPlain = compression === undefined && encoding === undefined && sheet === undefined;
  const isSure = isPlain && update === undefined && !plan.isForced;
  if (isSure && input.size !== undefined && table.recordBytes !== undefined) {
    const rows = input.size / table.recordBytes;
    checkMemory(plan.inputName, rows, 1 + table.otherColumns.length, { shards: plan.shard?.count });
  }
  return { ...opened, input };
}

export async function tryInput(plan: Plan, signal: AbortSignal): Promise<void> {
  let close = async () => {};
  const onOpen = (closeInput: typeof close) => {
    close = closeInput;
  };
  try {
    await openInput({ ...plan, note: () => {} }, { onBadRow: () => {}, onOpen, signal });
  } finally {
    await close();
  }
}

async function inputFileOf({ kind, input, member, standardInput }: Plan, signal: AbortSignal) {
  if (member) return member.container.read(member.table);
  if (typeof standardInput === "object") return standardInput;
  const path = standardInput ?? input!;
  return openInputFile(path, signal).catch((error: unknown) => {
    const hint = existsSync(path) ? undefined : missingFileHint(path, kind);
    if (hint !== undefined && error instanceof FileError) error.add(hint);
    throw error;
  });
}
