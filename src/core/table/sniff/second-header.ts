/**
 * Recognises the header of another table below the first rows, as in files that were joined, or sheets with several tables.
 * Knows fields, not bytes.
 *
 * It ends a run, whatever is below it: nobody knows which column was meant.
 */
import { ChoiceError } from "../../../files/errors.js";
import { itemText, nameText } from "../bytes.js";
import { nameFit, normalizeName } from "./column.js";
import type { ItemProfile } from "./item-profile.js";

/** Longest name of a column, in characters; longer fields are text. */
const longestName = 80;

/** Returns whether all filled fields may be names of columns: each has a letter, and none is an item. */
function areNames(fields: readonly string[], profile: ItemProfile): boolean {
  return fields.every((field) => {
    const name = nameText(field).trim();
    const isName = name.length <= longestName && (/\p{L}/u.test(name) || /^[#№]$/.test(name));
    return name === "" || (isName && !profile.resembles(name) && profile.likeness(itemText(field)) === 0);
  });
}

const namesIn = (fields: readonly string[]): readonly string[] =>
  fields.map((field) => normalizeName(nameText(field)));

/** Returns whether two records have the same names in the same order, apart from empty fields at the end. */
export function areSame(a: readonly string[], b: readonly string[]): boolean {
  const [one, other] = [a, b].map((fields) => namesIn(fields).join("\n").trimEnd());
  return one === other;
}

const hasSameNames = (a: readonly string[], b: readonly string[]): boolean => {
  const [one, other] = [a, b].map((fields) => [...namesIn(fields)].sort().join("\n").trim());
  return one === other;
};

const filled = (fields: readonly string[]): readonly string[] =>
  fields.filter((field) => field.trim() !== "");

/**
 * Returns whether a record is the header of a table with items in a column, and not the header that is known.
 *
 * @param fields binary strings
 * @param column the column with items; any by default
 */
export function isHeaderOf(
  fields: readonly string[],
  header: readonly string[] | undefined,
  profile: ItemProfile,
  column?: number,
): boolean {
  if (!areNames(fields, profile) || (header !== undefined && areSame(fields, header))) return false;
  if (header !== undefined && filled(fields).length > 1 && hasSameNames(fields, header)) return true;
  return column === undefined
    ? filled(fields).length > 1 && fields.some((field) => nameFit(field, profile) === 3)
    : nameFit(fields[column] ?? "", profile) > 0;
}

/** Longest line that is taken for a header, in bytes. */
const longestHeader = 8192;
const delimiters = [",", ";", "\t", "|"];

/** Returns whether a line of a plain list is the header of a table, with any delimiter. */
export function isHeaderLine(line: Uint8Array, profile: ItemProfile): boolean {
  if (line.length > longestHeader) return false;
  const text = Buffer.from(line).toString("latin1");
  return delimiters.some((delimiter) => {
    const fields = text.split(delimiter).map((field) => field.trim().replace(/^"(.*)"$/, "$1"));
    return fields.length > 1 && isHeaderOf(fields, undefined, profile);
  });
}

/** Returns whether a record may be a header whose names are not known: several single words. */
export const areWords = (fields: readonly string[], profile: ItemProfile): boolean =>
  filled(fields).length > 1 &&
  areNames(fields, profile) &&
  !filled(fields).some((field) => /\s/.test(field.trim()));

/** Returns whether a record has the names of the header in another order. */
export function isReordered(
  fields: readonly string[],
  header: readonly string[] | undefined,
  profile: ItemProfile,
): boolean {
  if (header === undefined || filled(fields).length < 2 || !areNames(fields, profile)) return false;
  return hasSameNames(fields, header) && !areSame(fields, header);
}

/**
 * Returns whether a record without an item is the header of another table, whatever is below it: it has the names of the header
 * in another order; or the name of the items stands in its place, beside other names; or another name does.
 *
 * @param own the column with the items of the first table
 * @param isBelowItems whether there are items above the record: a second line of names may follow a header
 */
export function isOtherHeader(
  fields: readonly string[],
  header: readonly string[] | undefined,
  profile: ItemProfile,
  own: number,
  isBelowItems: boolean,
): boolean {
  if (header === undefined || filled(fields).length < 2 || !isHeaderOf(fields, header, profile)) return false;
  if (hasSameNames(fields, header)) return true;
  if (nameFit(fields[own] ?? "", profile) === 3) return isBelowItems;
  const others = namesIn(header.filter((_, column) => column !== own));
  return others.includes(normalizeName(nameText(fields[own] ?? "")));
}

/** Number of characters of a header that a message shows. */
const mostShown = 100;

/** The header of another table: its line in the file, from 1, and its fields as binary strings. */
export interface FoundHeader {
  readonly line: number;
  readonly fields: readonly string[];
}

/** @param skipped lines to skip if those above the header are no rows; undefined where they are rows */
export function otherHeader(name: string, { line, fields }: FoundHeader, skipped?: number): ChoiceError {
  const names = fields.map((field) => nameText(field).trim()).join(",");
  const shown = names.length <= mostShown ? names : `${names.slice(0, mostShown)}...`;
  const skips = skipped === undefined ? "" : ` --skip-lines ${skipped} if the lines above are no rows, or`;
  return new ChoiceError(`${name}: line ${line} is another header: ${shown}`, {
    code: "format",
    advice: `put its table into a file of its own, or pass${skips} --force if it is a row`,
    page: "put its table into a file of its own",
  });
}
