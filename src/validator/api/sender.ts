/**
 * Sends the requests of the api engine, and retries each until it is answered or the retries are used up. It knows
 * nothing of the quota gate, the rate, the listener or the renewal: `engine.ts` decides when to ask and what an answer
 * means.
 *
 * `ask` repeats these steps:
 *
 *     wait until `notBefore` -> send -> read the answer -> return, throw, or wait and try again
 *
 * - 2xx: returned with the statuses found. The engine keeps them, even if the rest of the answer is faulty.
 * - No answer, or a transient HTTP status: tried again after `Retry-After`, else after a random delay that grows.
 * - 429 with a hint (`Retry-After`, else the reset of the rate limit) of at most 60 s: the service asks to slow down.
 *   `notBefore` holds back all requests for that time. Each refused request then waits for an additional random delay,
 *   so that they are not all retried at once.
 * - 429 with a longer hint, or none: the quota is used up. The engine waits for its renewal, or halts.
 * - 413, or a 400 that blames the size: the engine submits smaller parts.
 * - 401 and 403 throw an AuthorisationError. Everything else throws a ServiceError.
 *
 * Failures and slow-downs are counted apart, each against `maximumRetries` and `retryBudget`. The budget starts with the
 * first failed try. It also limits the duration of the tries that follow a failure. The count of slow-downs restarts
 * whenever some other request has succeeded: then the service works, and the request only has to wait for its turn.
 *
 * Invariants:
 *
 * - A request that was sent is never aborted by `ending`: its answer may be paid for. Only its timeout ends it, or
 *   `close` after a delay.
 * - A retry has the same body, hence the same Idempotency-Key, so that the service does not charge it twice.
 * - Every wait of `ask` goes through `sleep`, so that `ending` ends it. Every request goes through `send`, which throws
 *   once `ending` is aborted.
 * - Text from the service reaches the user only through `messageIn`, which removes the key and addresses.
 */
import { setMaxListeners } from "node:events";
import { AuthorisationError, ServiceError } from "../errors.js";
import type { Kind } from "../validator.js";
import { fieldOf, type Results, readAnswer } from "./answer.js";
import { type HttpAnswer, type HttpClient, TransportFault } from "./http.js";
import { readRateLimit, readRetryAfter } from "./rate-limit.js";

/** Dependencies of the engine on the outside world, which tests replace. */
export interface ApiWorld {
  readonly http: HttpClient;
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after `milliseconds`. Rejects with the signal's reason when that is aborted earlier. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Returns a random number from 0 up to, but not including, 1. */
  readonly random: () => number;
  /** Called with a message for the user. */
  readonly onNotice: (text: string) => void;
  /** Called with a debug message about each request. It contains no item and no key. */
  readonly onRequest?: (text: string) => void;
}

/** Destination of requests, and limits on retries. Times are in milliseconds. */
export interface SenderOptions {
  /** Absolute URL without a slash at its end. */
  readonly baseUrl: string;
  readonly key: string;
  /** Largest number of retries of a request. */
  readonly maximumRetries: number;
  /** Longest time for retries, from the start of the first failed try. */
  readonly retryBudget: number;
  /** Returns the Idempotency-Key of a request. The same path and body give the same key, and others cannot guess it. */
  readonly idempotencyKey: (path: string, body: string) => string;
}

/** Longest hint of a 429 that asks to slow down, in milliseconds. A longer one means that the quota is used up. */
const longestSlowdown = 60_000;
/** Upper bound of the random delay before the first retry, in milliseconds. It doubles with each failure. */
const firstDelay = 500;
/** Largest upper bound of the random delay, in milliseconds. */
const longestDelay = 30_000;
/** Transient HTTP statuses. 409 means that the first request with the same Idempotency-Key is still running. */
const transientStatuses = new Set([408, 409, 500, 502, 503, 504]);

/** Outcome of a request that got an answer. `renewsIn` is in milliseconds, and undefined when the service does not say. */
type Reply =
  | "too large"
  /** The quota is used up. */
  | { readonly isGone: true; readonly renewsIn: number | undefined }
  | ({
      readonly isGone: false;
      readonly renewsIn: number | undefined;
      readonly left: number | undefined;
    } & Results);

/** A wait, with its end in milliseconds since the epoch. */
interface Wait {
  readonly until: number;
  /** The reason, for people: `the service asks to slow down`. */
  readonly why: string;
}

/** What an engine is doing. */
export interface Activity {
  /** Number of requests without an answer. */
  readonly inFlight: number;
  /** The wait that ends last; undefined if nothing waits. */
  readonly wait: Wait | undefined;
}

