/** The cache of paid verdicts, as one run uses it. A run that needs fresh verdicts shares no request with others. */
import { randomBytes } from "node:crypto";
import type { CachePort } from "../../core/run/cache-port.js";
import type { Kind } from "../../core/validator/validator.js";
import { processTag, stateOfTag } from "../../files/processes.js";
import { VerdictCache } from "../../state/cache/verdict-cache.js";
import { readCacheSecret } from "../config/cache-secret.js";
import { cachePath } from "../config/paths.js";
import { cacheGuard } from "./cache-guard.js";

/** Time for which a service remembers an Idempotency-Key: a repeated key may get an answer that old. */
const idempotencyMilliseconds = 86_400_000;

const waitMilliseconds = 10_000;

interface RunCacheOptions {
  readonly maximumAge: number;
  readonly refresh: boolean;
  readonly signal: AbortSignal | undefined;
  readonly note: (text: string) => void;
}

/** Undefined if the cache is locked: the run goes on without it. @throws FileError, StoreError */
export async function openRunCache(kind: Kind, baseUrl: string, options: RunCacheOptions) {
  const { maximumAge, refresh, signal, note } = options;
  const secret = await readCacheSecret(process.env);
  const wait = { milliseconds: waitMilliseconds, ...(signal && { signal }) };
  const claims = { owner: processTag(), stateOf: stateOfTag };
  const guarded = cacheGuard(note);
  const cache = await guarded(undefined, () => VerdictCache.open(cachePath(process.env), Date.now, wait, claims));
  const scope = await guarded(undefined, async () => cache?.scope(kind, baseUrl, secret, maximumAge));
  if (cache === undefined || scope === undefined) {
    await cache?.close();
    return undefined;
  }
  // A fresh run takes no older answers. Its random keys cannot be repeated, so its batches are not recorded.
  const isFresh = refresh || maximumAge < idempotencyMilliseconds;
  let added = 0;
  const port: CachePort = {
    secret: scope.secret,
    load: async (onEntry) => {
      if (!refresh) await guarded(undefined, () => scope.load(onEntry));
    },
    claim: async (items, milliseconds, onEntry) => {
      const unclaimed = { isElsewhere: items.map(() => false), release: async () => {} };
      if (isFresh) return unclaimed;
      const claim = await guarded(unclaimed, () => scope.claim(items, milliseconds, onEntry));
      return { ...claim, release: () => guarded(undefined, claim.release) };
    },
    unfinished: async () => (isFresh ? [] : guarded([], () => scope.unfinished())),
    begin: async (items) => {
      if (!isFresh) await guarded(undefined, () => scope.begin(items));
    },
    finish: async (begun, items, statuses) => {
      await guarded(undefined, async () => {
        await scope.finish(begun, items, statuses);
        added += items.length;
      });
    },
  };
  const ownSecret = isFresh ? randomBytes(32).toString("hex") : secret;
  return { port, secret: ownSecret, added: () => added, close: () => cache.close() };
}
