/** Finds the column with the dates on which rows were added to the list, and reads the month from its fields. */

type MonthOf = (text: string) => string | undefined;

export type DateColumn = { readonly column: number; readonly name: string; readonly monthOf: MonthOf };

const entryNames = /creat|sign|regist|subscri|join|opt.?in|added|since|confirm|erstellt|angelegt|anmeld|alta|inscri/i;
const otherNames = /version|release|birth|dob|geburt|naiss|nacimiento|expir|until|unsub|deleted|bounce/i;
const dateNames = /date|datum|fecha|time|zeit|stamp/i;
const dateShare = 0.8;

export function findDateColumn(names: readonly string[], firstValues: (column: number) => readonly string[]) {
  const found = names.flatMap((name, column): DateColumn[] => {
    if (otherNames.test(name)) return [];
    const known = entryNames.test(name) || dateNames.test(name) ? [...formats, withoutSeparators] : formats;
    const values = firstValues(column).filter((value) => value.trim() !== "");
    const monthOf = formatOf(known, values);
    return monthOf === undefined ? [] : [{ column, name, monthOf }];
  });
  return found.find(({ name }) => entryNames.test(name)) ?? found[0];
}

/** Undefined if less than 80 % of the fields are dates, or if they are ambiguous, as 03/04/2026 is. */
function formatOf(known: readonly MonthOf[], values: readonly string[]): MonthOf | undefined {
  const fitting = known.filter(
    (monthOf) => values.filter((value) => monthOf(value) !== undefined).length >= dateShare * values.length,
  );
  const [first, second] = fitting;
  if (values.length === 0 || first === undefined) return undefined;
  const isAmbiguous = second !== undefined && values.some((value) => first(value) !== second(value));
  return isAmbiguous ? undefined : first;
}

const monthNames = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

function written(pattern: RegExp): MonthOf {
  return (text) => {
    const { y, m = "" } = pattern.exec(text.trim())?.groups ?? {};
    if (y === undefined) return undefined;
    const month = /^\d/.test(m) ? Number(m) : 1 + monthNames.indexOf(m.slice(0, 3).toLowerCase());
    return monthText(Number(y), month);
  };
}

function elapsed(pattern: RegExp, milliseconds: number): MonthOf {
  return (text) => {
    if (!pattern.test(text.trim())) return undefined;
    const date = new Date(Number(text) * milliseconds);
    return monthText(date.getUTCFullYear(), date.getUTCMonth() + 1);
  };
}

const formats: readonly MonthOf[] = [
  // ISO 8601 and its relatives: 2026-11-22T10:00:00Z, 2026/11/22, 2026.11.22
  written(/^(?<y>\d{4})([-/.])(?<m>\d{1,2})(?:\2\d{1,2}(?:[T ].*)?)?$/),
  // 22.11.2026, 22-11-2026, 22/11/2026
  written(/^\d{1,2}([-/.])(?<m>\d{1,2})\1(?<y>\d{4})(?:,? .*)?$/),
  // 11/22/2026
  written(/^(?<m>\d{1,2})([-/])\d{1,2}\2(?<y>\d{4})(?:,? .*)?$/),
  // 22 Nov 2026, Sun, 22 Nov 2026 10:00:00 GMT, November 22, 2026
  written(/^(?:[a-z]{3,9},? )?\d{1,2}[ -](?<m>[a-z]{3,9})\.?[ -](?<y>\d{4})(?:,? .*)?$/i),
  written(/^(?<m>[a-z]{3,9})\.? \d{1,2},? (?<y>\d{4})(?:,? .*)?$/i),
  elapsed(/^1\d{9}$/, 1000),
  elapsed(/^1\d{12}$/, 1),
];

/** 20261122T100000Z, 20261122 10:00. Only for columns with names of dates: other numbers may look like this. */
const withoutSeparators = written(
  /^(?<y>\d{4})(?<m>\d{2})(?:0[1-9]|[12]\d|3[01])(?:[T ]?(?:[01]\d|2[0-3]):?[0-5]\d(?::?[0-5]\d(?:[.,]?\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/,
);

const firstYear = 1990;
const lastYear = 2100;

function monthText(year: number, month: number): string | undefined {
  if (year < firstYear || year > lastYear || !(month >= 1 && month <= 12)) return undefined;
  return `${year}-${String(month).padStart(2, "0")}`;
}
