/** Rows by the values of a column with few of them, such as a source or a plan: where the bad ones come from. */
import { grouped } from "../../text.js";
import { knownStatuses } from "../validator/validator.js";
import type { Group, GroupValue } from "./facts-schema.js";
import { KeyCounts } from "./key-counts.js";

/** Statuses, in the order of their counts; the last is any other one. */
export const series: readonly string[] = [...knownStatuses, "other"];

export interface GroupColumn {
  readonly column: number;
  readonly name: string;
  /** Whether the user has named it; then it may have any number of values. */
  readonly isWanted: boolean;
}

/** Values of a column that is found, and of any that are shown. */
const mostValues = 20;
const longestValue = 60;
/** Limit on what is compared, so that the memory is bounded. */
const longestRead = 4096;
/** Columns that are counted: each costs the hash of a field in every row. */
const mostGroups = 5;
/** Least number of rows in the sample that tells a column of few values from one of many. */
const fewestRows = 10;

const usualNames =
  /source|channel|campaign|event|fair|medium|utm|origin|refer|list|form|plan|tier|segment|country|region|quelle|kanal|aktion|messe|land|pays|fuente/i;

/** Names with a word about people in them that are about something else. */
const otherNames =
  /^(?:campaign|event|fair|list|plan|form|segment|product|shop|kampagnen?)[ _-]?(?:name|titel|title)$|^(?:e-?mail|mailing)[ _-]?(?:source|list|campaign|channel|type)$/i;

/** Columns about people: a report is passed on, and a short list has few names. */
const personalNames =
  /name|nom\b|nombre|titel|title|salutation|anrede|gender|mail|phone|tel\b|mobil|address|adresse|street|birth|geburt|note|notiz|comment|remark|apellid|geschlecht|civilit|\bsexe?\b|^first$|^last$/i;

/** Finds them in a sample, usual names first. `wanted` was named by the user; `isSeveral`: one of several files. */
export function findGroupColumns(
  names: readonly string[],
  firstValues: (column: number) => readonly string[],
  wanted: number | undefined,
  isSeveral = false,
): readonly GroupColumn[] {
  const found = names
    .map((name, column) => ({ column, name, isWanted: column === wanted }))
    .filter(({ column, name, isWanted }) => {
      const isPersonal = personalNames.test(name) && !otherNames.test(name);
      return isWanted || (!isPersonal && hasFewValues(firstValues(column), isSeveral ? 1 : 2));
    });
  const rank = ({ isWanted, name }: GroupColumn) => (isWanted ? 2 : Number(usualNames.test(name)));
  return found.toSorted((a, b) => rank(b) - rank(a) || a.column - b.column).slice(0, mostGroups);
}

function hasFewValues(values: readonly string[], fewest: number): boolean {
  const filled = values.map((value) => value.trim().toLowerCase()).filter((value) => value !== "");
  const distinct = new Set(filled);
  const areStatuses = [...distinct].every((value) => (knownStatuses as readonly string[]).includes(value));
  return (
    filled.length >= fewestRows &&
    distinct.size >= fewest &&
    distinct.size <= mostValues &&
    3 * distinct.size <= filled.length &&
    filled.every((value) => value.length <= longestValue) &&
    !areStatuses
  );
}

/** Values of a column that the user has named, which are counted one by one. */
const mostCounted = 1000;

export class GroupCounts {
  /** The numbers of values by their lower case; their names, as they were first written, are the keys of the counts. */
  readonly #numbers = new Map<string, number>();
  readonly #counts: KeyCounts;
  #others: number | undefined;
  /** Whether the column has too many values. */
  #isGivenUp = false;

  constructor(
    private readonly wanted: GroupColumn,
    private readonly series: readonly string[],
  ) {
    this.#counts = new KeyCounts(wanted.column, series.length, (value) => this.#numberOf(value));
  }

  /** As `count` of {@link KeyCounts}: the numbers are those of values. */
  count(...of: Parameters<KeyCounts["count"]>): Int32Array | undefined {
    return this.#isGivenUp ? undefined : this.#counts.count(...of);
  }

  /** Returns the value of a number; undefined for one of many. */
  valueOf(number: number): { readonly column: string; readonly value: string } | undefined {
    const value = this.#isGivenUp || number === this.#others ? undefined : this.#counts.keys[number];
    return value === undefined ? undefined : { column: this.wanted.name, value };
  }

  #numberOf(value: string): number {
    const name = value.trim().slice(0, longestRead) || "(empty)";
    const known = this.#numbers.get(name.toLowerCase());
    if (known !== undefined) return known;
    if (this.#numbers.size >= (this.wanted.isWanted ? mostCounted : mostValues)) {
      // Else it was not of few values after all.
      if (this.wanted.isWanted) this.#others ??= this.#counts.add("");
      else this.#isGivenUp = true;
      return this.#others ?? -1;
    }
    const number = this.#counts.add(name);
    this.#numbers.set(name.toLowerCase(), number);
    return number;
  }

  group(): Group | undefined {
    const { name: column, isWanted } = this.wanted;
    if (this.#isGivenUp) return undefined;
    const counted = (counts: readonly number[]) => ({
      rows: counts.reduce((sum, count) => sum + count, 0),
      statuses: Object.fromEntries(
        this.series.flatMap((status, nth) => (counts[nth] === 0 ? [] : [[status, counts[nth]!]])),
      ),
    });
    const values = Array.from(this.#numbers.values(), (number) => ({
      name: this.#counts.keys[number]!,
      ...counted(this.#counts.countsOf(number)),
    }));
    const others =
      this.#others === undefined ? null : { values: null, ...counted(this.#counts.countsOf(this.#others)) };
    return { column, isWanted, values: mostFirst(values), others };
  }
}

