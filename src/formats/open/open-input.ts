/** Undoes compression and encoding of an input, finds its table, and names the added columns. Used in browsers, too. */
import type { CellOptions } from "../../core/run/items/cells.js";
import { profiles } from "../../core/run/items/profiles.js";
import { type Columns, nameColumns, type WantedDetails } from "../../core/run/rows/columns.js";
import { isStatus, type Update } from "../../core/run/rows/earlier-fields.js";
import type { RowFilter } from "../../core/run/run-options.js";
import type { BadRowListener } from "../../core/table/bad-rows.js";
import { isUtf8Text } from "../../core/table/bytes.js";
import type { RecordStream } from "../../core/table/scan/scanned-records.js";
import { columnName, type Table, type TableOptions } from "../../core/table/table.js";
import { isForExcel, withMark } from "../../core/table/writers/start.js";
import type { Kind } from "../../core/validator/validator.js";
import { ChoiceError } from "../../files/errors.js";
import { counted, linesText } from "../../text.js";
import type { Compression } from "../compression/compression-format.js";
import { type DecodedInput, decodeInput } from "../encodings/decoding.js";
import type { MemberFile, OpenSheet, WriteRows } from "../format.js";
import { refuse, type SheetKind } from "../format.js";
import { sheetFormatOf, textRefuses } from "../registry.js";
import { openTable } from "../text-formats.js";
import { columnsInSheet } from "../xlsx/sheet-columns.js";
import { checkFormulas, checkItems, checkNamed, checkStart, formulasRemark } from "./no-items.js";

export type InputSource = Pick<MemberFile, "bytes" | "size" | "read" | "openSheet">;

export interface ColumnChoices extends Required<WantedDetails> {
  readonly status: string;
  readonly escapesFormulas: boolean;
  /** Rows of an earlier run to validate: those without a status, or all; undefined for a first run. */
  readonly update: "rest" | "all" | undefined;
}

export interface WrittenSheets {
  /** `same` for that of the input. */
  readonly kind: SheetKind | "same";
  /** Whether the one that is read comes back, with columns added, if it is of that kind. */
  readonly mayReturn: boolean;
}

export interface InputChoices {
  readonly kind: Kind;
  readonly inputName: string;
  readonly encoding: string | undefined;
  /** `same` for that of the input; undefined for UTF-8. */
  readonly outputEncoding: string | undefined;
  readonly sheet: string | undefined;
  readonly sheets: WrittenSheets | undefined;
  readonly isInPlace: boolean;
  /** Set if the table goes back into an archive or a workbook. */
  readonly returned?: object | undefined;
  readonly backup: string | undefined;
  readonly table: TableOptions;
  readonly columns: ColumnChoices;
  readonly cells: Omit<CellOptions, "kind" | "isPlainList">;
  readonly filter: RowFilter;
  readonly hasMark: boolean;
  readonly isForced: boolean;
  readonly note: (text: string) => void;
}

export interface InputEvents {
  readonly onBadRow: BadRowListener;
  readonly signal: AbortSignal;
}

export interface OpenedInput {
  readonly compression: Compression | undefined;
  /** Undefined for UTF-8 and bytes that stay as they are. */
  readonly encoding: string | undefined;
  readonly sheet: Pick<OpenSheet, "format" | "name" | "others" | "emptyFormulas" | "hiddenRows"> | undefined;
  /** Makes the file that is read with more columns; undefined if it is not to be returned. */
  readonly returned: WriteRows | undefined;
  readonly table: Table;
  readonly stream: RecordStream;
  readonly columns: Columns;
  readonly cells: Omit<CellOptions, "kind">;
  readonly update: Update | undefined;
  /** From 0 to 1; undefined if the size of the input is unknown. */
  readonly share: () => number | undefined;
}

/** @throws FileError, TableError, ChoiceError when the input cannot be used */
export async function openInput(
  source: InputSource,
  choices: InputChoices,
  { onBadRow, signal }: InputEvents,
): Promise<OpenedInput> {
  const { kind, inputName: name, isForced, outputEncoding } = choices;
  const { bytes, share } = countBytes(source);
  const decoded = await decodeInput(name, bytes, choices.encoding, isForced);
  const { compression, encoding } = decoded;
  noteEncoding(choices, decoded);
  const sheet = await readSheet(choices, source, decoded, signal);
  const table = await openTable(
    { name, bytes: sheet?.bytes ?? decoded.bytes, mayPause: source.size === undefined },
    { ...choices.table, ...(sheet && { delimiter: ",", sheet }), onBadRow },
  ).catch((error: unknown) => {
    const formulas = sheet?.emptyFormulas();
    if (formulas && error instanceof ChoiceError) error.add(formulasRemark(formulas));
    throw error;
  });
  if (sheet !== undefined) await checkFormulas(name, sheet, table);
  await noteTable(choices, table);
  const isNamed = choices.table.columns !== undefined;
  if (isNamed && !isForced) await checkNamed(kind, name, table);
  checkItems(kind, name, table, isNamed || isForced);
  checkUpdate(choices, table);
  const columns = addedColumns(choices, table);
  const update = updateOf(choices, table, columns, onBadRow);
  const isForOthers = encoding !== undefined && outputEncoding === undefined;
  const cells = { ...choices.cells, isPlainList: table.dialect.delimiter === null && table.dialect.quote !== "" };
  const wasValidated = columns.renamed.some(({ usual }) => earlierValues(table, usual)?.some(isStatus));
  const isOutput = update !== undefined || wasValidated;
  // The output of an earlier run may be validated again, even if nearly all its rows are fake.
  if (!isNamed && !isForced && !isOutput) await checkStart(name, table, { kind, ...cells });
  return {
    table,
    columns,
    cells,
    update,
    sheet,
    returned: await sheet?.addColumns?.(columnsInSheet(columns, table, choices.filter)),
    share: sheet === undefined ? share : () => undefined,
    compression,
    encoding,
    stream: choices.hasMark || (isForOthers && isForExcel(table)) ? withMark(table) : table,
  };
}

