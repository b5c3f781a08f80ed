/** Covers the cache of a run: claims, by which concurrent runs submit an item only once, and what is stored and read back. */
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { expect, onTestFinished, test } from "vitest";
import type { CacheScope } from "../../../src/state/cache/cache-scope.js";
import type { ItemHash } from "../../../src/state/cache/digests.js";
import { VerdictCache } from "../../../src/state/cache/verdict-cache.js";
import { StoreError } from "../../../src/state/errors.js";
import { anyHashes } from "../../support/item-hashes.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** Opens one cache for two runs; `endFirst` makes the first run look ended. */
async function twoRuns() {
  let now = Date.parse("2026-11-21T10:30:00Z");
  let isFirstAlive = true;
  const path = join(temporaryFolder(), "verdicts.db");
  const open = async (owner: string, isThere = false) => {
    const here = (of: string) => (of === "second" || isFirstAlive ? "running" : "ended");
    const claims = { owner, stateOf: (of: string) => (isThere ? "elsewhere" : here(of)) };
    const cache = await VerdictCache.open(path, () => now, {}, claims);
    onTestFinished(() => cache.close());
    return cache.scope("email", "https://a.net", "secret", 60_000);
  };
  const endFirst = () => {
    isFirstAlive = false;
  };
  const pass = (milliseconds: number) => {
    now += milliseconds;
  };
  const [first, second] = [await open("first"), await open("second")];
  return { path, first, second, open, endFirst, pass };
}

const ignore = () => {};

/** Stores the status ok for the items of a batch. */
const allOk = (scope: CacheScope, items: readonly ItemHash[]) =>
  scope.finish(
    items,
    items,
    items.map(() => "ok"),
  );

test("a claim of another container counts although no process here has its process ID", async () => {
  const { first, endFirst, open, pass } = await twoRuns();
  await first.claim(anyHashes("a"), 1000, ignore);
  endFirst();
  const elsewhere = await open("second", true);
  expect((await elsewhere.claim(anyHashes("a", "b"), 1000, ignore)).isElsewhere).toEqual([true, false]);
  pass(1000);
  expect((await elsewhere.claim(anyHashes("a"), 1000, ignore)).isElsewhere).toEqual([false]);
});

test("a claim keeps items from other runs until it is released", async () => {
  const { first, second } = await twoRuns();
  const claim = await first.claim(anyHashes("a", "b"), 5000, ignore);
  expect(claim.isElsewhere).toEqual([false, false]);
  expect((await second.claim(anyHashes("b", "c"), 5000, ignore)).isElsewhere).toEqual([true, false]);
  // The second run has claimed c by now.
  expect((await first.claim(anyHashes("c", "a"), 5000, ignore)).isElsewhere).toEqual([true, false]);
  await claim.release();
  await claim.release();
  expect((await second.claim(anyHashes("b"), 5000, ignore)).isElsewhere).toEqual([false]);
});

test("a claim that submits nothing keeps the record of a killed run's batch", async () => {
  const { first: killed, second: resumed } = await twoRuns();
  const batch = anyHashes("a", "b");
  await killed.begin(batch);
  const claim = await resumed.claim(batch, 5000, ignore);
  await claim.release();
  expect(await resumed.unfinished()).toEqual([batch]);
  const other = await resumed.claim(anyHashes("c"), 5000, ignore);
  await other.release();
  expect(await resumed.unfinished()).toEqual([batch]);
});

test("a claim of an ended run is ignored", async () => {
  const { first, second, endFirst } = await twoRuns();
  await first.claim(anyHashes("a"), 5000, ignore);
  endFirst();
  expect((await second.claim(anyHashes("a"), 5000, ignore)).isElsewhere).toEqual([false]);
});

test("an unfinished batch is forgotten after a day", async () => {
  const { first, second, pass } = await twoRuns();
  await first.begin(anyHashes("a", "b"));
  pass(86_400_000);
  expect(await second.unfinished()).toEqual([anyHashes("a", "b")]);
  pass(1);
  expect(await second.unfinished()).toEqual([]);
});

test("the newest of several verdicts on an item comes last", async () => {
  const { first, second, pass } = await twoRuns();
  for (const status of ["ok", "fake", "alias"]) {
    await first.finish([], anyHashes("a"), [status]);
    pass(1000);
  }
  const seen: string[] = [];
  await second.load((_item, status) => seen.push(status));
  expect(seen).toEqual(["ok", "fake", "alias"]);
});

test("a claim expires after its time", async () => {
  const { first, second, pass } = await twoRuns();
  await first.claim(anyHashes("a"), 5000, ignore);
  pass(4999);
  expect((await second.claim(anyHashes("a"), 5000, ignore)).isElsewhere).toEqual([true]);
  pass(1);
  expect((await second.claim(anyHashes("a"), 5000, ignore)).isElsewhere).toEqual([false]);
});

