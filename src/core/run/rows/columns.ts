/** The columns that a run adds to a table: their names and their fields. */
import { canonicalItem } from "../../classifier/canonical.js";
import { flagsOf } from "../../classifier/flags/flags.js";
import type { Kind, Verdict } from "../../validator/validator.js";

export interface WantedDetails {
  readonly withReasons?: boolean;
  readonly withFixes?: boolean;
  readonly withExchange?: boolean;
  /** Names of details that are wanted for themselves. */
  readonly added?: readonly string[] | undefined;
}

interface WantedColumns extends WantedDetails {
  readonly escapesFormulas?: boolean;
  readonly others?: readonly string[];
  readonly isOurs?: (index: number) => boolean;
}

interface Detail {
  readonly isWanted: (wanted: WantedDetails) => boolean | undefined;
  readonly dependsOn: "reason" | "item";
  /** Always directly before this one: tells the columns of an earlier run from the user's own. */
  readonly follows?: string;
  readonly usesExchange?: true;
  readonly field: (verdict: Verdict, kind: Kind, item: string) => string | undefined;
}

/** The columns besides the status, by their usual names, in order. No other code knows them one by one. */
const details = {
  reason: { isWanted: ({ withReasons }) => withReasons, dependsOn: "reason", field: ({ reason }) => reason },
  suggestion: {
    ...{ isWanted: ({ withReasons }) => withReasons, dependsOn: "reason", follows: "reason" },
    field: ({ suggestion }) => suggestion,
  },
  was: { isWanted: ({ withFixes }) => withFixes, dependsOn: "reason", field: ({ was }) => was },
  mx: { isWanted: ({ withExchange }) => withExchange, dependsOn: "item", usesExchange: true, field: ({ mx }) => mx },
  canonical: {
    isWanted: ({ added = [] }) => added.includes("canonical"),
    dependsOn: "item",
    field: (_, kind, item) => canonicalItem(kind, item),
  },
  flags: {
    isWanted: ({ added = [] }) => added.includes("flags"),
    dependsOn: "item",
    usesExchange: true,
    field: ({ mx }, kind, item) => flagsOf(kind, item, mx).join(" "),
  },
} satisfies Record<string, Detail>;

type DetailName = keyof typeof details;
const detailNames = Object.keys(details) as DetailName[];
const detailOf = (name: DetailName): Detail => details[name];

/** Plain data, because worker threads get a copy. */
export interface Columns {
  /** The status and the details, in order; then the same for each further column with items. */
  readonly names: readonly string[];
  readonly details: readonly DetailName[];
  readonly indices: readonly (number | undefined)[];
  readonly escapesFormulas: boolean;
  readonly renamed: readonly { readonly usual: string; readonly name: string }[];
}

/** Names new to the table: `status`, else `idv_status`, `idv_status_2`... `isOurs`: `--update` uses an earlier column. */
export function nameColumns(
  header: readonly string[] | undefined,
  statusColumn: string,
  { escapesFormulas = false, others = [], isOurs = () => false, ...wanted }: WantedColumns = {},
): Columns {
  // Spreadsheets and databases do not distinguish "Status" from "status".
  const taken = new Set(header?.map((name) => name.toLowerCase()));
  const added = detailNames.filter((name) => detailOf(name).isWanted(wanted));
  const named = ["", ...others.map((name) => `_${name}`)].flatMap((end) => {
    const status = earlierColumn(`${statusColumn}${end}`, header ?? [], isOurs);
    const earlierDetails = detailsAfter(status, header ?? [], end);
    return [`${statusColumn}${end}`, ...added.map((name) => `${name}${end}`)].map((usual, i) => {
      const earlier = i === 0 ? status : earlierDetails.get(usual);
      const name = earlier === undefined ? firstFree(usual, taken) : header![earlier]!;
      taken.add(name.toLowerCase());
      return { usual, name, earlier };
    });
  });
  return {
    names: named.map(({ name }) => (escapesFormulas ? escapeFormula(name) : name)),
    indices: named.map(({ earlier }) => earlier),
    details: added,
    escapesFormulas,
    renamed: named.filter(({ usual, name, earlier }) => usual !== name && earlier === undefined),
  };
}

export const needsVerdicts = ({ details: added }: Columns, hasExchange: boolean): boolean =>
  added.map(detailOf).some((detail) => detail.dependsOn === "reason" || (hasExchange && detail.usesExchange));

export const isExplained = ({ details: added }: Columns, hasReason: boolean): boolean =>
  added.some((name) => detailOf(name).dependsOn === "item" || hasReason);

function earlierColumn(usual: string, header: readonly string[], isOurs: (index: number) => boolean) {
  const found = [usual, `idv_${usual}`].map((name) => header.indexOf(name));
  return found.find((index) => index !== -1 && isOurs(index));
}

const isNameOf = (name: string, usual: string): boolean =>
  name === usual || (name.startsWith(`idv_${usual}`) && /^(?:_\d+)?$/.test(name.slice(`idv_${usual}`.length)));

/** A column "reason" before the status, or without "suggestion" after it, is the user's own. */
function detailsAfter(status: number | undefined, header: readonly string[], end: string): ReadonlyMap<string, number> {
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

export function ourFields({ details: added, escapesFormulas }: Columns, verdict: Verdict, kind: Kind, item?: string) {
  const fields = [verdict.status];
  for (const name of added) fields.push((item !== undefined && detailOf(name).field(verdict, kind, item)) || "");
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
