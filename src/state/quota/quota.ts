/** Arithmetic of quotas: changes rows in memory, never a database. Times are in milliseconds since the epoch. */
import { type Period, periodEnd, periodStart } from "./period.js";

/** The quota of a file, which has only one. */
export const fileQuota = { quotaName: "" } as const;
export const isFileQuota = (from: object): boolean => "quotaName" in from && from.quotaName === fileQuota.quotaName;

export interface Quota {
  readonly limit: number | null;
  readonly period: Period;
  readonly used: number;
  /** Null for no limit. Never negative. */
  readonly left: number | null;
  /** Null for never. */
  readonly renewsAt: number | null;
}

export interface QuotaChange {
  readonly limit?: number | null;
  readonly period?: Period;
}

export interface QuotaRow {
  unit_limit: number | null;
  period: Period;
  used: number;
  period_start: number;
}

export const freshRow: QuotaRow = { unit_limit: null, period: "none", used: 0, period_start: 0 };

export const quotaColumns = `
  unit_limit {integer} CHECK (unit_limit >= 0),
  period text NOT NULL DEFAULT 'none' CHECK (period IN ('none', 'hour', 'day', 'month')),
  used {integer} NOT NULL DEFAULT 0 CHECK (used >= 0),
  period_start {integer} NOT NULL DEFAULT 0`;

/**
 * A period in the future comes from a wrong clock. The next one stays, so that a clock that is set back does not renew
 * the quota twice; a later one becomes the current one, since it would renew too late.
 */
export function renewed<Row extends QuotaRow>(row: Row, now: number): Row {
  const start = periodStart(row.period, now);
  if (start > row.period_start) return { ...row, used: 0, period_start: start };
  const nextStart = periodEnd(row.period, start) ?? start;
  return { ...row, period_start: row.period_start > nextStart ? start : row.period_start };
}

export function toQuota({ unit_limit: limit, period, used, period_start }: QuotaRow): Quota {
  const left = limit === null ? null : Math.max(0, limit - used);
  return { limit, period, used, left, renewsAt: periodEnd(period, period_start) ?? null };
}

export function takeUnits(row: QuotaRow, units: number): number {
  const { left } = toQuota(row);
  const granted = left === null ? units : Math.min(units, left);
  row.used += granted;
  return granted;
}

export function changeQuota(row: QuotaRow, change: QuotaChange, now: number): void {
  if (change.limit !== undefined) row.unit_limit = change.limit;
  if (change.period !== undefined && change.period !== row.period) {
    row.period = change.period;
    row.period_start = periodStart(row.period, now);
  }
}
