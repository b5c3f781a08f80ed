import { fieldOf, Nonsense, readAnswer } from "./answer.js";
import { AuthorisationError, ServiceError } from "./errors.js";
import { type HttpAnswer, type HttpClient, TransportFault } from "./http.js";
import { precheck } from "./precheck.js";
import { QuotaGate } from "./quota-gate.js";
import { readRateLimit, readRetryAfter } from "./rate-limit.js";
import type { Kind, QuotaState, Validator, Verdict } from "./validator.js";

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

/** How the service is used. Times are in milliseconds. */
export interface ApiOptions {
  /** An absolute URL without a slash at its end. */
  readonly baseUrl: string;
  readonly key: string;
  /** Items in a batch at most, and batches at a time at most. */
  readonly batchSize: number;
  readonly concurrency: number;
  /** How often a batch that failed is sent again at most, and for how long from its first failure. */
  readonly maximumRetries: number;
  readonly retryBudget: number;
  /** At most so many items in so many milliseconds. */
  readonly rate?: Rate;
  /** For how long the renewal of a quota that is gone is waited for; 0 for not at all. */
  readonly wait: number;
  /** Whether what cannot be an address is `fake` without being submitted. */
  readonly prechecks: boolean;
  /** The Idempotency-Key of a request: the same for the same path and body, and nothing that could be guessed. */
  readonly idempotencyKey: (path: string, body: string) => string;
}

export interface Rate {
  readonly items: number;
  readonly milliseconds: number;
}

export interface ApiEngine extends Validator {
  /** Requests that were sent, those sent again among them. */
  readonly requests: number;
  /**
   * Asks about no items, which costs nothing: whether the service answers and accepts the key.
   *
   * @returns the units left; undefined where it does not say
   */
  probe(): Promise<number | undefined>;
  /** Ends it: requests in flight may finish for so many milliseconds, so that what is paid for is had; nothing is begun. */
  close(milliseconds: number): Promise<void>;
}

/** A longer wait, in seconds, is no request to slow down: the quota is gone. */
const longestSlowdown = 60;
const firstDelay = 500;
const longestDelay = 30_000;
/** How often a service is asked whether the quota has been renewed when it does not say when. */
const renewalInterval = 600_000;
/** Errors of the service that may pass. */
const transientStatuses = new Set([408, 409, 500, 502, 503, 504]);

/** What came of a batch that was sent until the service had something to say. */
type Reply =
  | { readonly statuses: readonly string[]; readonly quota: QuotaState }
  | "too large"
  /** Milliseconds until it renews, if the service says. */
  | { readonly isGone: true; readonly renewsIn: number | undefined };

