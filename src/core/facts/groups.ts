/** Rows by the values of a column with few of them, such as the source of a list or a plan: where the bad ones come from. */
import { knownStatuses } from "../validator/validator.js";
import { HashedNames } from "./hashed-names.js";

export interface GroupColumn {
  /** Index from 0. */
  readonly column: number;
  readonly name: string;
  /** Whether the user has named it; then it may have any number of values. */
  readonly isWanted: boolean;
}

/** The rows of a column by its values. */
export interface Group {
  /** Name of the column. */
  readonly column: string;
  readonly isWanted: boolean;
  /** The most frequent first; of a column with many values, these alone. */
  readonly values: readonly GroupValue[];
}

export interface GroupValue {
  readonly name: string;
  readonly rows: number;
  /** Rows by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** Values of a column that is found, and of any that are shown. */
const mostValues = 20;
const longestValue = 60;
/** Columns that are counted: each costs the hash of a field in every row. */
const mostGroups = 3;
/** Least number of rows in the sample that tells a column of few values from one of many. */
const fewestRows = 10;

const usualNames =
  /source|channel|campaign|medium|utm|origin|refer|list|form|plan|tier|country|region|quelle|kanal|land|pays|fuente/i;

/** Columns about people: a report is passed on, and a short list has few names. */
const personalNames =
  /name|nom\b|nombre|titel|title|salutation|anrede|gender|mail|phone|tel\b|mobil|address|adresse|street|birth|geburt|note|notiz|comment|remark/i;

/**
 * Finds columns with few values in the sample of a table, those with usual names first.
 *
 * @param names names of the columns
 * @param firstValues returns the sample of a column; empty for a column that is not looked at
 * @param wanted index of a column that the user has named
 */
export function findGroupColumns(
  names: readonly string[],
  firstValues: (column: number) => readonly string[],
  wanted: number | undefined,
): readonly GroupColumn[] {
  const found = names
    .map((name, column) => ({ column, name, isWanted: column === wanted }))
    .filter(({ column, name, isWanted }) => {
      return isWanted || (!personalNames.test(name) && hasFewValues(firstValues(column)));
    });
  const rank = ({ isWanted, name }: GroupColumn) => (isWanted ? 2 : Number(usualNames.test(name)));
  return found.toSorted((a, b) => rank(b) - rank(a) || a.column - b.column).slice(0, mostGroups);
}

function hasFewValues(values: readonly string[]): boolean {
  const filled = values.map((value) => value.trim().toLowerCase()).filter((value) => value !== "");
  const distinct = new Set(filled);
  const areStatuses = [...distinct].every((value) => (knownStatuses as readonly string[]).includes(value));
  return (
    filled.length >= fewestRows &&
    distinct.size >= 2 &&
    distinct.size <= mostValues &&
    3 * distinct.size <= filled.length &&
    filled.every((value) => value.length <= longestValue) &&
    !areStatuses
  );
}

/** Values of a column that the user has named, which are counted one by one. */
const mostCounted = 1000;
/** Hashes of values that are stored; they start over when there are more. */
const mostHashes = 10_000;

/** Counts the rows of one column. */
export class GroupCounts {
  readonly #wanted: GroupColumn;
  readonly #series: readonly string[];
  /** Values as they were first written, by their lower case; undefined for a column with too many. */
  #values: Map<string, { readonly name: string; readonly counts: number[] }> | undefined = new Map();
  /** The counts of a value by its hash, so that its text is read once. */
  #hashes = new HashedNames();
  #byHash: (number[] | undefined)[] = [];

  /** @param series the statuses that are counted */
  constructor(column: GroupColumn, series: readonly string[]) {
    this.#wanted = column;
    this.#series = series;
  }

  get column(): number {
    return this.#wanted.column;
  }

  /**
   * Counts a row.
   *
   * @param low, high the hash of the value; zeros if it is not known
   * @param status its index among the statuses that are counted
   * @param readValue returns the value; called if its hash is new or not known
   */
  add(low: number, high: number, status: number, readValue: () => string): void {
    if (this.#values === undefined) return;
    const counts = this.#countsOf(low, high, readValue);
    if (counts !== undefined) counts[status]!++;
  }

  #countsOf(low: number, high: number, readValue: () => string): number[] | undefined {
    if (low === 0 && high === 0) return this.#countsOfValue(readValue());
    const known = this.#hashes.find(low, high);
    if (known !== -1) return this.#byHash[known];
    if (this.#hashes.size === mostHashes) {
      this.#hashes = new HashedNames();
      this.#byHash = [];
    }
    const number = this.#hashes.add(low, high, noName);
    this.#byHash[number] = this.#countsOfValue(readValue());
    return this.#byHash[number];
  }

