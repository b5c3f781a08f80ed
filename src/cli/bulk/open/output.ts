/** Opens the outputs of a run. Nothing appears before they are committed. */
import { access, constants, stat } from "node:fs/promises";
import { type Compression, compressionByName } from "../../../files/compression-format.js";
import { FileError } from "../../../files/errors.js";
import { openOutputFile, type TableSink } from "../../../files/output.js";
import { ownerFault } from "../../../files/owner.js";
import { isUtf8 } from "../../../files/text-encoding.js";
import { hasUsualMarks } from "../../../table/sniff/dialect.js";
import { standardOutput } from "../../terminal/standard-output.js";
import type { Plan } from "../plan/plan.js";
import type { OpenInput } from "./input.js";

export const nowhere: TableSink = { write: async () => {}, commit: async () => {}, discard: async () => {} };

export async function openSink(plan: Plan, input: OpenInput, signal: AbortSignal): Promise<TableSink> {
  const sink = await openLines(plan, input, signal);
  const { outputForm, elements } = input.table;
  if (outputForm === undefined) return sink;
  const { documentSink } = await import("../../../table/document/document-sink.js");
  const columns = elements?.header && { names: elements.header, added: input.columns.names };
  return documentSink(sink, outputForm, columns);
}

async function openLines(
  plan: Plan,
  { table, compression, encoding, sheet, returned }: OpenInput,
  signal: AbortSignal,
): Promise<TableSink> {
  const { split, output, isInPlace, workbook, outputEncoding } = plan;
  const { format, dialect } = table;
  const openFile = async (path: string) => (await returnedSink(plan)) ?? (await openOutputFile(path));
  if (split !== undefined) {
    const { openSplitOutput } = await import("../../../files/split-output.js");
    return openSplitOutput(split.folder, format, split.isAppended, signal);
  }
  const target = outputEncoding === "same" ? encoding : outputEncoding;
  if (output === undefined) return encoded("standard output", standardOutput, target);
  if (workbook) {
    const { workbookSink } = await import("../../../table/spreadsheet/workbook-sink.js");
    const { newWorkbook } = await import("../../../table/spreadsheet/new-workbook.js");
    // Tables in other dialects have become CSV.
    const isKept = hasUsualMarks(dialect) && dialect.delimiter !== "\t";
    const delimiter = (isKept ? dialect.delimiter : null) ?? ",";
    const write = returned ?? (await newWorkbook(workbook, sheet?.name ?? "Sheet1"));
    return workbookSink(await openFile(output), delimiter, write, returned !== undefined);
  }
  const sink = await openFile(output);
  const wanted: Compression | undefined = isInPlace ? compression : compressionByName(output);
  try {
    if (wanted === undefined) return await encoded(output, sink, target);
    const { compressInto } = await import("../../../files/compression.js");
    return await encoded(output, await compressInto(output, sink, wanted), target);
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

/** Returns where a table of an archive goes in the archive that is returned; undefined if none is. */
const returnedSink = ({ member }: Plan) => member?.container.returned?.partSink(member.table);

async function encoded(name: string, sink: TableSink, encoding: string | undefined): Promise<TableSink> {
  if (encoding === undefined || isUtf8(encoding)) return sink;
  const { encodeInto } = await import("../../../files/output-encoding.js");
  return encodeInto(name, sink, encoding);
}

/**
 * Checks that a file can be replaced.
 *
 * @throws FileError when it is not a regular file, is read-only, or would get another owner or group
 */
export async function checkReplaceable(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  // Opening the file reports this problem.
  if (found === undefined || found.isDirectory()) return;
  if (!found.isFile()) throw new FileError(`${file}: not a regular file; cannot be replaced; use -o`);
  await access(file, constants.W_OK).catch(() => {
    throw new FileError(`${file}: is read-only; make it writable, or write elsewhere with -o`);
  });
  const fault = ownerFault(found);
  if (fault !== undefined) throw new FileError(`${file}: ${fault}; write elsewhere with -o`);
}
