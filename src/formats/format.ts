// What a sheet is, what holds several tables, and the choices that do not fit a format.
import { ChoiceError } from "../files/errors.js";
import type { InputFile } from "../files/input.js";
import type { FileCopy } from "../files/output.js";
import type { TableSink } from "../files/table-sink.js";
import type { AddedColumns, RowBatches } from "./xlsx/sheet.js";

/** Texts for users, after the name of the file, about choices that the format cannot follow. */
export interface Refusals {
  readonly sheet?: string;
  readonly encoding?: string;
  readonly comment?: string;
  /** `--in-place` */
  readonly replacement?: string;
  /** `--bad-rows keep` */
  readonly keptRows?: string;
  readonly format?: string;
  readonly outputEncoding?: string;
}

/** These are also the endings of names. */
export type SheetKind = "xlsx" | "xlsm";

export interface OpenSheet {
  readonly format: SheetKind;
  readonly name: string;
  readonly isHidden: boolean;
  /** Other sheets with something like an item in their first rows; none if the sheet was named. */
  readonly others: readonly string[];
  /** CSV with commas and LF, in UTF-8. Empty rows at the end are left out. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Covers the rows read so far, as does `emptyFormulas`. */
  hiddenRows(): number;
  emptyFormulas(): EmptyFormulas | undefined;
  /** Number of columns below row `row`, from 1; at least `known`. Reads all rows. */
  widthBelow(row: number, known: number): Promise<number>;
  /** Whether a column, from 0, has formulas without a stored value, and nothing else below the first of them. */
  lacksValues(column: number): Promise<boolean>;
  /** Yields the file with added columns and all else unchanged; undefined if that is impossible. @throws TableError */
  readonly addColumns: ((added: AddedColumns) => Promise<WriteRows>) | undefined;
}

export type WriteRows = (rows: RowBatches) => AsyncIterable<Uint8Array>;

/** Formulas without a stored value, as of a program that calculates nothing. `first` names the first cell with one. */
export interface EmptyFormulas {
  readonly count: number;
  readonly first: string;
}

/** A file whose tables are files of a run: a zip archive, or a spreadsheet file of which all sheets are wanted. */
export interface Container {
  /** Its path, or `standard input`; for a container in another one, after the name of that. */
  readonly name: string;
  /** Its path in the file that the user gave; empty for that file itself. */
  readonly within: string;
  /** Name of the format, also the ending of the files that it can come back as. */
  readonly format: string;
  readonly isOfSheets: boolean;
  /** Why it does not come back with its tables; undefined if it can. */
  readonly stays?: string | undefined;
  readonly names: readonly string[];
  readonly tables: readonly string[];
  read(table: string): InputFile | Promise<InputFile>;
  hasChanged(): Promise<boolean>;
  close(): Promise<void>;
  /** Opens a file that gets all that is in it, with these tables written anew in their order. */
  returnTo(path: string, tables: readonly string[]): Promise<ReturnedContainer>;
  /** The file that gets the tables as they come out of the run, and the backup of the one that it replaces. */
  returned?: ReturnedContainer;
  backup?: FileCopy | undefined;
}

export interface ReturnedContainer extends TableSink {
  /** Whether nothing in it would change. Call it after `prepare`. */
  isSame(): Promise<boolean>;
  /** The sink before it has to be committed. */
  partSink(table: string): TableSink | Promise<TableSink>;
}

/** @throws ChoiceError for the first given choice that is refused */
export function refuse(
  name: string,
  refusals: Refusals,
  given: Readonly<Partial<Record<keyof Refusals, boolean>>>,
): void {
  for (const [choice, reason] of Object.entries(refusals)) {
    if (given[choice as keyof Refusals]) throw new ChoiceError(`${name}: ${reason}`);
  }
}
