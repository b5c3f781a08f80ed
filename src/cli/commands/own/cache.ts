/** `idv cache`: shows and deletes cached verdicts of services. */

import { existsSync } from "node:fs";
import { VerdictCache } from "../../../state/cache/verdict-cache.js";
import { counted, grouped, printable } from "../../../text.js";
import { removeCacheSecret } from "../../config/cache-secret.js";
import { cachePath } from "../../config/paths.js";
import { longestCacheTtl } from "../../config/settings.js";
import { jsonOption, type OptionValues, optionRecords } from "../../options/option.js";
import { timeOr } from "../../options/values.js";
import { printListing } from "../../terminal/listing.js";
import { print } from "../../terminal/standard-output.js";
import { say } from "../../terminal/terminal.js";
import { commandsOf, type DefineCommand, describe } from "../command.js";

const pruneOptions = optionRecords({
  olderThan: {
    flags: "--older-than <TIME>",
    help: "delete verdicts older than TIME",
    ...timeOr("30d", 0, longestCacheTtl),
  },
});

export const define: DefineCommand = (cache) => {
  describe(cache, {
    description: "Shows or shrinks the cache of the service's verdicts.",
    examples: ["cache stats", "cache prune --older-than 90d"],
    environment: ["IDV_CACHE_FILE", "XDG_STATE_HOME"],
  });
  const define = commandsOf(cache);
  const stats = ["cache stats", "cache stats --json"];
  define("stats", { options: jsonOption }, "Print number and age of each service's verdicts.", ...stats).action(
    showCache,
  );
  define("clear", {}, "Delete all verdicts.", "cache clear").action(clearCache);
  const prune = define("prune", { options: pruneOptions }, "Delete old verdicts.", "cache prune --older-than 90d");
  prune.action(pruneCache);
};

async function showCache({ json }: OptionValues<typeof jsonOption>): Promise<void> {
  const path = cachePath(process.env);
  const statistics = await withCache(path, (cache) => cache.statistics(), []);
  const scopes = statistics.map(({ oldest, newest, ...rest }) => {
    return { ...rest, oldest: new Date(oldest).toISOString(), newest: new Date(newest).toISOString() };
  });
  if (json) return print(`${JSON.stringify({ file: path, scopes })}\n`);
  print(`file\t${printable(path)}\n`);
  await printListing({
    header: ["kind", "service", "items", "oldest", "newest"],
    rows: scopes.map(({ kind, baseUrl, items, oldest, newest }) => [kind, baseUrl, grouped(items), oldest, newest]),
  });
}

const clearCache = () => remove(0, () => removeCacheSecret(process.env));

const pruneCache = ({ olderThan }: OptionValues<typeof pruneOptions>) => remove(olderThan);

/** `age` is in milliseconds; 0 deletes all. */
async function remove(age: number, afterwards = async () => {}): Promise<void> {
  const prune = async (cache: VerdictCache) => {
    // -1 includes verdicts of the current millisecond.
    const removed = await cache.prune(age === 0 ? -1 : age);
    if (age === 0) await cache.compact();
    return removed;
  };
  const removed = await withCache(cachePath(process.env), prune, 0);
  await afterwards();
  say(`removed ${counted(removed, "verdict")}`);
}

/** Returns `otherwise` if there is no cache, so that no empty file is created. */
async function withCache<Result>(path: string, work: (cache: VerdictCache) => Promise<Result>, otherwise: Result) {
  if (!existsSync(path)) return otherwise;
  const cache = await VerdictCache.open(path, Date.now);
  try {
    return await work(cache);
  } finally {
    await cache.close();
  }
}
