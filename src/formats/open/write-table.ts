/** The way of rows to their output: into the document, the sheet, the encoding and the compression that are wanted. */
import { hasUsualMarks } from "../../core/table/sniff/dialect.js";
import type { TableSink } from "../../files/table-sink.js";
import type { Compression } from "../compression/compression-format.js";
import type { SheetKind } from "../format.js";
import { formatOfKind } from "../registry.js";
import type { OpenedInput } from "./open-input.js";

export interface OutputChoices {
  readonly name: string;
  readonly sheetKind?: SheetKind | undefined;
  readonly compression?: Compression | undefined;
  readonly encode?: (sink: TableSink) => Promise<TableSink>;
}

/** `output` is discarded if there cannot be such an output. @throws ChoiceError then */
export async function writeTable(output: TableSink, input: OpenedInput, choices: OutputChoices): Promise<TableSink> {
  try {
    const { sheetKind } = choices;
    const rows = sheetKind ? inSheet(output, input, { ...choices, sheetKind }) : asText(output, choices);
    return (await documentsOf(input))(await rows);
  } catch (error) {
    await output.discard();
    throw error;
  }
}

/** Makes a document of the rows, if they come from one or become one. */
export async function documentsOf({ table: { outputForm, elements }, columns }: OpenedInput, isSplit = false) {
  if (outputForm === undefined) return (rows: TableSink) => rows;
  const { documentSink } = await import("../json/document-output.js");
  const header = elements?.header && { names: elements.header, added: columns.names };
  return (rows: TableSink) => documentSink(rows, outputForm, header, isSplit);
}

async function asText(output: TableSink, { name, compression, encode }: OutputChoices): Promise<TableSink> {
  const sink = compression
    ? await (await import("../compression/compression.js")).compressInto(name, output, compression)
    : output;
  return encode ? encode(sink) : sink;
}

async function inSheet(
  output: TableSink,
  { table: { dialect }, returned, sheet }: OpenedInput,
  { name, sheetKind }: OutputChoices & { readonly sheetKind: SheetKind },
): Promise<TableSink> {
  const format = formatOfKind(sheetKind);
  // Tables in other dialects have become CSV.
  const isKept = hasUsualMarks(dialect) && dialect.delimiter !== "\t";
  const delimiter = (isKept ? dialect.delimiter : null) ?? ",";
  const write = returned ?? (await format.create(name, sheetKind, sheet?.name || "Sheet1"));
  return format.sinkFor(output, delimiter, write, returned !== undefined);
}
