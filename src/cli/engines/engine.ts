import { hash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClassifierSource, loadClassifier } from "../../classifier/classifier.js";
import { isAlive, ownPid } from "../../files/processes.js";
import { QuotaFile } from "../../store/quota-file.js";
import type { CacheScope } from "../../store/verdict-cache.js";
import type { ApiEngine, ApiOptions } from "../../validator/api/engine.js";
import { offlineValidator } from "../../validator/offline.js";
import type { Kind, Validator } from "../../validator/validator.js";
import { isLoopback } from "../config/loopback.js";
import { cachePath } from "../config/paths.js";
import type { Settings } from "../config/settings.js";
import { UsageError } from "../errors.js";
import { printable } from "../terminal/terminal.js";
import type { EngineChoice, ServiceOptions } from "./engine-choice.js";

/** An engine that is ready. */
export interface Engine {
  readonly validator: Validator;
  /** Why it is this one. */
  readonly reason: string;
  readonly memory?: CacheScope;
  /** Requests that were sent so far. */
  readonly requests?: () => number;
  /** Verdicts that this run has put into the cache; absent without one. */
  readonly kept?: () => number;
  readonly probe?: ApiEngine["probe"];
  /**
   * Waits a moment for answers in flight, which are paid for, and closes its files. Later calls do nothing more.
   *
   * @param isInterrupted shortens the wait: the user wants the program to end
   */
  close(isInterrupted?: boolean): Promise<void>;
}

/** How long answers in flight are waited for when a run fails, and when a signal ends it. */
const patienceMilliseconds = 3000;
const interruptedMilliseconds = 700;
/** A service may forget Idempotency-Keys after a day, and its answers are as old as its memory of them. */
const day = 86_400_000;
/** Timers of Node end at once where they would be longer. */
const longestTimer = 2 ** 31 - 1;

/** The embedded classifier with its quota file. */
export async function openOfflineEngine(
  source: ClassifierSource,
  quotaPath: string,
  reason: string,
  signal: AbortSignal,
): Promise<Engine> {
  const classifier = loadClassifier(source);
  const quotaFile = await QuotaFile.open(quotaPath, Date.now, { signal });
  return {
    validator: offlineValidator({ classifier, source }, quotaFile),
    reason,
    close: once(async () => quotaFile.close()),
  };
}

/** The options of the service engine that are no settings. */
export interface ApiEngineOptions extends ServiceOptions {
  /** False with `--no-cache`, `--no-precheck`; commander's default is true. */
  readonly cache: boolean;
  readonly precheck: boolean;
  readonly refresh?: true;
  /** Milliseconds. */
  readonly wait?: number;
  readonly debug?: true;
  readonly dryRun?: true;
}

/** The service, with the cache of what it was paid for. */
export async function openApiEngine(
  kind: Kind,
  settings: Settings,
  { baseUrl, key, reason }: Extract<EngineChoice, { engine: "api" }>,
  options: ApiEngineOptions,
  onNotice: (text: string) => void,
  signal?: AbortSignal,
): Promise<Engine> {
  // A dry run makes no files.
  const hasMemory = options.cache && (!options.dryRun || existsSync(cachePath(process.env)));
  const memory = hasMemory ? await openMemory(kind, baseUrl.value, settings, options, signal) : undefined;
  const secret = memory?.secret ?? randomBytes(32).toString("hex");
  const apiOptions: ApiOptions = {
    baseUrl: baseUrl.value,
    key: key.value,
    batchSize: settings.batchSize.value,
    concurrency: settings.concurrency.value,
    maximumRetries: settings.maxRetries.value,
    retryBudget: settings.retryBudget.value,
    timeout: settings.timeout.value,
    ...(settings.rate.value && { rate: settings.rate.value }),
    wait: options.wait ?? 0,
    prechecks: options.precheck,
    idempotencyKey: (path, body) =>
      hash("sha256", `${secret}\nidempotency\n${baseUrl.value}${path}\n${body}`, "hex").slice(0, 40),
  };
  // Loaded only where something is sent: undici takes its time.
  const [{ apiValidator }, { openHttpClient }] = await Promise.all([
    import("../../validator/api/engine.js"),
    import("../../validator/api/http.js"),
  ]);
  const validator = apiValidator(apiOptions, {
    http: openHttpClient({
      connections: settings.concurrency.value,
      timeout: settings.timeout.value,
      proxies: proxiesFor(baseUrl.value, process.env),
    }),
    now: Date.now,
    sleep: (milliseconds, signal) =>
      sleep(Math.min(milliseconds, longestTimer), undefined, { signal }).then(
        () => {},
        (error) => {
          throw signal.aborted ? signal.reason : error;
        },
      ),
    random: Math.random,
    onNotice,
    ...(options.debug && { onRequest: debug }),
  });
  return {
    validator,
    reason,
    ...(memory && { memory: memory.memory, kept: memory.kept }),
    requests: () => validator.requests,
    probe: validator.probe,
    close: once(async (isInterrupted) => {
      await validator.close(isInterrupted ? interruptedMilliseconds : patienceMilliseconds);
      await memory?.close();
    }),
  };
}

