/** The cache of paid verdicts as one run sees it: with `--refresh` and short-lived verdicts it is written, not read. */
import { randomBytes } from "node:crypto";
import { isAlive, ownPid } from "../../files/processes.js";
import type { CachePort } from "../../run/cache-port.js";
import { VerdictCache } from "../../store/verdict-cache.js";
import type { Kind } from "../../validator/validator.js";
import { readCacheSecret } from "../config/cache-secret.js";
import { cachePath } from "../config/paths.js";

/** How long a service remembers an Idempotency-Key, in milliseconds: its answers are as old as that memory. */
const idempotencyMilliseconds = 86_400_000;

interface RunCacheOptions {
  /** Age of the verdicts that count, in milliseconds. */
  readonly maximumAge: number;
  /** Whether everything is asked anew. */
  readonly refresh: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Opens the cache for a run.
 *
 * @returns the port for the run; the secret of its Idempotency-Keys; how many verdicts it has added; and what closes it
 * @throws StoreError when the cache or its secret cannot be used
 */
export async function openRunCache(
  kind: Kind,
  baseUrl: string,
  { maximumAge, refresh, signal }: RunCacheOptions,
) {
  const secret = await readCacheSecret(process.env);
  const wait = signal ? { signal } : {};
  const cache = await VerdictCache.open(cachePath(process.env), Date.now, wait, { ownPid, isAlive });
  const scope = await cache.scope(kind, baseUrl, secret, maximumAge);
  // A run that wants fresh answers takes them neither from other runs nor from a service that remembers the request. It
  // has Idempotency-Keys of its own, so that batches cannot be resent later.
  const isFresh = refresh || maximumAge < idempotencyMilliseconds;
  let kept = 0;
  const port: CachePort = {
    digest: (key) => scope.digest(key),
    load: async (onEntry) => {
      if (!refresh) await scope.load(onEntry);
    },
    claim: async (digests, milliseconds, onEntry) =>
      isFresh
        ? { isElsewhere: digests.map(() => false), release: async () => {} }
        : scope.claim(digests, milliseconds, onEntry),
    unfinished: async () => (isFresh ? [] : scope.unfinished()),
    begin: async (digests) => {
      if (!isFresh) await scope.begin(digests);
    },
    finish: async (begun, digests, statuses) => {
      await scope.finish(begun, digests, statuses);
      kept += digests.length;
    },
  };
  return {
    port,
    secret: isFresh ? randomBytes(32).toString("hex") : secret,
    kept: () => kept,
    close: () => cache.close(),
  };
}
