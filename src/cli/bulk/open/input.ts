/** Opens the input of a run: undoes its compression and encoding, finds the table in it, and names the added columns. */

import type { Compression } from "../../../files/compression-format.js";
import { type DecodedInput, decodeInput } from "../../../files/decoding.js";
import { ChoiceError } from "../../../files/errors.js";
import { type InputFile, openInputFile } from "../../../files/input.js";
import { isZipStart } from "../../../files/zip-start.js";
import type { CellOptions } from "../../../run/cells.js";
import { type Columns, nameColumns } from "../../../run/columns.js";
import { isStatus, type Update } from "../../../run/earlier-fields.js";
import { profiles } from "../../../run/profiles.js";
import { columnsInSheet } from "../../../run/sheet-columns.js";
import type { BadRowListener } from "../../../table/bad-rows.js";
import { isUtf8Text, nameText } from "../../../table/bytes.js";
import { openTable } from "../../../table/reader.js";
import type { RecordStream } from "../../../table/scan/scanned-records.js";
import type { OpenSheet, openSheet, WriteRows } from "../../../table/spreadsheet/workbook.js";
import type { Table } from "../../../table/table.js";
import { isForExcel, withMark } from "../../../table/writers/byte-order-mark.js";
import { counted } from "../../../text.js";
import { losesStyles, type Plan } from "../plan/plan.js";
import { linesText } from "../report/bad-rows.js";
import { checkMemory } from "./memory.js";
import { checkFormulas, checkItems, checkNamed, checkStart, formulasRemark } from "./no-items.js";

export interface OpenInput {
  readonly input: InputFile;
  readonly compression: Compression | undefined;
  /** Encoding that the input was in; undefined for UTF-8 and bytes that stay as they are. */
  readonly encoding: string | undefined;
  readonly sheet: Pick<OpenSheet, "name" | "emptyFormulas" | "hiddenRows"> | undefined;
  /** Makes the workbook that is read with more columns; undefined if it is not to be returned. */
  readonly returned: WriteRows | undefined;
  readonly table: Table;
  /** Records of the table, after a byte order mark where one is wanted. */
  readonly stream: RecordStream;
  readonly columns: Columns;
  readonly cells: Omit<CellOptions, "kind">;
  /** Undefined if the table has no status columns of an earlier run. */
  readonly update: Update | undefined;
  /** Returns the share of the input that has been read, from 0 to 1; undefined if the size of the input is unknown. */
  readonly share: () => number | undefined;
}

interface InputEvents {
  readonly onBadRow: BadRowListener;
  /** Called before anything is read, with the function that closes the input. */
  readonly onOpen: (close: () => Promise<void>) => void;
  readonly signal: AbortSignal;
}

/**
 * Opens the input and finds its table.
 *
 * @throws FileError, TableError, ChoiceError when the file cannot be used
 */
