/**
 * What a format is: by which endings and first bytes it is known, and which choices of a user do not fit it. A format is a file or a
 * folder beside this one and a line in registry.ts; its code is loaded with the first file of it.
 */
import type { ItemProfile } from "../core/table/sniff/item-profile.js";
import { ChoiceError } from "../files/errors.js";
import type { InputFile } from "../files/input.js";
import type { FileCopy } from "../files/output.js";
import type { TableSink } from "../files/table-sink.js";
import type { AddedColumns, RowBatches } from "./xlsx/sheet.js";
import type { Archive } from "./zip/archive.js";

/** Choices that some formats cannot follow; the text for each is what a user is told, after the name of the file. */
export type Refusals = Readonly<
  Partial<
    Record<
      | "sheet"
      | "encoding"
      | "comment"
      /** The file is replaced (`--in-place`). */
      | "replacement"
      /** Bad rows stay as they are (`--bad-rows keep`). */
      | "keptRows"
      /** A format of text is named (`--format`). */
      | "format"
      | "outputEncoding",
      string
    >
  >
>;

/** A format whose files are read as CSV, a part of them at a time, and come back with more columns in that part. */
export interface SheetFormat {
  /** What a file of it is. */
  readonly what: string;
  /** Its kinds, which are also the endings of their names. */
  readonly kinds: readonly SheetKind[];
  /** Returns whether a file of it may start so. */
  starts(bytes: Uint8Array): boolean;
  readonly refuses: { readonly input: Refusals; readonly output: Refusals };
  /** What is lost if a file of it is replaced by a new one. */
  readonly loses: string;
  /** Opens a sheet; see `openSheet` in xlsx/workbook.ts. */
  open(
    name: string,
    input: AsyncIterable<Uint8Array> | Archive,
    profile: ItemProfile,
    wanted: string | undefined,
    signal: AbortSignal,
  ): Promise<OpenSheet>;
  /**
   * Returns the way of rows into a new file.
   *
   * @throws ChoiceError for a kind that is made from a file of its own only
   */
  create(name: string, kind: SheetKind, sheet: string): Promise<WriteRows>;
  /**
   * Returns a sink that takes CSV.
   *
   * @param isReturned whether the file is the one that was read, so that `write` needs all of its rows
   */
  sinkFor(sink: TableSink, delimiter: string, write: WriteRows, isReturned: boolean): Promise<TableSink>;
}

export type SheetKind = "xlsx" | "xlsm";

export interface OpenSheet {
  readonly format: SheetKind;
  readonly name: string;
  readonly isHidden: boolean;
  /** Names of the other sheets whose first rows also contain something like an item; none if the sheet was named. */
  readonly others: readonly string[];
  /** The rows as CSV with commas and LF, in UTF-8. Empty rows at the end are left out. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Covers the rows read so far, as does `emptyFormulas`. */
  hiddenRows(): number;
  emptyFormulas(): EmptyFormulas | undefined;
  /**
   * Returns the number of columns of the rows below row `row`, which counts from 1; at least `known`. Reads all rows.
   */
  widthBelow(row: number, known: number): Promise<number>;
  /**
   * Returns whether a column, from 0, has formulas without a stored value, and nothing else below the first of them.
   */
  lacksValues(column: number): Promise<boolean>;
  /**
   * Returns a function that takes the rows of the sheet with the added fields, and yields the file with these columns
   * added and all else unchanged. Undefined if only another file can be written.
   *
   * @throws TableError if columns cannot be added; also from the iteration
   */
  readonly addColumns: ((added: AddedColumns) => Promise<WriteRows>) | undefined;
}

export type WriteRows = (rows: RowBatches) => AsyncIterable<Uint8Array>;

/**
 * Formulas without a stored value: the workbook was written by a program that calculates nothing. `first` is the name
 * of the first cell with one.
 */
export interface EmptyFormulas {
  readonly count: number;
  readonly first: string;
}

/** A file whose tables are files of a run: a zip archive, or a spreadsheet file of which all sheets are wanted. */
export interface Container {
  /** Its path, or `standard input`; those of a container in it are behind its name. */
  readonly name: string;
  /** Its path in the file that the user gave; empty for that file itself. */
  readonly within: string;
  /** Name of its format, which is the ending of the files that it can come back as. */
  readonly format: string;
  /** Whether its tables are sheets, which have no names of files. */
  readonly isOfSheets: boolean;
  /** Why it does not come back with its tables; undefined if it can. */
  readonly stays?: string | undefined;
  /** Names of everything in it. */
  readonly names: readonly string[];
  /** Names of its tables. */
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
  /** Returns whether nothing in it would change. Call it after `prepare`. */
  isSame(): Promise<boolean>;
  /** Returns the sink for a table. The one before it has to be committed. */
  partSink(table: string): TableSink | Promise<TableSink>;
}

/**
 * @param given which choices the user has made
 * @throws ChoiceError for the first one that is refused
 */
export function refuse(
  name: string,
  refusals: Refusals,
  given: Readonly<Partial<Record<keyof Refusals, boolean>>>,
): void {
  for (const [choice, reason] of Object.entries(refusals)) {
    if (given[choice as keyof Refusals]) throw new ChoiceError(`${name}: ${reason}`);
  }
}
