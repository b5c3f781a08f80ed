/** Covers values in a form that idv does not take: what is said to be meant, which the parser then takes. */
import { expect, test, vi } from "vitest";
import {
  byteCount,
  duration,
  expiryDate,
  InvalidValue,
  itemRate,
  oneOf,
  shardOf,
  unitLimit,
  wholeNumber,
} from "../../../src/cli/options/values.js";
import { badRowHandling } from "../../../src/cli/options/words.js";
import { createDecoder } from "../../../src/formats/encodings/text-encoding.js";
import { day } from "../../../src/time.js";

const time = duration(1000, 400 * day);
const count = wholeNumber(1, 100_000);

test.each<[(text: string) => unknown, string, string]>([
  [unitLimit, "10,000", "10000"],
  [unitLimit, "1.000.000", "1000000"],
  [unitLimit, "10 000", "10000"],
  [unitLimit, "10'000", "10000"],
  [unitLimit, "10k", "10000"],
  [unitLimit, "1.5 M", "1500000"],
  [unitLimit, "1e6", "1000000"],
  [count, "5_000", "5000"],
  [count, "500.0", "500"],
  [time, "30sec", "30s"],
  [time, "5 minutes", "5m"],
  [time, "1h30m", "90m"],
  [time, "1 hour, 5 min", "65m"],
  [time, "2 weeks", "14d"],
  [time, "36 Hours", "36h"],
  [itemRate, "10/second", "10/s"],
  [itemRate, "1,000 per hour", "1000/h"],
  [itemRate, "50rps", "50/s"],
  [itemRate, "60 requests/min", "60/m"],
  [byteCount, "512MB", "512M"],
  [byteCount, "2 GiB", "2G"],
  [shardOf, "1of4", "1/4"],
  [shardOf, "2 of 4", "2/4"],
  [shardOf, "2:4", "2/4"],
  [expiryDate, "31.12.2099", "2099-12-31"],
  [expiryDate, "2099/1/5", "2099-01-05"],
  [expiryDate, "20990105", "2099-01-05"],
  [oneOf("auto", "always", "never"), "no", "never"],
  [oneOf("auto", "always", "never"), "Yes", "always"],
  [oneOf("auto", "api", "offline"), "local", "offline"],
  [oneOf("none", "hour", "day", "month"), "daily", "day"],
  [badRowHandling, "ignore", "skip"],
])("%# %j is said to be %j", (parse, value, meant) => {
  expect(() => parse(value)).toThrow(`Did you mean ${meant}?`);
  expect(parse(meant)).toBeDefined();
});

test("a time span is a date from now on, and a date a span until now", () => {
  vi.useFakeTimers({ now: Date.UTC(2099, 0, 1, 12) });
  try {
    expect(() => expiryDate("30 days")).toThrow("Did you mean 2099-01-31?");
    expect(() => time("2098-12-31")).toThrow("Did you mean 2d?");
    expect(() => time("2099-01-05")).toThrow(new InvalidValue("It takes a time such as 500ms, 30s, 2m, 1h or 30d."));
  } finally {
    vi.useRealTimers();
  }
});

test.each<[(text: string) => unknown, string, string]>([
  [unitLimit, "10,00", "It takes a whole number, such as 10000, or none."],
  [unitLimit, "-5", "It takes a whole number, such as 10000, or none."],
  [count, "1M", "It takes a whole number from 1 to 100000."],
  [time, "10 parsecs", "It takes a time such as 500ms, 30s, 2m, 1h or 30d."],
  [time, "30", "It takes a time such as 500ms, 30s, 2m, 1h or 30d. The unit is missing."],
  [time, "500ms", "It takes a time from 1s to 400d."],
  [time, "2 years", "It takes a time such as 500ms, 30s, 2m, 1h or 30d."],
  [time, "100 weeks", "It takes a time from 1s to 400d."],
  [itemRate, "10", "It takes a rate such as 50/s, 1000/m or 10000/h."],
  [shardOf, "5 of 4", "It takes I/N, such as 1/4, with I from 1 to N and N at most 10000."],
  [expiryDate, "01/02/2099", "It takes a date such as 2027-01-31, or never."],
  [expiryDate, "31.02.2099", "It takes a date such as 2027-01-31, or never."],
])("%# %j has no guess", (parse, value, message) => {
  expect(() => parse(value)).toThrow(new InvalidValue(message));
});

test.each([
  ["latin-1", "latin1"],
  ["ANSI", "windows-1252"],
  ["cp 1250", "windows-1250"],
  ["utf_8", "utf-8"],
  ["shift jis", "shift-jis"],
])("the encoding %s is said to be %s", (name, meant) => {
  expect(() => createDecoder(name)).toThrow(`(did you mean ${meant}?)`);
  createDecoder(meant);
});

test("an encoding that nothing is like has no guess", () => {
  expect(() => createDecoder("klingon")).toThrow('unknown encoding "klingon"; use utf-8');
});
