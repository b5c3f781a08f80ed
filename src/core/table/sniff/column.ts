/** Decides whether a table has a header, and which column holds the items. Knows names and fields, not bytes. */
import { ChoiceError } from "../../../files/errors.js";
import { nameMeant } from "../../meant.js";
import { itemText, nameText } from "../bytes.js";
import type { ItemProfile } from "./item-profile.js";

type Header = readonly string[] | undefined;
type ColumnOption = "-c" | "--by";
export type Records = readonly (readonly string[])[];

export function normalizeName(name: string): string {
  const small = name.toLowerCase();
  // Most names need no table of Unicode, which takes a millisecond to make.
  return /^[ -~]*$/.test(small)
    ? small.replace(/[^a-z\d]/g, "")
    : small.normalize("NFC").replace(/[^\p{L}\p{N}]/gu, "");
}

/** Returns 3 for a known name, 2 for one after a dot (`user.email`), 1 if it contains a likely word, else 0. */
export const nameFit = (binaryName: string, profile: ItemProfile): number => nameFitOf(nameText(binaryName), profile);

export function nameFitOf(name: string, profile: ItemProfile): number {
  const known = normalizeName(name);
  if (profile.columnNames.includes(known) || profile.columnNames.includes(known.replace(/s$/, ""))) return 3;
  if (profile.columnNames.includes(normalizeName(name.slice(name.lastIndexOf(".") + 1)))) return 2;
  return profile.nameWords.some((word) => normalizeName(name).includes(word)) ? 1 : 0;
}

const looksLikeName = (text: string): boolean => /^\p{L}[\p{L}\p{N} _.()-]*$/u.test(text);

/** Known names that are also top-level domains: `acme.site` is more likely a domain than the name of a column. */
const topLevelNames = /\.(?:email|host|site|website)$/i;

/** Returns false for an item, unless it is a name (`user.domain`) or beside a known one (`user.name,website`). */
export function isHeader(first: readonly string[], profile: ItemProfile): boolean {
  const hasKnownName = first.length > 1 && first.some((name) => nameFit(name, profile) === 3);
  return !first.some((field) => {
    const name = nameText(field).trim();
    // `ann.example.net` as the only field is more likely a mistyped item than a name.
    const isDotted = first.length === 1 && /^\S+\.\S+$/.test(name) && nameFit(field, profile) < 2;
    // A sentence such as `May we write @ work?` is also a name.
    const isMeant = profile.resembles(itemText(field)) && !(first.length > 1 && /\s/.test(name));
    if (profile.likeness(itemText(field)) === 0 && !isMeant && !isDotted) return false;
    if (first.length === 1 || !looksLikeName(name)) return true;
    return !hasKnownName && (nameFit(field, profile) < 2 || topLevelNames.test(name));
  });
}

/** `wanted`: index from 1, name, or `Name[2]`; the result counts from 0. Throws a ChoiceError for none or several. */
export function findColumn(wanted: string, header: Header, width: number, option: ColumnOption = "-c"): number {
  const index = /^\d+$/.test(wanted) ? Number(wanted) : undefined;
  if (index !== undefined && index >= 1 && index <= width) return index - 1;
  if (header === undefined) {
    const what =
      index === undefined
        ? `${noColumn(`"${wanted}"`, option)}: the table has no header`
        : `${noColumn(wanted, option)}: the table has ${width}`;
    const page = width === 1 ? "leave it out" : `give the column's index, 1 to ${width}`;
    const advice = width === 1 ? `leave out ${option}` : `${page}, with ${option}`;
    throw new ChoiceError(what, { code: "column", advice, page });
  }
  const names = header.map(nameText);
  const [, base = wanted, nth] = /^(.*)\[(\d+)\]$/s.exec(wanted) ?? [];
  const found = columnsNamed(names, wanted);
  const column = found.length > 0 ? found[0] : nth && columnsNamed(names, base)[Number(nth) - 1];
  if (typeof column !== "number") throw unknownColumn(wanted, names, width, option);
  if (found.length > 1) {
    const what = `${found.length} columns are named "${wanted}": ${listColumns(names, found)}`;
    const advice = `choose one with ${option} "${wanted}[1]" or by its index`;
    throw new ChoiceError(what, { code: "column", advice, page: "choose one by its index" });
  }
  return column;
}

