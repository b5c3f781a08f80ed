/** Covers clocks that are wrong for a while: quotas still renew, and no charged verdict is lost. */
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { VerdictCache } from "../../src/state/cache/verdict-cache.js";
import type { ApiKey, Charge } from "../../src/state/service/api-key.js";
import { openSqliteServiceStore } from "../../src/state/service/database/sqlite.js";
import { anyHashes } from "../support/item-hashes.js";
import { TestQuota, take } from "../support/quota.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const november = Date.parse("2026-11-21T10:30:00Z");
const day = 86_400_000;

const chargeOnce = (keyId: string, idempotencyKey: string): Charge => ({
  ...{ keyId, kind: "email", statuses: ["ok"] },
  once: { idempotencyKey, body: Buffer.from("{}") },
});

/** Opens the state of a service, which is closed when the test has finished. */
async function openService(now: () => number, path = join(temporaryFolder(), "service.db")) {
  const store = await openSqliteServiceStore(path, now);
  onTestFinished(() => store.close());
  return store;
}

describe("a quota used while the clock was ahead", () => {
  test.each([
    ["hour", "2026-11-21T11:00:00Z"],
    ["day", "2026-11-22T00:00:00Z"],
    ["month", "2026-12-01T00:00:00Z"],
  ] as const)("renews by the %s again and keeps the units used meanwhile", async (period, renewal) => {
    let now = november;
    const file = await TestQuota.open(join(temporaryFolder(), "quota.db"), () => now);
    await file.configure({ limit: 10, period });
    await file.charge(7);
    now = Date.parse("2099-01-15T00:00:00Z");
    expect((await file.charge(4)).granted).toBe(4);
    now = november;
    expect(await file.read()).toMatchObject({ used: 4, left: 6, renewsAt: Date.parse(renewal) });
    expect((await file.charge(9)).granted).toBe(6);
    now = Date.parse(renewal);
    expect(await file.read()).toMatchObject({ used: 0, left: 10 });
    await file.close();
  });

  test("renews at the right time for a key of the service too", async () => {
    let now = november;
    const store = await openService(() => now);
    const { key, secret } = await store.create({ limit: 5, period: "month" });
    now = Date.parse("2099-01-15T00:00:00Z");
    await store.chargeAll([{ keyId: key.id, kind: "email", statuses: ["ok", "ok"] }]);
    now = november;
    const { quota } = (await store.findAll([secret]))[0] as ApiKey;
    expect(quota).toMatchObject({ used: 2, renewsAt: Date.parse("2026-12-01T00:00:00Z") });
  });
});

test.each([
  ["a day", november + day],
  ["73 years", Date.parse("2099-01-15T00:00:00Z")],
])("a process whose clock is %s ahead deletes no stored answer that is still valid", async (_, ahead) => {
  const path = join(temporaryFolder(), "service.db");
  let wrongTime = ahead;
  const [right, wrong] = [await openService(() => november, path), await openService(() => wrongTime, path)];
  const { key } = await right.create({});
  const charge = chargeOnce(key.id, "a");
  await right.chargeAll([charge]);
  const quotas = wrong.quotas({ quotaName: "runs" });
  await quotas.configure({});
  for (let i = 0; i < 3; i++) {
    await take(quotas, 1);
    wrongTime += 61_000;
  }
  await right.chargeAll([charge]);
  expect((await right.list()).find(({ id }) => id === key.id)!.quota.used).toBe(1);
});

test("a cache used while the clock was ahead keeps its verdicts and ignores those dated in the future", async () => {
  const path = join(temporaryFolder(), "verdicts.db");
  /** Opens the cache at a time, counts its verdicts, and adds some. */
  const countAt = async (now: number, keys: readonly string[]) => {
    const cache = await VerdictCache.open(path, () => now);
    const scope = await cache.scope("email", "https://a.net", "secret", 30 * day);
    let entries = 0;
    await scope.load(() => entries++);
    await scope.finish([], anyHashes(...keys), Array(keys.length).fill("ok"));
    await cache.close();
    return entries;
  };
  expect(await countAt(november, ["a", "b"])).toBe(0);
  expect(await countAt(november + 4 * 365 * day, ["c"])).toBe(0);
  expect(await countAt(november + day, [])).toBe(2);
});

describe("answers stored for Idempotency-Keys", () => {
  const once = (keyId: string, ...names: readonly string[]) => names.map((name) => chargeOnce(keyId, name));

  test("expire after 24 hours and are deleted a day later, at most 1,000 per charge", async () => {
    let now = november;
    const path = join(temporaryFolder(), "service.db");
    const store = await openService(() => now, path);
    const { key } = await store.create({});
    const used = async () => (await store.list())[0]!.quota.used;
    await store.chargeAll(once(key.id, ...Array.from({ length: 1500 }, (_, i) => `old ${i}`)));
    now += day - 1;
    await store.chargeAll(once(key.id, "old 1499"));
    expect(await used()).toBe(1500);
    expect(await store.hasAnswer(key.id, "old 0")).toBe(true);
    now += 1;
    expect(await store.hasAnswer(key.id, "old 0")).toBe(false);
    const database = new DatabaseSync(path);
    const left = () => database.prepare("SELECT * FROM answer").all().length;
    // Expired: it is charged again.
    now += 60_000;
    await store.chargeAll(once(key.id, "old 1499"));
    expect(await used()).toBe(1501);
    // A day later, once a newer answer confirms the time, 1,000 are deleted, and the others with the next charge.
    now += day;
    await store.chargeAll(once(key.id, "new 1"));
    await expect.poll(left).toBe(1501);
    now += 60_000;
    await store.chargeAll(once(key.id, "new 2"));
    await expect.poll(left).toBe(502);
    await store.chargeAll(once(key.id, "new 3"));
    await expect.poll(left).toBe(4);
    database.close();
  });

  test("expire if they are dated in the future", async () => {
    let now = november + 4 * 365 * day;
    const store = await openService(() => now);
    const { key } = await store.create({});
    await store.chargeAll(once(key.id, "k"));
    now = november;
    expect(await store.hasAnswer(key.id, "k")).toBe(false);
    await store.chargeAll(once(key.id, "k"));
    expect((await store.list())[0]!.quota.used).toBe(2);
  });
});
