/** What the run over one file has found, for its summary, the report and the exit code. */
import type { MailStatistics } from "../../../dns/mail-domains.js";
import type { RunReport } from "../../../run/run-options.js";
import type { Dialect } from "../../../table/dialect.js";
import type { EmptyFormulas } from "../../../table/spreadsheet/workbook.js";
import type { BadRowKind } from "./bad-rows.js";

export interface Summary {
  readonly input: string;
  readonly kind: "email" | "domain";
  readonly engine: string;
  readonly engineReason: string;
  /** From 1. */
  readonly column: number;
  readonly columnName: string | undefined;
  readonly otherColumns: readonly string[];
  /** Columns with items that were not validated: `3 "work email"`. */
  readonly passedOver: readonly string[];
  readonly report: RunReport;
  /** Units that another run of the same name had paid. */
  readonly paidBefore: number;
  readonly requests: number | undefined;
  readonly dns: (MailStatistics & { readonly mostUndecided: number | undefined }) | undefined;
  /** Undefined for UTF-8, and if the encoding is not certain. */
  readonly encoding: string | undefined;
  /** Lines above the table for which the output has no room. */
  readonly linesLeftOut: number;
  readonly emptyFormulas: EmptyFormulas | null;
  /** Rows that a spreadsheet program does not show; null for other files. */
  readonly hiddenRows: number | null;
  /** Elements of a JSON document beside its records; null for other tables. */
  readonly otherElements: number | null;
  readonly badRows: number;
  readonly badRowKinds: readonly BadRowKind[];
  readonly dialect: Dialect;
  readonly seconds: number;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  readonly isExplained: boolean;
  /** Whether items are repaired (`--fix`). */
  readonly isFixed: boolean;
  /**
   * Suggested commands. `resume` validates the rows for which the quota had no units; `next` is the same, or drops
   * disposable and fake rows.
   */
  readonly resume: string | undefined;
  readonly next: string | undefined;
  /** How old the lists of disposable domains are, if they are old. */
  readonly oldData?: string | undefined;
}

export interface DryRun {
  readonly input: string;
  readonly column: number;
  readonly columnName: string | undefined;
  readonly columns: readonly string[];
  readonly dialect: Dialect;
  readonly badRows: number;
  readonly badRowKinds: readonly BadRowKind[];
  readonly dryRun: Pick<RunReport, "rows" | "distinct" | "cached" | "prechecked"> & {
    /** Largest number of items that would be submitted. */
    readonly items: number;
    readonly requests: number | undefined;
  };
}
