/** Times in UTC, as people and programs write them. */

export const hour = 3_600_000;
export const day = 86_400_000;

/** Returns milliseconds since the epoch for a date, or a date with a time; undefined for other texts. */
export function utcTime(text: string): number | undefined {
  const time = /^\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse reads February 30 as March 2.
  const isDay = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text.slice(0, 10));
  return isDay ? time : undefined;
}

/** `2026-11-22 09:05` */
export const minuteText = (time: number | string): string =>
  new Date(time).toISOString().slice(0, 16).replace("T", " ");
