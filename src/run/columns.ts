/** The columns that a run adds to a table: their names and their fields. */
import { canonicalItem } from "../classifier/canonical.js";
import type { Kind, Verdict } from "../validator/validator.js";

/** The columns that a run adds to a table. */
export interface Columns {
  /** Names, in order: status; reason and suggestion if `withReasons`; canonical item if `withCanonical`. */
  readonly names: readonly string[];
  readonly withReasons: boolean;
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
 */
export function nameColumns(
  header: readonly string[] | undefined,
  statusColumn: string,
  { withReasons = false, withCanonical = false, escapesFormulas = false } = {},
): Columns {
  const taken = new Set(header);
  const usualNames = [
    statusColumn,
    ...(withReasons ? ["reason", "suggestion"] : []),
    ...(withCanonical ? ["canonical"] : []),
  ];
  const named = usualNames.map((usual) => {
    const name = firstFree(usual, taken);
    taken.add(name);
    return { usual, name };
  });
  return {
    names: named.map(({ name }) => (escapesFormulas ? escapeFormula(name) : name)),
    withReasons,
    withCanonical,
    escapesFormulas,
    renamed: named.filter(({ usual, name }) => usual !== name),
  };
}

/**
 * Returns the added fields of a row.
 *
 * @param item the item of the row; undefined when there is none or it was not checked
 */
export function ourFields(
  { withReasons, withCanonical, escapesFormulas }: Columns,
  { status, reason = "", suggestion = "" }: Verdict,
  kind: Kind,
  item?: string,
): string[] {
  const canonical = (withCanonical && item !== undefined && canonicalItem(kind, item)) || "";
  const fields = [
    status,
    ...(withReasons ? [reason, suggestion] : []),
    ...(withCanonical ? [canonical] : []),
  ];
  return escapesFormulas ? fields.map(escapeFormula) : fields;
}

/** First characters of formulas in spreadsheets, from OWASP's page on CSV injection, with their full-width forms. */
const formulaStart = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

const escapeFormula = (field: string): string => (formulaStart.test(field) ? `'${field}` : field);

function firstFree(usual: string, taken: ReadonlySet<string>): string {
  if (!taken.has(usual)) return usual;
  const prefixed = `idv_${usual}`;
  if (!taken.has(prefixed)) return prefixed;
  for (let n = 2; ; n++) {
    if (!taken.has(`${prefixed}_${n}`)) return `${prefixed}_${n}`;
  }
}