  #countsOfValue(value: string): number[] | undefined {
    const values = this.#values!;
    let name = value.trim().slice(0, longestValue) || "(empty)";
    let known = values.get(name.toLowerCase());
    if (known === undefined && values.size >= (this.#wanted.isWanted ? mostCounted : mostValues)) {
      if (!this.#wanted.isWanted) {
        // It was not of few values after all.
        this.#values = undefined;
        return undefined;
      }
      name = "(other values)";
      known = values.get(name);
    }
    if (known === undefined) {
      known = { name, counts: this.#series.map(() => 0) };
      values.set(name.toLowerCase(), known);
    }
    return known.counts;
  }

  /** Returns the rows by value; undefined if the column has too many, or only one. */
  group(): Group | undefined {
    const { name: column, isWanted } = this.#wanted;
    if (this.#values === undefined || (this.#values.size < 2 && !isWanted)) return undefined;
    const values = Array.from(this.#values.values(), ({ name, counts }) => ({
      name,
      rows: counts.reduce((sum, count) => sum + count, 0),
      statuses: Object.fromEntries(
        this.#series.flatMap((status, nth) => (counts[nth] === 0 ? [] : [[status, counts[nth]!]])),
      ),
    }));
    return { column, isWanted, values: mostFrequent(values) };
  }
}

const noName = new Uint8Array(0);

const mostFrequent = (values: readonly GroupValue[]): readonly GroupValue[] =>
  values.toSorted((a, b) => b.rows - a.rows || (a.name < b.name ? -1 : 1)).slice(0, mostValues);

const badStatuses = ["disposable", "fake"];
/** Least number of rows of a value whose share means something. */
const fewRows = 5;

export const badRowsOf = ({ statuses }: Pick<GroupValue, "statuses">): number =>
  badStatuses.reduce((sum, status) => sum + (statuses[status] ?? 0), 0);

/** Returns the values with the largest share of bad rows first; those of few rows are last. */
export function worstFirst(values: readonly GroupValue[]): readonly GroupValue[] {
  const share = (value: GroupValue) => (value.rows < fewRows ? -1 : badRowsOf(value) / value.rows);
  return values.toSorted((a, b) => share(b) - share(a) || b.rows - a.rows);
}

/** Times that the share of a value has to be that of all rows to be told. */
const worse = 1.5;

/** Returns the worst value, if it has far more bad rows than all values together. */
export function worseValue({ values }: Group): GroupValue | undefined {
  const [worst] = worstFirst(values);
  if (worst === undefined || worst.rows < fewRows) return undefined;
  const { rows, bad } = sumOfValues(values);
  return badRowsOf(worst) * rows > worse * bad * worst.rows ? worst : undefined;
}

export const sumOfValues = (values: readonly GroupValue[]) => ({
  rows: values.reduce((sum, { rows }) => sum + rows, 0),
  bad: values.reduce((sum, value) => sum + badRowsOf(value), 0),
});

/** Adds up the groups of several files: those of columns with the same name. */
export function sumOfGroups(files: readonly (readonly Group[])[]): readonly Group[] {
  const groups = files.flat();
  return [...new Set(groups.map(({ column }) => column))].map((column) => {
    const own = groups.filter((group) => group.column === column);
    const values = new Map<string, GroupValue>();
    for (const { name, rows, statuses } of own.flatMap((group) => group.values)) {
      const before = values.get(name) ?? { rows: 0, statuses: {} };
      const sum: Record<string, number> = { ...before.statuses };
      for (const [status, count] of Object.entries(statuses)) sum[status] = (sum[status] ?? 0) + count;
      values.set(name, { name, rows: before.rows + rows, statuses: sum });
    }
    return {
      column,
      isWanted: own.some(({ isWanted }) => isWanted),
      values: mostFrequent([...values.values()]),
    };
  });
}