function noteEncoding(
  { inputName, encoding, outputEncoding, note }: InputChoices,
  { encoding: found, isUnsure }: DecodedInput,
): void {
  if (isUnsure) note(`${inputName}: cannot detect its encoding, so --encoding auto is ignored; name the encoding`);
  if (found === undefined || (encoding !== undefined && encoding !== "auto")) return;
  const output = outputEncoding === undefined ? "; the output is UTF-8" : "";
  note(`${inputName} is ${found.toUpperCase()}${output}`);
}

/** Notes what may not be as the user expects it. @throws ChoiceError when the input cannot be replaced */
async function noteTable(
  { kind, inputName, isInPlace, returned, table: { header: usesHeader }, note }: InputChoices,
  { format, header, madeOf, elements, linesWithItems = [], unusedHeader, surelyIn }: Table,
): Promise<void> {
  if (madeOf !== undefined) {
    const replacement = `${madeOf} cannot be replaced; write a table with -o FILE.csv`;
    refuse(inputName, { replacement }, { replacement: isInPlace || returned !== undefined });
  }
  const notes: string[] = [];
  if (madeOf !== undefined) notes.push(`${madeOf}; the output is a table of its names and addresses`);
  if (linesWithItems.length > 0) {
    const lines = linesText({ count: linesWithItems.length, lines: linesWithItems.slice(0, 3) });
    notes.push(`${profiles[kind].plural} in the text above the table are not judged: ${lines}`);
  }
  if (unusedHeader !== undefined) {
    const option = usesHeader === false ? "--no-headers" : "--skip-lines";
    notes.push(`line ${unusedHeader} reads like the header; to use it as one, leave out ${option}`);
  }
  if (elements?.mayHaveMore) notes.push("lists that begin after the first 16 MiB are not detected; name them with -c");
  if (elements?.isOfTexts && format === "json") notes.push("a list of texts; the output is a list of objects");
  if (header?.some((name) => !isUtf8Text(name))) {
    const encoding = await surelyIn();
    const asWindows = ", and read as windows-1252; name its encoding with --encoding if that is wrong";
    notes.push(`its header is not UTF-8${encoding === undefined ? asWindows : `; pass --encoding ${encoding}`}`);
  }
  for (const text of notes) note(`${inputName}: ${text}`);
}

/** @throws ChoiceError for a file that was replaced before: each night would add a column */
function addedColumns(choices: InputChoices, table: Table): Columns {
  const { inputName, columns: wanted, isInPlace, note } = choices;
  const columns = nameColumns(table.names, wanted.status, {
    ...wanted,
    others: table.otherColumns.map((column) => columnName(table, column)),
    ...(wanted.update && { isOurs: (column) => holdsStatuses(table.firstValues(column)) }),
  });
  const last = table.width - 1;
  if (isInPlace && !wanted.update && table.header === undefined && table.column < last && areStatuses(table, last)) {
    const advice = "give it a header, or write with -o";
    throw new ChoiceError(`${inputName}: has statuses already, in its last column, and no header; ${advice}`, {
      holdsItems: true,
    });
  }
  for (const { usual, name } of columns.renamed) {
    const isStatusColumn = usual === wanted.status || usual.startsWith(`${wanted.status}_`);
    const earlier = isStatusColumn && [usual, `idv_${usual}`].find((each) => hasOnlyStatuses(table, each));
    if (isInPlace && !wanted.update && earlier) {
      const choice =
        "--update keeps them and checks the rest, --update=all overwrites them, --set statusColumn=NAME adds a column";
      throw new ChoiceError(`${inputName}: has statuses already, in the column "${earlier}"; ${choice}`, {
        holdsItems: true,
      });
    }
    const isOurs = earlierValues(table, usual) !== undefined;
    const advice = isOurs && !wanted.update ? `; if "${usual}" is from an earlier run, use --update` : "";
    note(`${inputName} already has a column "${usual}"; the new one is "${name}"${advice}`);
  }
  return columns;
}