const noColumn = (wanted: string, option: ColumnOption): string =>
  `no column ${wanted}${option === "-c" ? "" : ` for ${option}`}`;

function unknownColumn(wanted: string, names: readonly string[], width: number, option: ColumnOption): ChoiceError {
  const none = noColumn(`"${wanted}"`, option);
  const parts = wanted.split(",").map((part) => part.trim());
  const isOne = (part: string) => columnsNamed(names, part).length > 0 || (Number(part) >= 1 && Number(part) <= width);
  if (parts.length > 1 && parts.every(isOne)) {
    const repeated = parts.map((part) => `-c ${part}`).join(" ");
    const advice = option === "-c" ? `repeat the option: ${repeated}` : "it takes one";
    return new ChoiceError(none, { code: "column", advice, page: "name one of them" });
  }
  // As spreadsheet programs name columns.
  const letter = /^[a-z]$/i.test(wanted) ? wanted.toLowerCase().charCodeAt(0) - 96 : width + 1;
  const name = nameMeant(wanted, names);
  const meant = name === undefined ? letter : `"${name}"`;
  const guess = name !== undefined || letter <= width ? ` (did you mean ${meant}?)` : "";
  return new ChoiceError(`${none}${guess}; the columns are ${listColumns(names)}`, { code: "column" });
}

function columnsNamed(names: readonly string[], wanted: string): number[] {
  const where = (matches: (name: string) => boolean) => names.flatMap((name, index) => (matches(name) ? [index] : []));
  const exact = where((name) => name === wanted);
  if (exact.length > 0) return exact;
  const loose = (name: string) => name.trim().toLowerCase();
  return where((name) => loose(name) === loose(wanted));
}

/**
 * Prefers columns with items, then a known name, then words such as "primary" and numbers in it, then the share of
 * items. Throws a ChoiceError if no column fits, or if several do without a name, unless `takesAll`.
 */
export function chooseColumn(header: Header, records: Records, width: number, profile: ItemProfile, takesAll = false) {
  if (width <= 1) return { column: 0, others: [] };
  const columns = Array.from({ length: width }, (_, index) => ({
    index,
    name: header === undefined ? 0 : nameFit(header[index] ?? "", profile),
    rank: nameRank(header?.[index] ?? ""),
    ...contentFit(records, index, profile),
  }));
  // A name is not enough for a column without items, if another one holds them.
  type Found = (typeof columns)[number];
  const holds = ({ name, content, share }: Found) => share >= 0.5 || (name > 0 && content > 0);
  const isElsewhere = columns.some(holds);
  const named = columns.filter(({ name, isMeant }) => name > 0 && (isMeant || !isElsewhere));
  const filled = columns.filter(({ content }) => content > 0);
  // A known name is enough. After a dot, it needs items, unless the column is blank so far; a likely word always does.
  const fitting = named.filter(({ name, content, isBlank }) => name === 3 || content > 0 || (isBlank && name > 1));
  const names = () => header?.map(nameText) ?? Array.from({ length: width }, () => "");
  const column = best();
  // Of an earlier run: behind its statuses.
  const isStatus = (field: string) => profile.statuses.includes(field);
  const firstStatus = columns.findIndex(({ index }) => {
    const fields = records.map((record) => record[index] ?? "").filter((field) => field !== "");
    return fields.length > 0 && fields.every(isStatus);
  });
  const ownName = /^(?:idv_)?(?:suggestion|was|canonical|mx)(?:_.*)?$/;
  const isOwn = (index: number) =>
    firstStatus !== -1 && index > firstStatus && ownName.test(nameText(header?.[index] ?? ""));
  const isOther = ({ index, name, content, share }: Found) =>
    index !== column && content > 0 && (name > 0 || share >= 0.5) && !isOwn(index);
  return { column, others: columns.filter(isOther).map(({ index }) => index) };

  function best(): number {
    if (fitting.length > 0) {
      const score = ({ name, content, rank }: Found) => [2 * name + (content > 0 ? 1 : 0), rank, content];
      return fitting.reduce((a, b) => (isGreater(score(b), score(a)) ? b : a)).index;
    }
    if (filled.length > 0) {
      const most = Math.max(...filled.map(({ content }) => content));
      // A column with more than half as many items may also be the right one. Then the user has to choose.
      const winners = filled.filter(({ content }) => content > most / 2).map(({ index }) => index);
      if (winners.length === 1 || takesAll) return winners[0]!;
      const what = `${winners.length} columns fit equally well: ${listColumns(names(), winners)}`;
      const advice = 'choose one with -c, or all with -c "*"';
      throw new ChoiceError(what, { code: "column", advice, page: "name one as the column", holdsItems: true });
    }
    if (named.length > 0) return named.reduce((a, b) => (b.name > a.name ? b : a)).index;
    const { other } = profile;
    const has = other && columns.find(({ index }) => contentFit(records, index, other).share >= 0.5);
    const instead = has ? `for the ${other.plural} of column ${has.index + 1}, run idv ${other.plural}, or ` : "";
    const what = `no column looks like ${profile.plural}; the columns are ${listColumns(names())}`;
    throw new ChoiceError(what, {
      code: "column",
      advice: `${instead}name one with -c`,
      page: "name one as the column",
    });
  }
}