/** Returns what is shown of the name of a value: the start and the end of a long one, since links differ at their ends. */
export function shownValue(name: string): string {
  // By code points, of which it must not have halves.
  const points = [...name];
  if (points.length <= longestValue) return name;
  return `${points.slice(0, longestValue / 2).join("")} ... ${points.slice(-longestValue / 2).join("")}`;
}

const mostFirst = (values: readonly GroupValue[]): readonly GroupValue[] =>
  values.toSorted((a, b) => b.rows - a.rows || (a.name < b.name ? -1 : 1));

/** Returns what is shown: half of the values for their bad rows beyond the share of all, and half for their rows. */
export function shownGroup(group: Group): Group {
  const sorted = mostFirst(group.values);
  const sum = added(sorted);
  const share = badRowsOf(sum) / Math.max(1, sum.rows);
  const excess = (value: GroupValue) => badRowsOf(value) - share * value.rows;
  const worst = new Set(sorted.toSorted((a, b) => excess(b) - excess(a)).slice(0, mostValues / 2));
  const shown = new Set([...worst, ...sorted.filter((value) => !worst.has(value))].slice(0, mostValues));
  const rest = sorted.filter((value) => !shown.has(value));
  const values = sorted.filter((value) => shown.has(value));
  if (rest.length === 0) return { ...group, values };
  return { ...group, values, others: restOf([{ values: rest.length, ...added(rest) }, group.others]) };
}

function added(all: readonly Omit<GroupValue, "name">[]) {
  const statuses: Record<string, number> = {};
  for (const [status, count] of all.flatMap((each) => Object.entries(each.statuses)))
    statuses[status] = (statuses[status] ?? 0) + count;
  return { rows: all.reduce((sum, { rows }) => sum + rows, 0), statuses };
}

const badStatuses: readonly string[] = ["disposable", "fake"];
/** Least number of rows of a value whose share means something. */
export const fewRows = 5;

export const isBad = (status: string): boolean => badStatuses.includes(status);

export const badRowsOf = ({ statuses }: Pick<GroupValue, "statuses">): number =>
  badStatuses.reduce((sum, status) => sum + (statuses[status] ?? 0), 0);

export function worstFirst(values: readonly GroupValue[]): readonly GroupValue[] {
  const share = (value: GroupValue) => (value.rows < fewRows ? -1 : badRowsOf(value) / value.rows);
  return values.toSorted((a, b) => share(b) - share(a) || b.rows - a.rows);
}

/** Times that the share of a value has to be that of all rows to be told. */
const worse = 1.5;

export function worseValue(group: Group): GroupValue | undefined {
  const [worst] = worstFirst(group.values);
  if (worst === undefined || worst.rows < fewRows) return undefined;
  return isWorse({ rows: worst.rows, bad: badRowsOf(worst) }, sumOfValues(group)) ? worst : undefined;
}

type BadShare = { readonly rows: number; readonly bad: number };

/** Whether the share of bad rows in a part is clearly larger than in all. */
export const isWorse = (part: BadShare, all: BadShare): boolean => part.bad * all.rows > worse * all.bad * part.rows;

export function sumOfValues({ values, others }: Group) {
  const all = added(others === null ? values : [...values, others]);
  return { rows: all.rows, bad: badRowsOf(all) };
}

/** Joins columns by name. Leaves out those not counted in each file, whose sum would be wrong, or with one value. */
export function sumOfGroups(files: readonly (readonly Group[])[]): readonly Group[] {
  const names = [...new Set(files.flat().map(({ column }) => column))];
  return names.flatMap((column) => {
    const own = files.flatMap((groups) => groups.find((group) => group.column === column) ?? []);
    if (own.length < files.length) return [];
    const isWanted = own.some((group) => group.isWanted);
    const values = new Map<string, GroupValue>();
    for (const value of own.flatMap((group) => group.values)) {
      const before = values.get(value.name.toLowerCase());
      values.set(value.name.toLowerCase(), before ? { name: before.name, ...added([before, value]) } : value);
    }
    const others = own.flatMap((each) => each.others ?? []);
    const all = { column, isWanted, values: [...values.values()], others: others.length === 0 ? null : restOf(others) };
    const sum = shownGroup(all);
    return isWanted || sum.others !== null || sum.values.length > 1 ? [sum] : [];
  });
}

function restOf(all: readonly Group["others"][]): Group["others"] {
  const some = all.filter((each) => each !== null);
  return { values: some.length === 1 ? some[0]!.values : null, ...added(some) };
}

export const nameOfOthers = ({ values }: NonNullable<Group["others"]>): string =>
  values === null ? "other values" : `${grouped(values)} other values`;
