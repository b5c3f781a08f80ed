import type { ChalkInstance } from "chalk";
import type { RunReport } from "../run/run-options.js";
import { knownStatuses } from "../validator/validator.js";
import { printable } from "./terminal.js";

/** What a summary tells of a run. */
export interface Summary {
  readonly input: string;
  readonly kind: "email" | "domain";
  readonly engine: string;
  /** The column with the items, from 1. */
  readonly column: number;
  readonly columnName: string | undefined;
  readonly report: RunReport;
  /** Rows that were skipped or kept as they are. */
  readonly badRows: number;
  readonly seconds: number;
}

/** The summary as one JSON object. */
export function jsonSummary({ report, ...rest }: Summary): string {
  const { rows, written, emptyRows, distinct, statuses, charged, quota } = report;
  return JSON.stringify({
    ...rest,
    columnName: rest.columnName ?? null,
    rows,
    written,
    empty: emptyRows,
    distinct,
    statuses: Object.fromEntries([
      ...knownStatuses.filter((s) => rest.kind === "email" || s !== "alias").map((s) => [s, 0]),
      ...statuses,
    ]),
    units: {
      used: charged,
      left: quota?.left ?? null,
      renews: quota?.renewsAt == null ? null : new Date(quota.renewsAt).toISOString(),
    },
  });
}

/** The summary for people, some lines. */
export function textSummary(summary: Summary, chalk: ChalkInstance | undefined): string {
  const { report, seconds } = summary;
  const { quota } = report;
  const what = summary.kind === "email" ? "e-mail addresses" : "domains";
  const colour: Readonly<Record<string, ((text: string) => string) | undefined>> = {
    ok: chalk?.green,
    alias: chalk?.cyan,
    disposable: chalk?.yellow,
    fake: chalk?.red,
    quota_exceeded: chalk?.magenta,
  };
  const order = [...new Set([...knownStatuses, ...report.statuses.keys()])];
  const counts = order.flatMap((status) => {
    const count = report.statuses.get(status);
    return count === undefined ? [] : [[status, count] as const];
  });
  if (report.emptyRows > 0) counts.push(["(empty)", report.emptyRows]);
  const left = quota === undefined ? "" : quota.left === null ? ", no limit" : `, ${number(quota.left)} left`;
  const name = summary.columnName === undefined ? "" : ` "${printable(summary.columnName)}"`;
  const rate = seconds > 0 ? `, ${number(Math.round(report.rows / seconds))} rows/s` : "";
  return [
    `${printable(summary.input)}: ${number(report.rows)} rows, ${number(report.distinct)} distinct ${what} ` +
      `in column ${summary.column}${name}; ${summary.engine} engine`,
    ...counts.map(([status, count]) => {
      const name = printable(status).padEnd(15);
      return `  ${colour[status]?.(name) ?? name}${number(count).padStart(12)}`;
    }),
    ...(summary.badRows === 0 ? [] : [`${number(summary.badRows)} bad rows`]),
    ...(report.written === report.rows ? [] : [`${number(report.written)} rows written`]),
    `${number(report.charged)} units used${left}; ${seconds.toFixed(2)} s${rate}`,
  ].join("\n");
}

function number(value: number): string {
  return value.toLocaleString("en");
}
