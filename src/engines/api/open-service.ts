/** The engine with its connections, clock and Idempotency-Keys. Import it when a service is used: undici is slow to load. */
import { hash } from "node:crypto";
import { sleepFor } from "../../time.js";
import { type ApiEngine, type ApiOptions, apiValidator } from "./engine.js";
import { type HttpOptions, openHttpClient } from "./http.js";
import type { ApiWorld } from "./sender.js";

type Options = Omit<ApiOptions, "idempotencyKey"> &
  Pick<HttpOptions, "proxies"> &
  Pick<ApiWorld, "onNotice" | "onRequest"> & {
    /** Makes the Idempotency-Keys ones that others cannot guess. */
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
