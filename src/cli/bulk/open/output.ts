/** Opens the outputs of a run. Nothing appears before they are committed. */
import { access, constants, stat } from "node:fs/promises";
import { type Compression, compressionByName } from "../../../files/compression-format.js";
import { ChoiceError, FileError } from "../../../files/errors.js";
import type { WorkbookFormat } from "../../../files/format-by-name.js";
import { found } from "../../../files/found.js";
import { type FileSink, openOutputFile } from "../../../files/output.js";
import { ownerFault } from "../../../files/owner.js";
import type { SplitFolder } from "../../../files/split-output.js";
import type { TableSink } from "../../../files/table-sink.js";
import { isUtf8 } from "../../../files/text-encoding.js";
import { hasUsualMarks } from "../../../table/sniff/dialect.js";
import type { WriteRows } from "../../../table/spreadsheet/workbook.js";
import { isFile, standardOutput } from "../../terminal/standard-output.js";
import type { Plan } from "../plan/plan.js";
import type { OpenInput } from "./input.js";

/** Whether rows are delivered as they are written: into a pipe, a terminal or a device. */
export const isStream = ({ output, split, member }: Plan): boolean =>
  split === undefined &&
  member?.container.returned === undefined &&
  (output === undefined ? !isFile : found(output)?.isFile() === false);

export const nowhere: TableSink = { write: async () => {}, commit: async () => {}, discard: async () => {} };

/** Where the rows go, and the file that they end up in, if it is one of its own. */
interface OpenOutput {
  readonly sink: TableSink;
  readonly file: FileSink | undefined;
}

export async function openSink(
  plan: Plan,
  input: OpenInput,
  split: SplitFolder | undefined,
): Promise<OpenOutput> {
  let file: FileSink | undefined;
  const openFile = async (path: string) => {
    const part = await returnedSink(plan);
    if (part !== undefined) return part;
    file = await openOutputFile(path);
    return file;
  };
  const sink = split?.table(input.table.format) ?? (await openLines(plan, input, openFile));
  const { outputForm, elements } = input.table;
  if (outputForm === undefined) return { sink, file };
  const { documentSink } = await import("../../../table/document/document-sink.js");
  const columns = elements?.header && { names: elements.header, added: input.columns.names };
  return { sink: documentSink(sink, outputForm, columns), file };
}

async function openLines(
  plan: Plan,
  input: OpenInput,
  openFile: (path: string) => Promise<TableSink>,
): Promise<TableSink> {
  const { output, isInPlace, workbook, outputEncoding } = plan;
  const { table, compression, encoding, returned } = input;
  const { dialect } = table;
  const target = outputEncoding === "same" ? encoding : outputEncoding;
  if (output === undefined) return encoded("standard output", standardOutput, target);
  if (workbook) {
    const { workbookSink } = await import("../../../table/spreadsheet/workbook-sink.js");
    // Tables in other dialects have become CSV.
    const isKept = hasUsualMarks(dialect) && dialect.delimiter !== "\t";
    const delimiter = (isKept ? dialect.delimiter : null) ?? ",";
    const write = returned ?? (await newFile(input, workbook, output));
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

async function newFile({ sheet }: OpenInput, format: WorkbookFormat, output: string): Promise<WriteRows> {
  if (format === "xlsm") {
    throw new ChoiceError(`${output}: a workbook with macros is made from one only; name it .xlsx`);
  }
  const { newWorkbook } = await import("../../../table/spreadsheet/new-workbook.js");
  return newWorkbook(sheet?.name || "Sheet1");
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
