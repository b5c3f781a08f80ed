/** Times in UTC, as people and programs write them; and waiting. */
import { setTimeout as sleep } from "node:timers/promises";

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

/** Longest delay of timers, in milliseconds; longer ones fire at once. */
const longestTimer = 2 ** 31 - 1;

/** Waits, at most some 24 days. Rejects with the reason of `signal`, where timers have an error of their own. */
export async function sleepFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  const wait = sleep(Math.min(milliseconds, longestTimer), undefined, { ...(signal && { signal }) });
  await wait.catch((error: unknown) => {
    throw signal?.aborted ? signal.reason : error;
  });
}
