/** Refuses an input with no items, or nearly none, before anything is written or charged. */
import { partsOf } from "../../core/classifier/canonical.js";
import { type CellOptions, Cells, usualCells } from "../../core/run/items/cells.js";
import { innerAddress, profiles } from "../../core/run/items/profiles.js";
import type { RunReport } from "../../core/run/run-options.js";
import { nameText } from "../../core/table/bytes.js";
import { nameFit, nameFitOf } from "../../core/table/sniff/column.js";
import { startRecords } from "../../core/table/sniff/sample.js";
import type { Table } from "../../core/table/table.js";
import type { Kind } from "../../core/validator/validator.js";
import type { FaultWords } from "../../fault.js";
import { ChoiceError } from "../../files/errors.js";
import type { InputFile } from "../../files/input.js";
import { counted, grouped, pathWord, printable, shellWord } from "../../text.js";
import { decodeInput } from "../encodings/decoding.js";
import type { EmptyFormulas, OpenSheet } from "../format.js";

const names = {
  email: { one: "an e-mail address", command: "emails" },
  domain: { one: "a domain", command: "domains" },
} as const;

type CheckedTable = Pick<Table, "column" | "firstValues" | "format" | "header" | "otherColumns" | "width">;

type NamedTable = CheckedTable & Pick<Table, "startValues">;

/** A column that is named, or has a usual name, may hold anything. @throws ChoiceError if the sample has no items */
export function checkItems(kind: Kind, inputName: string, table: CheckedTable, isNamed: boolean): void {
  const { column, format, header, width } = table;
  const firstValues = table.firstValues(column);
  const profile = profiles[kind];
  const name = header?.[column] ?? "";
  if (isNamed || nameFit(name, profile) > 1) return;
  // In a list without a header, the first item may have been read as the header.
  const lines = format === "jsonl" || format === "json" ? firstValues : [name, ...firstValues];
  const values = lines.filter((value) => value.trim() !== "");
  if (values.length === 0) return;
  const other = kind === "email" ? "domain" : "email";
  const others = values.filter((text) => profile.likeness(text) === 0 && profiles[other].likeness(text) === 2).length;
  // `domains` takes the domain of an address. For `emails`, a few domains are typos, most mean the wrong command.
  const isOtherList = kind === "email" && others > values.length / 2;
  const hasItems = values.some(profile.resembles);
  if (hasItems && !isOtherList) return;
  const where = width > 1 ? `field in column ${column + 1}` : "line";
  const input = inputName === "standard input" ? "" : ` ${shellWord(pathWord(inputName))}`;
  const are = `${others} of ${values.length} are ${profiles[other].plural}`;
  const words: FaultWords = {
    code: "items",
    ...(others > values.length / 2
      ? {
          advice: `${are}: idv ${names[other].command}${input}`,
          page: `${are}; check it as a list of ${profiles[other].plural}`,
        }
      : { advice: "check the file, or name the column with -c", page: "check the file, or name the column" }),
  };
  if (hasItems) throw new ChoiceError(`${printable(inputName)} holds few e-mail addresses`, words);
  throw new ChoiceError(`no ${where} of ${printable(inputName)} looks like ${names[kind].one}`, words);
}

/** @throws ChoiceError if no value in a named column may be an item, but some in another one may */
export async function checkNamed(kind: Kind, inputName: string, table: NamedTable): Promise<void> {
  const profile = profiles[kind];
  const cells = new Cells({ ...usualCells, kind });
  // Several domains in a field do not resemble one, and neither do addresses, which have some.
  const isLikely = (value: string) => profile.likeness(value) > 0;
  const hasItems = (column: number) => table.firstValues(column).some(isLikely);
  const other = [...Array(table.width).keys()].find(hasItems);
  if (other === undefined) return;
  // A second column may well be empty but for a few remarks, and a short name beside an address be a domain.
  const isCertain = table.firstValues(other).some((value) => profile.likeness(value) === 2);
  const mayHold = (all: readonly string[], column: number) => {
    const values = all.filter((value) => !cells.isNone(value.trim()));
    const isSure = values.length >= (column === table.column && isCertain ? 1 : 3);
    return !isSure || values.some((value) => profile.resembles(value) || isLikely(value));
  };
  const suspect = [table.column, ...table.otherColumns].find((column) => !mayHold(table.firstValues(column), column));
  if (suspect === undefined || mayHold(await table.startValues(suspect), suspect)) return;
  const nameOf = (column: number) => columnText(column, nameText(table.header?.[column] ?? ""));
  const page = table.otherColumns.length > 0 ? "leave it out" : "name that one";
  const advice = table.otherColumns.length > 0 ? page : `${page} with -c`;
  throw new ChoiceError(
    printable(
      `${inputName}: no field in ${nameOf(suspect)} looks like ${names[kind].one}, but some in ${nameOf(other)} do`,
    ),
    { code: "column", advice: `${advice}, or pass --force`, page },
  );
}

