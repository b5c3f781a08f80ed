import { hash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClassifierSource, loadClassifier } from "../classifier/classifier.js";
import type { VerdictMemory } from "../run/run-options.js";
import { QuotaFile } from "../store/quota-file.js";
import type { ApiOptions } from "../validator/api.js";
import { offlineValidator } from "../validator/offline.js";
import type { Kind, Validator } from "../validator/validator.js";
import type { EngineChoice, ServiceOptions } from "./engine-choice.js";
import { isLoopback } from "./engine-choice.js";
import type { Settings } from "./settings.js";
import { printable } from "./terminal.js";

/** An engine that is ready. */
export interface Engine {
  readonly validator: Validator;
  readonly memory?: VerdictMemory;
  /** Requests that were sent so far. */
  readonly requests?: () => number;
  /** Verdicts that this run has put into the cache. */
  readonly kept?: () => number;
  /** Asks the service about nothing, which costs nothing; gives the units left, undefined where it does not say. */
  readonly probe?: () => Promise<number | undefined>;
  /** Waits a moment for what is in flight, and closes its files. */
  close(): Promise<void>;
}

/** What is in flight when a run ends before its time is paid for: it may take so long to come. */
const patienceMilliseconds = 3000;
/** A service may forget Idempotency-Keys after a day, and its answers are as old as its memory of them. */
const day = 86_400_000;
/** Timers of Node end at once where they would be longer. */
const longestTimer = 2 ** 31 - 1;

/** The embedded classifier with its quota file. */
export async function openOfflineEngine(source: ClassifierSource, quotaPath: string): Promise<Engine> {
  const classifier = loadClassifier(source);
  const quotaFile = await QuotaFile.open(quotaPath, Date.now);
  return {
    validator: offlineValidator({ classifier, source }, quotaFile),
    async close() {
      quotaFile.close();
    },
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
  { baseUrl, key }: Extract<EngineChoice, { engine: "api" }>,
  options: ApiEngineOptions,
  onNotice: (text: string) => void,
): Promise<Engine> {
  const memory = options.cache ? await openMemory(kind, baseUrl.value, settings, options) : undefined;
  const secret = memory?.secret ?? randomBytes(32).toString("hex");
  const apiOptions: ApiOptions = {
    baseUrl: baseUrl.value,
    key: key.value,
    batchSize: settings.batchSize.value,
    concurrency: settings.concurrency.value,
    maximumRetries: settings.maxRetries.value,
    retryBudget: settings.retryBudget.value,
    ...(settings.rate.value && { rate: settings.rate.value }),
    wait: options.wait ?? 0,
    prechecks: options.precheck,
    idempotencyKey: (path, body) =>
      hash("sha256", `${secret}\nidempotency\n${baseUrl.value}${path}\n${body}`, "hex").slice(0, 40),
  };
  // Loaded only where something is sent: undici takes its time.
  const [{ apiValidator }, { openHttpClient }] = await Promise.all([
    import("../validator/api.js"),
    import("../validator/http.js"),
  ]);
  const validator = apiValidator(apiOptions, {
    http: openHttpClient({
      connections: settings.concurrency.value,
      timeout: settings.timeout.value,
      // A key for this machine, in the clear, is not for a proxy elsewhere.
      usesProxies: !isLoopback(new URL(baseUrl.value).hostname) || hasLoopbackProxy(process.env),
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
    ...(memory && { memory: memory.memory, kept: memory.kept }),
    requests: () => validator.requests,
    probe: validator.probe,
    async close() {
      await validator.close(patienceMilliseconds);
      memory?.close();
    },
  };
}

async function openMemory(kind: Kind, baseUrl: string, settings: Settings, { refresh }: ApiEngineOptions) {
  const [{ VerdictCache }, { readCacheSecret }, { cachePath }] = await Promise.all([
    import("../store/verdict-cache.js"),
    import("./cache-secret.js"),
    import("./paths.js"),
  ]);
  const maximumAge = settings.cacheTtl.value;
  const lasting = await readCacheSecret(process.env);
  const cache = await VerdictCache.open(cachePath(process.env), Date.now);
  // What has expired for good.
  cache.prune(Math.max(maximumAge, 30 * day));
  const scope = cache.scope(kind, baseUrl, lasting);
  let kept = 0;
  const memory: VerdictMemory = {
    digest: scope.digest,
    load: (onEntry) => {
      if (!refresh) scope.load(maximumAge, onEntry);
    },
    save: (digests, statuses) => {
      scope.save(digests, statuses);
      kept += digests.length;
    },
  };
  // Who wants fresh answers does not want those of a service that remembers the request.
  const isFresh = refresh || maximumAge < day;
  const secret = isFresh ? randomBytes(32).toString("hex") : lasting;
  return { memory, secret, kept: () => kept, close: () => cache.close() };
}

function hasLoopbackProxy(env: NodeJS.ProcessEnv): boolean {
  return ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"].every((name) => {
    const proxy = env[name];
    return !proxy || (URL.canParse(proxy) && isLoopback(new URL(proxy).hostname));
  });
}

function debug(text: string): void {
  process.stderr.write(`idv: debug: ${printable(text)}\n`);
}

/** Validates nothing: counts what would be. */
export function dryRunValidator({ validator }: Pick<Engine, "validator">) {
  const { engine, batchSize, precheck } = validator;
  const counts = { items: 0, requests: 0 };
  const dry: Validator = {
    engine,
    batchSize,
    ...(precheck && { precheck }),
    async validate(_kind, items) {
      counts.items += items.length;
      counts.requests++;
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
