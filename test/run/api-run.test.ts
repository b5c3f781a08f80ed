/** Covers runs with the api engine against the real service: rows, charged units and the cache. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiValidator } from "../../src/engines/api/engine.js";
import { openHttpClient } from "../../src/engines/api/http.js";
import { createMetrics } from "../../src/server/service/metrics.js";
import { createService } from "../../src/server/service/service.js";
import { VerdictCache } from "../../src/state/cache/verdict-cache.js";
import { openSqliteServiceStore } from "../../src/state/service/database/sqlite.js";
import type { ServiceStore } from "../../src/state/service/service-store.js";
import { noProxies } from "../support/api-engine.js";
import { classifier } from "../support/classifier.js";
import { runTable } from "../support/run-table.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { times } from "../support/tier.js";

let store: ServiceStore;
let cache: VerdictCache;
let url: string;
let service: ReturnType<typeof createService>;
beforeAll(async () => {
  const folder = temporaryFolder();
  store = await openSqliteServiceStore(join(folder, "service.db"), Date.now);
  cache = await VerdictCache.open(join(folder, "verdicts.db"), Date.now);
  service = createService({ store, classifier, maximumItems: 20, corsOrigins: [], metrics: createMetrics("") });
  url = await service.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await service.close();
  await store.close();
  await cache.close();
});

/** Runs a list through the api engine. */
async function run(
  values: readonly string[],
  key: string,
  settings: { batchSize: number; concurrency: number; chunkSize: number; scope: string | undefined },
) {
  const { batchSize, concurrency, chunkSize, scope } = settings;
  const timeout = 120_000;
  const validator = apiValidator(
    {
      ...{ baseUrl: url, key, batchSize, concurrency, maximumRetries: 0, retryBudget: 0, timeout, wait: 0 },
      prechecks: true,
      idempotencyKey: (path, body) => createHash("sha256").update(`${path}${body}`).digest("hex"),
    },
    {
      http: openHttpClient({ connections: concurrency, timeout, proxies: noProxies }),
      now: Date.now,
      sleep: (time, signal) => sleep(time, undefined, { signal }),
      random: Math.random,
      onNotice() {},
    },
  );
  const scoped = scope === undefined ? undefined : await cache.scope("email", scope, "secret", 60_000);
  const list = `email,n\n${values.map((value, i) => `${value},${i}\n`).join("")}`;
  const found = await runTable(list, validator, { table: { chunkSize }, ...(scoped && { cache: scoped }) });
  await validator.close(0);
  return found;
}

const value = fc.oneof(
  { weight: 5, arbitrary: fc.nat(80).map((i) => `user${i}@larch-and-oak.com`) },
  { weight: 2, arbitrary: fc.nat(20).map((i) => `USER${i}@larch-and-oak.com`) },
  { weight: 1, arbitrary: fc.constantFrom("", "no address", "x@mailinator.com", "ann+x@larch-and-oak.com") },
);

test("a run matches a plain loop for any list and settings, and a second run charges only the rest", async () => {
  let runs = 0;
  const arbitrary = fc.record({
    values: fc.array(value, { maxLength: 150 }),
    batchSize: fc.integer({ min: 1, max: 30 }),
    concurrency: fc.integer({ min: 1, max: 8 }),
    chunkSize: fc.integer({ min: 20, max: 2000 }),
    quota: fc.option(fc.nat(100)),
    hasCache: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ values, quota, hasCache, ...settings }) => {
      const { key, secret } = await store.create({ limit: quota });
      const scope = hasCache ? `run ${runs++}` : undefined;
      // The plain loop: one item at a time until the quota is used up.
      const known = new Map<string, string>();
      let charged = 0;
      const expected = values.map((text, i) => {
        const item = text.toLowerCase();
        if (text === "") return `,${i},`;
        if (!known.has(item)) {
          const { status } = classifier.classify("email", text);
          const isFree = text === "no address";
          const isGranted = charged < (quota ?? Number.POSITIVE_INFINITY);
          known.set(item, isFree || isGranted ? status : "quota_exceeded");
          if (!isFree && isGranted) charged++;
        }
        return `${text},${i},${known.get(item)}`;
      });
      const used = async () => (await store.list()).find(({ id }) => id === key.id)!.quota.used;
      const first = await run(values, secret, { ...settings, scope });
      expect(first.rows).toEqual(expected);
      expect([first.report.charged, await used()]).toEqual([charged, charged]);
      if (scope === undefined) return;
      await store.set(key.id, { limit: null });
      const second = await run(values, secret, { ...settings, scope });
      expect(second.rows.some((row) => row.endsWith("quota_exceeded"))).toBe(false);
      const distinct = [...known.keys()].filter((item) => item !== "no address").length;
      expect(await used()).toBe(distinct);
      expect(second.report.charged).toBe(distinct - charged);
    }),
    { numRuns: times(150) },
  );
});