const columnText = (column: number, name: string): string => `column ${column + 1}${name === "" ? "" : ` "${name}"`}`;

const sampledBytes = 65_536;

interface Named {
  readonly kind: Kind;
  readonly inputName: string;
  readonly encoding: string | undefined;
}

/** Whether most of the first lines hold no item, and no header announces one. Closes the input, and finds no faults. */
export async function holdsFewItems({ kind, inputName, encoding }: Named, input: InputFile, signal: AbortSignal) {
  let text = "";
  try {
    const { bytes } = await decodeInput(inputName, input.bytes, encoding);
    for await (const piece of bytes) {
      text += Buffer.from(piece).toString();
      if (text.length > sampledBytes) break;
    }
  } catch {
    // Opening it reports the fault.
    signal.throwIfAborted();
    return false;
  } finally {
    await input.close();
  }
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== "");
  const profile = profiles[kind];
  const isNamed = lines[0]?.split(/[,;|\t]/).some((name) => nameFitOf(name.trim(), profile) === 3);
  const isItem = (part: string) => profile.holds(part) || profile.resembles(part);
  return !isNamed && 2 * lines.filter((line) => line.split(/[\s,;|]+/).some(isItem)).length < lines.length;
}

/** Share of the first items; meaningful from `fewItems` on. */
const mostInvalid = 0.9;
const fewItems = 20;

/**
 * Invalid first items mean something else, such as `address:password` or lines of a log: a run would call real people
 * fake. Few items are refused only if all are invalid, and half of them hold an address and other text. @throws ChoiceError
 */
export async function checkStart(
  inputName: string,
  table: Pick<Table, "column" | "firstValues" | "header" | "startValues" | "width">,
  options: CellOptions,
): Promise<void> {
  const { kind } = options;
  const { column, header, width } = table;
  const rowsOf = (values: readonly string[]) => {
    const cells = new Cells(options);
    return values.map((value) => cells.itemsIn(value)).filter((items) => items.length > 0);
  };
  const isWrong = (item: string) => partsOf(kind, item)?.domain.includes(".") !== true;
  const isInvalid = (items: readonly string[]) =>
    options.deciding === "best" ? items.every(isWrong) : items.some(isWrong);
  const isRefused = (rows: readonly (readonly string[])[]) => {
    const invalid = rows.filter(isInvalid);
    if (rows.length >= fewItems) return invalid.length > mostInvalid * rows.length;
    const items = rows.flat();
    const holding = items.filter((item) => innerAddress.test(item));
    const isMost = holding.length > 0 && 2 * holding.length >= items.length;
    return rows.length > 1 && isMost && holding.every(isInText) && invalid.length === rows.length;
  };
  // The first hundred rows nearly always suffice.
  if (!isRefused(rowsOf(table.firstValues(column)))) return;
  const rows = rowsOf(await table.startValues(column)).slice(0, startRecords);
  if (!isRefused(rows)) return;
  const items = rows.map((items) => items.find(isWrong) ?? items[0]!);
  const invalid = items.filter(isWrong);
  const name = nameText(header?.[column] ?? "");
  const where = width > 1 || name !== "" ? ` in ${columnText(column, name)}` : "";
  const shown = invalid.slice(0, 3).map((item) => `"${withoutRest(item)}"`);
  throw new ChoiceError(
    printable(
      `${inputName}: ${grouped(invalid.length)} of the first ${grouped(items.length)} items${where} are not valid ${profiles[kind].plural}: ${shown.join(", ")}`,
    ),
    {
      code: "items",
      advice: `${adviceOn(invalid, options, width)}; to go on all the same, pass --force`,
      page: "check the file, or name the column",
      holdsItems: invalid.some((item) => innerAddress.test(item)),
    },
  );
}