/** Returns a sender for one service; see the top of this file. */
export function createSender(options: SenderOptions, world: ApiWorld) {
  const { baseUrl, key, maximumRetries, retryBudget, idempotencyKey } = options;
  const { http, now, random, onNotice, onRequest } = world;
  const inFlight = new Set<Promise<unknown>>();
  let requests = 0;
  /** Number of requests answered with results. */
  let successes = 0;
  /** Time before which no request is sent, because the service has asked to slow down. */
  let notBefore = 0;
  /** Aborted to end all waits and prevent further requests. */
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  const waits = new Set<Wait>();
  const sleep = async (milliseconds: number, why: string): Promise<void> => {
    const wait = { until: now() + milliseconds, why };
    waits.add(wait);
    try {
      await world.sleep(milliseconds, ending.signal);
    } finally {
      waits.delete(wait);
    }
  };
  const ownDelay = (failures: number) => random() * Math.min(longestDelay, firstDelay * 2 ** (failures - 1));

  /**
   * Sends one request. Once sent, it is not aborted by `ending`, since its answer may be paid for.
   *
   * @param attempt number of the try, for debug messages
   * @param milliseconds longest duration of the request; absent for the client's timeout
   * @throws TransportFault when there is no answer; the reason of `ending` once that is aborted
   */
  async function send(
    kind: Kind,
    body: string,
    items: number,
    attempt: number,
    milliseconds?: number,
  ): Promise<HttpAnswer> {
    ending.signal.throwIfAborted();
    const path = `/${fieldOf[kind]}/validate`;
    const started = now();
    requests++;
    const report = (what: string) =>
      onRequest?.(
        `POST ${path}, ${items} ${items === 1 ? "item" : "items"}, try ${attempt}: ${what} in ${now() - started} ms`,
      );
    const request = {
      url: `${baseUrl}${path}`,
      body,
      fields: {
        accept: "application/json",
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "idempotency-key": idempotencyKey(path, body),
        "user-agent": "idv",
      },
      // The service may write each character as \uXXXX, and add fields to the results.
      maximumBytes: 65_536 + 6 * body.length + 1024 * items,
    };
    const sending = http.post(request, milliseconds);
    const settled = sending.then(
      ({ status }) => report(String(status)),
      ({ message }: Error) => report(message),
    );
    inFlight.add(settled);
    settled.then(() => inFlight.delete(settled));
    return sending;
  }

  /**
   * Submits some items, with retries, until the service has answered.
   *
   * @throws ServiceError when retries are used up, or would not help
   * @throws AuthorisationError when the service does not accept the key
   */
  async function ask(kind: Kind, items: readonly string[]): Promise<Reply> {
    const body = JSON.stringify({ [fieldOf[kind]]: items });
    const failures = new Failures();
    const slowdowns = new Failures();
    let seen = successes;
    let started = now();
    /**
     * Waits before the next try.
     *
     * @param tried counter to which this failure is added
     * @param what text for the error message
     * @param hint milliseconds that the service asks to wait
     * @param more milliseconds to wait in addition to `hint`
     * @throws ServiceError when the retries or their budget are used up
     */
    const again = async (tried: Failures, what: string, hint?: number, more = 0): Promise<void> => {
      tried.count++;
      tried.since ??= started;
      const delay = hint === undefined ? ownDelay(tried.count) : hint + more;
      if (tried.count > maximumRetries || now() + delay > tried.since + retryBudget) {
        const times = tried.count === 1 ? "" : `, ${tried.count} times`;
        const asks = hint === undefined ? "" : `; it asks to wait for ${seconds(hint)}`;
        throw new ServiceError(`${baseUrl}: ${what}${times}${asks}`);
      }
      await sleep(delay, /^(?:answers|asks) /.test(what) ? `the service ${what}` : what);
    };
    for (;;) {
      while (notBefore > now()) await sleep(notBefore - now(), "the service asks to slow down");
      let answer: HttpAnswer;
      started = now();
      const budgetLeft =
        failures.since === undefined ? undefined : Math.max(1, failures.since + retryBudget - started);
      try {
        answer = await send(kind, body, items.length, failures.count + slowdowns.count + 1, budgetLeft);
      } catch (error) {
        if (!(error instanceof TransportFault)) throw error;
        if (!error.isTransient) throw new ServiceError(`${baseUrl}: ${error.message}`);
        await again(failures, error.message);
        continue;
      }
      const { status, fields } = answer;
      const { left, renewsIn: renewal } = readRateLimit(fields, now());
      const renewsIn = renewal === undefined ? undefined : renewal * 1000;
      if (status >= 200 && status < 300) {
        successes++;
        return { ...readAnswer(kind, items, answer.body), isGone: false, renewsIn, left };
      }
      const retryAfter = readRetryAfter(fields, now());
      const said = messageIn(answer.body, key);
      if (status === 429) {
        const hint = retryAfter === undefined ? renewsIn : retryAfter * 1000;
        if (hint === undefined || hint > longestSlowdown) return { isGone: true, renewsIn: hint };
        // Other requests succeeded meanwhile: this is contention, not an outage. Restart the count.
        if (successes !== seen) slowdowns.forget();
        seen = successes;
        if (notBefore <= now() && hint > 0) {
          onNotice(`${baseUrl}: asks to slow down; continuing in ${seconds(hint)}`);
        }
        notBefore = Math.max(notBefore, now() + hint);
        await again(slowdowns, "asks to slow down", hint, ownDelay(slowdowns.count + 1));
        continue;
      }
      if (status === 413 || (status === 400 && blamesSize(said))) {
        if (items.length > 1) return "too large";
        throw new ServiceError(`${baseUrl}: one item is too large for it (${status}${said})`);
      }
      if (status === 401 || status === 403) {
        const what = status === 401 ? "does not accept the key" : "does not authorise the key for this";
        throw new AuthorisationError(
          `${baseUrl}: ${what} (${status}${said}); run idv login to store another key`,
        );
      }
      if (transientStatuses.has(status)) {
        // The time of the renewal says when to retry only if no units are left.
        const hint = retryAfter === undefined && left === 0 ? renewal : retryAfter;
        await again(failures, `answers ${status}${said}`, hint === undefined ? undefined : hint * 1000);
        continue;
      }
      const location = status >= 300 && status < 400 ? "; redirects are not followed" : "";
      throw new ServiceError(`${baseUrl}: answers ${status}${said}${location}; is the base URL right?`);
    }
  }

  return {
    ask,
    /** Waits for some milliseconds. Rejects when `ending` is aborted. */
    sleep,
    get activity(): Activity {
      const wait = [...waits].reduce<Wait | undefined>(
        (a, b) => (a && a.until >= b.until ? a : b),
        undefined,
      );
      return { inFlight: inFlight.size, wait };
    },
    /** Returns a random delay in milliseconds whose upper bound doubles with each failure. */
    ownDelay,
    /** Aborting it ends all waits with its reason. Requests in flight go on. */
    ending,
    /** Number of requests sent, retries included. */
    get requests() {
      return requests;
    },
    /**
     * Sends one request without items, which costs nothing.
     *
     * @returns the HTTP status, whether the answer is JSON, the service's message, and the units left if the service reports them
     * @throws ServiceError when there is no answer
     */
    async probe(kind: Kind) {
      const { status, fields, body } = await send(kind, JSON.stringify({ [fieldOf[kind]]: [] }), 0, 1).catch(
        ({ message }: Error) => {
          throw new ServiceError(`${baseUrl}: ${message}`);
        },
      );
      const { left } = readRateLimit(fields, now());
      return { status, isJson: isJson(body ?? ""), said: messageIn(body, key), left };
    },
    /**
     * Ends all waits and closes the connections. Requests in flight get `milliseconds` to finish first.
     *
     * @param batches batches being validated; their listeners get the same time to store the answers
     */
    async close(milliseconds: number, batches: Iterable<Promise<unknown>>): Promise<void> {
      ending.abort(new ServiceError(`${baseUrl}: the run has ended`));
      const patience = new AbortController();
      const late = world.sleep(milliseconds, patience.signal).catch(() => {});
      await Promise.race([Promise.all([...inFlight, ...batches]), late]);
      patience.abort();
      await http.close();
    },
  };
}

