/** The way of rows to their output: into the document, the workbook, the encoding and the compression that are wanted. */

import { hasUsualMarks } from "../../core/table/sniff/dialect.js";
import { ChoiceError } from "../../files/errors.js";
import type { TableSink } from "../../files/table-sink.js";
import type { WorkbookFormat } from "../by-name.js";
import type { Compression } from "../compression/compression-format.js";
import type { WriteRows } from "../xlsx/workbook.js";
import type { OpenedInput } from "./open-input.js";

export interface OutputChoices {
  /** Its path, or `standard output`. */
  readonly name: string;
  /** Format of a workbook that is wanted. */
  readonly workbook?: WorkbookFormat | undefined;
  readonly compression?: Compression | undefined;
  /** Returns a sink that writes in the encoding that is wanted. UTF-8 without it. */
  readonly encode?: (sink: TableSink) => Promise<TableSink>;
}

/**
 * Returns a sink for the rows of a table.
 *
 * @param output takes the bytes; it is discarded if there cannot be such an output
 * @throws ChoiceError when there cannot be such an output
 */
export async function writeTable(
  output: TableSink,
  input: OpenedInput,
  choices: OutputChoices,
): Promise<TableSink> {
  try {
    const rows = choices.workbook ? inWorkbook(output, input, choices) : asText(output, choices);
    return await inDocument(await rows, input);
  } catch (error) {
    await output.discard();
    throw error;
  }
}

/** Returns a sink for the rows of a table that puts those of a document into one again. */
export async function inDocument(rows: TableSink, { table, columns }: OpenedInput): Promise<TableSink> {
  const { outputForm, elements } = table;
  if (outputForm === undefined) return rows;
  const { documentSink } = await import("../json/document-sink.js");
  return documentSink(rows, outputForm, elements?.header && { names: elements.header, added: columns.names });
}

async function asText(output: TableSink, { name, compression, encode }: OutputChoices): Promise<TableSink> {
  const sink = compression
    ? await (await import("../compression/compression.js")).compressInto(name, output, compression)
    : output;
  return encode ? encode(sink) : sink;
}

async function inWorkbook(
  output: TableSink,
  { table: { dialect }, returned, sheet }: OpenedInput,
  choices: OutputChoices,
): Promise<TableSink> {
  const { workbookSink } = await import("../xlsx/workbook-sink.js");
  // Tables in other dialects have become CSV.
  const isKept = hasUsualMarks(dialect) && dialect.delimiter !== "\t";
  const delimiter = (isKept ? dialect.delimiter : null) ?? ",";
  return workbookSink(
    output,
    delimiter,
    returned ?? (await newBook(choices, sheet?.name)),
    returned !== undefined,
  );
}

async function newBook({ name, workbook }: OutputChoices, sheet: string | undefined): Promise<WriteRows> {
  if (workbook === "xlsm") {
    throw new ChoiceError(`${name}: a workbook with macros is made from one only; name it .xlsx`);
  }
  const { newWorkbook } = await import("../xlsx/new-workbook.js");
  return newWorkbook(sheet || "Sheet1");
}
