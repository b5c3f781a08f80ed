import { parseDictionary, parseList } from "structured-headers";

/** The header fields of an answer, their names in lower case. */
export type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

/** What an answer says of the quota, as far as it does. */
export interface RateLimit {
  /** Units left. */
  readonly left?: number;
  /** Seconds until there are more, from now. */
  readonly renewsIn?: number;
}

/**
 * Reads what is left out of `RateLimit` (draft-ietf-httpapi-ratelimit-headers: since its version 8 a list of policies, in
 * version 7 a dictionary), `RateLimit-Remaining` and `-Reset` (its versions before), or the `X-RateLimit-*` of
 * many services. Of several policies the tightest counts. A field that cannot be read counts as absent.
 *
 * @param now our clock, in milliseconds since the epoch, for answers without a Date
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

/**
 * How many seconds an answer asks to wait: `Retry-After` (RFC 9110 §10.2.3), a number or a date. A date is taken by the
 * service's own clock, its Date field, since ours may be wrong.
 */
export function readRetryAfter(fields: HeaderFields, now: number): number | undefined {
  const text = textOf(fields, "retry-after");
  if (text === undefined) return undefined;
  if (/^\d{1,10}(\.\d+)?$/.test(text)) return Math.min(Number(text), longestWait);
  return secondsUntil(parseDate(text), fields, now);
}

function readPolicies(text: string | undefined): RateLimit[] {
  if (text === undefined) return [];
  try {
    return parseList(text).flatMap(([, parameters]) => policyOf(parameters.get("r"), parameters.get("t")));
  } catch {
    // Version 7 of the draft is a dictionary, which is no list where a member has a value.
  }
  try {
    const dictionary = parseDictionary(text);
    return policyOf(dictionary.get("remaining")?.[0], dictionary.get("reset")?.[0]);
  } catch {
    return [];
  }
}

/** A year, in seconds: what is longer is meant for ever. */
const longestWait = 31_536_000;

function policyOf(left: unknown, renewsIn: unknown): RateLimit[] {
  if (typeof left !== "number" || left < 0) return [];
  const isTime = typeof renewsIn === "number" && renewsIn >= 0;
  return [{ left, ...optional("renewsIn", isTime ? Math.min(renewsIn, longestWait) : undefined) }];
}

const isTighter = (a: RateLimit, b: RateLimit): boolean =>
  a.left! < b.left! || (a.left === b.left && (a.renewsIn ?? 0) > (b.renewsIn ?? 0));

/** A reset is a number of seconds, or a time: in seconds or milliseconds since the epoch, or a date. */
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

/** A date of HTTP (RFC 9110 §5.6.7) or of ISO 8601; Date.parse alone takes `-5` for one. */
function parseDate(text: string): number | undefined {
  const time = /^([A-Za-z]|\d{4}-)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function textOf(fields: HeaderFields, name: string): string | undefined {
  const value = fields[name];
  return (Array.isArray(value) ? value.join(", ") : value)?.trim();
}

const optional = <Name extends string>(name: Name, value: number | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { readonly [name in Name]?: number };
