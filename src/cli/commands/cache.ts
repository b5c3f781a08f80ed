import { existsSync } from "node:fs";
import { VerdictCache } from "../../store/verdict-cache.js";
import { removeCacheSecret } from "../config/cache-secret.js";
import { cachePath } from "../config/paths.js";
import { print } from "../terminal/standard-output.js";
import { printable, say } from "../terminal/terminal.js";

/** Runs `idv cache stats`: what is remembered, by kind and service. */
export async function showCache({ json }: { readonly json?: true }): Promise<void> {
  const path = cachePath(process.env);
  const statistics = await withCache(path, (cache) => cache.statistics(), []);
  const scopes = statistics.map(({ oldest, newest, ...rest }) => ({
    ...rest,
    oldest: new Date(oldest).toISOString(),
    newest: new Date(newest).toISOString(),
  }));
  if (json) return print(`${JSON.stringify({ file: path, scopes })}\n`);
  print(`file\t${printable(path)}\n`);
  for (const { kind, baseUrl, items, oldest, newest } of scopes) {
    print(`${kind}\t${printable(baseUrl)}\t${items} items\t${oldest}\t${newest}\n`);
  }
}

/** Runs `idv cache clear`: all verdicts go, and the secret that their hashes are keyed with. */
export async function clearCache(): Promise<void> {
  const removed = await remove(0);
  await removeCacheSecret(process.env);
  say(`${removed.toLocaleString("en")} verdicts are removed`);
}

/** Runs `idv cache prune`. */
export async function pruneCache({ olderThan }: { readonly olderThan: number }): Promise<void> {
  say(`${(await remove(olderThan)).toLocaleString("en")} verdicts are removed`);
}

const remove = (age: number): Promise<number> =>
  withCache(
    cachePath(process.env),
    async (cache) => {
      // What is of this very millisecond goes too.
      const removed = await cache.prune(age === 0 ? -1 : age);
      if (age === 0) await cache.compact();
      return removed;
    },
    0,
  );

/** Nobody needs a cache made to be told that it is empty. */
async function withCache<Result>(
  path: string,
  work: (cache: VerdictCache) => Promise<Result>,
  otherwise: Result,
): Promise<Result> {
  if (!existsSync(path)) return otherwise;
  const cache = await VerdictCache.open(path, Date.now);
  try {
    return await work(cache);
  } finally {
    await cache.close();
  }
}