export interface ChosenColumns {
  readonly column: number;
  readonly otherColumns: readonly number[];
  readonly passedOver: readonly number[];
}

export function chooseColumns(header: Header, records: Records, width: number, options: ColumnOptions): ChosenColumns {
  const { columns, allColumns, profile } = options;
  if (columns !== undefined && width > 0) {
    const found = columns.map((name) => findColumn(name, header, width));
    const [column = 0, ...otherColumns] = new Set(found);
    return { column, otherColumns, passedOver: [] };
  }
  const { column, others } = chooseColumn(header, records, width, profile, allColumns);
  return allColumns
    ? { column, otherColumns: others, passedOver: [] }
    : { column, otherColumns: [], passedOver: others };
}

interface ColumnOptions {
  readonly columns?: readonly string[];
  readonly allColumns?: boolean;
  readonly profile: ItemProfile;
}

const firstWords = /primary|main\b|principal|preferred|default|haupt|primär/i;
const lastWords = /secondary|alternat|other|additional|backup|recovery|old\b|personal|home|private|privat|weitere/i;

function nameRank(binaryName: string): number {
  const name = nameText(binaryName);
  const number = Number(/(?:^|\D)([1-9]\d?)(?:\D|$)/.exec(name)?.[1] ?? 1);
  const word = firstWords.test(name)
    ? 2
    : /\b(?:work|business)\b|geschäft/i.test(name)
      ? 1
      : lastWords.test(name)
        ? -1
        : 0;
  // Prefer shorter names, which have fewer qualifiers: "Email" before "Contact Email".
  return 10 * word - number - name.split(/[\s_]+/).length / 100;
}

function isGreater(a: readonly number[], b: readonly number[]): boolean {
  const different = a.findIndex((value, i) => value !== b[i]);
  return different !== -1 && a[different]! > b[different]!;
}

// A field that only contains an item counts a hundredth, so that a column of whole items wins. `content` is the share
// of items among all records, `share` among the filled fields; `isMeant`: some field may be an item, even a wrong one.
function contentFit(records: Records, index: number, profile: ItemProfile) {
  let sum = 0;
  let filled = 0;
  let isMeant = false;
  for (const record of records) {
    const field = record[index] ?? "";
    if (field.trim() !== "") filled++;
    isMeant ||= profile.resembles(itemText(field));
    const likeness = profile.likeness(itemText(field));
    sum += likeness === 2 ? 1 : likeness === 1 ? 0.01 : 0;
  }
  const content = sum / Math.max(1, records.length);
  return { content, share: sum / Math.max(1, filled), isBlank: filled === 0, isMeant };
}

function listColumns(names: readonly string[], indices = names.map((_, index) => index)): string {
  const listed = indices.slice(0, 20).map((index) => {
    const name = names[index];
    return name ? `${index + 1} "${name}"` : `${index + 1}`;
  });
  const more = indices.length - listed.length;
  return listed.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
