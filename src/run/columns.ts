/** The columns that a run adds to a table: their names and their fields. */
import { canonicalItem } from "../classifier/canonical.js";
import type { Kind, Verdict } from "../validator/validator.js";

/** What a run adds besides the status. */
export interface WantedDetails {
  readonly withReasons?: boolean;
  /** Whether the exchange that DNS named follows reason and suggestion. */
  readonly withExchange?: boolean;
  readonly withCanonical?: boolean;
}

/** A column beside the status. */
interface Detail {
  readonly isWanted: (wanted: WantedDetails) => boolean;
  /** What its field depends on besides the status: on the reason for that, or on the item itself. */
  readonly dependsOn: "reason" | "item";
  /** The column that is always directly before it, by which those of an earlier run are told from the user's own. */
  readonly follows?: string;
  /** Returns its field for a verdict on an item. */
  readonly field: (verdict: Verdict, kind: Kind, item: string) => string | undefined;
}

/** The columns beside the status, by their usual names, in their order. Nothing else knows of a single one. */
const details = {
  reason: {
    isWanted: ({ withReasons = false }) => withReasons,
    dependsOn: "reason",
    field: ({ reason }) => reason,
  },
  suggestion: {
    isWanted: ({ withReasons = false }) => withReasons,
    dependsOn: "reason",
    follows: "reason",
    field: ({ suggestion }) => suggestion,
  },
  mx: {
    isWanted: ({ withExchange = false }) => withExchange,
    dependsOn: "item",
    field: ({ mx }) => mx,
  },
  canonical: {
    isWanted: ({ withCanonical = false }) => withCanonical,
    dependsOn: "item",
    field: (_, kind, item) => canonicalItem(kind, item),
  },
} satisfies Record<string, Detail>;

type DetailName = keyof typeof details;
const detailNames = Object.keys(details) as DetailName[];
const detailOf = (name: DetailName): Detail => details[name];

/** The columns that a run adds to a table. Plain data, because worker threads get a copy. */
export interface Columns {
  /** Names, in order: the status and the details; then the same for each further column with items. */
  readonly names: readonly string[];
  readonly details: readonly DetailName[];
  /** Index in the table of each added column that an earlier run has left there. */
  readonly places: readonly (number | undefined)[];
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
    escapesFormulas = false,
    others = [],
    isOurs = () => false,
    ...wanted
  }: WantedDetails & {
    readonly escapesFormulas?: boolean;
    readonly others?: readonly string[];
    readonly isOurs?: (index: number) => boolean;
  } = {},
): Columns {
  // Spreadsheets and databases take "Status" and "status" for the same name.
  const taken = new Set(header?.map((name) => name.toLowerCase()));
  const added = detailNames.filter((name) => detailOf(name).isWanted(wanted));
  const named = ["", ...others.map((name) => `_${name}`)].flatMap((end) => {
    const status = earlierColumn(`${statusColumn}${end}`, header ?? [], isOurs);
    const earlierDetails = detailsAfter(status, header ?? [], end);
    return [`${statusColumn}${end}`, ...added.map((name) => `${name}${end}`)].map((usual, i) => {
      const place = i === 0 ? status : earlierDetails.get(usual);
      const name = place === undefined ? firstFree(usual, taken) : header![place]!;
      taken.add(name.toLowerCase());
      return { usual, name, place };
    });
  });
  return {
    names: named.map(({ name }) => (escapesFormulas ? escapeFormula(name) : name)),
    places: named.map(({ place }) => place),
    details: added,
    escapesFormulas,
    renamed: named.filter(({ usual, name, place }) => usual !== name && place === undefined),
  };
}

/** Returns whether an added field depends on the reason for a status. */
export const needsReasons = ({ details: added }: Columns): boolean =>
  added.some((name) => detailOf(name).dependsOn === "reason");

/** Returns whether the added fields of an item can only be told from the item, or from the reason for its status, if there is one. */
export const isExplained = ({ details: added }: Columns, hasReason: boolean): boolean =>
  added.some((name) => detailOf(name).dependsOn === "item" || hasReason);

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
    for (const name of detailNames) {
      const behind = detailNames.find((other) => detailOf(other).follows === name);
      const { follows } = detailOf(name);
      const isOurs = isNamed(index, name) && (behind === undefined || isNamed(index + 1, behind));
      if (isOurs && (follows === undefined || isNamed(index - 1, follows))) found.set(`${name}${end}`, index);
    }
  }
  return found;
}

/**
 * Returns the added fields of a row.
 *
 * @param item the item of the row; undefined when there is none or it was not checked
 */
export function ourFields(
  { details: added, escapesFormulas }: Columns,
  verdict: Verdict,
  kind: Kind,
  item?: string,
): string[] {
  const fields = [verdict.status];
  for (const name of added) {
    fields.push((item !== undefined && detailOf(name).field(verdict, kind, item)) || "");
  }
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
