/** Puts the conversion of written lines into a JSON document in front of an output. */

import { ObjectsAsArrays } from "../../core/table/json/arrays.js";
import type { OutputForm } from "../../core/table/table.js";
import { converting, isSplit, type SplitSink, type TableSink } from "../../files/table-sink.js";
import { ArrayOfLines, CompactLines, type OutputText, ReturnedDocument } from "./document-output.js";

interface Columns {
  readonly names: readonly string[];
  readonly added: readonly string[];
}

/** Each file of a split output is a document of its own. */
export function documentSink(sink: TableSink, form: OutputForm, columns: Columns | undefined): TableSink {
  const newText = () => textFor(form, isSplit(sink), columns);
  return isSplit(sink) ? splitSink(sink, newText) : convertedBy(newText(), sink);
}

function splitSink(sink: SplitSink, newText: () => OutputText): SplitSink {
  const files = new Map<TableSink, TableSink>();
  return {
    paths: () => sink.paths(),
    write: (bytes) => sink.write(bytes),
    async of(status) {
      const file = await sink.of(status);
      const known = files.get(file) ?? convertedBy(newText(), file);
      files.set(file, known);
      return known;
    },
    async prepare() {
      for (const file of files.values()) await file.prepare?.();
      await sink.prepare?.();
    },
    commit: () => sink.commit(),
    discard: () => sink.discard(),
  };
}

function textFor(form: OutputForm, isSplit: boolean, columns: Columns | undefined): OutputText {
  if (form === "array") return new ArrayOfLines();
  if (form === "compact lines") return new CompactLines();
  const document = new ReturnedDocument(isSplit);
  if (columns === undefined) return document;
  const arrays = new ObjectsAsArrays(columns.names, columns.added);
  return { convert: (bytes) => document.convert(arrays.convert(bytes)), end: () => document.end() };
}

const convertedBy = (text: OutputText, sink: TableSink): TableSink =>
  converting(sink, { write: (bytes) => sink.write(text.convert(bytes)), end: () => sink.write(text.end()) });