/** Runs `close` at the first call; later calls wait for that. */
function once(close: Engine["close"]): Engine["close"] {
  let closed: Promise<void> | undefined;
  return (isInterrupted) => {
    closed ??= close(isInterrupted);
    return closed;
  };
}

async function openMemory(
  kind: Kind,
  baseUrl: string,
  settings: Settings,
  { refresh }: ApiEngineOptions,
  signal: AbortSignal | undefined,
) {
  const [{ VerdictCache }, { readCacheSecret }] = await Promise.all([
    import("../../store/verdict-cache.js"),
    import("../config/cache-secret.js"),
  ]);
  const maximumAge = settings.cacheTtl.value;
  const lasting = await readCacheSecret(process.env);
  const cache = await VerdictCache.open(cachePath(process.env), Date.now, signal ? { signal } : {}, {
    ownPid,
    isAlive,
  });
  const scope = await cache.scope(kind, baseUrl, lasting, maximumAge);
  // Who wants fresh answers does not want those of a service that remembers the request.
  const isFresh = refresh || maximumAge < day;
  let kept = 0;
  const memory: CacheScope = {
    ...scope,
    load: async (onEntry) => {
      if (!refresh) await scope.load(onEntry);
    },
    // A run that wants fresh answers takes them from no other one.
    claim: async (digests, milliseconds, onEntry) =>
      isFresh
        ? { isElsewhere: digests.map(() => false), release: async () => {} }
        : scope.claim(digests, milliseconds, onEntry),
    unfinished: async () => (isFresh ? [] : scope.unfinished()),
    // Under a key of this run only, the service would not recognise it.
    begin: async (digests) => {
      if (!isFresh) await scope.begin(digests);
    },
    finish: async (begun, digests, statuses) => {
      await scope.finish(begun, digests, statuses);
      kept += digests.length;
    },
  };
  const secret = isFresh ? randomBytes(32).toString("hex") : lasting;
  return { memory, secret, kept: () => kept, close: () => cache.close() };
}

/**
 * The proxies on the way to a service. A key for this machine, in the clear, is not for a proxy elsewhere.
 *
 * @throws UsageError
 */
function proxiesFor(url: string, env: NodeJS.ProcessEnv) {
  const isHere = isLoopback(new URL(url).hostname);
  const proxyOf = (name: string) => {
    const proxy = env[name] || env[name.toUpperCase()] || "";
    if (proxy === "") return "";
    // Its value may hold a password.
    if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol)) {
      throw new UsageError(`${name.toUpperCase()}: is no URL such as http://proxy.example.com:3128`);
    }
    return isHere && !isLoopback(new URL(proxy).hostname) ? "" : proxy;
  };
  return {
    httpProxy: proxyOf("http_proxy"),
    httpsProxy: proxyOf("https_proxy"),
    noProxy: env["no_proxy"] || env["NO_PROXY"] || "",
  };
}

function debug(text: string): void {
  process.stderr.write(`idv: debug: ${printable(text)}\n`);
}

/** Validates nothing: counts what would be. */
export function dryRunValidator({ validator, requests }: Engine) {
  const { engine, batchSize, precheck } = validator;
  const counts = { items: 0, requests: 0 };
  const dry: Validator = {
    engine,
    batchSize,
    ...(precheck && { precheck }),
    async validate(_kind, items) {
      counts.items += items.length;
      if (requests) counts.requests++;
      return {
        verdicts: items.map(() => ({ status: "not validated" })),
        charged: 0,
        exhausted: false,
        quota: { left: null, renewsAt: null },
      };
    },
  };
  return { validator: dry, counts };
}
