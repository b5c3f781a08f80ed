/**
 * What is meant by a value in a form that idv does not take, such as `10,000`, `30sec`, `10 per minute` or `1 of 4`. Each
 * returns it as idv writes it; undefined if it is not clear.
 */

import { day } from "../../time.js";
import { showTime, unitMilliseconds } from "../terminal/time.js";

type Meant = (text: string) => string | undefined;

export const numberMeant: Meant = (text) => {
  const grouped = /^\d{1,3}([,.'’_\s])\d{3}(?:\1\d{3})*$/.test(text) ? text.replace(/\D/g, "") : text;
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?(?:e\d+)?)\s*([km]?)$/i.exec(grouped) ?? [];
  const number = Number(digits) * { k: 1000, m: 1_000_000, "": 1 }[unit.toLowerCase() as "k" | "m" | ""];
  return Number.isSafeInteger(number) ? String(number) : undefined;
};

const unitWords: Readonly<Record<string, string>> = {
  ms: "ms msec msecs millisecond milliseconds",
  s: "s sec secs second seconds",
  m: "m min mins minute minutes",
  h: "h hr hrs hour hours hourly",
  d: "d day days daily",
};
/** `M` may be months. */
const unitCalled = (word: string): string | undefined =>
  word === "M"
    ? undefined
    : Object.keys(unitWords).find((unit) => unitWords[unit]!.split(" ").includes(word.toLowerCase()));

/** A century: nobody means more, and dates end somewhere. */
const mostMilliseconds = 36_525 * day;

function millisecondsIn(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)[\s,]*/gi)];
  if (parts.map(([part]) => part).join("") !== text) return Number.NaN;
  const times = parts.map(([, count, word = ""]) => {
    const [, weeks] = /^(w(?:eeks?)?)$/i.exec(word) ?? [];
    return Number(count) * (weeks ? 7 * day : (unitMilliseconds[unitCalled(word) ?? ""] ?? Number.NaN));
  });
  const sum = times.reduce((all, each) => all + each, 0);
  return sum < mostMilliseconds ? sum : Number.NaN;
}

export const timeMeant: Meant = (text) => {
  const since = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.now() - Date.parse(text) : Number.NaN;
  // The days since a date, with its own.
  const time = since > 0 ? Math.ceil(since / day) * day : millisecondsIn(text);
  return time >= 1 ? showTime(Math.round(time)) : undefined;
};

export const rateMeant: Meant = (text) => {
  const [, count = "", word = ""] = /^([\d,.']+)\s*(?:req\w*|items)?\s*(?:\/|per|rp)\s*([a-z]+)$/i.exec(text) ?? [];
  const unit = unitCalled(word);
  const number = numberMeant(count);
  return unit && number && `${number}/${unit}`;
};

export const sizeMeant: Meant = (text) => {
  const [, digits, unit] = /^(\d+)\s*([kmg])i?b(?:ytes)?$/i.exec(text) ?? [];
  return digits && `${digits}${unit!.toUpperCase()}`;
};

export const shardMeant: Meant = (text) => {
  const [, part, all] = /^(\d+)\s*(?:of|[\s:/_-])\s*(\d+)$/i.exec(text) ?? [];
  return part && `${part}/${all}`;
};

/** A date with its day first, of which there are two readings, needs a point. */
export const dateMeant: Meant = (text) => {
  const time = millisecondsIn(text);
  if (time > 0) return new Date(Date.now() + time).toISOString().slice(0, 10);
  const [, day, month, year] = /^(\d\d?)\.(\d\d?)\.(\d{4})$/.exec(text) ?? [];
  const [, ...parts] = day
    ? ["", year!, month!, day]
    : (/^(\d{4})(?:[/.-](\d\d?)[/.-](\d\d?)|(\d\d)(\d\d))$/.exec(text) ?? []);
  const given = parts.filter((part) => part !== undefined);
  return given.length > 0 ? given.map((part) => part.padStart(2, "0")).join("-") : undefined;
};
