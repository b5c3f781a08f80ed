// Recognises the header of another table below the first rows, as in joined files or sheets with several tables. It
// ends a run, whatever is below it: which column was meant is unknown.
import { ChoiceError } from "../../../files/errors.js";
import { itemText, nameText } from "../bytes.js";
import type { Dialect } from "../dialect.js";
import { nameFit, normalizeName } from "./column.js";
import type { ItemProfile } from "./item-profile.js";

type Header = readonly string[] | undefined;

const longestName = 80;

/** Returns whether all filled fields may be names of columns: each has a letter, and none is an item. */
const areNames = (fields: readonly string[], profile: ItemProfile): boolean =>
  fields.every((field) => {
    const name = nameText(field).trim();
    const isName = name.length <= longestName && (/[a-z]/i.test(name) || /\p{L}/u.test(name) || /^[#№]$/.test(name));
    return name === "" || (isName && !profile.resembles(name) && profile.likeness(itemText(field)) === 0);
  });

/** False if a field of a record is sure to be no name, as it has no letter. Looks at bytes alone, for speed. */
export function mayBeNames(bytes: Uint8Array, start: number, end: number, { delimiter, quote }: Marked): boolean {
  const between = delimiter?.charCodeAt(0);
  let isFilled = false;
  let isName = false;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === between) {
      if (isFilled && !isName) return false;
      isFilled = false;
      isName = false;
    } else if (byte === quote.charCodeAt(0)) return true;
    else if (byte > 0x20) {
      isFilled = true;
      isName ||= byte >= 0x80 || byte === numberSign || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a);
    }
  }
  return !isFilled || isName;
}

type Marked = Pick<Dialect, "delimiter" | "quote">;
const numberSign = 0x23;

const namesIn = (fields: readonly string[]): readonly string[] => fields.map((field) => normalizeName(nameText(field)));

export const areSame = (a: readonly string[], b: readonly string[]): boolean =>
  namesIn(a).join("\n").trimEnd() === namesIn(b).join("\n").trimEnd();

const hasSameNames = (a: readonly string[], b: readonly string[]): boolean =>
  namesIn(a).toSorted().join("\n").trim() === namesIn(b).toSorted().join("\n").trim();

const filled = (fields: readonly string[]): readonly string[] => fields.filter((field) => field.trim() !== "");

/** Recognises the header of a table with items in `column`, by default in any, but not the header that is known. */
export function isHeaderOf(fields: readonly string[], header: Header, profile: ItemProfile, column?: number) {
  if (!areNames(fields, profile) || (header !== undefined && areSame(fields, header))) return false;
  if (header !== undefined && filled(fields).length > 1 && hasSameNames(fields, header)) return true;
  return column === undefined
    ? filled(fields).length > 1 && fields.some((field) => nameFit(field, profile) === 3)
    : nameFit(fields[column] ?? "", profile) > 0;
}

const longestHeader = 8192;
const delimiters = [",", ";", "\t", "|"];

export function isHeaderLine(line: Uint8Array, profile: ItemProfile): boolean {
  if (line.length > longestHeader) return false;
  const text = Buffer.from(line).toString("latin1");
  return delimiters.some((delimiter) => {
    const fields = text.split(delimiter).map((field) => field.trim().replace(/^"(.*)"$/, "$1"));
    return fields.length > 1 && isHeaderOf(fields, undefined, profile);
  });
}

export const areWords = (fields: readonly string[], profile: ItemProfile): boolean =>
  filled(fields).length > 1 && areNames(fields, profile) && !filled(fields).some((field) => /\s/.test(field.trim()));

export function isReordered(fields: readonly string[], header: Header, profile: ItemProfile): boolean {
  if (header === undefined || filled(fields).length < 2 || !areNames(fields, profile)) return false;
  return hasSameNames(fields, header) && !areSame(fields, header);
}

/** Recognises the header in another order, too. `isBelowItems`: a second line of names may follow a header. */
export function isOtherHeader(
  fields: readonly string[],
  header: Header,
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

const mostShown = 100;

/** The header of another table: its line in the file, from 1, and its fields as binary strings. */
export interface FoundHeader {
  readonly line: number;
  readonly fields: readonly string[];
}

export function otherHeader(name: string, { line, fields }: FoundHeader, skipped?: number): ChoiceError {
  const names = fields.map((field) => nameText(field).trim()).join(",");
  const shown = names.length <= mostShown ? names : `${names.slice(0, mostShown)}...`;
  const skips = skipped === undefined ? "" : ` --skip-lines ${skipped} if the lines above are no rows, or`;
  const page = "put its table into a file of its own";
  const advice = `${page}, or pass${skips} --force if it is a row`;
  return new ChoiceError(`${name}: line ${line} is another header: ${shown}`, { code: "format", advice, page });
}
