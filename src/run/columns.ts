/** The columns that a run adds to a table: their names and their fields. */
import { canonicalItem } from "../classifier/canonical.js";
import type { Kind, Verdict } from "../validator/validator.js";

/** The columns that a run adds to a table. */
export interface Columns {
  /**
   * Names, in order: status; reason and suggestion if `withReasons`; mx if `withExchange`; canonical item if `withCanonical`; then the same for
   * each further column with items.
   */
  readonly names: readonly string[];
  /** Index in the table of each added column that an earlier run has left there. */
  readonly places: readonly (number | undefined)[];
  readonly withReasons: boolean;
  /** Whether the exchange that DNS named follows reason and suggestion. */
  readonly withExchange: boolean;
  readonly withCanonical: boolean;
  /** Whether to put a `'` before added fields that a spreadsheet would take for formulas. */
  readonly escapesFormulas: boolean;
  /** Added columns that got another name because the usual one was taken. */
  readonly renamed: readonly { readonly usual: string; readonly name: string }[];
}

/**
 * Names the added columns so that each name is new to the table: `status`, else `idv_status`, else `idv_status_2` and
 * so on.
 *
 * @param header the table's own names; undefined when it has no header
 * @param statusColumn the usual name of the status column
 * @param others names of further columns with items, which the names of their added columns end in
 * @param isOurs for an update: returns whether a column of the table, by its index, is a status column of an earlier run,
 * which is then used again
 */
export function nameColumns(
  header: readonly string[] | undefined,
  statusColumn: string,
  {
    withReasons = false,
    withExchange = false,
    withCanonical = false,
    escapesFormulas = false,
    others = noNames,
    isOurs = never,
  } = {},
): Columns {
  // Spreadsheets and databases take "Status" and "status" for the same name.
  const taken = new Set(header?.map((name) => name.toLowerCase()));
  const details = [
    ...(withReasons ? ["reason", "suggestion"] : []),
    ...(withExchange ? ["mx"] : []),
    ...(withCanonical ? ["canonical"] : []),
  ];
  const named = ["", ...others.map((name) => `_${name}`)].flatMap((end) => {
    const status = earlierColumn(`${statusColumn}${end}`, header ?? [], isOurs);
    const earlierDetails = detailsAfter(status, header ?? [], end);
    return [`${statusColumn}${end}`, ...details.map((name) => `${name}${end}`)].map((usual, i) => {
      const place = i === 0 ? status : earlierDetails.get(usual);
      const name = place === undefined ? firstFree(usual, taken) : header![place]!;
      taken.add(name.toLowerCase());
      return { usual, name, place };
    });
  });
  return {
    names: named.map(({ name }) => (escapesFormulas ? escapeFormula(name) : name)),
    places: named.map(({ place }) => place),
    withReasons,
    withExchange,
    withCanonical,
    escapesFormulas,
    renamed: named.filter(({ usual, name, place }) => usual !== name && place === undefined),
  };
}

const noNames: readonly string[] = [];
const never = (_index: number): boolean => false;

/** Returns the index of the column that an earlier run has added under a name, or the name that it took instead. */
function earlierColumn(
  usual: string,
  header: readonly string[],
  isOurs: (index: number) => boolean,
): number | undefined {
  const found = [usual, `idv_${usual}`].map((name) => header.indexOf(name));
  return found.find((index) => index !== -1 && isOurs(index));
}

/** Returns whether a column has a usual name, or one that {@link firstFree} gives in its place. */
const isNameOf = (name: string, usual: string): boolean =>
  name === usual ||
  (name.startsWith(`idv_${usual}`) && /^(?:_\d+)?$/.test(name.slice(`idv_${usual}`.length)));

/**
 * Returns the indices of the details that an earlier run has added, by their usual names: the last columns behind its status
 * that have them. A column "reason" before the status, or without "suggestion" behind it, is the user's own.
 */
function detailsAfter(
  status: number | undefined,
  header: readonly string[],
  end: string,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const isNamed = (index: number, usual: string) => isNameOf(header[index] ?? "", `${usual}${end}`);
  for (let index = (status ?? header.length) + 1; index < header.length; index++) {
    for (const usual of ["mx", "canonical"]) if (isNamed(index, usual)) found.set(`${usual}${end}`, index);
    if (!isNamed(index, "reason") || !isNamed(index + 1, "suggestion")) continue;
    found.set(`reason${end}`, index);
    found.set(`suggestion${end}`, index + 1);
  }
  return found;
}

/**
 * Returns the added fields of a row.
 *
 * @param item the item of the row; undefined when there is none or it was not checked
 */
export function ourFields(
  { withReasons, withExchange, withCanonical, escapesFormulas }: Columns,
  { status, reason = "", suggestion = "", mx = "" }: Verdict,
  kind: Kind,
  item?: string,
): string[] {
  const canonical = (withCanonical && item !== undefined && canonicalItem(kind, item)) || "";
  const fields = [
    status,
    ...(withReasons ? [reason, suggestion] : []),
    ...(withExchange ? [mx] : []),
    ...(withCanonical ? [canonical] : []),
  ];
  return escapesFormulas ? fields.map(escapeFormula) : fields;
}

/** First characters of formulas in spreadsheets, from OWASP's page on CSV injection, with their full-width forms. */
const formulaStart = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

const escapeFormula = (field: string): string => (formulaStart.test(field) ? `'${field}` : field);

function firstFree(usual: string, taken: ReadonlySet<string>): string {
  if (!taken.has(usual.toLowerCase())) return usual;
  const prefixed = `idv_${usual}`;
  if (!taken.has(prefixed.toLowerCase())) return prefixed;
  for (let n = 2; ; n++) {
    if (!taken.has(`${prefixed}_${n}`.toLowerCase())) return `${prefixed}_${n}`;
  }
}
