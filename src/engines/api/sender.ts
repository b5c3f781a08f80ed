/**
 * Sends the requests of the api engine, and retries each until it is answered or the retries are used up. To keep:
 * - `ending` never aborts a request that was sent: its answer may be paid for. Only its timeout or `close` ends it.
 * - A retry has the same body, hence the same Idempotency-Key, so that the service does not charge it twice.
 * - Every wait of `ask` goes through `sleep`, so that `ending` ends it, and every request through `send`.
 * - Text from the service reaches the user only through `messageIn`, which removes the key and addresses.
 */
import { setMaxListeners } from "node:events";
import { parsedJson } from "../../core/table/json/json-values.js";
import { ServiceError } from "../../core/validator/errors.js";
import type { Kind } from "../../core/validator/validator.js";
import { fieldOf } from "./answer.js";
import { type HttpAnswer, type HttpClient, TransportFault } from "./http.js";
import { messageIn } from "./messages.js";
import { delayAfter, nextStep, type Reply, type RetryLimits, seconds, untried } from "./next-step.js";
import { readRateLimit } from "./rate-limit.js";

export interface ApiWorld {
  readonly http: HttpClient;
  readonly now: () => number;
  /** Rejects with the signal's reason when the signal is aborted earlier. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly onNotice: (text: string) => void;
  /** Gets a debug message about each request, without items and key. */
  readonly onRequest?: (text: string) => void;
}

export interface SenderOptions extends RetryLimits {
  readonly baseUrl: string;
  /** Returns the same key for the same path and body, which others cannot guess. */
  readonly idempotencyKey: (path: string, body: string) => string;
}

type Wait = { readonly until: number; readonly why: string };

export type Activity = { readonly inFlight: number; readonly wait: Wait | undefined };

interface Request {
  readonly kind: Kind;
  readonly items: readonly string[];
  readonly body: string;
  readonly idempotencyKey: string;
}

const pathOf = (kind: Kind): string => `/${fieldOf[kind]}/validate`;

export function createSender(options: SenderOptions, world: ApiWorld) {
  const { baseUrl, key, retryBudget } = options;
  const { http, now, random, onNotice, onRequest } = world;
  const inFlight = new Set<Promise<unknown>>();
  let requests = 0;
  let successes = 0;
  let notBefore = 0;
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
  const requestFor = (kind: Kind, items: readonly string[]): Request => {
    const body = JSON.stringify({ [fieldOf[kind]]: items });
    return { kind, items, body, idempotencyKey: options.idempotencyKey(pathOf(kind), body) };
  };
  const ownDelay = (failures: number) => delayAfter(failures, random());

  async function send(
    { kind, items: { length: items }, body, idempotencyKey }: Request,
    attempt: number,
    milliseconds?: number,
  ): Promise<HttpAnswer> {
    ending.signal.throwIfAborted();
    const path = pathOf(kind);
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
        "idempotency-key": idempotencyKey,
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

  async function ask(request: Request): Promise<Reply> {
    const { kind, items } = request;
    let state = untried;
    let seen = successes;
    for (;;) {
      while (notBefore > now()) await sleep(notBefore - now(), "the service asks to slow down");
      const started = now();
      const { failures, slowdowns } = state;
      const budgetLeft = failures.since === undefined ? undefined : Math.max(1, failures.since + retryBudget - started);
      const tries = failures.count + slowdowns.count + 1;
      const received = await send(request, tries, budgetLeft).catch((error: unknown) => {
        if (error instanceof TransportFault) return error;
        throw error;
      });
      const hasSucceededElsewhere = successes !== seen;
      const tried = { kind, items, started, now: now(), received, hasSucceededElsewhere, chance: random() };
      const step = nextStep(options, state, tried);
      if (step.next === "fail") throw step.error;
      if (step.next === "done") {
        if (step.reply !== "too large" && !step.reply.isGone) successes++;
        return step.reply;
      }
      if (step.holdBack !== undefined) {
        holdBack(step.holdBack);
        seen = successes;
      }
      state = step.state;
      await sleep(step.milliseconds, step.why);
    }
  }

  function holdBack(milliseconds: number): void {
    if (notBefore <= now() && milliseconds > 0) {
      onNotice(`${baseUrl}: asks to slow down; continuing in ${seconds(milliseconds)}`);
    }
    notBefore = Math.max(notBefore, now() + milliseconds);
  }

  return {
    requestFor,
    ask,
    sleep,
    get activity(): Activity {
      const wait = [...waits].reduce<Wait | undefined>((a, b) => (a && a.until >= b.until ? a : b), undefined);
      return { inFlight: inFlight.size, wait };
    },
    ownDelay,
    ending,
    get requests() {
      return requests;
    },
    /** Sends one request without items, which costs nothing. @throws ServiceError when there is no answer */
    async probe(kind: Kind) {
      const { status, fields, body } = await send(requestFor(kind, []), 1).catch(({ message }: Error) => {
        throw new ServiceError(`${baseUrl}: ${message}`);
      });
      const { left } = readRateLimit(fields, now());
      return { status, isJson: typeof parsedJson(body ?? "") === "object", said: messageIn(body, key), left };
    },
    /** Requests in flight, and the listeners that store their answers, get `milliseconds` to finish first. */
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