function earlierValues({ names, firstValues }: Table, name: string): readonly string[] | undefined {
  const values = names.includes(name) ? firstValues(names.indexOf(name)) : undefined;
  return values && holdsStatuses(values) ? values : undefined;
}

/** A column of the user's own with such a name has other words, too. */
const hasOnlyStatuses = (table: Table, name: string): boolean =>
  table.names.includes(name) && areStatuses(table, table.names.indexOf(name));

function areStatuses({ firstValues }: Table, column: number): boolean {
  const values = firstValues(column).filter((value) => value !== "");
  return values.length > 0 && values.every(isStatus);
}

function updateOf(
  { inputName: input, columns: { update }, table: { items, badRows: policy = "error" } }: InputChoices,
  table: Table,
  { indices }: Columns,
  onBadRow: BadRowListener,
): Update | undefined {
  if (indices.every((index) => index === undefined)) return undefined;
  const each = indices.length / (1 + table.otherColumns.length);
  const isFilled = (index: number | undefined) =>
    index === undefined || table.firstValues(index).some((value) => value !== "");
  const isSure = indices.every((index, i) => i % each !== 0 || isFilled(index));
  const keeps = update !== "all";
  // Bad rows that an earlier run kept have an item in their status field. Other words may be statuses of a service.
  const isBadRow = (status: string) => !isStatus(status) && items?.holds(status) === true;
  // Without `bad`, a field that is not a status ends the run. Objects of JSON Lines name their fields.
  const mayHaveBad = keeps && isSure && table.dialect.delimiter !== null;
  return { input, keeps, isSure, ...(mayHaveBad && { bad: { isBadRow, policy, onBadRow } }) };
}

/** @throws ChoiceError for an update of a table whose status column cannot be found, or is about another column */
function checkUpdate({ inputName, columns: { update, status } }: InputChoices, table: Table): void {
  const { header, width, column, columnName: first } = table;
  if (update === undefined || width === 0) return;
  const own = `${status}_${columnName(table, column)}`;
  if (header !== undefined && earlierValues(table, own) === undefined) return;
  if (header !== undefined) {
    throw new ChoiceError(
      `${inputName}: "${own}" is from a run in which "${first}" was not the first column; name the columns with -c in the order of that run`,
    );
  }
  throw new ChoiceError(
    `${inputName}: has no header, so --update cannot tell the column of an earlier run; add a header, or leave --update out`,
  );
}

/** True, too, if no field is filled. */
function holdsStatuses(values: readonly string[]): boolean {
  const filled = values.filter((value) => value !== "");
  return filled.filter(isStatus).length >= filled.length / 2;
}

async function readSheet(
  choices: InputChoices,
  { size, read, openSheet }: InputSource,
  { start, bytes, compression }: DecodedInput,
  signal: AbortSignal,
): Promise<OpenSheet | undefined> {
  const { kind, inputName, sheet: wanted, encoding, isInPlace, sheets, backup, note } = choices;
  const format = sheetFormatOf(start);
  refuse(inputName, format?.refuses.input ?? textRefuses, {
    sheet: wanted !== undefined,
    encoding: encoding !== undefined && encoding !== "auto",
    replacement: isInPlace && sheets === undefined,
  });
  if (format === undefined) return undefined;
  const isFile = read !== undefined && size !== undefined && compression === undefined;
  const file = isFile ? { length: size, read } : bytes;
  const sheet = await (openSheet?.(inputName) ?? format.open(inputName, file, profiles[kind], wanted, signal));
  const isSame = sheets?.kind === "same" || sheets?.kind === sheet.format;
  const addColumns = sheets?.mayReturn && isSame ? sheet.addColumns : undefined;
  const isLost = sheets !== undefined && addColumns === undefined;
  if (isLost && isInPlace && backup === undefined) throw new ChoiceError(`${inputName}: ${format.loses}`);
  const macros = sheet.format === "xlsm" ? ", macros" : "";
  const lost = isLost ? `; styles, formulas${macros} and other sheets are not kept, and all cells are text` : "";
  const hidden = sheet.isHidden ? ", which is hidden" : "";
  note(`${inputName}: sheet "${sheet.name}"${hidden}${lost}${othersRemark(sheet.others)}`);
  return { ...sheet, addColumns };
}

const mostNamed = 3;

function othersRemark(others: readonly string[]): string {
  if (others.length === 0) return "";
  const names = others.slice(0, mostNamed).map((name) => `"${name}"`);
  if (others.length > mostNamed) names.push(counted(others.length - mostNamed, "other"));
  const have = others.length === 1 ? "has" : "have";
  return `; ${new Intl.ListFormat("en").format(names)} ${have} items, too: choose one with --sheet, or all with --sheet "*"`;
}

function countBytes({ bytes, size }: InputSource) {
  let count = 0;
  async function* counted() {
    for await (const chunk of bytes) {
      count += chunk.length;
      yield chunk;
    }
  }
  return { bytes: counted(), share: () => (size ? count / size : undefined) };
}
