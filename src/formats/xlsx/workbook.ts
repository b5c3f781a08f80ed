// Reads a sheet of a spreadsheet file as CSV, so that all later steps read one format only. Missing rows are blank
// lines, so that the added fields find their rows again. Knows which sheet is meant; xlsx.ts knows the format.

import { nameMeant } from "../../core/meant.js";
import { TableError } from "../../core/table/errors.js";
import { quoteField } from "../../core/table/quotes.js";
import type { ItemProfile } from "../../core/table/sniff/item-profile.js";
import { Fault } from "../../fault.js";
import { ChoiceError } from "../../files/errors.js";
import type { OpenSheet, WriteRows } from "../format.js";
import {
  type Archive,
  type ArchivePart,
  type ChangedPart,
  headerOf,
  inMemory,
  listParts,
  rebuilt,
  unpack,
} from "../zip/archive.js";
import { type AddedColumns, bookPath, cellName, SheetFault, type SheetRow, type SheetSample } from "./sheet.js";
import { openXlsx, type Workbook } from "./xlsx.js";

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
  return sheetIn(name, await openBook(name, file, signal), profile, wanted, signal);
}

/** Makes the file anew, with these changes. */
type Rebuild = (changes: AsyncIterable<ChangedPart>) => AsyncIterable<Uint8Array>;

/** As {@link openSheet}, in a workbook that stays open. */
export async function sheetIn(
  name: string,
  opened: OpenedBook & { readonly rebuild?: Rebuild | undefined },
  profile: ItemProfile,
  wanted: string | undefined,
  signal: AbortSignal,
): Promise<OpenSheet> {
  const { file, parts, book, checkParts } = opened;
  const explain = (error: unknown) => throwExplained(name, error, signal);
  try {
    const { name: sheet, index, isHidden, others } = await chooseSheet(name, book, profile, wanted);
    const addColumns = async (added: AddedColumns): Promise<WriteRows> => {
      checkParts();
      const changed = await book.addColumns!(index, added);
      const paths = await book.changeable([sheet]);
      const { rebuild = (changes) => rebuilt(file, parts, paths, changes) } = opened;
      return (batches) => explaining(rebuild(changed(batches)), explain);
    };
    return {
      ...openRows(() => book.rows(index), explain),
      format: book.format,
      name: sheet,
      isHidden,
      others,
      widthBelow: (row, known) => book.usedWidth(index, row, known).catch(explain),
      addColumns: book.addColumns && ((added) => addColumns(added).catch(explain)),
    };
  } catch (error) {
    return explain(error);
  }
}

/** Names all sheets, and those with items in their first rows, or the first. @throws ChoiceError, TableError */
export async function listSheets(name: string, { book }: OpenedBook, profile: ItemProfile, signal: AbortSignal) {
  try {
    const names: string[] = [];
    const tables: string[] = [];
    for await (const sheet of book.sheets((field) => profile.likeness(field) > 0)) {
      names.push(sheet.name);
      if (sheet.hasItems) tables.push(sheet.name);
    }
    return { names, tables: tables.length > 0 ? tables : names.slice(0, 1) };
  } catch (error) {
    return throwExplained(name, error, signal);
  }
}

const otherArchives: readonly (readonly [path: string, what: string])[] = [
  ["content.xml", "an OpenDocument file (.ods)"],
  ["xl/workbook.bin", "a binary workbook (.xlsb)"],
  ["Index/Document.iwa", "a document of Numbers, Pages or Keynote"],
  ["Index.zip", "a document of Numbers, Pages or Keynote"],
  ["word/document.xml", "a Word document"],
];

export type OpenedBook = Awaited<ReturnType<typeof openBook>>;

/** `changed` has texts of parts that are read in the place of those in the file. @throws ChoiceError, TableError */
export async function openBook(
  name: string,
  file: Archive,
  signal: AbortSignal,
  changed: ReadonlyMap<string, Uint8Array> = new Map(),
) {
  try {
    const parts = partsOf(name, file);
    async function* read(part: ArchivePart) {
      for await (const piece of unpack(file, part)) {
        signal.throwIfAborted();
        yield piece;
      }
    }
    async function* inOnePiece(bytes: Uint8Array) {
      yield bytes;
    }
    const open = (path: string) => {
      const bytes = changed.get(path);
      if (bytes !== undefined) return inOnePiece(bytes);
      const part = parts.find((part) => part.name === path);
      return part && read(part);
    };
    const paths = parts.map((part) => part.name);
    let areChecked = false;
    const checkParts = () => {
      if (!areChecked) for (const part of parts) headerOf(file, part);
      areChecked = true;
    };
    return { file, parts, book: await openXlsx(open, paths), checkParts };
  } catch (error) {
    return throwExplained(name, error, signal);
  }
}

