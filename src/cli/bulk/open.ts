/** The second step of a bulk run: opens its engine, its input and its outputs. */
import { fstatSync } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { type Compression, compressionByName } from "../../files/compression-format.js";
import { decodeInput } from "../../files/decoding.js";
import { FileError } from "../../files/errors.js";
import { type InputFile, openInputFile, readStream } from "../../files/input.js";
import { copyOf, type FileCopy, openOutputFile, type TableSink } from "../../files/output.js";
import { ownerFault } from "../../files/owner.js";
import { type Columns, nameColumns } from "../../run/columns.js";
import { openTable, type Table, type TableFormat } from "../../table/reader.js";
import type { Engine } from "../engines/engine.js";
import { openOfflineEngine } from "../engines/offline-engine.js";
import { standardOutput } from "../terminal/standard-output.js";
import { BadRowsReport } from "./bad-rows.js";
import type { Plan } from "./plan.js";

/** Open engine and files, to be closed or discarded. Filled step by step, so that a failure half-way forgets nothing. */
export interface Opened {
  engine?: Engine;
  readonly files: Pick<TableSink, "discard">[];
}

/** The files of a run. */
export interface RunFiles {
  readonly input: InputFile;
  readonly table: Table;
  readonly columns: Columns;
  readonly sink: TableSink;
  readonly backup: FileCopy | undefined;
  readonly badRows: BadRowsReport;
  readonly badRowsFile: TableSink | undefined;
  /** The share of the input that was read, from 0 to 1; undefined where its size is not known. */
  readonly share: () => number | undefined;
}

/** Opens the engine that the plan has chosen. */
export async function openEngine(plan: Plan, opened: Opened, signal: AbortSignal): Promise<Engine> {
  const { kind, engine, settings, options, note } = plan;
  if (engine.engine === "offline") {
    opened.engine = await openOfflineEngine(plan.classifierSource, plan.quotaPath, engine.reason, signal);
  } else {
    // Said before it costs money; the summary names either engine.
    note(`api engine at ${engine.baseUrl.value} (${engine.reason})`);
    const { openApiEngine } = await import("../engines/api-engine.js");
    opened.engine = await openApiEngine(kind, settings, engine, options, note, signal);
  }
  return opened.engine;
}

/**
 * Opens the input, finds its table, and opens the outputs.
 *
 * @throws FileError, TableError, ChoiceError when a file cannot be used
 */
export async function openFiles(plan: Plan, opened: Opened, signal: AbortSignal): Promise<RunFiles> {
  const { input: path, inputName, options, note } = plan;
  const keep = <File extends Pick<TableSink, "discard">>(file: File): File => {
    opened.files.push(file);
    return file;
  };
  // Before the input is opened: opening a named pipe waits for its other end.
  if (plan.isInPlace && path !== undefined) await checkReplaceable(path);
  const input = path === undefined ? standardInput(signal) : await openInputFile(path, signal);
  // A reader that stops half-way leaves the file to the garbage collector, which complains.
  keep({ discard: () => input.close() });
  const counted = countBytes(input);
  const decoded = await decodeInput(inputName, counted.bytes, options.encoding);
  if (decoded.encoding !== undefined && options.encoding === undefined) {
    note(`${inputName} is ${decoded.encoding.toUpperCase()}; the output is UTF-8`);
  }
  const hasBadRowsFile = options.badRowsFile !== undefined && !options.dryRun;
  const badRowsFile = hasBadRowsFile ? keep(await openOutputFile(options.badRowsFile)) : undefined;
  const badRows = new BadRowsReport(badRowsFile);
  const table = await openTable(
    { name: inputName, bytes: decoded.bytes },
    { ...plan.table, onBadRow: (fault, record) => badRows.add(fault, record) },
  );
  const columns = nameColumns(table.names, options.statusColumn, {
    withReasons: options.explain === true,
    withCanonical: options.canonical === true,
    escapesFormulas: options.escapeFormulas === true,
  });
  for (const { usual, name } of columns.renamed) {
    note(`${inputName} has a column "${usual}" already; ours is "${name}"`);
  }
  const sink = keep(
    options.dryRun ? nowhere : await openSink(plan, table.format, decoded.compression, signal),
  );
  const hasBackup = plan.backup !== undefined && path !== undefined && !options.dryRun;
  const backup = hasBackup ? keep(copyOf(path, plan.backup)) : undefined;
  return { input, table, columns, sink, backup, badRows, badRowsFile, share: counted.share };
}

/** Takes the rows of a dry run. */
const nowhere: TableSink = { write: async () => {}, commit: async () => {}, discard: async () => {} };

/** @param compression that of the input: a file that is replaced stays compressed as it was */
async function openSink(
  { options, output, isInPlace }: Plan,
  format: TableFormat,
  compression: Compression | undefined,
  signal: AbortSignal,
): Promise<TableSink> {
  if (options.split !== undefined) {
    const { openSplitOutput } = await import("../../files/split-output.js");
    return openSplitOutput(options.split, format, signal);
  }
  if (output === undefined) return standardOutput;
  const sink = await openOutputFile(output);
  const wanted = isInPlace ? compression : compressionByName(output);
  if (wanted === undefined) return sink;
  try {
    const { compressInto } = await import("../../files/compression.js");
    return await compressInto(output, sink, wanted);
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

/**
 * Makes sure that a file can be replaced and stay what it is to others.
 *
 * @throws FileError when it is not a regular file, is read-only, or would get another owner or group
 */
async function checkReplaceable(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  // Opening it says what is wrong.
  if (found === undefined || found.isDirectory()) return;
  if (!found.isFile()) throw new FileError(`${file}: not a regular file; cannot be replaced; use -o`);
  await access(file, constants.W_OK).catch(() => {
    throw new FileError(`${file}: is read-only; make it writable, or write elsewhere with -o`);
  });
  const fault = ownerFault(found);
  if (fault !== undefined) throw new FileError(`${file}: ${fault}; write elsewhere with -o`);
}

function standardInput(signal: AbortSignal): InputFile {
  if (fstatSync(0).isDirectory()) throw new FileError("standard input: is a folder; give a file");
  const bytes = readStream("standard input", process.stdin, signal);
  return { bytes, size: undefined, hasChanged: async () => false, close: async () => {} };
}

/** Counts the bytes that are read. */
function countBytes({ bytes, size }: InputFile) {
  let count = 0;
  async function* counted() {
    for await (const chunk of bytes) {
      count += chunk.length;
      yield chunk;
    }
  }
  return { bytes: counted(), share: () => (size ? count / size : undefined) };
}
