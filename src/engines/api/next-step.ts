/**
 * Decides what follows a try of a request: its result, a wait before the next try, or an error. Neither sends nor
 * waits. Times and durations are in milliseconds. Failures and slow-downs count separately against the limits.
 * A 429 with a hint of at most 60 s delays all requests by it, and the refused ones by a random time more, so that they
 * are not all retried at once. So does one that says so, says nothing, or comes from a gateway. With a longer hint, or
 * a message that says so, the quota is used up.
 */
import { AuthorisationError, ServiceError } from "../../core/validator/errors.js";
import type { Kind } from "../../core/validator/validator.js";
import { type Results, readAnswer } from "./answer.js";
import type { HttpAnswer, TransportFault } from "./http.js";
import { limitIn, messageIn } from "./messages.js";
import { readRateLimit, readRetryAfter } from "./rate-limit.js";

const longestSlowdown = 60_000;
/** Upper bound of the random delay before the first retry. Doubles with each failure. */
const firstDelay = 500;
const longestDelay = 30_000;
/** 409 means that the first request with the same Idempotency-Key is still running. */
const transientStatuses = new Set([408, 409, 500, 502, 503, 504]);

export interface RetryLimits {
  readonly baseUrl: string;
  readonly key: string;
  /** Where the key is from, for the advice to change it; by default `idv login`. */
  readonly keySource?: string | undefined;
  readonly maximumRetries: number;
  readonly retryBudget: number;
}

type Tries = { readonly count: number; readonly since: number | undefined };

export type RetryState = { readonly failures: Tries; readonly slowdowns: Tries };

const noTries: Tries = { count: 0, since: undefined };

export const untried: RetryState = { failures: noTries, slowdowns: noTries };

export interface Try {
  readonly kind: Kind;
  readonly items: readonly string[];
  readonly started: number;
  readonly now: number;
  readonly received: HttpAnswer | TransportFault;
  readonly hasSucceededElsewhere: boolean;
  readonly chance: number;
}

/** `isGone` if the quota is used up; `renewsIn` in milliseconds, undefined if the service does not report it. */
export type Reply =
  | "too large"
  | { readonly isGone: true; readonly renewsIn: number | undefined }
  | ({ readonly isGone: false; readonly renewsIn: number | undefined; readonly left: number | undefined } & Results);

export type Step =
  | { readonly next: "done"; readonly reply: Reply }
  | { readonly next: "fail"; readonly error: Error }
  | {
      readonly next: "wait";
      readonly milliseconds: number;
      readonly why: string;
      readonly holdBack?: number;
      readonly state: RetryState;
    };

export const delayAfter = (failures: number, chance: number): number =>
  chance * Math.min(longestDelay, firstDelay * 2 ** (failures - 1));

export function nextStep(limits: RetryLimits, state: RetryState, tried: Try): Step {
  const { received, now } = tried;
  const { baseUrl } = limits;
  if (received instanceof Error) {
    if (!received.isTransient) return failed(new ServiceError(`${baseUrl}: ${received.message}`));
    return retry(limits, state, tried, { what: received.message });
  }
  const { status, fields, body } = received;
  const { left, renewsIn: renewal } = readRateLimit(fields, now);
  if (status >= 200 && status < 300) {
    const renewsIn = milliseconds(renewal);
    const results = readAnswer(tried.kind, tried.items, body);
    return { next: "done", reply: { ...results, isGone: false, renewsIn, left } };
  }
  const retryAfter = readRetryAfter(fields, now);
  if (status === 429) return slowDown(limits, state, tried, milliseconds(retryAfter ?? renewal), body);
  const said = messageIn(body, limits.key);
  if (transientStatuses.has(status)) {
    // The time of the renewal is a hint for a retry only if no units are left.
    const hint = milliseconds(retryAfter === undefined && left === 0 ? renewal : retryAfter);
    return retry(limits, state, tried, { what: `answers ${status}${said}`, hint });
  }
  return refused(limits, status, said, tried.items.length);
}

const failed = (error: Error): Step => ({ next: "fail", error });
const milliseconds = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000);

function slowDown(limits: RetryLimits, state: RetryState, tried: Try, hint?: number, body?: string): Step {
  const limit = limitIn(body);
  const isLong = hint !== undefined && hint > longestSlowdown;
  if (limit !== "rate" && (isLong || (hint === undefined && limit === "quota"))) {
    return { next: "done", reply: { isGone: true, renewsIn: hint } };
  }
  // Other requests succeeded meanwhile: this is contention, not an outage.
  const slowdowns = tried.hasSucceededElsewhere ? noTries : state.slowdowns;
  const more = delayAfter(slowdowns.count + 1, tried.chance);
  const said = hint === undefined ? messageIn(body, limits.key) : "";
  const what = `asks to slow down${said === "" ? "" : ` (429${said})`}`;
  const step = retry(limits, { ...state, slowdowns }, tried, { what, hint, more, counts: "slowdowns" });
  return step.next === "wait" && hint !== undefined ? { ...step, holdBack: hint } : step;
}

interface Cause {
  readonly what: string;
  readonly hint?: number | undefined;
  readonly more?: number;
  readonly counts?: keyof RetryState;
}

function retry(limits: RetryLimits, state: RetryState, { started, now, chance }: Try, cause: Cause): Step {
  const { baseUrl, maximumRetries, retryBudget } = limits;
  const { what, hint, more = 0, counts = "failures" } = cause;
  const count = state[counts].count + 1;
  const since = state[counts].since ?? started;
  const delay = hint === undefined ? delayAfter(count, chance) : hint + more;
  if (count > maximumRetries || now + delay > since + retryBudget) {
    const times = count === 1 ? "" : `, ${count} times`;
    const asks = hint === undefined ? "" : `; it asks to wait for ${seconds(hint)}`;
    return failed(new ServiceError(`${baseUrl}: ${what}${times}${asks}`));
  }
  return {
    next: "wait",
    milliseconds: delay,
    why: /^(?:answers|asks) /.test(what) ? `the service ${what}` : what,
    state: { ...state, [counts]: { count, since } },
  };
}

const login = "idv login";

function refused({ baseUrl, keySource = login }: RetryLimits, status: number, said: string, items: number): Step {
  if (status === 413 || (status === 400 && sizeBlame.test(said))) {
    if (items > 1) return { next: "done", reply: "too large" };
    return failed(new ServiceError(`${baseUrl}: one item is too large for it (${status}${said})`));
  }
  if (status === 401 || status === 403) {
    const what = status === 401 ? "rejects the key" : "does not permit this key to do so";
    const advice = keySource === login ? "run idv login to store another key" : `replace the key in ${keySource}`;
    return failed(new AuthorisationError(`${baseUrl}: ${what} (${status}${said}); ${advice}`));
  }
  const location = status >= 300 && status < 400 ? "; redirects are not followed" : "";
  return failed(new ServiceError(`${baseUrl}: answers ${status}${said}${location}; is the base URL right?`));
}

export const seconds = (duration: number): string => {
  const count = Math.max(1, Math.round(duration / 1000));
  return count < 120 ? `${count} s` : `${Math.round(count / 60)} min`;
};

const manyThings = "(items|e-?mails|domains|addresses|entries|elements|array|batch|body|payload|size)";
const tooMuch = "(exceed\\w*|limit|maximum|max|at most|longer|larger)";
const sizeBlame = new RegExp(`too (many|large|big)|${manyThings}.*\\b${tooMuch}|${tooMuch}\\b.*${manyThings}`, "i");