test("a claim does not affect items that other runs have claimed, or their records", async () => {
  const { first, second, path, pass } = await twoRuns();
  const database = new DatabaseSync(path);
  const claims = () => (database.prepare("SELECT count(*) AS n FROM claim").all() as [{ n: number }])[0].n;
  await first.claim(anyHashes("a", "b"), 5000, ignore);
  pass(1);
  // Only c is left to the second run, and nothing of a batch that is all elsewhere.
  const rest = await second.claim(anyHashes("a", "c"), 5000, ignore);
  expect(await second.unfinished()).toEqual([anyHashes("a", "b"), anyHashes("c")]);
  const none = await second.claim(anyHashes("b"), 5000, ignore);
  expect(none.isElsewhere).toEqual([true]);
  expect(claims()).toBe(2);
  await none.release();
  await rest.release();
  expect(await second.unfinished()).toEqual([anyHashes("a", "b")]);
  expect(claims()).toBe(1);
  database.close();
});

test("a submitted batch stays recorded until its answer, which also ends its claim", async () => {
  const { first, second } = await twoRuns();
  const batch = anyHashes("a", "b");
  const claim = await first.claim(batch, 5000, ignore);
  await first.begin(batch);
  await claim.release();
  expect(await second.unfinished()).toEqual([batch]);
  const again = await second.claim(batch, 5000, ignore);
  expect(again.isElsewhere).toEqual([false, false]);
  await second.begin(batch);
  await second.finish(batch, anyHashes("a"), ["ok"]);
  expect(await first.unfinished()).toEqual([]);
  const next = await first.claim(batch, 5000, ignore);
  expect(next.isElsewhere).toEqual([false, false]);
  // Released late: the claim of the other run stays.
  await again.release();
  expect((await second.claim(anyHashes("a"), 5000, ignore)).isElsewhere).toEqual([true]);
});

test("a batch that ends without verdicts stores none", async () => {
  const { first, path } = await twoRuns();
  await first.begin(anyHashes("a"));
  await first.finish(anyHashes("a"), [], []);
  const database = new DatabaseSync(path);
  expect(database.prepare("SELECT * FROM batch").all()).toEqual([]);
  database.close();
});

test("a run receives each verdict of other runs once, between its own", async () => {
  const { first, second } = await twoRuns();
  const seen: string[] = [];
  const note = (_item: unknown, status: string) => seen.push(status);
  await second.load(note);
  await second.finish([], anyHashes("own 1"), ["own"]);
  await first.finish([], anyHashes("other 1"), ["first"]);
  await second.finish([], anyHashes("own 2"), ["own"]);
  await first.finish([], anyHashes("other 2"), ["second"]);
  await second.claim(anyHashes("other 1"), 5000, note);
  expect(seen.filter((status) => status !== "own")).toEqual(["first", "second"]);
  await second.claim(anyHashes("y"), 5000, note);
  expect(seen.filter((status) => status !== "own")).toEqual(["first", "second"]);
});

test("verdicts of many batches and of 256 statuses are read back", async () => {
  const { first, second } = await twoRuns();
  const keys = Array.from({ length: 40 }, (_, i) => String(i));
  for (const key of keys) await first.finish([], anyHashes(key), [`status ${key}`]);
  const seen = new Set<string>();
  await second.load((_item, status) => seen.add(status));
  expect([...seen]).toEqual(keys.map((key) => `status ${key}`));
  const many = Array.from({ length: 257 }, (_, i) => `s${i}`);
  await first.finish([], anyHashes(...many.slice(1)), many.slice(1));
  await expect(first.finish([], anyHashes(...many), many)).rejects.toThrow(RangeError);
  await second.load((_item, status) => seen.add(status));
  expect(seen.size).toBe(40 + 256);
});

test.each([
  ["entries of another length", "entries = x'00'"],
  ["entries that are no bytes", "entries = zeroblob(0), statuses = '{}'"],
  ["statuses that are no list", "statuses = '{}'"],
  ["statuses that are no JSON", "statuses = '['"],
  ["statuses that are no text", "statuses = '[1]'"],
  ["a status beyond the list", "statuses = '[]'"],
])("a file with %s is rejected as damaged", async (_, change) => {
  const { first, second, path } = await twoRuns();
  await first.finish([], anyHashes("a"), ["ok"]);
  const database = new DatabaseSync(path);
  database.exec(`UPDATE batch SET ${change}`);
  database.close();
  await expect(second.load(ignore)).rejects.toThrow(StoreError);
});

