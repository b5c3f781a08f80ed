/**
 * Decides whether a table has a header, and which column holds the items. Knows names and fields, not the bytes of the
 * table.
 */
import { ChoiceError } from "../../files/errors.js";
import { itemText, nameText } from "../bytes.js";
import type { ItemProfile } from "./item-profile.js";

/** Returns a name in lower case, letters and digits only: `emailaddress` for `E-Mail Address`. */
function normalizeName(name: string): string {
  return name
    .toLowerCase()
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}]/gu, "");
}

/**
 * Returns how well the name of a column fits: 3 for a known name, 2 for a known name after a dot (`user.email`), 1 if
 * it contains a likely word, 0 otherwise.
 */
export function nameFit(binaryName: string, profile: ItemProfile): number {
  const name = nameText(binaryName);
  if (profile.columnNames.includes(normalizeName(name))) return 3;
  if (profile.columnNames.includes(normalizeName(name.slice(name.lastIndexOf(".") + 1)))) return 2;
  return profile.nameWords.some((word) => normalizeName(name).includes(word)) ? 1 : 0;
}

/** Matches typical names of columns, but no address and no URL. */
const looksLikeName = /^\p{L}[\p{L}\p{N} _.()-]*$/u;

/** Known names that are top-level domains too: `acme.site` is more likely a domain than the name of a column. */
const topLevelNames = /\.(?:email|host|site|website)$/i;

/**
 * Returns whether the first record is a header. It is not if one of its fields is an item, unless that field is the
 * name of a column (`user.domain`) or is next to a known name (`user.name,website`).
 *
 * @param first the first record that is not blank, binary strings
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
 * @param header binary strings; undefined if the table has none
 * @returns the column's index from 0
 * @throws ChoiceError if there is no such column, or more than one
 */
export function findColumn(wanted: string, header: readonly string[] | undefined, width: number): number {
  const index = /^\d+$/.test(wanted) ? Number(wanted) : undefined;
  if (index !== undefined && index >= 1 && index <= width) return index - 1;
  if (header === undefined) {
    throw new ChoiceError(
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
    throw new ChoiceError(`no column "${wanted}"; the columns are ${listColumns(names)}`);
  }
  if (found.length > 1) {
    throw new ChoiceError(
      `${found.length} columns are named "${wanted}"; choose one with -c "${wanted}[1]" or by its index: ` +
        listColumns(names, found),
    );
  }
  return column;
}

/** Returns the indices of the columns of that name; if there are none, ignores case and surrounding white space. */
function columnsNamed(names: readonly string[], wanted: string): number[] {
  const where = (matches: (name: string) => boolean) =>
    names.flatMap((name, index) => (matches(name) ? [index] : []));
  const exact = where((name) => name === wanted);
  if (exact.length > 0) return exact;
  const loose = (name: string) => name.trim().toLowerCase();
  return where((name) => loose(name) === loose(wanted));
}

/**
 * Chooses the column that holds the items: by its name, then among equal names by its content. If no name fits, chooses
 * by content alone.
 *
 * @param records the first records below the header, binary strings
 * @returns the column's index from 0
 * @throws ChoiceError if no column fits, or several fit equally well
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
  // A known name is enough. A known name after a dot needs items too, unless the column is blank so far: items may
  // follow further down. A likely word always needs items, because it may mean anything.
  const fitting = named.filter(
    ({ name, content, isBlank }) => name === 3 || content > 0 || (isBlank && name > 1),
  );

  if (fitting.length > 0) return best(fitting, ({ name, content }) => 2 * name + (content > 0 ? 1 : 0));
  if (filled.length > 0) {
    const most = Math.max(...filled.map(({ content }) => content));
    // A column with more than half as many items may be the right one too. Then the user has to choose.
    return best(filled, ({ content }) => (content > most / 2 ? 1 : 0));
  }
  if (named.length > 0) return best(named, ({ name }) => name);
  throw new ChoiceError(
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
    throw new ChoiceError(
      `${winners.length} columns fit equally well; choose one with -c: ${listColumns(names, winners)}`,
    );
  }
}

/**
 * Returns the share of the records whose field is an item, 0 to 1. A field that only contains an item counts a
 * hundredth, so that a column of whole items wins.
 */
function contentFit(records: readonly (readonly string[])[], index: number, profile: ItemProfile): number {
  let sum = 0;
  for (const record of records) {
    const likeness = profile.likeness(itemText(record[index] ?? ""));
    sum += likeness === 2 ? 1 : likeness === 1 ? 0.01 : 0;
  }
  return sum / Math.max(1, records.length);
}

const unnamed = (width: number) => Array.from({ length: width }, () => "");

/** Lists columns by the index and name that `-c` takes: `1 "id", 2 "email"`. Lists at most 20 and counts the others. */
function listColumns(names: readonly string[], indices = names.map((_, index) => index)): string {
  const listed = indices.slice(0, 20).map((index) => {
    const name = names[index];
    return name ? `${index + 1} "${name}"` : `${index + 1}`;
  });
  const more = indices.length - listed.length;
  return listed.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
