import { setMaxListeners } from "node:events";
import { AuthorisationError, ServiceError } from "../errors.js";
import type { Kind } from "../validator.js";
import { fieldOf, type Results, readAnswer } from "./answer.js";
import { type HttpAnswer, type HttpClient, TransportFault } from "./http.js";
import { readRateLimit, readRetryAfter } from "./rate-limit.js";

/** What the engine needs of the world. */
export interface ApiWorld {
  readonly http: HttpClient;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after so many milliseconds; rejects with the signal's reason when that is aborted before. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1, less than 1. */
  readonly random: () => number;
  /** Something that the user should know while it happens. */
  readonly onNotice: (text: string) => void;
  /** Something about one request that is for finding faults: no address, no key. */
  readonly onRequest?: (text: string) => void;
}

/** Where requests go, and how often one is tried. Times are in milliseconds. */
export interface SenderOptions {
  /** An absolute URL without a slash at its end. */
  readonly baseUrl: string;
  readonly key: string;
  /** How often a batch that failed is sent again at most, and for how long in all, from the start of the first try that failed. */
  readonly maximumRetries: number;
  readonly retryBudget: number;
  /** The Idempotency-Key of a request: the same for the same path and body, and nothing that could be guessed. */
  readonly idempotencyKey: (path: string, body: string) => string;
}

/** A longer wait, in milliseconds, is no request to slow down: the quota is gone. */
const longestSlowdown = 60_000;
const firstDelay = 500;
const longestDelay = 30_000;
/** Errors of the service that may pass; 409 is for an Idempotency-Key whose first request is still running. */
const transientStatuses = new Set([408, 409, 500, 502, 503, 504]);

/** What came of a request that the service had something to say to. */
type Reply =
  | "too large"
  /** Milliseconds until it renews, if the service says. */
  | { readonly isGone: true; readonly renewsIn: number | undefined }
  | ({
      readonly isGone: false;
      readonly renewsIn: number | undefined;
      readonly left: number | undefined;
    } & Results);

/** Sends requests, again where that may help, until the service has said something about their items. */
export function createSender(options: SenderOptions, world: ApiWorld) {
  const { baseUrl, key, maximumRetries, retryBudget, idempotencyKey } = options;
  const { http, now, random, onNotice, onRequest } = world;
  const inFlight = new Set<Promise<unknown>>();
  let requests = 0;
  /** Requests that were answered with results. */
  let successes = 0;
  /** No request before this: the service has asked to slow down. */
  let notBefore = 0;
  /** Ends all waiting. */
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  const sleep = (milliseconds: number) => world.sleep(milliseconds, ending.signal);
  const ownDelay = (failures: number) => random() * Math.min(longestDelay, firstDelay * 2 ** (failures - 1));

  /** One request, one answer. Runs to its end whatever happens, so that an answer that is paid for is had. */
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
      onRequest?.(`POST ${path}, ${items} items, try ${attempt}: ${what} in ${now() - started} ms`);
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
      // Each character may be written as \uXXXX, and results may grow fields.
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

  /** Sends some items, again where that may help, until the service has answered. */
  async function ask(kind: Kind, items: readonly string[]): Promise<Reply> {
    const body = JSON.stringify({ [fieldOf[kind]]: items });
    const failures = new Failures();
    const slowdowns = new Failures();
    let seen = successes;
    let started = now();
    /** Waits before the next try, or gives up. */
    const again = async (tried: Failures, what: string, hint?: number, more = 0): Promise<void> => {
      tried.count++;
      tried.since ??= started;
      const delay = hint === undefined ? ownDelay(tried.count) : hint + more;
      if (tried.count > maximumRetries || now() + delay > tried.since + retryBudget) {
        const times = tried.count === 1 ? "" : `, ${tried.count} times`;
        const asks = hint === undefined ? "" : `; it asks to wait for ${seconds(hint)}`;
        throw new ServiceError(`${baseUrl}: ${what}${times}${asks}`);
      }
      await sleep(delay);
    };
    for (;;) {
      while (notBefore > now()) await sleep(notBefore - now());
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
        // Where others get through, it is only the turn of this one that has to come.
        if (successes !== seen) slowdowns.forget();
        seen = successes;
        if (notBefore <= now() && hint > 0) {
          onNotice(`${baseUrl}: asks to slow down; going on in ${seconds(hint)}`);
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
        const what = status === 401 ? "does not accept the key" : "does not let the key do this";
        throw new AuthorisationError(`${baseUrl}: ${what} (${status}${said}); idv login stores another`);
      }
      if (transientStatuses.has(status)) {
        // When the quota renews is no hint while something is left of it.
        const hint = retryAfter === undefined && left === 0 ? renewal : retryAfter;
        await again(failures, `answers ${status}${said}`, hint === undefined ? undefined : hint * 1000);
        continue;
      }
      const location =
        status >= 300 && status < 400 ? "; redirects are not followed, name the place itself" : "";
      throw new ServiceError(`${baseUrl}: answers ${status}${said}${location}; is the base URL right?`);
    }
  }

  return {
    ask,
    /** Waits, unless it has been ended. */
    sleep,
    /** A delay that grows with the failures, in milliseconds. */
    ownDelay,
    /** Ends all waiting, with a reason; requests in flight go on. */
    ending,
    get requests() {
      return requests;
    },
    /**
     * Asks once about no items, which costs nothing.
     *
     * @returns the HTTP status, what the service says of it, and the units left if it says
     * @throws ServiceError when there is no answer
     */
    async probe(kind: Kind) {
      const { status, fields, body } = await send(kind, JSON.stringify({ [fieldOf[kind]]: [] }), 0, 1).catch(
        ({ message }: Error) => {
          throw new ServiceError(`${baseUrl}: ${message}`);
        },
      );
      return { status, said: messageIn(body, key), left: readRateLimit(fields, now()).left };
    },
    /**
     * Ends it: requests in flight may finish for so many milliseconds.
     *
     * @param batches what else has to end before that: those who keep the answers
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

/** How often something has failed, and since when, in milliseconds since the epoch. */
class Failures {
  count = 0;
  since: number | undefined;

  forget(): void {
    this.count = 0;
    this.since = undefined;
  }
}

/** A time in milliseconds, for people. */
export const seconds = (milliseconds: number): string => {
  const count = Math.max(1, Math.round(milliseconds / 1000));
  return count < 120 ? `${count} s` : `${Math.round(count / 60).toLocaleString("en")} min`;
};

/**
 * What an error says for people: as the interface document has it, or as others do; short, with a colon before it, and
 * without the key, which some services repeat.
 */
function messageIn(body: string | undefined, key: string): string {
  const text = textIn(body ?? "")
    .replaceAll(key, "[key]")
    .trim()
    .slice(0, 200);
  return text === "" ? "" : `: ${text}`;
}

function textIn(body: string): string {
  try {
    const { message, error, detail } = JSON.parse(body) as Readonly<Record<string, unknown>>;
    return String([message, error, detail].find((field) => typeof field === "string") ?? "");
  } catch {
    return body.trimStart().startsWith("<") ? "" : body;
  }
}

const manyThings = "(items|e-?mails|domains|addresses|entries|elements|array|batch|body|payload|size)";
const tooMuch = "(exceed\\w*|limit|maximum|max|at most|longer|larger)";
const sizeBlame = new RegExp(
  `too (many|large|big)|${manyThings}.*\\b${tooMuch}|${tooMuch}\\b.*${manyThings}`,
  "i",
);

const blamesSize = (message: string): boolean => sizeBlame.test(message);
