/** Puts the conversion of written lines into a JSON document in front of an output. */
import { isSplit, type SplitSink, type TableSink } from "../../files/output.js";
import { ArrayOfLines, CompactLines, type OutputText, ReturnedDocument } from "./document-output.js";

/** What becomes of lines: the document that was read, JSON Lines without its white space, or an array. */
export type OutputForm = "document" | "compact lines" | "array";

/** Returns a sink that converts what is written to it. Each file of a split output is a document of its own. */
export function documentSink(sink: TableSink, form: OutputForm): TableSink {
  return isSplit(sink) ? splitSink(sink, form) : converting(sink, textOf(form, false));
}

function splitSink(sink: SplitSink, form: OutputForm): SplitSink {
  const files = new Map<TableSink, TableSink>();
  return {
    get paths() {
      return sink.paths;
    },
    write: (bytes) => sink.write(bytes),
    async of(status) {
      const file = await sink.of(status);
      const known = files.get(file) ?? converting(file, textOf(form, true));
      files.set(file, known);
      return known;
    },
    async commit() {
      for (const file of files.values()) await file.prepare?.();
      await sink.commit();
    },
    discard: () => sink.discard(),
  };
}

function textOf(form: OutputForm, isSplit: boolean): OutputText {
  if (form === "array") return new ArrayOfLines();
  return form === "document" ? new ReturnedDocument(isSplit) : new CompactLines();
}

function converting(sink: TableSink, text: OutputText): TableSink {
  let isEnded = false;
  const prepare = async () => {
    if (!isEnded) await sink.write(text.end());
    isEnded = true;
    await sink.prepare?.();
  };
  return {
    write: (bytes) => sink.write(text.convert(bytes)),
    prepare,
    async commit() {
      await prepare();
      await sink.commit();
    },
    discard: () => sink.discard(),
  };
}
