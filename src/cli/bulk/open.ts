/** The second step of a bulk run: opens its engine, its input and its outputs. */
import { fstatSync } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { type Compression, compressionByName } from "../../files/compression-format.js";
import { type DecodedInput, decodeInput } from "../../files/decoding.js";
import { ChoiceError, FileError } from "../../files/errors.js";
import { type InputFile, openInputFile, readStream } from "../../files/input.js";
import { copyOf, type FileCopy, openOutputFile, type TableSink } from "../../files/output.js";
import { ownerFault } from "../../files/owner.js";
import { type CellOptions, usualEmptyValues } from "../../run/cells.js";
import { type Columns, nameColumns } from "../../run/columns.js";
import { profiles } from "../../run/item.js";
import { nameText } from "../../table/bytes.js";
import { openTable } from "../../table/reader.js";
import { byteOrderMarkBytes, type RecordStream } from "../../table/records.js";
import type { ScannableStream } from "../../table/scan/scanned-records.js";
import type { Table } from "../../table/table.js";
import { knownStatuses, notChecked } from "../../validator/validator.js";
import type { Engine } from "../engines/engine.js";
import { openOfflineEngine } from "../engines/offline-engine.js";
import { standardOutput } from "../terminal/standard-output.js";
import { BadRowsReport } from "./bad-rows.js";
import { checkItems } from "./no-items.js";
import type { BulkOptions, Plan } from "./plan.js";

/** Engine and files to close or discard. Filled as they are opened, so that a failure half-way leaves none open. */
export interface Opened {
  engine?: Engine;
  readonly files: Pick<TableSink, "discard">[];
}

/** The files of a run. */
export interface RunFiles {
  readonly input: InputFile;
  readonly table: Table;
  /** The records of the table, with the added columns in their places. */
  readonly stream: ScannableStream;
  readonly columns: Columns;
  readonly cells: Omit<CellOptions, "kind">;
  readonly sink: TableSink;
  readonly backup: FileCopy | undefined;
  readonly badRows: BadRowsReport;
  readonly badRowsFile: TableSink | undefined;
  /** Returns the share of the input that has been read, from 0 to 1, or undefined when its size is unknown. */
  readonly share: () => number | undefined;
}

