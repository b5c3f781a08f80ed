import { canonicalItem } from "../classifier/canonical.js";
import type { Kind, Verdict } from "../validator/validator.js";

/** The columns that a run adds to a table. */
export interface Columns {
  /** Their names, in order: the status; with reasons the reason and the suggestion; the canonical item. */
  readonly names: readonly string[];
  readonly withReasons: boolean;
  readonly withCanonical: boolean;
  /** Whether a field of ours that a spreadsheet would take for a formula gets a `'` before it. */
  readonly escapesFormulas: boolean;
  /** Those that could not have their usual names, because the table has such columns already. */
  readonly renamed: readonly { readonly usual: string; readonly name: string }[];
}

/**
 * Names our columns so that none is called like a column of the table: `status`, or else `idv_status`, or else
 * `idv_status_2` ...
 *
 * @param header the table's own names; undefined when it has no header
 * @param statusColumn the usual name of the status's column
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
 * The fields that are written for a row.
 *
 * @param item what the verdict is on; undefined where there is no item, or it was not checked
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

/** What makes a formula in a spreadsheet, by OWASP's page on CSV injection; full-width forms count too. */
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
