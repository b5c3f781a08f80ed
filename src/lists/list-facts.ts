/** Facts about a list: its table, the choices for its run, and the result. */

/** Lists that one key may have. */
export const mostLists = 100;

export interface DetectedTable {
  readonly rows: number;
  readonly distinct: number;
  /** From 1. */
  readonly column: number;
  readonly columnName: string | null;
  readonly columns: readonly string[];
  readonly delimiter: string | null;
}

export interface ListChoices {
  /** Name or number of the column with the items; undefined to detect it. */
  readonly column?: string | undefined;
  readonly delimiter?: string | undefined;
  /** Statuses whose rows are left out. */
  readonly drop: readonly string[];
  /** Whether each status gets a file of its own. */
  readonly isSplit: boolean;
  /** Whether there are columns with the reason and the suggestion. */
  readonly isExplained?: boolean;
  readonly dns: boolean;
}

export interface ListProgress {
  readonly rows: number;
  /** From 0 to 1; null if it is not known. */
  readonly share: number | null;
  readonly units: number;
}

export interface ListSummary {
  readonly rows: number;
  readonly written: number;
  readonly empty: number;
  readonly distinct: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly units: { readonly used: number; readonly paidBefore: number };
}

export interface ResultFile {
  readonly name: string;
  readonly bytes: number;
}

/** Units of all attempts so far, as far as their statuses were told to the usage. */
export interface CountedUnits {
  readonly statuses: Readonly<Record<string, number>>;
  readonly notChecked: number;
}

export type ListResult =
  | {
      readonly counted: CountedUnits;
      readonly summary: ListSummary;
      /** Whether the units ended before the list. */
      readonly isExhausted: boolean;
      readonly files: readonly ResultFile[];
    }
  | { readonly counted: CountedUnits; readonly fault: string };

/** Returns a name that is safe for a file and in messages. */
export function safeName(name: string): string {
  const base = (name.split(/[/\\]/).at(-1) ?? "").replace(/[^\p{L}\p{N} ._()+-]/gu, "_").slice(-80);
  return /[\p{L}\p{N}]/u.test(base) && !base.startsWith(".") ? base : "list.csv";
}
