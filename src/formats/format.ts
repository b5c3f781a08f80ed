// What a format is: its endings, its first bytes, and the choices that do not fit it. A format is a file or folder
// beside this one and a line in registry.ts; its code is loaded with the first file of it.
import type { ItemProfile } from "../core/table/sniff/item-profile.js";
import { ChoiceError } from "../files/errors.js";
import type { InputFile } from "../files/input.js";
import type { ReplacedFile } from "../files/output.js";
import type { TableSink } from "../files/table-sink.js";
import type { AddedColumns, RowBatches } from "./xlsx/sheet.js";
import type { Archive } from "./zip/archive.js";

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

/** A format whose files are read as CSV, a part of them at a time, and come back with more columns in that part. */
export interface SheetFormat {
  readonly what: string;
  /** These are also the endings of names. */
  readonly kinds: readonly SheetKind[];
  starts(bytes: Uint8Array): boolean;
  readonly refuses: { readonly input: Refusals; readonly output: Refusals };
  readonly loses: string;
  open(
    name: string,
    input: AsyncIterable<Uint8Array> | Archive,
    profile: ItemProfile,
    wanted: string | undefined,
    signal: AbortSignal,
  ): Promise<OpenSheet>;
  /** @throws ChoiceError for a kind that is only made from a file of its own */
  create(name: string, kind: SheetKind, sheet: string): Promise<WriteRows>;
  /** The sink takes CSV. `isReturned` if the file is the one that was read: then `write` needs all of its rows. */
  sinkFor(sink: TableSink, delimiter: string, write: WriteRows, isReturned: boolean): Promise<TableSink>;
}

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

/** A table of a container. */
export interface MemberFile extends InputFile {
  /** Of a sheet: opens it in the workbook, which stays open. */
  readonly openSheet?: (name: string) => Promise<OpenSheet>;
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
  read(table: string): MemberFile;
  hasChanged(at?: string): Promise<boolean>;
  close(): Promise<void>;
  /** Opens a file that gets all that is in it, with these tables written anew in their order. */
  returnTo(path: string, tables: readonly string[]): Promise<ReturnedContainer>;
  /** The file that gets the tables as they come out of the run, and the one that it replaces. */
  returned?: ReturnedContainer;
  replaced?: ReplacedFile | undefined;
}

/** The file that the user gave, which the container is or is in. */
export const fileOf = ({ name, within }: Pick<Container, "name" | "within">): string =>
  within === "" ? name : name.slice(0, -within.length - 1);

export interface ReturnedContainer extends TableSink {
  /** Whether nothing in it would change. Call it after `prepare`. */
  isSame(): Promise<boolean>;
  /** The sink before it has to be committed. */
  partSink(table: string): TableSink;
}

/** @throws ChoiceError for the first given choice that is refused */
export function refuse(name: string, refusals: Refusals, given: Partial<Record<keyof Refusals, boolean>>): void {
  for (const [choice, reason] of Object.entries(refusals)) {
    if (given[choice as keyof Refusals]) throw new ChoiceError(`${name}: ${reason}`);
  }
}