export async function openInput(plan: Plan, { onBadRow, onOpen, signal }: InputEvents): Promise<OpenInput> {
  const { inputName, columns: wanted, isForced, note } = plan;
  const input = await inputFileOf(plan, signal);
  // If reading stops half-way, the garbage collector would close the file, and Node would print a warning.
  onOpen(() => input.close());
  const counted = countBytes(input);
  const decoded = await decodeInput(inputName, counted.bytes, plan.encoding);
  const isFound = plan.encoding === undefined || plan.encoding === "auto";
  if (decoded.encoding !== undefined && isFound) {
    const output = plan.outputEncoding === undefined ? "; the output is UTF-8" : "";
    note(`${inputName} is ${decoded.encoding.toUpperCase()}${output}`);
  }
  const sheet = await readSheet(plan, input, decoded, signal);
  const table = await openTable(
    { name: inputName, bytes: sheet?.bytes ?? decoded.bytes, mayPause: input.size === undefined },
    {
      ...plan.table,
      ...(sheet && { delimiter: ",", sheet }),
      onBadRow,
    },
  ).catch((error: unknown) => {
    const formulas = sheet?.emptyFormulas();
    if (formulas && error instanceof ChoiceError) error.message += `; ${formulasRemark(formulas)}`;
    throw error;
  });
  if (sheet !== undefined) await checkFormulas(inputName, sheet, table);
  if (table.madeOf !== undefined) {
    if (plan.isInPlace)
      throw new ChoiceError(
        `${inputName}: ${table.madeOf} cannot be replaced; write a table with -o FILE.csv`,
      );
    note(`${inputName}: ${table.madeOf}; the output is a table of its names and addresses`);
  }
  const { linesWithItems = [] } = table;
  if (linesWithItems.length > 0) {
    const lines = linesText({ count: linesWithItems.length, lines: linesWithItems.slice(0, 3) });
    note(`${inputName}: ${profiles[plan.kind].plural} in the text above the table are not judged: ${lines}`);
  }
  if (table.elements?.mayHaveMore) {
    note(`${inputName}: lists that begin after its first 16 MiB are not looked for; -c names them`);
  }
  if (table.elements?.isOfTexts) {
    if (table.format === "json") note(`${inputName}: a list of texts; the output is a list of objects`);
  }
  if (table.header?.some((name) => !isUtf8Text(name))) {
    const encoding = await table.surelyIn();
    const advice =
      encoding === undefined ? "name its encoding with --encoding" : `pass --encoding ${encoding}`;
    note(`${inputName}: its header is not UTF-8; ${advice} to read the names of its columns`);
  }
  const isMeant = plan.table.columns !== undefined || isForced;
  if (plan.table.columns !== undefined && !isForced) checkNamed(plan.kind, inputName, table);
  checkItems(plan.kind, inputName, table, isMeant);
  checkUpdate(plan, table);
  const columns = nameColumns(table.names, wanted.status, {
    withReasons: wanted.isExplained,
    withExchange: wanted.isExplained && plan.dns !== "off",
    withFixes: wanted.fixes !== undefined,
    withCanonical: wanted.isCanonical,
    withFlags: wanted.isFlagged,
    escapesFormulas: wanted.escapesFormulas,
    others: table.otherColumns.map((column) => columnName(table, column)),
    ...(wanted.update && { isOurs: (column) => holdsStatuses(table.firstValues(column)) }),
  });
  let wasValidated = false;
  for (const { usual, name } of columns.renamed) {
    const index = table.names.indexOf(usual);
    const isOurs = index >= 0 && holdsStatuses(table.firstValues(index));
    wasValidated ||= isOurs && table.firstValues(index).some(isStatus);
    const advice = isOurs && !wanted.update ? "; to go on with an earlier run, use --update" : "";
    note(`${inputName} has a column "${usual}" already; ours is "${name}"${advice}`);
  }
  const { indices } = columns;
  const isUpdate = indices.some((index) => index !== undefined);
  const each = indices.length / (1 + table.otherColumns.length);
  const isFilled = (index: number | undefined) =>
    index === undefined || table.firstValues(index).some((value) => value !== "");
  const isSure = indices.every((index, i) => i % each !== 0 || isFilled(index));
  const keeps = wanted.update !== "all";
  const update: Update | undefined = isUpdate
    ? {
        input: inputName,
        keeps,
        isSure,
        // Without `bad`, a field that is not a status ends the run. Objects of JSON Lines name their fields.
        ...(keeps &&
          isSure &&
          table.dialect.delimiter !== null && {
            bad: { isBadRow: badRowTest(plan), policy: plan.badRows.policy, onBadRow },
          }),
      }
    : undefined;
  const isForOthers = decoded.encoding !== undefined && plan.outputEncoding === undefined;
  const needsMark = plan.hasMark || (isForOthers && isForExcel(table));
  const cells: Omit<CellOptions, "kind"> = {
    ...plan.cells,
    isPlainList: table.dialect.delimiter === null && table.dialect.quote !== "",
  };
  const isPlain = decoded.compression === undefined && decoded.encoding === undefined && sheet === undefined;
  if (isPlain && input.size !== undefined && table.recordBytes !== undefined && !isUpdate && !isForced) {
    const rows = input.size / table.recordBytes;
    checkMemory(inputName, rows, 1 + table.otherColumns.length, { shards: plan.shard?.count });
  }
  // The output of an earlier run may be validated again, even if nearly all its rows are fake.
  if (!isMeant && !isUpdate && !wasValidated)
    await checkStart(inputName, table, { kind: plan.kind, ...cells });
  return {
    input,
    table,
    columns,
    cells,
    update,
    sheet,
    returned: await sheet?.addColumns?.(columnsInSheet(columns, table, plan.filter)),
    share: sheet === undefined ? counted.share : () => undefined,
    compression: decoded.compression,
    encoding: decoded.encoding,
    stream: needsMark ? withMark(table) : table,
  };
}

/**
 * Opens an input as {@link openInput} does, and closes it again.
 *
 * @throws FileError, TableError, ChoiceError when the file cannot be used
 */
