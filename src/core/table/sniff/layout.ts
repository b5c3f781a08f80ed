/** Finds where a table starts: below titles, notes and blank lines, which hold no items. Knows records, not bytes. */
import { itemText, nameText } from "../bytes.js";
import { isHeader, nameFit } from "./column.js";
import type { ItemProfile } from "./item-profile.js";
import type { Sample, SampleRecord } from "./sample.js";
import { areSame, isHeaderOf } from "./second-header.js";

export interface Layout {
  readonly above: number;
  readonly header: SampleRecord | undefined;
  readonly body: readonly (readonly string[])[];
  /** A header below a line that holds an item: that of another table, unless the user says where the table starts. */
  readonly second?: SampleRecord | undefined;
}

export interface LayoutOptions {
  readonly profile: ItemProfile;
  readonly columns?: readonly string[];
  readonly header?: boolean;
  /** Whether the user skipped the lines above the table, so that titles are not looked for. */
  readonly startsHere?: boolean;
}

const mostAbove = 50;

export const wantedNames = ({ columns = [] }: LayoutOptions): readonly string[] =>
  columns.map((name) => name.replace(/\[\d+\]$/, ""));

export function layoutOf({ records }: Sample, options: LayoutOptions): Layout {
  const filled = records.findIndex(({ fields }) => isFilled(fields));
  if (options.header === false || filled === -1) return parts(records, 0, false);
  const wanted = wantedNames(options);
  const isTop = (fields: readonly string[]) =>
    isHeader(fields, options.profile) || fields.some((name) => wanted.includes(nameText(name)));
  const { start, second } = options.startsHere
    ? { start: filled, second: undefined }
    : startOf(records, filled, wanted, options.profile);
  const hasHeader = options.header ?? isTop(records[start]!.fields);
  // Without a header or titles above it, blank lines are rows like any other.
  return { ...parts(records, hasHeader || start > filled ? start : 0, hasHeader), second };
}

function parts(records: readonly SampleRecord[], above: number, hasHeader: boolean): Layout {
  const body = records.slice(hasHeader ? above + 1 : above).map(({ fields }) => fields);
  return { above, header: hasHeader ? records[above] : undefined, body: body.filter((fields) => fields.length > 0) };
}

function startOf(records: readonly SampleRecord[], first: number, wanted: readonly string[], profile: ItemProfile) {
  const filled = records.map(({ fields }) => fields).filter(isFilled);
  const several = filled.filter((fields) => countFilled(fields) > 1);
  // A table of several columns: from the first record with several fields on, most have several.
  const isWide = several.length > (filled.length - filled.indexOf(several[0]!)) / 2;
  const width = (several.length > 0 && isWide && mostCommonWidth(several)) || 1;
  // If most records have a space after each delimiter, such a space does not indicate a sentence.
  const hasSpaces = several.filter(isSpaced).length > several.length / 2;
  const isTitle = (fields: readonly string[]) => isTitleOf(fields, width, hasSpaces, profile);
  const isNamed = (name: string) => nameFit(name, profile) === 3 || wanted.includes(nameText(name));
  const namedColumn = (fields: readonly string[]) => (isHeader(fields, profile) ? fields.findIndex(isNamed) : -1);
  const isAbove = (fields: readonly string[]) =>
    !isFilled(fields) || (width > 1 ? isTitle(fields) : isProse(fields, profile));

  // A record that names the items is the header, if there are items below its name and none above, in any column.
  let second: SampleRecord | undefined;
  const last = Math.min(records.length, first + mostAbove);
  for (let i = first; i < last; i++) {
    const names = records[i]!.fields;
    const column = namedColumn(names);
    if (column === -1) continue;
    const shareOf = (part: readonly SampleRecord[], fits: (field: string) => boolean) => {
      const rows = part.filter(({ fields }) => isFilled(fields));
      return rows.filter(({ fields }) => fits(fields[column] ?? "")).length / Math.max(1, rows.length);
    };
    const isItem = (field: string) => profile.resembles(itemText(field));
    const above = records.slice(first, i);
    const below = records.slice(i + 1);
    const hasItems = below.some(({ fields }) => profile.likeness(itemText(fields[column] ?? "")) > 0);
    const isFit = shareOf(below, (field) => field.trim() === "" || isItem(field)) > 0.5;
    if (!hasItems || !isFit) continue;
    if (!above.some(({ fields }) => holdsAnyItem(fields, profile))) return { start: i };
    // The header of the first table may come again; a line with an item above the first one is no title.
    if (above.some(({ fields }) => areSame(fields, names)) || !isHeaderOf(names, undefined, profile, column)) continue;
    const isAgain = width === 1 || namedColumn(records[first]!.fields) === column;
    if (shareOf(above, isItem) < 0.5 || !isAgain) second ??= records[i];
  }

  // Without items below, everything above the header has to look like titles.
  let sparse: number | undefined;
  for (let i = first; i < last; i++) {
    const { fields } = records[i]!;
    if (namedColumn(fields) !== -1) {
      if (width === 1 || !isTitle(fields)) return { start: i, second };
      sparse ??= i;
    }
    if (width === 1 ? isFilled(fields) && mayBeItem(fields, profile) : !isAbove(fields)) break;
  }
  if (sparse !== undefined) return { start: sparse, second };

  // Otherwise the table starts where the titles end. A last title with a field for each column may be its header.
  let start = first;
  while (start < records.length && isAbove(records[start]!.fields)) start++;
  if (start === records.length) return { start: first, second };
  const { fields } = records[start]!;
  const before = start > first ? records[start - 1]!.fields : [];
  const isNarrow = before.length < width || !isFilled(before) || /^(?:#|\/\/)/.test(before[0] ?? "");
  return { start: isHeader(fields, profile) || isNarrow ? start : start - 1, second };
}

/** Recognises one field, a label with a value, or a sentence with commas. */
function isTitleOf(fields: readonly string[], width: number, hasSpaces: boolean, profile: ItemProfile): boolean {
  const filled = countFilled(fields);
  if (holdsAnyItem(fields, profile)) return false;
  if (filled <= 1) return true;
  const isShort = fields.length < width || fields.at(-1) === "";
  return (isShort && filled <= width / 2) || (!hasSpaces && isSpaced(fields));
}

const holdsAnyItem = (fields: readonly string[], profile: ItemProfile): boolean =>
  fields.some((field) => [field, ...field.split(/[,;|\t]/)].some((part) => profile.likeness(itemText(part)) > 0));

function isProse(fields: readonly string[], profile: ItemProfile): boolean {
  return fields.every((field) => /\S\s+\S|:\s*$/.test(field)) && !mayBeItem(fields, profile);
}

const mayBeItem = (fields: readonly string[], profile: ItemProfile) =>
  fields.some((field) => profile.resembles(itemText(field)));

const isSpaced = (fields: readonly string[]) => fields.slice(1).every((field) => field === "" || field.startsWith(" "));

const isFilled = (fields: readonly string[]) => fields.some((field) => field.trim() !== "");

const countFilled = (fields: readonly string[]) => fields.filter((field) => field.trim() !== "").length;

export function mostCommonWidth(records: readonly (readonly string[])[]): number {
  const counts = new Map<number, number>();
  for (const { length } of records) counts.set(length, (counts.get(length) ?? 0) + 1);
  let width = 0;
  for (const [length, count] of counts) {
    const most = counts.get(width) ?? 0;
    if (count > most || (count === most && length > width)) width = length;
  }
  return width;
}
