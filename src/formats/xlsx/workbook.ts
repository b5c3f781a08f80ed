// Reads a sheet of a spreadsheet file as CSV, so that all later steps read one format only. Missing rows are blank
// lines, so that the added fields find their rows again. Knows which sheet is meant; xlsx.ts knows the format.

import { TableError } from "../../core/table/errors.js";
import { quoteField } from "../../core/table/quotes.js";
import type { ItemProfile } from "../../core/table/sniff/item-profile.js";
import { ChoiceError } from "../../files/errors.js";
import type { OpenSheet, SheetKind, WriteRows } from "../format.js";
import { type Archive, type ArchivePart, headerOf, inMemory, listParts, rebuilt, unpack } from "../zip/archive.js";
import { type AddedColumns, cellName, SheetFault, type SheetRow, type Workbook } from "./sheet.js";
import { openXlsx } from "./xlsx.js";

/** Most bytes of a stream, which is read into memory, and of a part of a file. */
const mostBytes = 536_870_912;
const mostPartBytes = 500_000_000;
/** Larger parts, in bytes, are refused if they are compressed by more than this ratio. Sheets reach 50. */
const suspectBytes = 67_108_864;
const mostRatio = 200;
const pieceLength = 65_536;

/** Without `wanted`, takes the first sheet with items, if possible a visible one. @throws ChoiceError, TableError */
export async function openSheet(
  name: string,
  input: AsyncIterable<Uint8Array> | Archive,
  profile: ItemProfile,
  wanted: string | undefined,
  signal: AbortSignal,
): Promise<OpenSheet> {
  const file = "read" in input ? input : inMemory(await collect(name, input));
  const explain = (error: unknown): never => {
    signal.throwIfAborted();
    throw explained(name, error);
  };
  try {
    const { book, format, parts } = await openBook(name, file, signal);
    const sheet = await chooseSheet(name, book, profile, wanted);
    const rows = openRows(
      sheet.name,
      () => book.rows(sheet.index),
      (row, known) => book.usedWidth(sheet.index, row, known),
      explain,
    );
    const addColumns = async (added: AddedColumns): Promise<WriteRows> => {
      for (const part of parts) headerOf(file, part);
      const { paths, changed } = await book.addColumns!(sheet, added);
      return async function* write(batches) {
        try {
          yield* rebuilt(file, parts, paths, changed(batches));
        } catch (error) {
          explain(error);
        }
      };
    };
    return {
      ...rows,
      format,
      isHidden: sheet.isHidden,
      others: sheet.others,
      addColumns: book.addColumns && ((added) => addColumns(added).catch(explain)),
    };
  } catch (error) {
    return explain(error);
  }
}

/** Names all sheets, and those with items in their first rows, or the first. @throws ChoiceError, TableError */
export async function listSheets(
  name: string,
  file: Archive,
  profile: ItemProfile,
  signal: AbortSignal,
): Promise<{ readonly format: SheetKind; readonly names: readonly string[]; readonly tables: readonly string[] }> {
  try {
    const { book, format } = await openBook(name, file, signal);
    const names: string[] = [];
    const tables: string[] = [];
    for await (const sheet of book.sheets((field) => profile.likeness(field) > 0)) {
      names.push(sheet.name);
      if (sheet.hasItems) tables.push(sheet.name);
    }
    return { format, names, tables: tables.length > 0 ? tables : names.slice(0, 1) };
  } catch (error) {
    signal.throwIfAborted();
    throw explained(name, error);
  }
}

const otherArchives: readonly (readonly [path: string, what: string])[] = [
  ["content.xml", "an OpenDocument file (.ods)"],
  ["xl/workbook.bin", "a binary workbook (.xlsb)"],
  ["Index/Document.iwa", "a document of Numbers, Pages or Keynote"],
  ["Index.zip", "a document of Numbers, Pages or Keynote"],
  ["word/document.xml", "a Word document"],
];

async function openBook(
  name: string,
  file: Archive,
  signal: AbortSignal,
): Promise<{ readonly book: Workbook; readonly format: SheetKind; readonly parts: readonly ArchivePart[] }> {
  const parts = listParts(file);
  if (parts === undefined)
    throw new TableError(`${name}: a damaged zip archive or spreadsheet file`, { code: "workbook" });
  const find = (path: string) => parts.find((part) => part.name === path);
  if (find("xl/workbook.xml") === undefined) {
    const what = otherArchives.find(([path]) => find(path))?.[1];
    if (what === undefined)
      throw new ChoiceError(`${name}: a zip archive without a workbook in it; unpack it first`, { code: "format" });
    throw new ChoiceError(`${name}: ${what}; save it as .xlsx or CSV in the program that made it`, { code: "format" });
  }
  const isTooLarge = ({ length, compressedLength }: ArchivePart) =>
    length > mostPartBytes || (length > suspectBytes && length > mostRatio * compressedLength);
  if (parts.some(isTooLarge)) {
    throw new TableError(`${name}: a part of it is too large to read; export it as CSV`, { code: "workbook" });
  }
  async function* read(part: ArchivePart) {
    for await (const piece of unpack(file, part)) {
      signal.throwIfAborted();
      yield piece;
    }
  }
  const open = (path: string) => {
    const part = find(path);
    return part && read(part);
  };
  const book = await openXlsx(
    open,
    parts.map((part) => part.name),
  );
  return { book, format: book.format ?? "xlsx", parts };
}

