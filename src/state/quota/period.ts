/** Periods of quotas and their boundaries in the UTC calendar, in milliseconds since the epoch. */

export const periods = ["none", "hour", "day", "month"] as const;
export type Period = (typeof periods)[number];

export function periodStart(period: Period, now: number): number {
  if (period === "none") return 0;
  const date = new Date(now);
  if (period === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  return period === "day" ? date.setUTCHours(0, 0, 0, 0) : date.setUTCMinutes(0, 0, 0);
}

export function periodEnd(period: Period, start: number): number | undefined {
  if (period === "none") return undefined;
  const date = new Date(start);
  if (period === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return start + (period === "day" ? 86_400_000 : 3_600_000);
}