/** A password may follow the address. */
function withoutRest(item: string): string {
  const found = innerAddress.exec(item);
  const end = Math.min(100, found === null ? item.length : found.index + found[0].length + 1);
  return end < item.length ? `${item.slice(0, end)}...` : item;
}

const aroundAddress = (item: string): string => (innerAddress.test(item) ? item.replace(innerAddress, "") : "");

function isInText(item: string): boolean {
  const rest = aroundAddress(item);
  return rest.length > 2 || /\w[,;|\t]|[,;|\t]\w/.test(rest);
}

function adviceOn(items: readonly string[], { isPlainList }: CellOptions, width: number): string {
  const most = (test: (item: string) => boolean) => items.filter(test).length > items.length / 2;
  for (const delimiter of [...(isPlainList ? [] : [","]), ":", "|", ";", "\t"]) {
    const isBetween = (rest: string) =>
      isPlainList ? rest.startsWith(delimiter) : /\w/.test(rest) && rest.includes(delimiter);
    if ((isPlainList || width === 1) && most((item) => isBetween(aroundAddress(item)))) {
      return `if the fields are separated by "${delimiter}", pass -d "${delimiter}"`;
    }
  }
  if (isPlainList && most((item) => innerAddress.test(item) && item.split(",").length > 2))
    return 'if the fields are separated by ",", pass -d ","';
  if (most((item) => /\S {2,}\S/.test(item))) return "put commas or tabs between the fields, which spaces align";
  if (most(isInText)) return "write the addresses alone into a file: grep -Eo '[^ ,;:]+@[^ ,;:]+'";
  return width > 1 ? "name the column of the items with -c" : "check the file";
}

interface FoundChoices {
  readonly kind: Kind;
  readonly inputName: string;
  readonly isForced: boolean;
  readonly isPart: boolean;
  readonly note: (text: string) => void;
}

/**
 * An empty column in a table without any item is an empty export, and only noted. Elements of a document that are no
 * records are, too, unless they are most of it. @throws ChoiceError
 */
export function checkFound(
  { kind, inputName, isForced, isPart, note }: FoundChoices,
  table: Pick<Table, "column" | "columnName" | "elements">,
  { rows, statuses, otherStatuses, elsewhere }: RunReport,
): void {
  const elements = table.elements?.others() ?? 0;
  if (rows > 0 && elements > rows && !isForced && !isPart) {
    const what = `${inputName}: only ${grouped(rows)} of the ${grouped(rows + elements)} elements of its list are records`;
    throw new ChoiceError(printable(what), {
      ...{ code: "items", advice: "make all elements records, or pass --force", page: "make all elements records" },
    });
  }
  const isAny = statuses.size > 0 || otherStatuses.some(({ size }) => size > 0);
  // A part of a list may have no items.
  if (rows === 0 || isAny || isPart) return;
  const name = table.columnName === undefined ? "" : ` "${table.columnName}"`;
  const what = `${inputName}: no ${profiles[kind].plural} in column ${table.column + 1}${name}`;
  if (elsewhere === undefined || isForced) note(printable(what));
  else {
    const others = `${counted(elsewhere.rows, "row has one", "rows have one")} in ${elsewhereText(elsewhere)}`;
    throw new ChoiceError(printable(`${what}, but ${others}`), {
      ...{ code: "items", advice: "name the column with -c, or pass --force", page: "name the column" },
    });
  }
}

export const elsewhereText = ({ column, isOnly }: NonNullable<RunReport["elsewhere"]>): string =>
  isOnly ? column : `other columns, first in ${column}`;

const recalculate = "open the workbook in a spreadsheet program, recalculate it and save it";

export const formulasRemark = ({ count, first }: EmptyFormulas): string =>
  `${counted(count, "formula")} without a stored value, the first in ${first}: ${recalculate}`;

/** @throws ChoiceError if all formulas in a column of items lack a stored value */
export async function checkFormulas(
  inputName: string,
  sheet: OpenSheet,
  table: Pick<Table, "column" | "firstValues" | "otherColumns">,
): Promise<void> {
  if (sheet.emptyFormulas() === undefined) return;
  for (const column of [table.column, ...table.otherColumns]) {
    if (table.firstValues(column).some((value) => value !== "")) continue;
    if (!(await sheet.lacksValues(column))) continue;
    throw new ChoiceError(
      `${printable(inputName)}: the formulas in column ${column + 1} have no stored value; ${recalculate}`,
      { code: "items", holdsItems: true },
    );
  }
}
