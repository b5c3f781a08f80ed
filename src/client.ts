/** The library's client of a validation service: batches, retries and the quota as the command line has them. */
import { randomBytes } from "node:crypto";
import type { Kind } from "./core/classifier/verdict.js";
import { refuseKind } from "./core/classify-in.js";
import { notChecked, type Verdict } from "./core/validator/validator.js";
import type { ApiEngine } from "./engines/api/engine.js";
import { isLoopback } from "./engines/api/loopback.js";

export { AuthorisationError, ServiceError } from "./core/validator/errors.js";

/** Times are in milliseconds. */
export interface ClientOptions {
  /** URL that `/emails/validate` is appended to. It must be https, or this machine. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Most items in a request, 1 to 100,000; 100 by default. */
  readonly batchSize?: number;
  /** Most requests at a time, 1 to 64; 4 by default. */
  readonly concurrency?: number;
  /** Longest time for one try; 30,000 by default. */
  readonly timeout?: number;
  /** Longest time for all tries of a batch; 120,000 by default. */
  readonly retryBudget?: number;
  /** How often a failed batch is sent again; 4 by default. */
  readonly maxRetries?: number;
}

export interface ValidatedItem extends Verdict {
  readonly item: string;
}

export interface Client {
  /**
   * Yields the verdicts of a service on items, in their order, each with its item. Failed requests are sent again with the
   * same Idempotency-Key, so that nothing is charged twice. Items that the quota does not reach have the status
   * `quota_exceeded`; an item that occurs twice is submitted once if both are in one batch.
   * @throws ServiceError when the service cannot be reached or gives no valid answer
   * @throws AuthorisationError when it does not accept the key
   */
  validate(kind: Kind, items: Iterable<string> | AsyncIterable<string>): AsyncGenerator<ValidatedItem>;
  /** Ends the connections. Requests in flight, which may be charged, get three seconds. */
  close(): Promise<void>;
}

const patienceMilliseconds = 3000;
const never = new AbortController().signal;

/** @throws TypeError when the URL is not one of https or of this machine, or there is no key */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, apiKey, batchSize = 100, concurrency = 4, timeout = 30_000 } = options;
  const { retryBudget = 120_000, maxRetries = 4 } = options;
  if (!URL.canParse(baseUrl)) throw new TypeError("baseUrl must be a URL such as https://validation.example.com");
  const url = new URL(baseUrl);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname)))
    throw new TypeError("baseUrl must be https, or this machine: the key is sent to it");
  if (apiKey === "") throw new TypeError("apiKey is empty");
  const secret = randomBytes(32).toString("hex");
  let opened: Promise<ApiEngine> | undefined;
  // undici is slow to load.
  const open = async (): Promise<ApiEngine> => {
    const { openService } = await import("./engines/api/open-service.js");
    return openService({
      ...{ baseUrl: baseUrl.replace(/\/+$/, ""), key: apiKey, secret },
      ...{ batchSize, concurrency, timeout, maximumRetries: maxRetries, retryBudget },
      ...{ wait: 0, prechecks: false, proxies: { httpProxy: "", httpsProxy: "", noProxy: "*" } },
      onNotice: () => {},
    });
  };
  const engine = () => {
    opened ??= open();
    return opened;
  };

  async function* validate(kind: Kind, items: Iterable<string> | AsyncIterable<string>) {
    refuseKind(kind);
    const { validate: submit, batchSize: size } = await engine();
    const batches: { readonly items: readonly string[]; readonly verdicts: Promise<readonly Verdict[]> }[] = [];
    let isExhausted = false;
    const send = (batch: readonly string[]) => {
      const distinct = [...new Set(batch)];
      const verdicts = isExhausted
        ? Promise.resolve(batch.map(() => notChecked))
        : submit(kind, distinct, never).then(({ verdicts, exhausted }) => {
            isExhausted ||= exhausted;
            const byItem = new Map(distinct.map((item, i) => [item, verdicts[i]!]));
            return batch.map((item) => byItem.get(item)!);
          });
      // Awaited in order.
      verdicts.catch(() => {});
      batches.push({ items: batch, verdicts });
    };
    async function* first() {
      const { items, verdicts } = batches.shift()!;
      for (const [i, verdict] of (await verdicts).entries()) yield { item: items[i]!, ...verdict };
    }
    try {
      let batch: string[] = [];
      for await (const item of items) {
        batch.push(item);
        if (batch.length < size) continue;
        send(batch);
        batch = [];
        if (batches.length > concurrency) yield* first();
      }
      if (batch.length > 0) send(batch);
      while (batches.length > 0) yield* first();
    } finally {
      // The engine has halted; the quota may have renewed at the next call.
      if (isExhausted) await close();
    }
  }

  async function close(): Promise<void> {
    const ending = opened;
    opened = undefined;
    await (await ending?.catch(() => undefined))?.close(patienceMilliseconds);
  }

  return { validate, close };
}