/** Opens the engine chosen by the plan. */
export async function openEngine(plan: Plan, opened: Opened, signal: AbortSignal): Promise<Engine> {
  const { kind, engine, settings, options, note } = plan;
  if (engine.name === "offline") {
    const { quotaPath } = plan;
    const isQuotaNamed = options.quotaFile !== undefined || Boolean(process.env["IDV_QUOTA_FILE"]);
    const wait = options.wait ?? 0;
    const offline = { quotaPath, isQuotaNamed, wait, reason: engine.reason, note };
    opened.engine = await openOfflineEngine(plan.classifierSource, offline, signal);
  } else {
    // Printed before the run costs money. The summary names the engine in either case.
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
  // Done before the input is opened, because opening a named pipe waits for its other end.
  if (plan.isInPlace && path !== undefined) await checkReplaceable(path);
  const input = path === undefined ? standardInput(signal) : await openInputFile(path, signal);
  // If reading stops half-way, the garbage collector would close the file, and Node would print a warning.
  keep({ discard: () => input.close() });
  const counted = countBytes(input);
  const decoded = await decodeInput(inputName, counted.bytes, options.encoding);
  if (decoded.encoding !== undefined && options.encoding === undefined) {
    note(`${inputName} is ${decoded.encoding.toUpperCase()}; the output is UTF-8`);
  }
  const hasBadRowsFile = options.badRowsFile !== undefined && !options.dryRun;
  const badRowsFile = hasBadRowsFile ? keep(await openOutputFile(options.badRowsFile)) : undefined;
  const badRows = new BadRowsReport(badRowsFile);
  const sheet = await readSheet(plan, decoded);
  const table = await openTable(
    { name: inputName, bytes: sheet?.bytes ?? decoded.bytes },
    {
      ...plan.table,
      ...(sheet && { delimiter: "," }),
      onBadRow: (fault, record) => badRows.add(fault, record),
    },
  );
  checkItems(plan.kind, inputName, table, plan.table.columns !== undefined);
  const columns = nameColumns(table.names, options.statusColumn, {
    withReasons: options.explain === true,
    withCanonical: options.canonical === true,
    escapesFormulas: options.escapeFormulas === true,
    others: table.otherColumns.map((column) => columnName(table, column)),
    ...(options.update && { isOurs: (column) => holdsStatuses(table.firstValues(column)) }),
  });
  for (const { usual, name } of columns.renamed) {
    note(`${inputName} has a column "${usual}" already; ours is "${name}"`);
  }
  const isUpdate = columns.places.some((place) => place !== undefined);
  const stream = isUpdate
    ? table.replacing({
        places: columns.places,
        keeps: keepsStatus(options.update, columns.names.length, table),
      })
    : table;
  const needsMark = options.bom || (decoded.encoding !== undefined && isForExcel(table));
  const cells = {
    emptyValues: options.emptyValues ?? usualEmptyValues,
    firstOnly: options.cell === "first",
    isPlainList: table.dialect.delimiter === null && table.dialect.quote !== "",
  };
  const sink = keep(
    options.dryRun ? nowhere : await openSink(plan, table, decoded.compression, sheet?.name, signal),
  );
  const hasBackup = plan.backup !== undefined && path !== undefined && !options.dryRun;
  const backup = hasBackup ? keep(copyOf(path, plan.backup)) : undefined;
  return {
    ...{ input, table, columns, cells, sink, backup, badRows, badRowsFile, share: counted.share },
    stream: needsMark && !table.dialect.byteOrderMark ? withMark(stream) : stream,
  };
}

/** Returns the name of a column, or its index from 1 if it has none. */
export const columnName = ({ header }: Pick<Table, "header">, column: number): string =>
  nameText(header?.[column] ?? "") || String(column + 1);

/** Returns whether most filled fields of a column are statuses of idv. */
function holdsStatuses(values: readonly string[]): boolean {
  const filled = values.filter((value) => value !== "");
  const known = filled.filter((value) => (knownStatuses as readonly string[]).includes(value));
  return known.length >= filled.length / 2;
}

/** Returns which rows keep what an earlier run added: those with a status that is no `quota_exceeded`. */
function keepsStatus(update: BulkOptions["update"], fieldCount: number, { otherColumns }: Table) {
  const fieldsPerColumn = fieldCount / (1 + otherColumns.length);
  return (fields: readonly string[]) => {
    const statuses = fields.filter((_, i) => i % fieldsPerColumn === 0);
    return update !== "all" && fields[0] !== "" && !statuses.includes(notChecked.status);
  };
}

/** Returns whether a table looks as if it was saved by Excel: its lines end as on Windows. */
const isForExcel = ({ dialect, format }: Table): boolean =>
  format !== "jsonl" && dialect.lineEnding === "\r\n";

/** Returns a stream that starts with the byte order mark of UTF-8. */
function withMark<Stream extends RecordStream>(stream: Stream): Stream {
  return { ...stream, start: (columns) => Buffer.concat([byteOrderMarkBytes, stream.start(columns)]) };
}

/** Opens the sheet of a spreadsheet file; undefined if the input is none. */
async function readSheet(
  { kind, inputName, options, isWorkbook, note }: Plan,
  { start, bytes }: DecodedInput,
) {
  const isArchive = start[0] === 0x50 && start[1] === 0x4b && start[2] === 3 && start[3] === 4;
  if (!isArchive) {
    if (options.sheet === undefined) return undefined;
    throw new ChoiceError(`${inputName}: --sheet is for spreadsheet files, and this is none`);
  }
  // Loaded only for spreadsheet files: the library is large.
  const { openSheet } = await import("../../table/spreadsheet/workbook.js");
  const sheet = await openSheet(inputName, bytes, profiles[kind], options.sheet);
  const lost = isWorkbook ? "; styles, formulas and other sheets are not kept, and all cells are text" : "";
  note(`${inputName}: sheet "${sheet.name}"${lost}`);
  return sheet;
}

/** Sink of a dry run, which drops all rows. */
const nowhere: TableSink = { write: async () => {}, commit: async () => {}, discard: async () => {} };

/**
 * Opens the sink for the table.
 *
 * @param compression compression of the input, which `--in-place` keeps
 */
async function openSink(
  { options, output, isInPlace, isWorkbook }: Plan,
  { format, dialect }: Table,
  compression: Compression | undefined,
  sheet: string | undefined,
  signal: AbortSignal,
): Promise<TableSink> {
  if (options.split !== undefined) {
    const { openSplitOutput } = await import("../../files/split-output.js");
    return openSplitOutput(options.split, format, options.append === true, signal);
  }
  if (output === undefined) return standardOutput;
  const sink = await openOutputFile(output);
  if (isWorkbook) {
    const { workbookSink } = await import("../../table/spreadsheet/workbook-sink.js");
    const { delimiter } = dialect;
    return workbookSink(sink, sheet ?? "Sheet1", delimiter === null || delimiter === "\t" ? "," : delimiter);
  }
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
 * Checks that a file can be replaced without changing its owner or group.
 *
 * @throws FileError when it is not a regular file, is read-only, or would get another owner or group
 */
async function checkReplaceable(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  // Opening the file will report the problem.
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

/** Wraps an input so that the bytes read from it are counted. */
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