export async function tryInput(plan: Plan, signal: AbortSignal): Promise<void> {
  let close = async () => {};
  const onOpen = (closeInput: typeof close) => {
    close = closeInput;
  };
  try {
    await openInput({ ...plan, note: () => {} }, { onBadRow: () => {}, onOpen, signal });
  } finally {
    await close();
  }
}

/** @throws ChoiceError for an update of a table without a header: its status column cannot be found */
function checkUpdate({ inputName, columns: { update } }: Plan, { header, width }: Table): void {
  if (update === undefined || header !== undefined || width === 0) return;
  throw new ChoiceError(
    `${inputName}: has no header, so --update cannot tell the column of an earlier run; add a header, or leave --update out`,
  );
}

/**
 * Tells the bad rows that an earlier run kept: their status field holds an item. Other words may be statuses of a
 * service.
 */
const badRowTest =
  ({ table: { items } }: Plan) =>
  (status: string): boolean =>
    !isStatus(status) && items?.holds(status) === true;

/** Returns the name of a column, or its index from 1 if it has none. */
export const columnName = ({ header }: Pick<Table, "header">, column: number): string =>
  nameText(header?.[column] ?? "") || String(column + 1);

/** Also true if no field is filled. */
function holdsStatuses(values: readonly string[]): boolean {
  const filled = values.filter((value) => value !== "");
  return filled.filter(isStatus).length >= filled.length / 2;
}

async function readSheet(
  plan: Plan,
  { size, read }: InputFile,
  { start, bytes, compression }: DecodedInput,
  signal: AbortSignal,
): Promise<OpenSheet | undefined> {
  const {
    kind,
    inputName,
    sheet: wanted,
    encoding,
    isInPlace,
    workbook,
    returnsWorkbook,
    backup,
    note,
  } = plan;
  if (!isZipStart(start)) {
    if (wanted === undefined) return undefined;
    throw new ChoiceError(`${inputName}: --sheet is for spreadsheet files, and this is not one`);
  }
  if (encoding !== undefined && encoding !== "auto") {
    throw new ChoiceError(`${inputName}: --encoding is for text, and this is a spreadsheet file`);
  }
  if (isInPlace && workbook === undefined) {
    throw new ChoiceError(
      `${inputName}: only .xlsx and .xlsm can be replaced; write another file with -o FILE.xlsx`,
    );
  }
  const isFile = read !== undefined && size !== undefined && compression === undefined;
  const archive = isFile ? { length: size, read } : bytes;
  const sheet = await openBook(inputName, archive, profiles[kind], wanted, signal);
  const addColumns = returnsWorkbook && sheet.format === workbook ? sheet.addColumns : undefined;
  const isLost = workbook !== undefined && addColumns === undefined;
  if (isLost && isInPlace && backup === undefined) throw new ChoiceError(`${inputName}: ${losesStyles}`);
  const macros = sheet.format === "xlsm" ? ", macros" : "";
  const lost = isLost
    ? `; styles, formulas${macros} and other sheets are not kept, and all cells are text`
    : "";
  const hidden = sheet.isHidden ? ", which is hidden" : "";
  note(`${inputName}: sheet "${sheet.name}"${hidden}${lost}${othersRemark(sheet.others)}`);
  return { ...sheet, addColumns };
}

/** Loads the code for workbooks only for them: it is large. */
async function openBook(...parameters: Parameters<typeof openSheet>): Promise<OpenSheet> {
  const { openSheet } = await import("../../../table/spreadsheet/workbook.js");
  return openSheet(...parameters);
}

/** Number of sheets that a remark names. */
const mostNamed = 3;

function othersRemark(others: readonly string[]): string {
  if (others.length === 0) return "";
  const names = others.slice(0, mostNamed).map((name) => `"${name}"`);
  if (others.length > mostNamed) names.push(counted(others.length - mostNamed, "other"));
  const have = others.length === 1 ? "has" : "have";
  return `; ${new Intl.ListFormat("en").format(names)} ${have} items, too: choose one with --sheet, or all with --sheet "*"`;
}

function inputFileOf({ input, member, standardInput }: Plan, signal: AbortSignal) {
  if (member) return member.container.read(member.table);
  return typeof standardInput === "object" ? standardInput : openInputFile(standardInput ?? input!, signal);
}

function countBytes({ bytes, size }: InputFile) {
  let count = 0;
  async function* counted() {
    for await (const chunk of bytes) {
      count += chunk.length;
      yield chunk;
    }
  }
  return { bytes: counted(), share: () => (size ? count / size : undefined) };
}