/** The engine that asks the service of the interface document. */
export function apiValidator(options: ApiOptions, world: ApiWorld): ApiEngine {
  const { baseUrl, key, concurrency, rate, prechecks, idempotencyKey } = options;
  const { http, now, sleep, random, onNotice, onRequest } = world;
  const gate = new QuotaGate();
  const inFlight = new Set<Promise<unknown>>();
  let batchSize = Math.min(options.batchSize, rate?.items ?? Number.POSITIVE_INFINITY);
  let isClosing = false;
  let requests = 0;
  /** No request before this: the service has asked to slow down. */
  let notBefore = 0;
  /** When the rate lets the next item go. */
  let nextTurn = 0;
  let quota: QuotaState = { left: null, renewsAt: null };

  /** One request, one answer. Runs to its end whatever happens, so that an answer that is paid for is had. */
  async function send(kind: Kind, body: string, items: number, attempt: number): Promise<HttpAnswer> {
    const path = `/${fieldOf[kind]}/validate`;
    const started = now();
    requests++;
    const report = (what: string) =>
      onRequest?.(`POST ${path}, ${items} items, try ${attempt}: ${what} in ${now() - started} ms`);
    const sending = http.post({
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
    });
    const settled = sending.then(
      ({ status }) => report(String(status)),
      ({ message }: Error) => report(message),
    );
    inFlight.add(settled);
    settled.then(() => inFlight.delete(settled));
    return sending;
  }

  /** Sends a batch, again where that may help, until the service has answered. */
  async function ask(kind: Kind, items: readonly string[], signal: AbortSignal): Promise<Reply> {
    const body = JSON.stringify({ [fieldOf[kind]]: items });
    let firstFailure: number | undefined;
    let nonsense = 0;
    let failures = 0;
    /** Waits before the next try, or gives up. */
    const again = async (what: string, hint?: number): Promise<void> => {
      firstFailure ??= now();
      const delay = hint ?? random() * Math.min(longestDelay, firstDelay * 2 ** (failures - 1));
      const isTooLate = now() - firstFailure + delay > options.retryBudget;
      if (isClosing || failures > options.maximumRetries || isTooLate) {
        const tries = failures === 1 ? "" : `, ${failures} times`;
        const asks = hint === undefined ? "" : `; it asks to wait for ${seconds(hint)}`;
        throw new ServiceError(`${baseUrl}: ${what}${tries}${asks}`);
      }
      await sleep(delay, signal);
    };
    for (;;) {
      await slowDown(signal);
      let answer: HttpAnswer;
      try {
        answer = await send(kind, body, items.length, failures + 1);
      } catch (error) {
        if (!(error instanceof TransportFault)) throw error;
        if (!error.isTransient) throw new ServiceError(`${baseUrl}: ${error.message}`);
        failures++;
        await again(error.message);
        continue;
      }
      const { status, fields } = answer;
      const limit = readRateLimit(fields, now());
      const renewsIn = limit.renewsIn === undefined ? undefined : limit.renewsIn * 1000;
      if (limit.left !== undefined) {
        quota = { left: limit.left, renewsAt: renewsIn === undefined ? null : now() + renewsIn };
      }
      if (status >= 200 && status < 300) {
        try {
          return {
            statuses: readAnswer(kind, items, answer.body),
            quota: { ...quota, left: limit.left ?? null },
          };
        } catch (error) {
          if (!(error instanceof Nonsense)) throw error;
          failures++;
          if (++nonsense > 1) throw new ServiceError(`${baseUrl}: answers nonsense: ${error.message}`);
          await again(`answers nonsense: ${error.message}`);
          continue;
        }
      }
      const retryAfter = readRetryAfter(fields, now());
      const hint = retryAfter === undefined ? renewsIn : retryAfter * 1000;
      if (status === 429) {
        firstFailure ??= now();
        const isPatient = hint !== undefined && now() - firstFailure + hint <= options.retryBudget;
        if (hint === undefined || hint > longestSlowdown * 1000 || !isPatient)
          return { isGone: true, renewsIn: hint };
        if (now() + hint > notBefore) {
          if (notBefore <= now()) onNotice(`${baseUrl}: asks to slow down; going on in ${seconds(hint)}`);
          notBefore = now() + hint;
        }
        continue;
      }
      const said = messageIn(answer.body).replaceAll(key, "[key]");
      if (status === 413 || (status === 400 && blamesSize(said))) {
        if (items.length > 1) return "too large";
        throw new ServiceError(`${baseUrl}: one item is too large for it (${status}${said})`);
      }
      if (status === 401 || status === 403) {
        const what = status === 401 ? "does not accept the key" : "does not let the key do this";
        throw new AuthorisationError(`${baseUrl}: ${what} (${status}${said}); idv login stores another`);
      }
      if (transientStatuses.has(status)) {
        failures++;
        await again(`answers ${status}${said}`, hint);
        continue;
      }
      const location =
        status >= 300 && status < 400 ? "; redirects are not followed, name the place itself" : "";
      throw new ServiceError(`${baseUrl}: answers ${status}${said}${location}; is the base URL right?`);
    }
  }

  async function slowDown(signal: AbortSignal): Promise<void> {
    while (notBefore > now()) await sleep(notBefore - now(), signal);
    if (isClosing) throw new ServiceError(`${baseUrl}: the run has ended`);
  }

  /** Waits until the rate lets so many items go. */
  async function keepRate(items: number, signal: AbortSignal): Promise<void> {
    if (rate === undefined) return;
    const turn = Math.max(now(), nextTurn);
    nextTurn = turn + (items * rate.milliseconds) / rate.items;
    if (turn > now()) await sleep(turn - now(), signal);
  }

  const waitsUntil = { time: undefined as number | undefined };
  /** Waits for the renewal of the quota; says whether it makes sense to ask again. */
  async function renewal(renewsIn: number | undefined, signal: AbortSignal): Promise<boolean> {
    if (options.wait === 0) return false;
    waitsUntil.time ??= now() + options.wait;
    // A second later: clocks differ.
    const delay = renewsIn === undefined ? renewalInterval : renewsIn + 1000;
    if (now() + delay > waitsUntil.time) return false;
    onNotice(`${baseUrl}: the quota is exhausted; asking again in ${seconds(delay)}`);
    await sleep(delay, signal);
    return true;
  }

  const validate: Validator["validate"] = async (kind, items, signal, onAnswered) => {
    const verdicts: Verdict[] = Array(items.length).fill(notChecked);
    let charged = 0;
    const outcome = (exhausted: boolean) => ({ verdicts, charged, exhausted, quota });
    if (!(await gate.enter(items.length))) return outcome(true);
    let left: number | undefined;
    try {
      let open = items.map((_, i) => i);
      while (open.length > 0) {
        signal.throwIfAborted();
        const part = open.slice(0, batchSize);
        await keepRate(part.length, signal);
        const reply = await ask(
          kind,
          part.map((i) => items[i]!),
          signal,
        );
        if (reply === "too large") {
          batchSize = Math.min(batchSize, Math.ceil(part.length / 2));
          onNotice(`${baseUrl}: takes smaller batches only; going on with ${batchSize}`);
          continue;
        }
        let renewsIn: number | undefined;
        if ("isGone" in reply) ({ renewsIn } = reply);
        else {
          left = reply.quota.left ?? undefined;
          const answered = part.filter((index, i) => {
            const status = reply.statuses[i]!;
            if (status === notChecked.status) return false;
            verdicts[index] = { status };
            return true;
          });
          charged += answered.length;
          onAnswered?.(
            answered,
            answered.map((i) => verdicts[i]!),
          );
          open = open.filter((i) => verdicts[i] === notChecked);
          if (answered.length === part.length) {
            waitsUntil.time = undefined;
            continue;
          }
          // Something is left after all: the answer was an old one, or the quota has just been raised.
          if (answered.length > 0 && left !== undefined && left > 0) continue;
          const { renewsAt } = reply.quota;
          if (renewsAt !== null) renewsIn = Math.max(0, renewsAt - now());
        }
        if (!(await renewal(renewsIn, signal))) {
          gate.shut();
          return outcome(true);
        }
      }
      return outcome(false);
    } finally {
      gate.leave(items.length, left);
    }
  };

  return {
    engine: "api",
    concurrency,
    get batchSize() {
      return batchSize;
    },
    get requests() {
      return requests;
    },
    validate,
    async probe() {
      const reply = await ask("email", [], new AbortController().signal);
      if (reply === "too large") return undefined;
      return "isGone" in reply ? 0 : (reply.quota.left ?? undefined);
    },
    ...(prechecks && { precheck }),
    async close(milliseconds) {
      isClosing = true;
      const patience = new AbortController();
      const late = sleep(milliseconds, patience.signal).catch(() => {});
      await Promise.race([Promise.all(inFlight), late]);
      patience.abort();
      await http.close();
    },
  };
}

const notChecked: Verdict = { status: "quota_exceeded" };

const seconds = (milliseconds: number): string => {
  const count = Math.max(1, Math.round(milliseconds / 1000));
  return count < 120 ? `${count} s` : `${Math.round(count / 60).toLocaleString("en")} min`;
};

/** What an error says for people, if it does so as the interface document has it; short, with a colon before it. */
function messageIn(body: string): string {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    return typeof message === "string" && message !== "" ? `: ${message.slice(0, 200)}` : "";
  } catch {
    return "";
  }
}

const blamesSize = (message: string): boolean =>
  /too (many|large|big)|at most \d|maximum|batch size|exceed|limit/i.test(message);
