import { itemText, nameText } from "../bytes.js";
import { TableChoiceError } from "../errors.js";
import type { ItemProfile } from "./item-profile.js";

/** Lower case, letters and digits only: `E-Mail Address` is `emailaddress`. */
function normalizeName(name: string): string {
  return name
    .toLowerCase()
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}]/gu, "");
}

/**
 * How well a column's name fits: 3 a known name, 2 a known name behind a dot (`user.email`), 1 a likely word, 0 not
 * at all.
 */
export function nameFit(binaryName: string, profile: ItemProfile): number {
  const name = nameText(binaryName);
  if (profile.columnNames.includes(normalizeName(name))) return 3;
  if (profile.columnNames.includes(normalizeName(name.slice(name.lastIndexOf(".") + 1)))) return 2;
  return profile.nameWords.some((word) => normalizeName(name).includes(word)) ? 1 : 0;
}

/** What names of columns are made of; an address or URL never is. */
const looksLikeName = /^\p{L}[\p{L}\p{N} _.()-]*$/u;

/** Names of columns that are top-level domains too: `acme.site` is a domain rather than a name. */
const topLevelNames = /\.(?:email|host|site|website)$/i;

/**
 * Whether the first record that is not blank is a header: it is not when one of its fields is an item, except
 * where that is the name of a column (`user.domain`), or stands beside a known one (`user.name,website`).
 *
 * @param first that record
 */
export function isHeader(first: readonly string[], profile: ItemProfile): boolean {
  const hasKnownName = first.length > 1 && first.some((name) => nameFit(name, profile) === 3);
  return !first.some((field) => {
    if (profile.likeness(itemText(field)) === 0) return false;
    const name = nameText(field).trim();
    if (first.length === 1 || !looksLikeName.test(name)) return true;
    return !hasKnownName && (nameFit(field, profile) < 2 || topLevelNames.test(name));
  });
}

/**
 * Finds the column that the user named.
 *
 * @param wanted an index from 1, a name, or `Name[2]` for the second column of that name
 * @param header binary strings; undefined when the table has none
 * @returns the column's index from 0
 * @throws TableChoiceError when there is no such column, or more than one
 */
export function findColumn(wanted: string, header: readonly string[] | undefined, width: number): number {
  const index = /^\d+$/.test(wanted) ? Number(wanted) : undefined;
  if (index !== undefined && index >= 1 && index <= width) return index - 1;
  if (header === undefined) {
    throw new TableChoiceError(
      index === undefined
        ? `no column "${wanted}": the table has no header; give the column's index, 1 to ${width}, with -c`
        : `no column ${wanted}: the table has ${width}; give an index from 1 to ${width} with -c`,
    );
  }
  const names = header.map(nameText);
  const [, base = wanted, nth] = /^(.*)\[(\d+)\]$/s.exec(wanted) ?? [];
  const found = columnsNamed(names, wanted);
  const column = found.length > 0 ? found[0] : nth && columnsNamed(names, base)[Number(nth) - 1];
  if (typeof column !== "number") {
    throw new TableChoiceError(`no column "${wanted}"; the columns are ${listColumns(names)}`);
  }
  if (found.length > 1) {
    throw new TableChoiceError(
      `${found.length} columns are named "${wanted}"; choose one with -c "${wanted}[1]" or by its index: ` +
        listColumns(names, found),
    );
  }
  return column;
}

/** Exactly, or else without regard to case and white space around the name. */
function columnsNamed(names: readonly string[], wanted: string): number[] {
  const where = (matches: (name: string) => boolean) =>
    names.flatMap((name, index) => (matches(name) ? [index] : []));
  const exact = where((name) => name === wanted);
  if (exact.length > 0) return exact;
  const loose = (name: string) => name.trim().toLowerCase();
  return where((name) => loose(name) === loose(wanted));
}

/**
 * Chooses the column that holds the items: by its name, among equal names by its content, without such a name
 * by its content alone.
 *
 * @param records the first records below the header, binary strings
 * @returns the column's index from 0
 * @throws TableChoiceError when none fits, or two fit equally well
 */
export function chooseColumn(
  header: readonly string[] | undefined,
  records: readonly (readonly string[])[],
  width: number,
  profile: ItemProfile,
): number {
  if (width <= 1) return 0;
  const columns = Array.from({ length: width }, (_, index) => ({
    index,
    name: header === undefined ? 0 : nameFit(header[index] ?? "", profile),
    content: contentFit(records, index, profile),
    isBlank: records.every((record) => (record[index] ?? "").trim() === ""),
  }));
  const named = columns.filter(({ name }) => name > 0);
  const filled = columns.filter(({ content }) => content > 0);
  // A blank column that is named for items may hold them further down; a likely word alone may mean anything.
  const fitting = named.filter(
    ({ name, content, isBlank }) => name === 3 || content > 0 || (isBlank && name > 1),
  );

  if (fitting.length > 0) return best(fitting, ({ name, content }) => 2 * name + (content > 0 ? 1 : 0));
  if (filled.length > 0) {
    const most = Math.max(...filled.map(({ content }) => content));
    // One that holds half as many items may still be the right one: that is not for us to decide.
    return best(filled, ({ content }) => (content > most / 2 ? 1 : 0));
  }
  if (named.length > 0) return best(named, ({ name }) => name);
  throw new TableChoiceError(
    `no column looks like ${profile.plural}; name it with -c: ${listColumns(header?.map(nameText) ?? unnamed(width))}`,
  );

  function best<Column extends { readonly index: number }>(
    candidates: readonly Column[],
    rank: (column: Column) => number,
  ): number {
    const top = Math.max(...candidates.map(rank));
    const winners = candidates.filter((column) => rank(column) === top).map(({ index }) => index);
    if (winners.length === 1) return winners[0]!;
    const names = header?.map(nameText) ?? unnamed(width);
    throw new TableChoiceError(
      `${winners.length} columns fit equally well; choose one with -c: ${listColumns(names, winners)}`,
    );
  }
}

/** The share of the records whose field is an item; a column of whole items beats one that only holds them. */
function contentFit(records: readonly (readonly string[])[], index: number, profile: ItemProfile): number {
  let sum = 0;
  for (const record of records) {
    const likeness = profile.likeness(itemText(record[index] ?? ""));
    sum += likeness === 2 ? 1 : likeness === 1 ? 0.01 : 0;
  }
  return sum / Math.max(1, records.length);
}

const unnamed = (width: number) => Array.from({ length: width }, () => "");

/** The columns as `-c` takes them: `1 "id", 2 "email"`. At most 20, then how many more. */
function listColumns(names: readonly string[], indices = names.map((_, index) => index)): string {
  const listed = indices.slice(0, 20).map((index) => {
    const name = names[index];
    return name ? `${index + 1} "${name}"` : `${index + 1}`;
  });
  const more = indices.length - listed.length;
  return listed.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
