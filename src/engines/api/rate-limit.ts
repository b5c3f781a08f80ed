/** Reads the quota and the requested delay from header fields, in the forms that services use. */
import { parseDictionary, parseList } from "structured-headers";

export type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

export type RateLimit = { readonly left?: number; readonly renewsIn?: number };

/**
 * Reads `RateLimit` (draft-ietf-httpapi-ratelimit-headers: a list since version 8, before a dictionary), `RateLimit-*`
 * or `X-RateLimit-*`. The tightest policy counts. `now`, in milliseconds, is for answers without a Date field.
 */
export function readRateLimit(fields: HeaderFields, now: number): RateLimit {
  const policies = readPolicies(textOf(fields, "ratelimit"));
  if (policies.length > 0) {
    return policies.reduce((tightest, policy) => (isTighter(policy, tightest) ? policy : tightest));
  }
  for (const prefix of ["ratelimit", "x-ratelimit", "x-rate-limit"]) {
    const left = wholeNumber(textOf(fields, `${prefix}-remaining`));
    if (left === undefined) continue;
    const reset = textOf(fields, `${prefix}-reset`);
    return { left, ...optional("renewsIn", reset === undefined ? undefined : resetIn(reset, fields, now)) };
  }
  return {};
}

/** Seconds of `Retry-After` (RFC 9110 §10.2.3). Compares a date with the Date field: the local clock may be wrong. */
export function readRetryAfter(fields: HeaderFields, now: number): number | undefined {
  const text = textOf(fields, "retry-after");
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text), longestWait);
  return secondsUntil(parseDate(text), fields, now);
}

function readPolicies(text: string | undefined): RateLimit[] {
  if (text === undefined) return [];
  try {
    return parseList(text).flatMap(([, parameters]) => policyOf(parameters.get("r"), parameters.get("t")));
  } catch {
    // Not a valid list: the dictionary of version 7, if a member has a value.
  }
  try {
    const dictionary = parseDictionary(text);
    return policyOf(dictionary.get("remaining")?.[0], dictionary.get("reset")?.[0]);
  } catch {
    return [];
  }
}

/** Limit on waits in seconds: a year. Services send longer ones that mean "for ever". */
const longestWait = 31_536_000;

function policyOf(left: unknown, renewsIn: unknown): RateLimit[] {
  if (typeof left !== "number" || left < 0) return [];
  const isTime = typeof renewsIn === "number" && renewsIn >= 0;
  return [{ left, ...optional("renewsIn", isTime ? Math.min(renewsIn, longestWait) : undefined) }];
}

const isTighter = (a: RateLimit, b: RateLimit): boolean =>
  a.left! < b.left! || (a.left === b.left && (a.renewsIn ?? 0) > (b.renewsIn ?? 0));

function resetIn(text: string, fields: HeaderFields, now: number): number | undefined {
  const number = wholeNumber(text);
  if (number === undefined) return secondsUntil(parseDate(text), fields, now);
  if (number < 1e9) return Math.min(number, longestWait);
  return secondsUntil(number < 1e12 ? number * 1000 : number, fields, now);
}

function secondsUntil(time: number | undefined, fields: HeaderFields, now: number): number | undefined {
  if (time === undefined) return undefined;
  const seconds = (time - (parseDate(textOf(fields, "date") ?? "") ?? now)) / 1000;
  return Math.min(Math.max(0, seconds), longestWait);
}

/** Parses an HTTP date (RFC 9110 §5.6.7) or an ISO 8601 date. Date.parse alone would accept `-5`. */
function parseDate(text: string): number | undefined {
  const time = /^([A-Za-z]|\d{4}-)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

function textOf(fields: HeaderFields, name: string): string | undefined {
  const value = fields[name];
  return (Array.isArray(value) ? value.join(", ") : value)?.trim();
}

const optional = <Name extends string>(name: Name, value: number | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { readonly [name in Name]?: number };
