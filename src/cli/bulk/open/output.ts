/** Opens the outputs of a run. Nothing appears before they are committed. */
import { access, constants, stat } from "node:fs/promises";
import { FileError } from "../../../files/errors.js";
import { found, isDevicePath } from "../../../files/found.js";
import { type FileSink, openOutputFile } from "../../../files/output.js";
import { ownerFault } from "../../../files/replace-file.js";
import type { TableSink } from "../../../files/table-sink.js";
import { compressionByName } from "../../../formats/compression/compression-format.js";
import type { OpenedInput } from "../../../formats/open/open-input.js";
import { documentsOf, writeTable } from "../../../formats/open/write-table.js";
import { isFile, standardOutput } from "../../terminal/standard-output.js";
import type { Plan } from "../plan/plan.js";
import type { SplitFolder } from "./split-output.js";

/** Delivered as they are written: into a pipe, a terminal or a device. */
export const isStream = ({ output, split, member }: Plan): boolean =>
  split === undefined &&
  member?.container.returned === undefined &&
  (output === undefined ? !isFile : found(output)?.isFile() === false);

export const nowhere: TableSink = { write: async () => {}, commit: async () => {}, discard: async () => {} };

export async function openSink(
  { output, isInPlace, sheets, outputEncoding, hasMark, member }: Plan,
  input: OpenedInput,
  split: SplitFolder | undefined,
): Promise<{ readonly sink: TableSink; readonly file?: FileSink | undefined }> {
  if (split) return { sink: split.table(input.table.format, await documentsOf(input, true)) };
  const name = output ?? "standard output";
  const wanted = outputEncoding ?? (hasMark ? "utf-8" : undefined);
  const encoding = wanted === "same" ? input.encoding : wanted;
  const encode = async (sink: TableSink) => {
    if (encoding === undefined) return sink;
    const { encodeInto } = await import("../../../formats/encodings/output-encoding.js");
    return encodeInto(name, sink, encoding);
  };
  if (output === undefined) return { sink: await writeTable(standardOutput, input, { name, encode }) };
  const part = member?.container.returned?.partSink(member.table);
  const file = part ? undefined : await openOutputFile(output);
  const compression = isInPlace ? input.compression : compressionByName(output);
  const target = { name, sheetKind: sheets?.kind, compression, encode };
  return { sink: await writeTable(part ?? file!, input, target), file };
}

/** @throws FileError when it is not a regular file, is read-only, or would get another owner or group */
export async function checkReplaceable(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  // Opening the file reports this problem.
  if (found === undefined || found.isDirectory()) return;
  if (!found.isFile() || isDevicePath(file))
    throw new FileError(`${file}: not a regular file; cannot be replaced; use -o`);
  await access(file, constants.W_OK).catch(() => {
    throw new FileError(`${file}: is read-only; make it writable, or write elsewhere with -o`);
  });
  const fault = ownerFault(found);
  if (fault !== undefined) throw new FileError(`${file}: ${fault}; write elsewhere with -o`);
}
