import type { ChalkInstance } from "chalk";
import type { RunReport } from "../../run/run-options.js";
import { knownStatuses } from "../../validator/validator.js";
import { printable } from "../terminal/terminal.js";

/** What a summary tells of a run. */
export interface Summary {
  readonly input: string;
  readonly kind: "email" | "domain";
  readonly engine: string;
  /** Why it was this one. */
  readonly engineReason: string;
  /** The column with the items, from 1. */
  readonly column: number;
  readonly columnName: string | undefined;
  readonly report: RunReport;
  /** Requests that were sent; undefined where the engine sends none. */
  readonly requests: number | undefined;
  /** Rows that were skipped or kept as they are. */
  readonly badRows: number;
  readonly seconds: number;
}

/** What a dry run found. */
export interface DryRun {
  readonly input: string;
  readonly dryRun: Pick<RunReport, "rows" | "distinct" | "cached" | "prechecked"> & {
    /** What would be submitted, at most. */
    readonly items: number;
    readonly requests: number;
  };
}

/** What a dry run tells. */
export function dryRunSummary({ input, dryRun }: DryRun, format: "text" | "json"): string {
  const { rows, distinct, cached, prechecked, items, requests } = dryRun;
  if (format === "json") {
    return JSON.stringify({
      dryRun: true,
      input,
      rows,
      distinct,
      cached,
      prechecked,
      units: items,
      requests,
    });
  }
  return (
    `${printable(input)}: ${number(rows)} rows, ${number(distinct)} distinct items; ${number(cached)} in the cache, ` +
    `${number(prechecked)} fake by their syntax; ${number(items)} units would be charged, in ${number(requests)} requests`
  );
}

/** The summary as one JSON object. */
export function jsonSummary({ report, ...rest }: Summary): string {
  const { rows, written, emptyRows, distinct, cached, prechecked, statuses, charged, quota } = report;
  return JSON.stringify({
    ...rest,
    columnName: rest.columnName ?? null,
    requests: rest.requests ?? null,
    rows,
    written,
    empty: emptyRows,
    distinct,
    cached,
    prechecked,
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
  const noLimit = summary.engine === "api" ? "" : ", no limit";
  const left = quota === undefined ? "" : quota.left === null ? noLimit : `, ${number(quota.left)} left`;
  const requests = summary.requests === undefined ? "" : ` in ${number(summary.requests)} requests`;
  const { distinct, cached, prechecked } = report;
  const saved = [
    ...(cached === 0 ? [] : [`${number(cached)} of ${number(distinct)} from the cache`]),
    ...(prechecked === 0 ? [] : [`${number(prechecked)} fake by their syntax`]),
  ].map((what) => `${what}, `);
  const name = summary.columnName === undefined ? "" : ` "${printable(summary.columnName)}"`;
  const rate = seconds > 0 ? `, ${number(Math.round(report.rows / seconds))} rows/s` : "";
  return [
    `${printable(summary.input)}: ${number(report.rows)} rows, ${number(report.distinct)} distinct ${what} ` +
      `in column ${summary.column}${name}; ${summary.engine} engine (${printable(summary.engineReason)})`,
    ...counts.map(([status, count]) => {
      const name = printable(status).padEnd(15);
      return `  ${colour[status]?.(name) ?? name}${number(count).padStart(12)}`;
    }),
    ...(summary.badRows === 0 ? [] : [`${number(summary.badRows)} bad rows`]),
    ...(report.written === report.rows ? [] : [`${number(report.written)} rows written`]),
    `${saved.join("")}${number(report.charged)} units used${requests}${left}; ${seconds.toFixed(2)} s${rate}`,
  ].join("\n");
}

function number(value: number): string {
  return value.toLocaleString("en");
}
