/** The api engine over real HTTP to a scripted server, with a clock that jumps instead of waiting. */

import type { Kind } from "../../src/core/validator/validator.js";
import { type ApiOptions, apiValidator } from "../../src/engines/api/engine.js";
import { openHttpClient } from "../../src/engines/api/http.js";
import type { ApiWorld } from "../../src/engines/api/sender.js";
import { afterFile } from "./clean-up.js";
import { type Act, scriptedServer } from "./scripted-server.js";

export const key = "sk_7Xq4mZ";
/** Time at which the clock of an engine starts, in milliseconds since the epoch. */
export const startTime = Date.parse("2026-11-21T12:00:00Z");
export const noProxies = { httpProxy: "", httpsProxy: "", noProxy: "" };

export const items = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `ann${from + i}@b.net`);

/** Creates an engine and the server that it asks. `timeout` is that of its HTTP client, in real milliseconds. */
export async function engineFor(
  acts: readonly Act[],
  options: Partial<ApiOptions> = {},
  { timeout = 5000, ...world }: Partial<ApiWorld> & { readonly timeout?: number } = {},
) {
  const server = await scriptedServer(...acts);
  const slept: number[] = [];
  const notices: string[] = [];
  const requests: string[] = [];
  const clock = { now: startTime };
  const engine = apiValidator(
    {
      baseUrl: server.url,
      key,
      batchSize: 100,
      concurrency: 4,
      maximumRetries: 4,
      retryBudget: 120_000,
      timeout,
      wait: 0,
      prechecks: true,
      idempotencyKey: (path, body) => `${path} ${body.length}`,
      ...options,
    },
    {
      http: openHttpClient({ connections: 4, timeout, proxies: noProxies }),
      now: () => clock.now,
      sleep: async (milliseconds, signal) => {
        signal.throwIfAborted();
        slept.push(milliseconds);
        clock.now += milliseconds;
      },
      random: () => 0.5,
      onNotice: (text) => notices.push(text.replace(server.url, "URL")),
      onRequest: (text) => requests.push(text),
      ...world,
    },
  );
  afterFile(() => engine.close(0));
  /** The verdicts that the listener was given, in this order. */
  const kept: string[] = [];
  const validate = async (batch: readonly string[], kind: Kind = "email", signal = new AbortController().signal) => {
    const outcome = await engine.validate(kind, batch, signal, {
      onSubmit: async (open) => ({ now: open, later: [] }),
      async onAnswered(indices, verdicts) {
        for (const [i, index] of indices.entries()) kept.push(`${batch[index]} ${verdicts[i]!.status}`);
      },
    });
    return { ...outcome, statuses: outcome.verdicts.map(({ status }) => status) };
  };
  /** Returns the error with which the engine gives up. */
  const failure = async (batch: readonly string[] = items(2)) => {
    const error = await validate(batch).then(
      () => undefined,
      (error: Error) => error,
    );
    return `${error?.name}: ${error?.message.replace(server.url, "URL")}`;
  };
  return { ...server, engine, validate, failure, clock, slept, notices, requests, kept };
}

/** A clock that stands still until the test moves it: the waits of an engine end only then. */
export function manualClock() {
  const waits: { readonly until: number; readonly resolve: () => void }[] = [];
  const clock = {
    time: startTime,
    now: () => clock.time,
    sleep: (milliseconds: number, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        signal.throwIfAborted();
        signal.addEventListener("abort", () => reject(signal.reason));
        waits.push({ until: clock.time + milliseconds, resolve });
      }),
    /** Ends the waits of the next `milliseconds`. */
    pass(milliseconds: number): void {
      clock.time += milliseconds;
      for (const { until, resolve } of waits) if (until <= clock.time) resolve();
    },
  };
  return clock;
}
