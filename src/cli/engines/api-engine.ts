/** Opens the engine that asks a service: its connections, and the cache of paid verdicts. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import type { Kind } from "../../core/validator/validator.js";
import { printable } from "../../text.js";
import { cachePath } from "../config/paths.js";
import type { Settings } from "../config/settings.js";
import { say } from "../terminal/terminal.js";
import { type Engine, once } from "./engine.js";
import type { EngineChoice } from "./engine-choice.js";
import { proxiesFor } from "./proxies.js";
import { openRunCache } from "./run-cache.js";

const patienceMilliseconds = 3000;
const interruptedMilliseconds = 700;
const sandboxPrefix = "sk_test_";

export interface ApiEngineOptions {
  readonly kind: Kind;
  readonly settings: Settings;
  readonly cache: "use" | "refresh" | "off";
  readonly wait: number;
  readonly run?: string | undefined;
  readonly isDryRun?: boolean;
  readonly isDebug?: boolean;
  readonly note: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** Nothing is sent yet. @throws StoreError for the cache, UsageError when a proxy variable is not a URL */
export async function openApiEngine(
  { baseUrl, key, reason }: Extract<EngineChoice, { name: "api" }>,
  options: ApiEngineOptions,
): Promise<Engine> {
  const { kind, settings, note, signal } = options;
  const isSandbox = key.value.startsWith(sandboxPrefix);
  // Also with --quiet: nobody wants such a list by mistake.
  if (isSandbox) say("a sandbox key: its answers are made up, so they are not cached");
  // A dry run creates no files.
  const hasCache = options.cache !== "off" && !isSandbox && (!options.isDryRun || existsSync(cachePath(process.env)));
  const fromCache = { maximumAge: settings.cacheTtl.value, refresh: options.cache === "refresh", note, signal };
  const cache = hasCache ? await openRunCache(kind, baseUrl.value, fromCache) : undefined;
  // Every try of a named run sends the same requests under the same keys, on all machines.
  const secret = options.run ? `run\n${options.run}` : (cache?.secret ?? randomBytes(32).toString("hex"));
  // Loaded only when a service is used.
  const { openService } = await import("../../engines/api/open-service.js");
  const validator = openService({
    ...{ baseUrl: baseUrl.value, key: key.value, keySource: key.source },
    ...{ secret, proxies: proxiesFor(baseUrl.value, process.env) },
    concurrency: settings.concurrency.value,
    timeout: settings.timeout.value,
    batchSize: settings.batchSize.value,
    maximumRetries: settings.maxRetries.value,
    retryBudget: settings.retryBudget.value,
    ...(settings.rate.value && { rate: settings.rate.value }),
    wait: options.wait,
    prechecks: settings.precheck.value,
    onNotice: note,
    ...(options.isDebug && { onRequest: printDebugLine }),
  });
  return {
    validator,
    reason,
    ...(cache && { cache: cache.port, verdictsAdded: cache.added }),
    requests: () => validator.requests,
    activity: () => validator.activity,
    probe: validator.probe,
    close: once(async (isInterrupted) => {
      await validator.close(isInterrupted ? interruptedMilliseconds : patienceMilliseconds);
      await cache?.close();
    }),
  };
}

function printDebugLine(text: string): void {
  process.stderr.write(`idv: debug: ${printable(text)}\n`);
}
