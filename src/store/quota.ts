import { type Period, periodEnd, periodStart } from "./period.js";

/** The state of a quota at one moment. */
export interface Quota {
  /** Units a period; null for no limit. */
  readonly limit: number | null;
  readonly period: Period;
  /** Units used in this period. */
  readonly used: number;
  /** Units left in this period; null for no limit. Never negative. */
  readonly left: number | null;
  /** When `used` goes back to 0, in milliseconds since the epoch; null for never. */
  readonly renewsAt: number | null;
}

/** A reservation: how many of the units asked for were granted, and the quota after it. */
export interface Reservation {
  readonly granted: number;
  readonly quota: Quota;
}

/** What changes a quota; what is absent stays. */
export interface QuotaChange {
  readonly limit?: number | null;
  readonly period?: Period;
}

/** A quota as it is stored. */
export interface QuotaRow {
  unit_limit: number | null;
  period: Period;
  used: number;
  period_start: number;
}

/** The columns of a {@link QuotaRow}. */
export const quotaColumns = `
  unit_limit INTEGER CHECK (unit_limit >= 0),
  period TEXT NOT NULL DEFAULT 'none' CHECK (period IN ('none', 'hour', 'day', 'month')),
  used INTEGER NOT NULL DEFAULT 0 CHECK (used >= 0),
  period_start INTEGER NOT NULL DEFAULT 0`;

/**
 * The row as it stands now: in a new period if one has begun.
 *
 * A row whose period starts in the future was written under a clock that was ahead, or is read under one that is behind.
 * Up to the next period it is kept, so that clocks that differ a little, or one that was set back, renew nothing. A row
 * further ahead would be locked for as long as that clock was wrong: it is taken back, and its used units stay.
 *
 * @param now milliseconds since the epoch
 */
export function renewed<Row extends QuotaRow>(row: Row, now: number): Row {
  const start = periodStart(row.period, now);
  if (start > row.period_start) return { ...row, used: 0, period_start: start };
  const nextStart = periodEnd(row.period, start) ?? start;
  return { ...row, period_start: row.period_start > nextStart ? start : row.period_start };
}

export function toQuota({ unit_limit: limit, period, used, period_start }: QuotaRow): Quota {
  return {
    limit,
    period,
    used,
    left: limit === null ? null : Math.max(0, limit - used),
    renewsAt: periodEnd(period, period_start) ?? null,
  };
}

/** Takes up to `units` from what is left; says how many. */
export function takeUnits(row: QuotaRow, units: number): number {
  const { left } = toQuota(row);
  const granted = left === null ? units : Math.min(units, left);
  row.used += granted;
  return granted;
}

/** Changes the limit or the period or both; the units used in this period stay. */
export function changeQuota(row: QuotaRow, change: QuotaChange, now: number): void {
  if (change.limit !== undefined) row.unit_limit = change.limit;
  if (change.period !== undefined && change.period !== row.period) {
    row.period = change.period;
    row.period_start = periodStart(row.period, now);
  }
}
