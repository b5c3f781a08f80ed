/**
 * Reads a sheet of a spreadsheet file (.xlsx, .ods) as CSV, so that everything behind it reads one format only. The rows
 * are streamed; texts that the cells share are in memory. The port to hucre, which is loaded only here and in
 * workbook-sink.ts.
 */
import type { CellValue, StreamRow } from "hucre";
import { ChoiceError } from "../../files/errors.js";
import { TableError } from "../errors.js";
import { quoteField } from "../quotes.js";
import type { ItemProfile } from "../sniff/item-profile.js";
import { type ArchivePart, listParts } from "./archive.js";

/** Largest file and largest part in bytes; hucre has a part in memory as one string. */
const [mostBytes, mostPartBytes] = [536_870_912, 500_000_000];
/** Part above which its compression is looked at, in bytes, and the most that is believed: sheets reach 50. */
const [suspectBytes, mostRatio] = [67_108_864, 200];
/** Largest sheet in which links are looked for: it has to be in memory. */
const mostLinkedBytes = 67_108_864;
/** Rows of each sheet in which items are looked for. */
const sampleRows = 100;
/** Length of the pieces that the rows are passed on in, in characters. */
const pieceLength = 65_536;

/** A sheet that is being read. */
export interface OpenSheet {
  /** Name of the sheet. */
  readonly name: string;
  /** The rows as CSV with commas and LF, in UTF-8. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * Opens a sheet: the named one, or the first in which something looks like an item.
 *
 * @param name the file's name in errors
 * @param wanted name of the sheet
 * @throws ChoiceError if the archive is no spreadsheet file, or has no such sheet
 * @throws TableError if it is damaged or too large; also from the iteration
 */
export async function openSheet(
  name: string,
  input: AsyncIterable<Uint8Array>,
  profile: ItemProfile,
  wanted: string | undefined,
): Promise<OpenSheet> {
  const file = await collect(name, input);
  const parts = listParts(file);
  if (parts === undefined) throw new TableError(`${name}: a damaged zip archive or spreadsheet file`);
  const book = await workbookOf(name, file, parts);
  const sheets = await explained(name, () => book.sheets());
  const index =
    wanted === undefined ? await firstWithItems(name, book, sheets, profile) : sheets.indexOf(wanted);
  if (index === -1) {
    throw new ChoiceError(
      `${name}: no sheet "${wanted}"; the sheets are ${sheets.map((sheet) => `"${sheet}"`).join(", ")}`,
    );
  }
  const links = await explained(name, () => book.links(index));
  return { name: sheets[index] ?? "", bytes: csvOf(name, book.rows(index), links) };
}

/** A workbook, whatever its format. */
interface Workbook {
  /** Returns the names of its sheets. */
  sheets(): Promise<readonly string[]>;
  rows(sheet: number, maxRows?: number): AsyncIterable<StreamRow>;
  /** Returns the addresses that the texts of cells link to, by `row,column`. */
  links(sheet: number): Promise<ReadonlyMap<string, string>>;
}

async function workbookOf(name: string, file: Buffer, parts: readonly ArchivePart[]): Promise<Workbook> {
  const has = (part: string) => parts.some((found) => found.name === part);
  const isOds = has("content.xml") && has("mimetype");
  if (!isOds && !has("xl/workbook.xml")) {
    const what = has("xl/workbook.bin") ? "a binary workbook (.xlsb)" : "a zip archive";
    throw new ChoiceError(`${name}: ${what}; export it as CSV or .xlsx`);
  }
  const isTooLarge = ({ length, compressedLength }: ArchivePart) =>
    length > mostPartBytes || (length > suspectBytes && length > mostRatio * compressedLength);
  if (parts.some(isTooLarge)) {
    throw new TableError(`${name}: a part of it is too large to read; export it as CSV`);
  }
  if (isOds) {
    const { readOds, streamOdsRows } = await import("hucre/ods");
    return {
      sheets: async () => (await readOds(file, { maxRows: 1 })).sheets.map((sheet) => sheet.name),
      rows: (sheet, maxRows) => streamOdsRows(file, { sheets: [sheet], ...(maxRows && { maxRows }) }),
      links: async () => new Map(),
    };
  }
  const { readXlsx, streamXlsxRows } = await import("hucre/xlsx");
  return {
    sheets: async () => (await readXlsx(file, { maxRows: 1 })).sheets.map((sheet) => sheet.name),
    rows: (sheet, maxRows) => streamXlsxRows(file, { sheet, ...(maxRows && { maxRows }) }),
    async links(sheet) {
      const linked = parts.some((part) => part.name.startsWith("xl/worksheets/_rels/"));
      if (!linked || parts.some(({ length }) => length > mostLinkedBytes)) return new Map();
      const { cells } = (await readXlsx(file, { sheets: [sheet] })).sheets[0] ?? {};
      const found = [...(cells ?? [])].flatMap(([place, { hyperlink }]) => {
        const [, address] = /^mailto:([^?]+)/i.exec(hyperlink?.target ?? "") ?? [];
        return address === undefined ? [] : [[place, address] as const];
      });
      return new Map(found);
    },
  };
}

/** Returns the index of the first sheet with an item in its first rows, or the first sheet. */
async function firstWithItems(
  name: string,
  book: Workbook,
  sheets: readonly string[],
  profile: ItemProfile,
): Promise<number> {
  for (const index of sheets.keys()) {
    const isFound = await explained(name, async () => {
      for await (const { values } of book.rows(index, sampleRows)) {
        if (values.some((value) => profile.likeness(textOf(value)) > 0)) return true;
      }
      return (await book.links(index)).size > 0;
    });
    if (isFound) return index;
  }
  return 0;
}

/** Yields rows as CSV. Rows that the sheet leaves out are blank lines, so that each row keeps its number. */
async function* csvOf(
  name: string,
  rows: AsyncIterable<StreamRow>,
  links: ReadonlyMap<string, string>,
): AsyncGenerator<Uint8Array> {
  const iterator = rows[Symbol.asyncIterator]();
  let piece = "";
  let line = 0;
  for (;;) {
    const { value: row, done } = await explained(name, () => iterator.next());
    if (done) break;
    for (; line < row.index; line++) piece += "\n";
    const fields = row.values.map((value, column) => {
      const text = textOf(value);
      const address = links.get(`${row.index},${column}`);
      return quoteField(address === undefined || text.includes("@") ? text : `${text} <${address}>`, ",");
    });
    // Without quotes, a row of one empty cell would be a blank line, which is the same.
    piece += `${fields.join(",")}\n`;
    line++;
    if (piece.length >= pieceLength) {
      yield Buffer.from(piece);
      piece = "";
    }
  }
  yield Buffer.from(piece);
}

/** Returns a cell as text. Dates are written as in ISO 8601, without a time at midnight. */
function textOf(value: CellValue): string {
  if (value === null) return "";
  if (value instanceof Date)
    return value
      .toISOString()
      .replace(/(?:T00:00:00)?\.000Z$/, "")
      .replace("T", " ");
  return typeof value === "boolean" ? String(value).toUpperCase() : String(value);
}

/** Reads a whole file. */
async function collect(name: string, input: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input) {
    length += chunk.length;
    if (length > mostBytes)
      throw new TableError(`${name}: over 512 MiB, too large for a spreadsheet file; export it as CSV`);
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}

/** Runs work of the library, whose errors are about the file. */
async function explained<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ChoiceError || error instanceof TableError) throw error;
    const isProtected = /encrypt|password/i.test((error as Error).message);
    const what = isProtected ? "a spreadsheet file with a password" : "a damaged spreadsheet file";
    throw new TableError(`${name}: ${what}: ${(error as Error).message}; export it as CSV`);
  }
}
