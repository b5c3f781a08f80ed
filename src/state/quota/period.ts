/** Periods of quotas and their boundaries in the UTC calendar. */

export const periods = ["none", "hour", "day", "month"] as const;
export type Period = (typeof periods)[number];

/** Returns the start of the period that contains `now`; 0 for `none`. Times are in milliseconds since the epoch. */
export function periodStart(period: Period, now: number): number {
  if (period === "none") return 0;
  const date = new Date(now);
  if (period === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  return period === "day" ? date.setUTCHours(0, 0, 0, 0) : date.setUTCMinutes(0, 0, 0);
}

/**
 * Returns the end of the period that began at `start`; undefined for `none`. Times are in milliseconds since the epoch.
 */
export function periodEnd(period: Period, start: number): number | undefined {
  if (period === "none") return undefined;
  const date = new Date(start);
  if (period === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return start + (period === "day" ? 86_400_000 : 3_600_000);
}
