/** The data of a report on a run over one or several files. */
import type { Kind } from "../classifier/verdict.js";
import type { RunReport } from "../run/run-options.js";
import type { Collected } from "./collector.js";

/** What a report tells programs, and the next report in its place. The fields stay, others may be added. */
export interface Figures {
  /** ISO 8601. */
  readonly made: string;
  readonly inputs: readonly string[];
  readonly rows: number;
  readonly empty: number;
  readonly distinct: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly reasons: Readonly<Record<string, number>>;
}

/** Counts are rows unless stated otherwise. */
export interface Report extends Collected {
  readonly kind: Kind;
  readonly inputs: readonly string[];
  /** Milliseconds since the epoch. */
  readonly made: number;
  readonly rows: number;
  readonly emptyRows: number;
  readonly badRows: number;
  /** Bad rows by input and kind, with the numbers of the first lines. */
  readonly badRowKinds: readonly {
    readonly kind: string;
    readonly count: number;
    readonly lines: readonly number[];
  }[];
  /**
   * Rows that are left out, or fail the run, although another of their items is good; by input, with the numbers of the
   * first lines.
   */
  readonly outvoted: readonly { readonly count: number; readonly lines: readonly number[] }[];
  /** Rows with the status of an earlier run. */
  readonly kept: number;
  readonly statuses: ReadonlyMap<string, number>;
  readonly reasons: ReadonlyMap<string, number>;
  /** Rows with a mistyped item that has a suggestion. */
  readonly repairable: number;
  readonly topDomains: RunReport["topDomains"];
  /** Distinct items, as are `cached` and `prechecked`, which cost no units. `charged` are units. */
  readonly distinct: number;
  readonly charged: number;
  readonly cached: number;
  readonly prechecked: number;
  readonly quota: RunReport["quota"];
  /** Files that the runs have written, with their sizes in bytes. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** The report that this one replaces. */
  readonly before?: Figures | undefined;
  readonly terms: readonly (readonly [term: string, text: string])[];
}

export function sumOf(
  reports: readonly RunReport[],
): Pick<
  Report,
  | "rows"
  | "emptyRows"
  | "statuses"
  | "reasons"
  | "repairable"
  | "topDomains"
  | "distinct"
  | "charged"
  | "cached"
  | "prechecked"
  | "quota"
> {
  const sum = (countOf: (report: RunReport) => number) =>
    reports.reduce((total, report) => total + countOf(report), 0);
  const merged = (countsOf: (report: RunReport) => Iterable<readonly [string, number]>) => {
    const counts = new Map<string, number>();
    for (const [name, count] of reports.flatMap((report) => [...countsOf(report)])) {
      counts.set(name, (counts.get(name) ?? 0) + count);
    }
    return counts;
  };
  const domains = merged(({ topDomains }) => topDomains.map(({ domain, items }) => [domain, items] as const));
  return {
    rows: sum(({ rows }) => rows),
    emptyRows: sum(({ emptyRows }) => emptyRows),
    statuses: merged(({ statuses }) => statuses),
    reasons: merged(({ reasons }) => reasons),
    repairable: sum(({ repairable }) => repairable),
    topDomains: Array.from(domains, ([domain, items]) => ({ domain, items }))
      .sort((a, b) => b.items - a.items)
      .slice(0, 20),
    distinct: sum(({ distinct }) => distinct),
    charged: sum(({ charged }) => charged),
    cached: sum(({ cached }) => cached),
    prechecked: sum(({ prechecked }) => prechecked),
    quota: reports.findLast(({ quota }) => quota !== undefined)?.quota,
  };
}
