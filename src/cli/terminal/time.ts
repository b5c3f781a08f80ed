/** Times as people type and read them. */
import { day, hour } from "../../time.js";

/** The shortest first. */
export const unitMilliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: hour, d: day };

/** As options take it: `90m`, since it is no whole number of hours. */
export function showTime(milliseconds: number): string {
  const [unit, size] = Object.entries(unitMilliseconds).findLast(([, size]) => milliseconds % size === 0)!;
  return `${milliseconds / size}${unit}`;
}

/** Local time: `in 58 min (11:00)`, `in 9 h (tomorrow 00:00 UTC)` where that is UTC. */
export function fromNow(time: number, now: number): string {
  const date = new Date(time);
  const midnight = (day: Date) => new Date(day.getFullYear(), day.getMonth(), day.getDate()).getTime();
  const days = Math.round((midnight(date) - midnight(new Date(now))) / day);
  const clock = `${`${date.getHours()}`.padStart(2, "0")}:${`${date.getMinutes()}`.padStart(2, "0")}`;
  const name = ["", "tomorrow "][days] ?? `${date.toLocaleDateString("en-CA")} `;
  const minutes = Math.max(1, Math.ceil((time - now) / 60_000));
  const longer = minutes < 2 * 1440 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} days`;
  const left = minutes < 90 ? `${minutes} min` : longer;
  return `in ${left} (${name}${clock}${date.getTimezoneOffset() === 0 ? " UTC" : ""})`;
}
