/** Puts the conversion of written lines into a JSON document in front of an output. */

import { ObjectsAsArrays } from "../../core/table/json/arrays.js";
import type { OutputForm } from "../../core/table/table.js";
import { converting, type TableSink } from "../../files/table-sink.js";
import { ArrayOfLines, CompactLines, type OutputText, ReturnedDocument } from "./document-output.js";

interface Columns {
  readonly names: readonly string[];
  readonly added: readonly string[];
}

/** If `isSplit`, the lines of each status become a document of their own, with a conversion of its own. */
export function documentSink(
  sink: TableSink,
  form: OutputForm,
  columns: Columns | undefined,
  isSplit: boolean,
): TableSink {
  const text = textFor(form, isSplit, columns);
  return converting(sink, { write: (bytes) => sink.write(text.convert(bytes)), end: () => sink.write(text.end()) });
}

function textFor(form: OutputForm, isSplit: boolean, columns: Columns | undefined): OutputText {
  if (form === "array") return new ArrayOfLines();
  if (form === "compact lines") return new CompactLines();
  const document = new ReturnedDocument(isSplit);
  if (columns === undefined) return document;
  const arrays = new ObjectsAsArrays(columns.names, columns.added);
  return { convert: (bytes) => document.convert(arrays.convert(bytes)), end: () => document.end() };
}