async function chooseSheet(
  name: string,
  book: Workbook,
  profile: ItemProfile,
  wanted: string | undefined,
): Promise<{
  readonly index: number;
  readonly name: string;
  readonly isHidden: boolean;
  readonly others: readonly string[];
}> {
  const isItem = wanted === undefined ? (field: string) => profile.likeness(field) > 0 : undefined;
  const sheets: { readonly name: string; readonly isHidden: boolean; readonly index: number }[] = [];
  const withItems: typeof sheets = [];
  let filled: (typeof sheets)[number] | undefined;
  try {
    for await (const { name: sheetName, isHidden, hasItems, hasRows } of book.sheets(isItem)) {
      const sheet = { name: sheetName, isHidden, index: sheets.length };
      sheets.push(sheet);
      if (sheetName === wanted) return { ...sheet, others: [] };
      if (hasItems) withItems.push(sheet);
      if (hasRows) filled ??= sheet;
    }
  } catch (error) {
    // Faults of later sheets do not matter.
    if (withItems.length === 0) throw error;
  }
  if (wanted !== undefined) {
    const names = sheets.map((sheet) => `"${sheet.name}"`);
    throw new ChoiceError(`${name}: no sheet "${wanted}"; the sheets are ${names.join(", ")}`, { code: "sheet" });
  }
  const [first] = sheets;
  if (first === undefined) throw new Error("it has no sheet with cells");
  // People rarely mean a hidden sheet if a visible one has items too.
  const chosen = withItems.find(({ isHidden }) => !isHidden) ?? withItems[0] ?? filled ?? first;
  const others = withItems.filter((sheet) => sheet !== chosen);
  return { ...chosen, others: others.map((sheet) => sheet.name) };
}

function openRows(
  name: string,
  read: () => AsyncGenerator<SheetRow>,
  usedWidth: (row: number, known: number) => Promise<number>,
  explain: (error: unknown) => never,
): Omit<OpenSheet, "format" | "isHidden" | "others" | "addColumns"> {
  let found: { count: number; readonly first: string } | undefined;
  const columns = new Set<number>();
  let hiddenRows = 0;
  const note = ({ number, emptyFormulas, isHidden }: SheetRow) => {
    if (isHidden) hiddenRows++;
    for (const column of emptyFormulas) {
      found ??= { count: 0, first: cellName(column, number) };
      found.count++;
      columns.add(column);
    }
  };
  async function* bytes() {
    try {
      yield* csvOf(read(), note);
    } catch (error) {
      explain(error);
    }
  }
  return {
    name,
    bytes: bytes(),
    emptyFormulas: () => found,
    hiddenRows: () => hiddenRows,
    async widthBelow(row, known) {
      try {
        return await usedWidth(row, known);
      } catch (error) {
        return explain(error);
      }
    },
    async lacksValues(column) {
      if (!columns.has(column)) return false;
      let isBelow = false;
      try {
        for await (const { fields, emptyFormulas } of read()) {
          isBelow ||= emptyFormulas.includes(column);
          if (isBelow && fields[column]) return false;
        }
      } catch (error) {
        explain(error);
      }
      return true;
    },
  };
}

async function* csvOf(rows: AsyncIterable<SheetRow>, note: (row: SheetRow) => void): AsyncGenerator<Uint8Array> {
  let piece = "";
  let line = 1;
  for await (const row of rows) {
    note(row);
    piece += "\n".repeat(Math.max(0, row.number - line));
    line = Math.max(line, row.number) + 1;
    // Without quotes, a row with one empty cell is a blank line, which is equivalent.
    piece += `${row.fields.map((field) => quoteField(field, ",")).join(",")}\n`;
    if (piece.length < pieceLength) continue;
    yield Buffer.from(piece);
    piece = "";
  }
  yield Buffer.from(piece);
}

async function collect(name: string, input: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input) {
    length += chunk.length;
    if (length > mostBytes)
      throw new TableError(`${name}: over 512 MiB, too large for a spreadsheet file; export it as CSV`, {
        code: "workbook",
      });
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}

function explained(name: string, error: unknown): Error {
  if (error instanceof ChoiceError || error instanceof TableError) return error;
  const { message } = error as Error;
  if (error instanceof SheetFault) {
    const { advice } = error;
    return new TableError(`${name}: ${message}`, { code: "workbook", ...(advice && { advice }) });
  }
  const what = "a damaged spreadsheet file";
  return new TableError(`${name}: ${what}: ${message}; export it as CSV`, { code: "workbook" });
}
