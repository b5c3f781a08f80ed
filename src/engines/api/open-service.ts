/** The engine with real connections, clock and keys of idempotency. Loads undici, which is slow: load this module when a service is used. */
import { hash } from "node:crypto";
import { sleepFor } from "../../time.js";
import { type ApiEngine, type ApiOptions, apiValidator } from "./engine.js";
import { type HttpOptions, openHttpClient } from "./http.js";
import type { ApiWorld } from "./sender.js";

type Options = Omit<ApiOptions, "idempotencyKey"> &
  Pick<HttpOptions, "proxies"> &
  Pick<ApiWorld, "onNotice" | "onRequest"> & {
    /** Without it, others could guess the keys of idempotency. */
    readonly secret: string;
  };

/** Sends nothing yet. @throws TypeError when a proxy is not a URL */
export function openService({ proxies, secret, onNotice, onRequest, ...options }: Options): ApiEngine {
  const { baseUrl, concurrency: connections, timeout } = options;
  const idempotencyKey = (path: string, body: string) =>
    hash("sha256", `${secret}\nidempotency\n${baseUrl}${path}\n${body}`, "hex").slice(0, 40);
  return apiValidator(
    { ...options, idempotencyKey },
    {
      http: openHttpClient({ connections, timeout, proxies }),
      now: Date.now,
      sleep: sleepFor,
      random: Math.random,
      onNotice,
      ...(onRequest && { onRequest }),
    },
  );
}
