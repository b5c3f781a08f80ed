/** Covers clocks that are wrong for a while: quotas still renew, and no charged verdict is lost. */
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, test } from "vitest";
import { KeyStore } from "../../src/store/key-store.js";
import { QuotaFile } from "../../src/store/quota-file.js";
import { VerdictCache } from "../../src/store/verdict-cache.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const november = Date.parse("2026-11-21T10:30:00Z");
const day = 86_400_000;

describe("a quota used while the clock was ahead", () => {
  test.each([
    ["hour", "2026-11-21T11:00:00Z"],
    ["day", "2026-11-22T00:00:00Z"],
    ["month", "2026-12-01T00:00:00Z"],
  ] as const)("renews by the %s again and keeps the units used meanwhile", async (period, renewal) => {
    let now = november;
    const file = await QuotaFile.open(join(temporaryFolder(), "quota.db"), () => now);
    await file.configure({ limit: 10, period });
    await file.reserve(7);
    now = Date.parse("2099-01-15T00:00:00Z");
    expect((await file.reserve(4)).granted).toBe(4);
    now = november;
    expect(await file.read()).toMatchObject({ used: 4, left: 6, renewsAt: Date.parse(renewal) });
    expect((await file.reserve(9)).granted).toBe(6);
    now = Date.parse(renewal);
    expect(await file.read()).toMatchObject({ used: 0, left: 10 });
    await file.close();
  });

  test("is corrected for a key of the service too", async () => {
    let now = november;
    const store = await KeyStore.open(join(temporaryFolder(), "service.db"), () => now);
    const { key, secret } = await store.create({ limit: 5, period: "month" }, false);
    now = Date.parse("2099-01-15T00:00:00Z");
    await store.charge(key.id, 2);
    now = november;
    const { quota } = (await store.find(secret))!;
    expect(quota).toMatchObject({ used: 2, renewsAt: Date.parse("2026-12-01T00:00:00Z") });
    await store.close();
  });
});

describe("a cache used while the clock was ahead", () => {
  const digests = (cache: { digest(key: string): string }, ...keys: string[]) =>
    keys.map((key) => cache.digest(key));
  async function count(cache: VerdictCache): Promise<number> {
    const scope = await cache.scope("email", "https://a.net", "secret", 30 * day);
    let entries = 0;
    await scope.load(() => entries++);
    return entries;
  }

  test("keeps its verdicts and ignores those dated in the future", async () => {
    let now = november;
    const path = join(temporaryFolder(), "verdicts.db");
    const open = () => VerdictCache.open(path, () => now);
    const first = await open();
    const scope = await first.scope("email", "https://a.net", "secret", 30 * day);
    await scope.finish([], digests(scope, "a", "b"), ["ok", "fake"]);
    await first.close();
    now += 4 * 365 * day;
    const ahead = await open();
    const later = await ahead.scope("email", "https://a.net", "secret", 30 * day);
    expect(await count(ahead)).toBe(0);
    await later.finish([], digests(later, "c"), ["ok"]);
    await ahead.close();
    now = november + day;
    const right = await open();
    expect(await count(right)).toBe(2);
    await right.close();
  });
});

describe("answers stored for Idempotency-Keys", () => {
  const request = (idempotencyKey: string) => ({ kind: "email", idempotencyKey, body: Buffer.from("{}") });
  const statusesOf = () => ["ok"];

  test("expire after 24 hours and are deleted in bounded numbers", async () => {
    let now = november;
    const path = join(temporaryFolder(), "service.db");
    const store = await KeyStore.open(path, () => now);
    const { key } = await store.create({}, false);
    const used = async () => (await store.list())[0]!.quota.used;
    for (let i = 0; i < 50; i++) await store.chargeOnce(key.id, 1, request(`old ${i}`), statusesOf);
    now += day - 1;
    await store.chargeOnce(key.id, 1, request("old 49"), statusesOf);
    expect(await used()).toBe(50);
    now += 1;
    // Expired, though not deleted yet: it is charged again.
    await store.chargeOnce(key.id, 1, request("old 49"), statusesOf);
    expect(await used()).toBe(51);
    expect(await store.hasAnswer(key.id, "old 0")).toBe(false);
    expect(await store.hasAnswer(key.id, "old 49")).toBe(true);
    const database = new DatabaseSync(path);
    const left = () => database.prepare("SELECT * FROM answer").all().length;
    const before = left();
    expect(before).toBeGreaterThan(20);
    await store.chargeOnce(key.id, 1, request("new 1"), statusesOf);
    expect(left()).toBe(before - 20 + 1);
    database.close();
    await store.close();
  });

  test("expire if they are dated in the future", async () => {
    let now = november + 4 * 365 * day;
    const store = await KeyStore.open(join(temporaryFolder(), "service.db"), () => now);
    const { key } = await store.create({}, false);
    await store.chargeOnce(key.id, 1, request("k"), statusesOf);
    now = november;
    expect(await store.hasAnswer(key.id, "k")).toBe(false);
    await store.chargeOnce(key.id, 1, request("k"), statusesOf);
    expect((await store.list())[0]!.quota.used).toBe(2);
    await store.close();
  });
});
