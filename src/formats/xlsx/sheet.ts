/** Rows of a sheet. Empty cells and rows are only counted: a few bytes of a file can stand for millions of them. */
import { longRecordBytes } from "../../core/table/records.js";
import type { ChangedPart } from "../zip/archive.js";

/** Limits of a sheet in Excel and LibreOffice. */
export const mostRows = 1_048_576;
export const mostColumns = 16_384;
export const mostCharacters = longRecordBytes;

export const repair = "repair the workbook in a spreadsheet program, or export it as CSV";

export interface SheetRow {
  /** From 1. */
  readonly number: number;
  /** Texts of the cells, without empty ones at the end. */
  readonly fields: readonly string[];
  /** Columns, from 0, with a formula that has no stored value. Their fields are empty. */
  readonly emptyFormulas: readonly number[];
  readonly isHidden: boolean;
}

export interface SheetSample {
  readonly name: string;
  readonly index: number;
  readonly isHidden: boolean;
  readonly hasRows: boolean;
  readonly hasItems: boolean;
}

/** Indices count from 0. */
export interface AddedColumns {
  readonly names: readonly string[];
  /** Index of the field for each name: of a column that an earlier run added, or of a new one after the table. */
  readonly indices: readonly number[];
  readonly width: number;
  readonly column: number;
  /** Columns with items that are repaired where there is a text in `was`. */
  readonly fixes?: readonly { readonly item: number; readonly was: number }[];
  /** From 1; undefined if all rows stay. */
  readonly firstRemovable?: number | undefined;
}

/** Stands for a row that is taken out. No cell has this text. */
export const removedRow = "\0";

/** Each batch is made when it is taken, so that its rows do not outlive it. */
export type RowBatches = AsyncIterable<Iterable<readonly string[]>>;

/** The part that names the sheets. Each change of a sheet may change it. */
export const bookPath = "xl/workbook.xml";

/** Takes rows from row 1 on, without gaps. Each part must be read before the next one is requested. */
export type SheetChange = (rows: RowBatches) => AsyncGenerator<ChangedPart>;

/** Its message names the cell or row. */
export class SheetFault extends Error {
  override readonly name = "SheetFault";

  constructor(
    what: string,
    readonly advice?: string,
  ) {
    super(what);
  }
}

export class RowCells {
  number = 1;
  column = 0;
  isHidden = false;
  #fields: string[] = [];
  #emptyFormulas: number[] = [];
  #length = 0;

  constructor(readonly sheet: string) {}

  add(text: string, isEmptyFormula = false): void {
    const column = this.column++;
    if (text === "" && !isEmptyFormula) return;
    if (column >= mostColumns) throw this.fault(column, `a sheet has columns A to XFD; ${repair}`);
    this.#length += text.length + 1;
    if (this.#length > mostCharacters) throw this.tooLong(column);
    while (this.#fields.length < column) this.#fields.push("");
    this.#fields[column] = text;
    if (isEmptyFormula) this.#emptyFormulas.push(column);
  }

  take(): SheetRow | undefined {
    const { number, isHidden } = this;
    const fields = this.#fields;
    const emptyFormulas = this.#emptyFormulas;
    this.number++;
    this.column = 0;
    if (fields.length === 0) return undefined;
    this.#fields = [];
    this.#emptyFormulas = [];
    this.#length = 0;
    if (number < 1 || number > mostRows) {
      throw new SheetFault(`sheet "${this.sheet}", row ${number}: a sheet has rows 1 to 1,048,576; ${repair}`);
    }
    return { number, fields, emptyFormulas, isHidden };
  }

  tooLong(column = this.column): SheetFault {
    return this.fault(column, "the row is over 1 MiB up to here; export the sheet as CSV");
  }

  fault(column: number, what: string): SheetFault {
    return new SheetFault(`sheet "${this.sheet}", cell ${cellName(column, this.number)}: ${what}`);
  }
}

/** `AB12`; `column` counts from 0, `row` from 1. */
export const cellName = (column: number, row: number): string => `${columnLetters(column)}${row}`;

export function columnLetters(column: number): string {
  let letters = "";
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  }
  return letters;
}

const longestColumn = 7;

/** Column of a cell's name, from 0; -1 if it starts with no letters, or too many. */
export function columnOf(name: string): number {
  let column = 0;
  let at = 0;
  for (; at < name.length; at++) {
    const letter = (name.charCodeAt(at) & ~0x20) - 64;
    if (letter < 1 || letter > 26) break;
    column = column * 26 + letter;
  }
  return at > 0 && at <= longestColumn ? column - 1 : -1;
}

/** Matches the name of a sheet in a formula: quoted, with its quotes doubled, or as it is. */
export function sheetPattern(sheet: string): string {
  const name = sheet.replaceAll("'", "''").replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return `(?:'${name}'|${name})`;
}

export function columnIn(address: string, sheet: string): number {
  const column = columnOf(address);
  if (column !== -1) return column;
  throw new SheetFault(`sheet "${sheet}": there is no cell "${address.slice(0, 20)}"; ${repair}`);
}