function partsOf(name: string, file: Archive): readonly ArchivePart[] {
  const parts = listParts(file);
  if (parts === undefined)
    throw unreadable(name, "damaged or cut off; save it anew as .xlsx or CSV in the program that made it");
  const has = (path: string) => parts.some((part) => part.name === path);
  if (!has(bookPath)) {
    const what = otherArchives.find(([path]) => has(path))?.[1];
    if (what === undefined)
      throw new ChoiceError(`${name}: a zip archive without a workbook in it; unpack it first`, { code: "format" });
    throw new ChoiceError(`${name}: ${what}; save it as .xlsx or CSV in the program that made it`, { code: "format" });
  }
  const isTooLarge = ({ length, compressedLength }: ArchivePart) =>
    length > mostPartBytes || (length > suspectBytes && length > mostRatio * compressedLength);
  if (parts.some(isTooLarge)) throw unreadable(name, "a part of it is too large to read; export it as CSV");
  return parts;
}

async function chooseSheet(name: string, book: Workbook, profile: ItemProfile, wanted: string | undefined) {
  const isItem = wanted === undefined ? (field: string) => profile.likeness(field) > 0 : undefined;
  const sheets: SheetSample[] = [];
  const withItems: SheetSample[] = [];
  try {
    for await (const sheet of book.sheets(isItem)) {
      sheets.push(sheet);
      if (sheet.name === wanted) return { ...sheet, others: [] };
      if (sheet.hasItems) withItems.push(sheet);
    }
  } catch (error) {
    // Faults of later sheets do not matter.
    if (withItems.length === 0) throw error;
  }
  if (wanted !== undefined) {
    const names = sheets.map((sheet) => sheet.name);
    const like = nameMeant(wanted, names);
    const hint = like === undefined ? "" : ` (did you mean "${like}"?)`;
    const what = `no sheet "${wanted}"${hint}; the sheets are ${names.map((each) => `"${each}"`).join(", ")}`;
    throw new ChoiceError(`${name}: ${what}`, { code: "sheet" });
  }
  const [first] = sheets;
  if (first === undefined) throw new Error("it has no sheet with cells");
  // People rarely mean a hidden sheet if a visible one has items too.
  const filled = sheets.find(({ hasRows }) => hasRows);
  const chosen = withItems.find(({ isHidden }) => !isHidden) ?? withItems[0] ?? filled ?? first;
  const others = withItems.filter((sheet) => sheet !== chosen);
  return { ...chosen, others: others.map((sheet) => sheet.name) };
}

type Explain = (error: unknown) => never;

async function* explaining<Piece>(pieces: AsyncIterable<Piece>, explain: Explain): AsyncGenerator<Piece> {
  try {
    yield* pieces;
  } catch (error) {
    explain(error);
  }
}

function openRows(read: () => AsyncGenerator<SheetRow>, explain: Explain) {
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
  return {
    bytes: explaining(csvOf(read(), note), explain),
    emptyFormulas: () => found,
    hiddenRows: () => hiddenRows,
    async lacksValues(column: number) {
      if (!columns.has(column)) return false;
      let isBelow = false;
      for await (const { fields, emptyFormulas } of explaining(read(), explain)) {
        isBelow ||= emptyFormulas.includes(column);
        if (isBelow && fields[column]) return false;
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
    if (length > mostBytes) throw unreadable(name, "over 512 MiB, too large for a spreadsheet file; export it as CSV");
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}

function throwExplained(name: string, error: unknown, signal: AbortSignal): never {
  signal.throwIfAborted();
  if (error instanceof Fault) throw error;
  const { message } = error as Error;
  if (error instanceof SheetFault) throw unreadable(name, message, error.advice);
  throw unreadable(name, `a damaged spreadsheet file: ${message}; export it as CSV`);
}

const unreadable = (name: string, what: string, advice?: string): TableError =>
  new TableError(`${name}: ${what}`, { code: "workbook", ...(advice && { advice }) });
