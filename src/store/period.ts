/** How often a quota renews: at the start of an hour, day or month of the UTC calendar, or never. */
export const periods = ["none", "hour", "day", "month"] as const;
export type Period = (typeof periods)[number];

/**
 * The start of the period that `now` lies in, in milliseconds since the epoch; 0 when it never renews.
 *
 * @param now milliseconds since the epoch
 */
export function periodStart(period: Period, now: number): number {
  if (period === "none") return 0;
  const date = new Date(now);
  if (period === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  return period === "day" ? date.setUTCHours(0, 0, 0, 0) : date.setUTCMinutes(0, 0, 0);
}

/**
 * When the period that began at `start` ends, in milliseconds since the epoch; undefined when it never does.
 *
 * @param start what {@link periodStart} gave
 */
export function periodEnd(period: Period, start: number): number | undefined {
  if (period === "none") return undefined;
  const date = new Date(start);
  if (period === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return start + (period === "day" ? 86_400_000 : 3_600_000);
}
