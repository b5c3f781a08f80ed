/** The formats of text besides lines: which one a text is, by its first bytes, and how it becomes a table. */
import { openTable as openLines } from "../core/table/open/reader.js";
import type { Table, TableOptions, TableSource, TextFormats } from "../core/table/table.js";
import { endingOf } from "../files/ending.js";
import { addressBookIn, csvOf } from "./contacts/address-book.js";
import { refuseForeignFormat } from "./foreign-format.js";
import { isDocument } from "./json/is-document.js";

const textFormats: TextFormats = {
  conversionOf(name, start, isWhole, options) {
    const mayBeList = !isGiven(options) && options.rewrite === undefined;
    const book = addressBookIn(start, isWhole, mayBeList ? options.profile : undefined);
    if (book !== undefined) return { what: book.what, convert: (bytes) => csvOf(book, bytes) };
    const wanted = options.profile.columnNames.includes("domain") ? "domains" : "emails";
    refuseForeignFormat(name, start, wanted);
    return undefined;
  },
  async openDocument(start, { bytes, isWhole, objects }, options) {
    const { name } = start.source;
    const isOneObject = isWhole && objects === 1 && !isLines(name);
    const isFound =
      isDocument(name, bytes.toString("latin1"), objects, options) ||
      (isOneObject && (await import("./json/lists.js")).isDocumentOnOneLine(name, bytes, options));
    if (!isFound) return undefined;
    const { openDocument } = await import("./json/open-document.js");
    return openDocument(start, options);
  },
};

/** Closes the input if it throws. @throws TableError if the bytes are not a table, ChoiceError if no column fits */
export const openTable = (source: TableSource, options: TableOptions): Promise<Table> =>
  openLines(source, { ...options, formats: textFormats });

const isLines = (name: string): boolean => ["jsonl", "ndjson"].includes(endingOf(name));

const isGiven = ({ delimiter, header, dialect, sheet, columns, allColumns }: TableOptions): boolean =>
  [delimiter, header, dialect?.quote, sheet, columns].some((option) => option !== undefined) || allColumns === true;