/** Number of failures in a row, and the start of the first failed try in milliseconds since the epoch. */
class Failures {
  count = 0;
  since: number | undefined;

  forget(): void {
    this.count = 0;
    this.since = undefined;
  }
}

/** Renders a duration in milliseconds for people, such as `30 s` or `10 min`. */
export const seconds = (milliseconds: number): string => {
  const count = Math.max(1, Math.round(milliseconds / 1000));
  return count < 120 ? `${count} s` : `${Math.round(count / 60)} min`;
};

/**
 * Returns the message of an error answer, with a colon in front, or an empty string. It is cut to 200 characters. The key and
 * addresses, which some services repeat, are removed first: messages get into logs.
 */
function messageIn(body: string | undefined, key: string): string {
  const text = textIn(body ?? "")
    // A body may be long, and the search for addresses takes the square of its length.
    .slice(0, 2000)
    .replaceAll(key, "[key]")
    .replaceAll(encodeURIComponent(key), "[key]")
    .replace(/[^\s"'<>()[\],;:=]+(?:@|%40)[^\s"'<>()[\],;:=]+/g, "[address]")
    .trim()
    .slice(0, 200);
  return text === "" ? "" : `: ${text}`;
}

function isJson(body: string): boolean {
  try {
    return typeof JSON.parse(body) === "object";
  } catch {
    return false;
  }
}

/** Returns the message: plain text, or a field of a JSON object (`message` in the interface document). Ignores HTML. */
function textIn(body: string): string {
  try {
    const { message, error, detail } = JSON.parse(body) as Readonly<Record<string, unknown>>;
    return String([message, error, detail].find((field) => typeof field === "string") ?? "");
  } catch {
    return body.trimStart().startsWith("<") ? "" : body;
  }
}

/** Names for what a request may have too much of. */
const manyThings = "(items|e-?mails|domains|addresses|entries|elements|array|batch|body|payload|size)";
/** Words for exceeding a limit. */
const tooMuch = "(exceed\\w*|limit|maximum|max|at most|longer|larger)";
/** Matches the message of a 400 that means 413. */
const sizeBlame = new RegExp(
  `too (many|large|big)|${manyThings}.*\\b${tooMuch}|${tooMuch}\\b.*${manyThings}`,
  "i",
);

const blamesSize = (message: string): boolean => sizeBlame.test(message);