test("the statistics give the number and the age of the verdicts by kind and service", async () => {
  let now = 1000;
  const cache = await VerdictCache.open(join(temporaryFolder(), "verdicts.db"), () => now);
  const keep = async (kind: string, url: string, keys: readonly string[], secret = "secret") => {
    await allOk(await cache.scope(kind, url, secret, 60_000), anyHashes(...keys));
  };
  await keep("email", "https://b.net", ["a", "b"]);
  now = 3000;
  await keep("email", "https://b.net", ["c"], "another secret");
  await keep("domain", "https://b.net", ["a"]);
  await keep("email", "https://a.net", ["a"]);
  expect(await cache.statistics()).toEqual([
    { kind: "email", baseUrl: "https://a.net", items: 1, oldest: 3000, newest: 3000 },
    { kind: "domain", baseUrl: "https://b.net", items: 1, oldest: 3000, newest: 3000 },
    { kind: "email", baseUrl: "https://b.net", items: 3, oldest: 1000, newest: 3000 },
  ]);
  // Another secret finds nothing of the others.
  const found: string[] = [];
  const scope = await cache.scope("email", "https://b.net", "another secret", 60_000);
  await scope.load((_item, status) => found.push(status));
  expect(found).toEqual(["ok"]);
  await cache.close();
});

test("pruning deletes entries older than an age, and compacting frees their space", async () => {
  const [hour, day] = [3_600_000, 86_400_000];
  let now = 10 * day;
  const path = join(temporaryFolder(), "verdicts.db");
  const cache = await VerdictCache.open(path, () => now);
  const scope = await cache.scope("email", "https://b.net", "secret", 9 * day);
  const findings = cache.findings("secret", []);
  await allOk(scope, anyHashes(...Array.from({ length: 20_000 }, (_, i) => `${i}`)));
  await scope.begin(anyHashes("x"));
  await findings.store(new Map([["a.net", { kind: "mx" }]]));
  now += 2 * hour;
  const few = anyHashes("a", "b");
  await scope.finish(few, few, ["ok", "fake"]);
  await scope.begin(anyHashes("y"));
  expect(await cache.prune(3 * hour)).toBe(0);
  expect(await scope.unfinished()).toHaveLength(2);
  expect(await cache.prune(hour)).toBe(20_000);
  expect((await cache.statistics())[0]?.items).toBe(2);
  expect(await scope.unfinished()).toEqual([anyHashes("y")]);
  expect(await findings.load(["a.net"])).toEqual([undefined]);
  const freePages = () => {
    const file = new DatabaseSync(path);
    const [free] = file.prepare("PRAGMA freelist_count").all() as { freelist_count: number }[];
    file.close();
    return free!.freelist_count;
  };
  expect(freePages()).toBeGreaterThan(50);
  await cache.compact();
  expect(freePages()).toBe(0);
  await cache.close();
});

test("a cache of changing lists does not grow, and a clock that is ahead deletes nothing", async () => {
  const day = 86_400_000;
  let now = Date.parse("2026-11-21T02:00:00Z");
  const cache = await VerdictCache.open(join(temporaryFolder(), "verdicts.db"), () => now);
  const items = async () => (await cache.statistics())[0]!.items;
  const night = async (number: number, batches: number) => {
    const scope = await cache.scope("email", "https://a.net", "secret", 30 * day);
    for (let batch = 0; batch < batches; batch++) {
      const items = Array.from({ length: 100 }, (_, i) => ({ low: 100 * batch + i, high: number }));
      await scope.begin(items);
      await allOk(scope, items);
    }
  };
  for (let number = 0; number < 120; number++) {
    await night(number, 3);
    now += day;
  }
  // 30 nights, the one at hand, and one that was young enough for the last night.
  expect(await items()).toBe(32 * 300);
  now += 400 * day;
  await night(120, 3);
  expect(await items()).toBe(32 * 300);
  await cache.close();
});

test("runs without new verdicts delete those that are too old, in small steps", async () => {
  const day = 86_400_000;
  let now = Date.parse("2026-11-21T02:00:00Z");
  const cache = await VerdictCache.open(join(temporaryFolder(), "verdicts.db"), () => now);
  onTestFinished(() => cache.close());
  const open = () => cache.scope("email", "https://a.net", "secret", 30 * day);
  const items = async () => (await cache.statistics())[0]!.items;
  const add = async (count: number) => {
    const scope = await open();
    for (let i = 0; i < count; i++) await scope.finish([], [{ low: i, high: now }], ["ok"]);
  };
  await add(20);
  now += 31 * day;
  const seen: string[] = [];
  await (await open()).load((_item, status) => seen.push(status));
  // The clock may be ahead, as long as there are no newer verdicts.
  expect([seen.length, await items()]).toEqual([0, 20]);
  await add(1);
  expect(await items()).toBe(21);
  for (const left of [13, 5, 1, 1]) {
    await (await open()).load(ignore);
    expect(await items()).toBe(left);
  }
});
