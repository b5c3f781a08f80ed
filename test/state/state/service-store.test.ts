/** Covers the state of the service: charges, shared quotas, usage, stored answers and rotation. */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { FileError } from "../../../src/files/errors.js";
import { StoreError } from "../../../src/state/errors.js";
import { GroupCommit } from "../../../src/state/group-commit.js";
import { translate } from "../../../src/state/postgres/dialect.js";
import type { Charge, QuotaOwner } from "../../../src/state/service/api-key.js";
import { KeyExistsError, SecretExistsError, UnknownKeyError } from "../../../src/state/service/api-key.js";
import { nameUnits } from "../../../src/state/service/charges.js";
import { openPostgresServiceStore } from "../../../src/state/service/database/postgres.js";
import { openSqliteServiceStore } from "../../../src/state/service/database/sqlite.js";
import { rowsAtOnce, type StateRows } from "../../../src/state/service/database/state-rows.js";
import { type NewList, reservationOf, senderOf } from "../../../src/state/service/lists.js";
import type { ServiceStore } from "../../../src/state/service/service-store.js";
import type { KeyUsageSum, UsageQuery } from "../../../src/state/service/usage.js";
import { hasPostgres, startPostgres } from "../../support/postgres.js";
import { take } from "../../support/quota.js";
import { randomFrom } from "../../support/random.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { isFull, times } from "../../support/tier.js";

const november = Date.parse("2026-11-22T10:30:00Z");
const hour = 3_600_000;
const nightly = { quotaName: "nightly" };

/** Claims lists for servers that know theirs. Returns the id. */
function claimIn({ lists }: ServiceStore) {
  const working = new Map<string, string>();
  const claim = async (server = "s") => {
    const own = [...working].filter(([, each]) => each === server).map(([id]) => id);
    const id = (await lists.claim({ server, working: own }, 15_000, 2))?.id;
    if (id !== undefined) working.set(id, server);
    return id;
  };
  return Object.assign(claim, { working });
}

/** PostgreSQL sends 64-bit numbers as text. */
const toNumbers = (row: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, /^\d+$/.test(String(value)) ? Number(value) : value]),
  );

/** Opens a store whose clock is `now`. */
type Open = (now: () => number) => Promise<ServiceStore>;

const postgres = hasPostgres ? await startPostgres() : undefined;

/** Opens a new database whose clock_timestamp() is ours: it is looked up before PostgreSQL's own. */
async function openPostgres(now: () => number): Promise<ServiceStore> {
  const url = new URL(await postgres!.create());
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`CREATE SCHEMA clock; CREATE TABLE clock.time (now bigint);
    INSERT INTO clock.time VALUES (${now()});
    CREATE FUNCTION clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql
      AS 'SELECT to_timestamp(now / 1000.0) FROM clock.time'`);
  url.searchParams.set("options", "-c search_path=clock,public,pg_catalog");
  const store = await openPostgresServiceStore(url.href);
  const tick = () => client.query("UPDATE clock.time SET now = $1", [now()]);
  // Sets the clock before each call.
  const ticking = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(target, name) {
        // A promise looks for a method "then".
        if (!(name in target)) return undefined;
        if (name === "quotas") {
          const { quotas } = target as unknown as ServiceStore;
          return (owner: QuotaOwner) => ticking(quotas.call(target, owner));
        }
        if (name === "sessions" || name === "lists") return ticking((target as unknown as ServiceStore)[name]);
        const method = target[name as keyof Target] as (...args: readonly unknown[]) => unknown;
        if (name === "usageByKey") return method.bind(target);
        return async (...args: readonly unknown[]) => {
          await tick();
          if (name === "close") await client.end();
          return method.apply(target, args as unknown[]);
        };
      },
    });
  return ticking(store);
}

const stores: readonly (readonly [string, Open])[] = [
  ["SQLite", (now) => openSqliteServiceStore(join(temporaryFolder(), "service.db"), now)],
  ...(postgres ? ([["PostgreSQL", openPostgres]] as const) : []),
];

/** Closes a store when its test has finished. */
async function closing(opening: Promise<ServiceStore>): Promise<ServiceStore> {
  const store = await opening;
  onTestFinished(() => store.close());
  return store;
}

const charge = (keyId: string, units: number, idempotencyKey?: string): Charge => ({
  keyId,
  kind: "email",
  statuses: Array.from({ length: units }, (_, i) => (i % 2 === 0 ? "ok" : "fake")),
  ...(idempotencyKey !== undefined && { once: { idempotencyKey, body: Buffer.from(String(units)) } }),
});

async function usageByKey(store: ServiceStore, query: UsageQuery) {
  const parts: (readonly KeyUsageSum[])[] = [];
  for await (const part of store.usageByKey(query)) parts.push(part);
  return parts;
}

const always = { from: 0, to: Number.MAX_SAFE_INTEGER };

/** Returns all usage by hour, or that of a key. */
const usageIn = async (store: ServiceStore, keyId?: string): Promise<readonly KeyUsageSum[]> =>
  (await usageByKey(store, { ...always, span: hour, ...(keyId !== undefined && { keyId }) })).flat();

const unitsIn = (sums: readonly { units: number }[]) => sums.reduce((sum, { units }) => sum + units, 0);

/** Returns the sum of the usage that was charged. */
const charged = async (store: ServiceStore): Promise<number> =>
  unitsIn((await usageIn(store)).filter(({ status }) => status !== "quota_exceeded"));

describe.each(isFull ? stores : stores.slice(0, 1))("%s", (_, open) => {
  const opened = (now = () => november) => closing(open(now));

  test("runs take units from a shared quota", async () => {
    const store = await opened();
    const quotas = store.quotas(nightly);
    await expect(take(quotas, 1)).rejects.toThrow('there is no quota "nightly"');
    await expect(quotas.read(() => false)).rejects.toThrow(UnknownKeyError);
    await quotas.configure({ limit: 10 });
    const { key } = await store.create({ name: "a", quotaName: "nightly" });
    expect(await take(quotas, 4)).toMatchObject({ granted: 4, quota: { used: 4, left: 6 } });
    await store.chargeAll([charge(key.id, 3)]);
    expect(await take(quotas, 4)).toMatchObject({ granted: 3, quota: { used: 10, left: 0 } });
    expect(await take(quotas, 4)).toMatchObject({ granted: 0 });
    expect(await charged(store)).toBe(10);
    expect(await usageIn(store, "quota:nightly")).toEqual([
      { keyId: "quota:nightly", start: november - 1_800_000, kind: "email", status: "unknown", units: 7 },
    ]);
    const change = { limit: 20, period: "day" } as const;
    expect(await quotas.configure(change)).toMatchObject({ ...change, used: 10, left: 10 });
    expect(await quotas.read(() => false)).toMatchObject({ used: 10, left: 10 });
  });

  test("each change of a key is in the audit with its author and the values before and after", async () => {
    const store = await opened();
    const { key } = await store.create({ name: "shop", limit: 5 }, "anna");
    await store.set(key.id, { name: "store", limit: null, expires: november + hour }, "bert");
    await store.set(key.id, { name: "store" }, "bert");
    await store.rotate(key.id, hour, undefined, "anna");
    const [old] = (await store.list())[0]!.secrets.filter(({ ends }) => ends !== null);
    await store.endSecret(key.id, old!.id, "anna");
    await store.revoke(key.id);
    const entries = await store.audit(99);
    expect(entries.map(({ who, what }) => `${who} ${what}`).reverse()).toEqual([
      "anna created",
      "bert changed: name shop -> store, expires never -> 2026-11-22T11:30:00.000Z, limit 5 -> none",
      "bert changed: nothing",
      "anna rotated: the old secret works for 3600 s",
      `anna secret ended: ${old!.id}`,
      "unknown revoked",
    ]);
    for (const { keyId } of entries) expect(keyId).toBe(key.id);
    // A change that is refused leaves none.
    await expect(store.rotate(key.id, 0)).rejects.toThrow(UnknownKeyError);
    expect(await store.audit(99)).toHaveLength(6);
  });

  describe("lists", () => {
    /** Adds a list that waits, and returns whether there was room. */
    const wait = async (store: ServiceStore, id: string, keyId: string | null, ofAll = 1000) => {
      const list = { id, name: id, kind: "email", keyId, who: senderOf(keyId ?? "x"), server: "s", choices: {} };
      const added = await store.lists.add(list as NewList, { ofKey: 100, ofAll });
      if (added === "full") return false;
      await store.lists.change(id, ["arriving"], { state: "waiting" });
      return true;
    };

    test("of keys are claimed by turns, and one key has a server not for itself", async () => {
      let now = november;
      const store = await opened(() => now);
      for (const id of ["a1", "a2", "a3", "a4", "a5"]) await wait(store, id, "a");
      now++;
      for (const id of ["b1", "b2"]) await wait(store, id, "b");
      await wait(store, "p1", null);
      const claim = claimIn(store);
      const end = async (id: string) => {
        now++;
        claim.working.delete(id);
        await store.lists.change(id, ["running"], { state: "done" });
      };
      expect([await claim(), await claim(), await claim(), await claim()]).toEqual(["a1", "b1", "p1", "a2"]);
      // Two of the first key are under way on this server.
      expect(await claim()).toBe("b2");
      expect([await claim(), await claim("other")]).toEqual([undefined, "a3"]);
      await end("a1");
      expect(await claim()).toBe("a4");
      for (const id of ["a2", "a3", "a4", "b1", "b2"]) await end(id);
      await wait(store, "c1", "c");
      await wait(store, "b3", "b");
      // A key that had none is before the one whose last list has ended longest ago.
      expect([await claim(), await claim(), await claim()]).toEqual(["c1", "a5", "b3"]);
    });

    test("give back what their run has charged when its server stops", async () => {
      const store = await opened(() => november);
      const { key } = await store.create({ limit: 100 });
      await wait(store, "a1", key.id);
      const list = (await store.lists.claim({ server: "s", working: [] }, 15_000, 2))!;
      const quotas = store.quotas({ keyId: key.id });
      const charged = { id: reservationOf(list), owner: "x", holds: 80, isDead: () => false };
      expect((await quotas.reserve(charged)).quota.left).toBe(20);
      await store.lists.change("a1", ["running"], { state: "waiting" }, list);
      expect((await quotas.read(() => false)).left).toBe(100);
    });

    test("of a server that is gone are not under way, and go on before the queues of others", async () => {
      let now = november;
      const store = await opened(() => now);
      for (const id of ["c1", "c2"]) await wait(store, id, "c");
      const claim = claimIn(store);
      expect([await claim("gone"), await claim("gone")]).toEqual(["c1", "c2"]);
      now++;
      for (const id of ["a1", "a2", "b1", "b2"]) await wait(store, id, id[0]!);
      now += 60_000;
      expect([await claim("s"), await claim("s"), await claim("s")]).toEqual(["c1", "a1", "b1"]);
      expect(await claim("s")).toBe("c2");
    });

    test("of ten keys leave room for those of others", async () => {
      const store = await opened();
      const most = 50;
      let taken = 0;
      for (let nth = 0; nth < 20; nth++)
        for (let key = 0; key < 10; key++) taken += Number(await wait(store, `${key}-${nth}`, `k${key}`, most));
      expect(taken).toBeLessThan(most);
      expect(await wait(store, "late", "other", most)).toBe(true);
    });
  });

  test("runs take units from the quota of a key until the key is revoked", async () => {
    const store = await opened();
    const { key } = await store.create({ limit: 5 });
    const quotas = store.quotas({ keyId: key.id });
    expect(await take(quotas, 3)).toMatchObject({ granted: 3, quota: { left: 2 } });
    expect(await quotas.read(() => false)).toMatchObject({ used: 3 });
    expect(await usageIn(store, key.id)).toMatchObject([{ status: "unknown", units: 3 }]);
    await store.revoke(key.id);
    await expect(take(quotas, 3)).rejects.toThrow(UnknownKeyError);
    await expect(store.quotas({ keyId: "none" }).read(() => false)).rejects.toThrow('key "none" does not exist');
  });

  test("an answer is forgotten after 24 hours", async () => {
    let now = november;
    const store = await opened(() => now);
    const { key } = await store.create({});
    await store.chargeAll([charge(key.id, 2, "a")]);
    now += 24 * hour - 1;
    expect(await store.hasAnswer(key.id, "a")).toBe(true);
    now += 1;
    expect(await store.hasAnswer(key.id, "a")).toBe(false);
    await store.chargeAll([charge(key.id, 2, "a")]);
    expect((await store.list())[0]!.quota.used).toBe(4);
  });

  test("a key with a given ID is created only once", async () => {
    const store = await opened();
    await store.create({ id: "abcdefghi", name: "first" });
    await expect(store.create({ id: "abcdefghi", name: "second" })).rejects.toThrow("was created already");
    expect((await store.list()).map(({ name }) => name)).toEqual(["first"]);
  });

  test("a sign-in link works once within ten minutes, a session for twelve hours or until it is ended", async () => {
    let now = november;
    const store = await opened(() => now);
    const { sessions } = store;
    const link = () => sessions.createSignIn();
    const [first, late, other] = [await link(), await link(), await link()];
    const session = (await sessions.signIn(first))!;
    expect((await sessions.find(session))?.id).toMatch(/^\w{9}$/);
    expect([await sessions.signIn(first), await sessions.signIn("guess")]).toEqual([undefined, undefined]);
    expect(await sessions.find(first)).toBeUndefined();
    const second = (await sessions.signIn(other))!;
    now += 600_000;
    expect(await sessions.signIn(late)).toBeUndefined();
    await sessions.signOut(second);
    expect(await sessions.find(second)).toBeUndefined();
    expect(await sessions.find(session)).toBeDefined();
    now += 12 * hour;
    expect(await sessions.find(session)).toBeUndefined();
    const unspent = await link();
    const third = (await sessions.signIn(await link()))!;
    await sessions.signOutAll();
    expect([await sessions.find(third), await sessions.signIn(unspent)]).toEqual([undefined, undefined]);
  });

  test("sessions have the names of their links, and end one by one or idle", async () => {
    let now = november;
    const store = await opened(() => now);
    const { sessions } = store;
    const sign = async (name?: string) => (await sessions.signIn(await sessions.createSignIn(name)))!;
    const secrets = [await sign("anna@example.com"), await sign("ben"), await sign()];
    const named = () => Promise.all(secrets.map(async (secret) => (await sessions.find(secret))?.name));
    expect(await named()).toEqual(["anna@example.com", "ben", null]);
    const { id } = (await sessions.find(secrets[1]!))!;
    expect([await sessions.end(id), await sessions.end(id)]).toEqual([true, false]);
    expect(await sessions.list()).toHaveLength(2);
    // One that is used goes on, the other ends.
    for (let i = 0; i < 3; i++) {
      now += 3_600_000;
      expect(await sessions.find(secrets[0]!)).toMatchObject({ name: "anna@example.com" });
    }
    expect((await sessions.list()).map(({ name }) => name)).toEqual(["anna@example.com"]);
    expect(await sessions.find(secrets[2]!)).toBeUndefined();
  });

  test("audit entries are stored and listed newest first", async () => {
    let now = november;
    const store = await opened(() => now++);
    for (const what of ["created", "rotated", "revoked"]) await store.record({ who: "me", what, keyId: "a" });
    expect((await store.audit(2)).map(({ what }) => what)).toEqual(["revoked", "rotated"]);
    const since = (await store.audit(2))[1]!.at;
    expect((await store.audit(9, since)).map(({ what }) => what)).toEqual(["revoked", "rotated"]);
    expect((await store.audit(9))[2]).toMatchObject({ who: "me", what: "created", keyId: "a" });
  });

  test("a shared quota renews for runs", async () => {
    let now = november;
    const store = await opened(() => now);
    const quotas = store.quotas(nightly);
    await quotas.configure({ limit: 5, period: "hour" });
    const granted = async () => (await take(quotas, 4, "domain")).granted;
    expect([await granted(), await granted()]).toEqual([4, 1]);
    now += hour;
    expect(await granted()).toBe(4);
    expect(await quotas.read(() => false)).toMatchObject({ used: 4 });
  });

  test("charges in order until the quota ends, and counts usage by status", async () => {
    const store = await opened();
    const { key } = await store.create({ limit: 5, period: "hour" });
    const outcomes = await store.chargeAll([charge(key.id, 3), charge(key.id, 4), charge(key.id, 1)]);
    expect(outcomes).toMatchObject([
      { statuses: ["ok", "fake", "ok"], quota: { used: 3, left: 2 } },
      { statuses: ["ok", "fake", "quota_exceeded", "quota_exceeded"], quota: { used: 5, left: 0 } },
      "quota is gone",
    ]);
    const start = november - (november % hour);
    expect(await usageIn(store)).toEqual([
      { keyId: key.id, start, kind: "email", status: "fake", units: 2 },
      { keyId: key.id, start, kind: "email", status: "ok", units: 3 },
      { keyId: key.id, start, kind: "email", status: "quota_exceeded", units: 2 },
    ]);
    expect((await store.list())[0]).toMatchObject({ quota: { used: 5 } });
  });

  test("sums usage by span for any times, of all keys or one", async () => {
    let now = november;
    const store = await opened(() => now);
    const keys = await Promise.all([1, 2, 3].map(() => store.create({})));
    for (let i = 0; i < 40; i++) {
      now = november + ((i * i * 7) % 72) * hour;
      await store.chargeAll([charge(keys[i % 3]!.key.id, 1 + (i % 4))]);
    }
    const stored = await usageIn(store);
    expect(stored.length).toBe(35);
    const day = 24 * hour;
    const end = Math.max(...stored.map(({ start }) => start)) + hour;
    const first = stored[0]!.start - (stored[0]!.start % day);
    for (const span of [hour, day]) {
      for (const [from, to] of [
        [first, end],
        [first + span, end - span],
        [end, end + day],
        [first - day, first + day],
      ] as const) {
        for (const keyId of [undefined, keys[1]!.key.id]) {
          const query = { from, to, span, ...(keyId !== undefined && { keyId }) };
          const wanted = new Map<string, number>();
          for (const line of stored) {
            if (line.start < from || line.start >= to || (keyId ?? line.keyId) !== line.keyId) continue;
            const id = `${line.start - (line.start % span)} ${line.status}`;
            wanted.set(id, (wanted.get(id) ?? 0) + line.units);
          }
          const sums = await store.usage(query);
          expect(new Map(sums.map(({ start, status, units }) => [`${start} ${status}`, units]))).toEqual(wanted);
          expect(sums.length).toBe(wanted.size);
          const parts = await usageByKey(store, query);
          for (const part of parts) expect(new Set(part.map(({ start }) => start)).size).toBe(1);
          const starts = parts.flat().map(({ start }) => start);
          expect(starts).toEqual(starts.toSorted((a, b) => a - b));
          expect(unitsIn(parts.flat())).toBe(unitsIn(sums));
        }
      }
    }
  });

  test("sums are the same after hours were added up, old hours deleted and old days folded", async () => {
    let now = november;
    const store = await opened(() => now);
    const keys = await Promise.all([1, 2, 3].map(() => store.create({})));
    const random = randomFrom(36);
    const day = 24 * hour;
    const sums = async () => {
      const all: unknown[] = [];
      for (const keyId of [undefined, keys[1]!.key.id]) {
        for (const [from, to] of [
          [november - 3 * hour, now + hour],
          [november + 5 * day + hour, november + 9 * day - hour],
        ] as const) {
          for (const span of [hour, day]) {
            const query = { from, to, span, ...(keyId !== undefined && { keyId }) };
            all.push(await store.usage(query), await store.totals(query), (await usageByKey(store, query)).flat());
          }
        }
      }
      return all;
    };
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 60; i++) {
        now += Math.floor(random() * 8) * hour;
        await store.chargeAll([charge(keys[Math.floor(random() * 3)]!.key.id, 1 + (i % 4))]);
      }
      const before = await sums();
      await store.tidyUsage(1000 * day);
      expect(await sums()).toEqual(before);
      await store.tidyUsage(1000 * day);
      expect(await sums()).toEqual(before);
    }
    const total = () => store.totals({ from: 0, to: now + hour, span: day });
    const before = await total();
    now += 60 * day;
    await store.chargeAll([charge(keys[0]!.key.id, 1)]);
    await store.tidyUsage(1000 * day);
    // The hours of each key are gone, their days are not.
    const hours = { from: 0, to: now - 40 * day, span: hour, keyId: keys[1]!.key.id };
    expect(await store.usage(hours)).toEqual([]);
    expect((await store.usage({ ...hours, span: day })).length).toBeGreaterThan(times(10, 1));
    await store.tidyUsage(30 * day);
    expect((await store.usage({ ...hours, from: day, span: day })).length).toBe(0);
    const after = await total();
    expect(unitsIn(after)).toBe(unitsIn(before) + 1);
    expect(unitsIn(after)).toBe((await store.list()).reduce((sum, { quota }) => sum + quota.used, 0));
  });

  test("keys with the same quota name share a quota", async () => {
    const store = await opened();
    const a = await store.create({ name: "a", quotaName: "team", limit: 3 });
    const b = await store.create({ name: "b", quotaName: "team" });
    expect(b.key).toMatchObject({ quotaName: "team", quota: { limit: 3 } });
    await expect(store.create({ quotaName: "team", limit: 9 })).rejects.toThrow(UnknownKeyError);
    const outcomes = await store.chargeAll([charge(a.key.id, 2), charge(b.key.id, 2), charge(a.key.id, 1)]);
    expect(outcomes).toMatchObject([
      { quota: { used: 2 } },
      { statuses: ["ok", "quota_exceeded"], quota: { used: 3, left: 0 } },
      "quota is gone",
    ]);
    await store.set(b.key.id, { limit: 10 });
    expect((await store.list()).map(({ quota }) => quota.left)).toEqual([7, 7]);
  });

  test("a repeated Idempotency-Key gets the stored answer, even in the same transaction or without units left", async () => {
    const store = await opened();
    const { key } = await store.create({ limit: 2 });
    const [first, again, other] = await store.chargeAll([2, 2, 1].map((units) => charge(key.id, units, "k")));
    expect(again).toEqual(first);
    expect(other).toBe("another body");
    expect(await store.chargeAll([charge(key.id, 2, "k"), charge(key.id, 1)])).toEqual([first, "quota is gone"]);
    expect(await charged(store)).toBe(2);
  });

  test("a revoked or expired key is not charged", async () => {
    let now = november;
    const store = await opened(() => now);
    const [a, b] = [await store.create({}), await store.create({ expires: november + 1 })];
    await store.revoke(a.key.id);
    now++;
    const outcomes = await store.chargeAll([charge(a.key.id, 1), charge(b.key.id, 1), charge("none", 1)]);
    expect(outcomes).toEqual(Array(3).fill("key is gone"));
    expect(await store.findAll([a.secret, b.secret, "sk_none"])).toEqual(["ended", "ended", undefined]);
    await expect(store.rotate(a.key.id, 0)).rejects.toThrow("is revoked");
    expect(await charged(store)).toBe(0);
  });

  test("each old secret works until its own end, however often the key is rotated", async () => {
    let now = november;
    const store = await opened(() => now);
    const { key, secret: first } = await store.create({});
    expect(key.secrets).toEqual([{ id: key.id, hint: `sk_...${first.slice(-4)}`, created: november, ends: null }]);
    const { secret: second, key: once } = await store.rotate(key.id, 24 * hour, "second");
    expect(once.secrets).toEqual([
      { id: "second", hint: `sk_...${second.slice(-4)}`, created: november, ends: null },
      { id: key.id, hint: `sk_...${first.slice(-4)}`, created: november, ends: november + 24 * hour },
    ]);
    // The page that is loaded again, and its form sent again.
    await expect(store.rotate(key.id, 24 * hour, "second")).rejects.toThrow(SecretExistsError);
    now += hour;
    const { secret: third } = await store.rotate(key.id, 2 * hour, "third");
    const { secret: fourth, key: rotated } = await store.rotate(key.id, 0, "fourth");
    expect(rotated.secrets.map(({ id, ends }) => [id, ends])).toEqual([
      ["fourth", null],
      [key.id, november + 24 * hour],
      ["second", november + 3 * hour],
    ]);
    expect((await store.list())[0]!.secrets).toEqual(rotated.secrets);
    const works = async () => {
      const found = await store.findAll([first, second, third, fourth]);
      return found.map((key) => (typeof key === "object" ? key.id : undefined));
    };
    expect(await works()).toEqual([key.id, key.id, undefined, key.id]);
    now = november + 3 * hour - 1;
    expect(await works()).toEqual([key.id, key.id, undefined, key.id]);
    now++;
    expect(await works()).toEqual([key.id, undefined, undefined, key.id]);
    expect((await store.list())[0]!.secrets).toHaveLength(2);
    await expect(store.endSecret(key.id, "fourth")).rejects.toThrow("this is the newest secret");
    await expect(store.endSecret(key.id, "none")).rejects.toThrow("no such secret");
    expect((await store.endSecret(key.id, key.id)).secrets.map(({ id }) => id)).toEqual(["fourth"]);
    expect(await works()).toEqual([undefined, undefined, undefined, key.id]);
    await store.revoke(key.id);
    expect(await works()).toEqual([undefined, undefined, undefined, undefined]);
  });

  test("what is charged while the clock is behind is counted, though its hour was added up before", async () => {
    let now = november;
    const store = await opened(() => now);
    const { key } = await store.create({});
    for (const hours of [0, 5, 5, -20, -3, 30]) {
      now += hours * hour;
      await store.chargeAll([charge(key.id, 2), charge(key.id, 1)]);
      await take(store.quotas({ keyId: key.id }), 4);
      await store.tidyUsage(1000 * 24 * hour);
    }
    for (const span of [hour, 24 * hour]) expect(unitsIn(await store.usage({ ...always, span }))).toBe(6 * 7);
    expect((await store.list())[0]!.quota.used).toBe(6 * 7);
    expect(await store.check()).toEqual([]);
  });

  test("units that a run has charged get their statuses, and their sum stays", async () => {
    let now = november;
    const store = await opened(() => now);
    const { key } = await store.create({});
    const quotas = store.quotas({ keyId: key.id });
    await take(quotas, 5);
    now += hour;
    await take(quotas, 7);
    await store.nameUnits({ keyId: key.id, kind: "email", statuses: { ok: 8, fake: 2 }, notChecked: 4 });
    const statuses = async () => {
      const totals = await store.totals({ from: 0, to: now + hour, span: hour });
      return Object.fromEntries(totals.map(({ status, units }) => [status, units]));
    };
    expect(await statuses()).toEqual({ ok: 8, fake: 2, unknown: 2, quota_exceeded: 4 });
    // More than was charged is not named, and another kind has none.
    await store.nameUnits({ keyId: key.id, kind: "email", statuses: { alias: 9 }, notChecked: 0 });
    await store.nameUnits({ keyId: key.id, kind: "domain", statuses: { ok: 9 }, notChecked: 0 });
    expect(await statuses()).toEqual({ ok: 8, fake: 2, alias: 2, quota_exceeded: 4 });
    // Hours that are in the sums stay as they are.
    await take(quotas, 3);
    now += 5 * hour;
    await store.tidyUsage(1000 * 24 * hour);
    await store.nameUnits({ keyId: key.id, kind: "email", statuses: { ok: 3 }, notChecked: 0 });
    expect(await statuses()).toEqual({ ok: 8, fake: 2, alias: 2, unknown: 3, quota_exceeded: 4 });
    expect(await store.check()).toEqual([]);
  });

  test("the time of the last use of a key is known to the minute", async () => {
    let now = november;
    const store = await opened(() => now);
    const { key } = await store.create({});
    await store.chargeAll([charge(key.id, 1)]);
    expect((await store.list())[0]).toMatchObject({ created: november, lastUsed: november });
    now += 17 * 60_000;
    await take(store.quotas({ keyId: key.id }), 1);
    expect((await store.list())[0]).toMatchObject({ lastUsed: now });
  });

  test("usage equals the units that the quotas have counted, for any charges in any groups", async () => {
    const one = fc.record({ key: fc.nat(3), units: fc.nat(5), once: fc.option(fc.constantFrom("a", "b")) });
    const steps = fc.array(fc.array(one, { maxLength: 6 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(20), async (groups, limit) => {
        const store = await open(() => november);
        const team = { quotaName: "team" };
        const created: Awaited<ReturnType<ServiceStore["create"]>>[] = [];
        for (const key of [{ limit }, { ...team, limit }, team, {}]) created.push(await store.create(key));
        let granted = 0;
        const plain = new Set<string>();
        for (const group of groups) {
          const charges = group.map(({ key, units, once }) => charge(created[key]!.key.id, units, once ?? undefined));
          const outcomes = await store.chargeAll(charges);
          for (const [i, outcome] of outcomes.entries()) {
            if (typeof outcome === "string") continue;
            const { keyId, once } = charges[i]!;
            const name = `${keyId} ${once?.idempotencyKey}`;
            if (once !== undefined && plain.has(name)) continue;
            if (once !== undefined) plain.add(name);
            granted += outcome.statuses.filter((status) => status !== "quota_exceeded").length;
          }
        }
        const keys = await store.list();
        const quotas = new Map(keys.map(({ id, quotaName, quota }) => [quotaName ?? id, quota]));
        const used = [...quotas.values()].reduce((sum, quota) => sum + quota.used, 0);
        expect([used, await charged(store)]).toEqual([granted, granted]);
        for (const { limit, used } of quotas.values()) if (limit !== null) expect(used).toBeLessThanOrEqual(limit);
        await store.close();
      }),
      { numRuns: times(25) },
    );
  });
});

test.each(["removed", "replaced"])("charges nothing to a file that was %s", async (what) => {
  const path = join(temporaryFolder(), "service.db");
  const store = await closing(openSqliteServiceStore(path, () => november));
  const quotas = store.quotas(nightly);
  await quotas.configure({ limit: 20 });
  renameSync(path, `${path}.old`);
  if (what === "replaced") await (await openSqliteServiceStore(path, () => november)).close();
  await expect(take(quotas, 3)).rejects.toThrow(`was ${what} during the run`);
  await expect(store.checkWritable()).rejects.toThrow(StoreError);
  if (what === "removed") {
    renameSync(`${path}.old`, path);
    expect(await take(quotas, 3)).toMatchObject({ granted: 3 });
  }
});

describe("group commit", () => {
  test("runs one group at a time, in order, each with the work that has arrived meanwhile", async () => {
    const groups: (readonly number[])[] = [];
    let running = 0;
    const commit = new GroupCommit<number, number>(async (group) => {
      expect(++running).toBe(1);
      groups.push(group);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
      return group.map((number) => -number);
    });
    const results = await Promise.all(Array.from({ length: 1200 }, (_, i) => commit.add(i)));
    expect(results).toEqual(Array.from({ length: 1200 }, (_, i) => -i));
    expect(groups.map(({ length }) => length)).toEqual([500, 500, 200]);
    expect(groups.flat()).toEqual(Array.from({ length: 1200 }, (_, i) => i));
    expect(await commit.add(7)).toBe(-7);
  });

  test("a failure rejects all work in its group, and no other", async () => {
    const commit = new GroupCommit<string, string>(async (group) => {
      if (group.includes("bad")) throw new Error("no");
      return group;
    });
    const outcomes = await Promise.allSettled([commit.add("good"), commit.add("bad"), commit.add("fine")]);
    expect(outcomes).toEqual(Array(3).fill({ status: "rejected", reason: new Error("no") }));
    expect(await commit.add("later")).toBe("later");
  });
});

describe.skipIf(postgres === undefined)("PostgreSQL", () => {
  test("gives the same outcomes as SQLite for any charges, changes and times", async () => {
    const key = fc.nat(2);
    const amount = fc.record({ units: fc.nat(4), once: fc.option(fc.constantFrom("a", "b", "c", "d", "e")) });
    const period = fc.constantFrom("none" as const, "hour" as const, "day" as const, "month" as const);
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ key, charges: fc.array(amount, { minLength: 1, maxLength: 3 }) }) },
      { weight: 1, arbitrary: fc.record({ chargesOfKeys: fc.array(amount, { maxLength: 3 }) }) },
      { weight: 2, arbitrary: fc.record({ minutes: fc.constantFrom(1, 31, 60, 24 * 60) }) },
      { weight: 1, arbitrary: fc.record({ key, limit: fc.option(fc.nat(30)), period }) },
      { weight: 1, arbitrary: fc.record({ revoked: key }) },
      { weight: 1, arbitrary: fc.record({ taken: fc.nat(5) }) },
    );
    type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;
    const play = async (open: Open, steps: readonly Step[]) => {
      let now = november;
      const store = await open(() => now);
      const ids = [
        (await store.create({ limit: 20, period: "hour", expires: november + 30 * hour })).key.id,
        (await store.create({ quotaName: "team", limit: 15 })).key.id,
        (await store.create({ quotaName: "team" })).key.id,
      ];
      const chargeOf = (key: number, { units, once }: { units: number; once: string | null }) =>
        charge(ids[key]!, units, once ?? undefined);
      const seen: unknown[] = [];
      for (const step of steps) {
        if ("charges" in step) seen.push(await store.chargeAll(step.charges.map((each) => chargeOf(step.key, each))));
        else if ("chargesOfKeys" in step)
          seen.push(await store.chargeAll(step.chargesOfKeys.map((each, n) => chargeOf(n % 3, each))));
        else if ("minutes" in step) now += step.minutes * 60_000;
        else if ("limit" in step) {
          const { key, ...change } = step;
          seen.push((await store.set(ids[key]!, change)).quota);
        } else if ("revoked" in step) seen.push((await store.revoke(ids[step.revoked]!)).revoked);
        else seen.push(await take(store.quotas({ quotaName: "team" }), step.taken));
      }
      const usage = (await usageIn(store)).map((line) => ({ ...line, keyId: ids.indexOf(line.keyId) }));
      const quotas = (await store.list()).map(({ id, quota }) => [ids.indexOf(id), quota] as const);
      await store.close();
      const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
      return { seen, usage: usage.sort(byText), quotas: quotas.sort(byText) };
    };
    const [[, sqlite], [, pg]] = stores as [(typeof stores)[0], (typeof stores)[0]];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        expect(await play(pg, steps)).toEqual(await play(sqlite, steps));
      }),
      { numRuns: times(25) },
    );
  });

  test("a charge that waited for a lock sees a revocation that was committed meanwhile", async () => {
    const url = await postgres!.create();
    const store = await closing(openPostgresServiceStore(url));
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const isKnown of [false, true]) {
      const { key } = await store.create({});
      const other = await store.create({});
      if (isKnown) await store.chargeAll([charge(key.id, 1)]);
      await client.query("BEGIN");
      // What a revocation does, key first.
      await client.query("UPDATE idv_key SET revoked = 1 WHERE id = $1", [key.id]);
      await client.query("UPDATE idv_quota SET version = version + 1 WHERE id = $1", [key.id]);
      const waiting = store.chargeAll([charge(key.id, 2)]);
      // On a slow machine, the note of the key's last use waits, too.
      const blocked = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'idv'
        AND wait_event_type = 'Lock' AND query NOT LIKE '%last_used%'`;
      await expect.poll(async () => (await client.query(blocked)).rowCount).toBe(1);
      // A locked quota holds up no charge of another one.
      expect(await store.chargeAll([charge(other.key.id, 1)])).toMatchObject([{ statuses: ["ok"] }]);
      await client.query("COMMIT");
      expect(await waiting).toEqual(["key is gone"]);
      expect((await usageIn(store, key.id)).length).toBe(isKnown ? 1 : 0);
    }
    await client.end();
  });

  test("charges and deliveries of a key, from several servers, wait for each other without a deadlock", async () => {
    const url = await postgres!.create();
    const stores = await Promise.all([1, 2, 3].map(() => closing(openPostgresServiceStore(url))));
    const { key } = await stores[0]!.create({});
    const isDead = () => false;
    const rounds = times(40, 12);
    const run = async (nth: number) => {
      const quotas = stores[nth % stores.length]!.quotas({ keyId: key.id });
      for (let round = 1; round <= rounds; round++) {
        const id = `run ${nth} ${round}`;
        await quotas.reserve({ id, owner: id, holds: 1, isDead });
        await quotas.deliver({ id, kind: "email", held: 1, holds: 0 });
        await quotas.release(id);
      }
    };
    const runs = Array.from({ length: 12 }, (_, nth) => run(nth));
    // The service charges, and notes the last use.
    await Promise.all([...runs, ...stores.map((store) => store.chargeAll([charge(key.id, 1)]))]);
    expect((await stores[0]!.list())[0]!.quota.used).toBe(12 * rounds + stores.length);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const found = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    expect((await client.query(found)).rows).toEqual([{ deadlocks: "0" }]);
    await client.end();
  });

  test("a change of a key comes through between the charges of its runs", async () => {
    const url = await postgres!.create();
    const stores = await Promise.all(Array.from({ length: 8 }, () => closing(openPostgresServiceStore(url))));
    const [store] = stores as [ServiceStore, ...ServiceStore[]];
    const { key } = await store.create({});
    let isOver = false;
    const runs = stores.slice(1).map(async (each, nth) => {
      const [quotas, id] = [each.quotas({ keyId: key.id }), `run ${nth}`];
      for (let n = 1; !isOver; n++) await quotas.reserve({ id, owner: id, holds: n, isDead: () => false });
    });
    // With shared locks, it waited for the end of all charges, or of its statement's time.
    const changed = store.set(key.id, { name: "changed" }).finally(() => {
      isOver = true;
    });
    expect(await Promise.race([changed.then(() => "changed"), sleep(20_000, "late")])).toBe("changed");
    isOver = true;
    await Promise.all(runs);
  });

  test("a key that two servers create at the same time is created by one of them, and exists for the other", async () => {
    const url = await postgres!.create();
    const stores = await Promise.all([1, 2].map(() => closing(openPostgresServiceStore(url))));
    for (let i = 0; i < 10; i++) {
      const [name, quotaName] = [`k${i}`, i % 2 ? `q${i}` : undefined];
      const settings = { id: name, ...(quotaName && { quotaName }), ...(i > 4 && { limit: 7 }) };
      const created = await Promise.allSettled(stores.map((store) => store.create(settings)));
      const failed = created.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
      expect(failed).toEqual([new KeyExistsError(name)]);
    }
    expect(await stores[0]!.list()).toHaveLength(10);
  });

  test("a check finds no fault while runs go on", async () => {
    const url = await postgres!.create();
    const [store, other] = [await closing(openPostgresServiceStore(url)), await closing(openPostgresServiceStore(url))];
    const { key } = await store.create({});
    let isOver = false;
    const quotas = other.quotas({ keyId: key.id });
    const running = (async () => {
      for (let n = 0; !isOver; n++) {
        const id = `run ${n}`;
        await quotas.reserve({ id, owner: id, holds: 3, isDead: () => false });
        await quotas.deliver({ id, kind: "email", held: 3, holds: 0 });
        await quotas.release(id);
      }
    })();
    for (let n = 0; n < times(1000, 200); n++) expect(await store.check()).toEqual([]);
    isOver = true;
    await running;
  });

  test("no hour is added to the sums while units in it get their statuses", async () => {
    const url = await postgres!.create();
    const store = await closing(openPostgresServiceStore(url));
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    const { key } = await store.create({});
    const old = Math.floor(Date.now() / hour) * hour - 3 * hour;
    await client.query("INSERT INTO idv_usage VALUES ($1, $2, 'email', 'unknown', 5)", [key.id, old]);
    await client.query("UPDATE idv_quota SET used = 5");
    const work = nameUnits({ keyId: key.id, kind: "email", statuses: { ok: 5 }, notChecked: 0 });
    await client.query("BEGIN");
    let tidying: Promise<void> | undefined;
    for (let step = work.next([]); !step.done; ) {
      const answers: unknown[][] = [];
      for (const [text, ...parameters] of step.value.statements) {
        answers.push((await client.query(translate(text), [...parameters])).rows.map(toNumbers));
      }
      // Another server does its work between two statements, or waits for the end of these.
      tidying ??= store.tidyUsage(400 * 24 * hour);
      await Promise.race([tidying, sleep(500)]);
      step = work.next(answers);
    }
    await client.query("COMMIT");
    await tidying;
    expect(await store.check()).toEqual([]);
    expect(await store.usage({ from: old, to: old + hour, span: hour })).toEqual([
      { start: old, status: "ok", units: 5 },
    ]);
  });

  test("days are folded once, by two servers at the same time", async () => {
    const url = await postgres!.create();
    const stores = await Promise.all([1, 2].map(() => closing(openPostgresServiceStore(url))));
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const day = 24 * hour;
    const first = Math.floor(Date.now() / day) * day - 530 * day;
    await client.query(
      `INSERT INTO idv_usage_sum SELECT ${day}, $1::bigint + d::bigint * ${day}, 'k' || k, 'email', 'ok', 1
      FROM generate_series(0, 29) d, generate_series(1, 300) k`,
      [first],
    );
    await Promise.all(stores.map((store) => store.tidyUsage(400 * day)));
    expect((await client.query("SELECT sum(units)::int AS sum FROM idv_usage_sum")).rows).toEqual([{ sum: 9000 }]);
    await client.end();
  });

  test("servers that start together make the tables once", async () => {
    const url = await postgres!.create();
    const opened = await Promise.all([1, 2, 3].map(() => closing(openPostgresServiceStore(url))));
    const { key } = await opened[0]!.create({ name: "shop", permissions: ["emails"], isSandbox: false });
    for (const store of opened) {
      expect(await store.chargeAll([charge(key.id, 1)])).toMatchObject([{ statuses: ["ok"] }]);
    }
    expect((await opened[0]!.list())[0]!.quota.used).toBe(3);
  });
});

test("groups of different lanes run side by side", async () => {
  const running: string[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const groups = new GroupCommit<string, string>(async (group) => {
    running.push(group.join(""));
    if (group[0]!.startsWith("a")) await held;
    return group;
  });
  const a = [groups.add("a1", "a"), groups.add("a2", "a")];
  expect(await groups.add("b1", "b")).toBe("b1");
  expect(await groups.add("b2", "b")).toBe("b2");
  release();
  expect(await Promise.all(a)).toEqual(["a1", "a2"]);
  expect(running).toEqual(["a1a2", "b1", "b2"]);
});

/** Fills a store with keys, a shared quota, usage over some hours and stored answers. */
async function fill(open: Open): Promise<ServiceStore> {
  let now = november;
  const store = await closing(open(() => now));
  const { key } = await store.create({ name: "aé", limit: 1000, period: "month" });
  const shared = await store.create({ name: 'b"\n', quotaName: "nightly", expires: november + hour * 10_000 });
  await store.create({ name: "tests", isSandbox: true, permissions: ["domains"] });
  for (let i = 0; i < 1200; i++) {
    now += 3 * hour;
    await store.chargeAll([charge(i % 2 ? key.id : shared.key.id, 3, i > 1195 ? `k${i}` : undefined)]);
  }
  await take(store.quotas(nightly), 5);
  await store.rotate(shared.key.id, hour);
  await store.revoke(key.id);
  return store;
}

const exported = async (store: ServiceStore) => {
  const pages: StateRows[] = [];
  await store.exportRows(async (page) => {
    expect(page.rows.length).toBeLessThanOrEqual(rowsAtOnce);
    pages.push(page);
  });
  return pages;
};

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

describe.each(isFull ? stores : stores.slice(0, 1))("a state exported from %s", (_, from) => {
  test.each(stores)(
    "and imported into %s is the same, with its stored answers, and cannot be imported twice",
    async (_, to) => {
      const source = await fill(from);
      const pages = await exported(source);
      const rows = pages.flatMap(({ table, rows }) => rows.map((row) => ({ table, row })));
      expect(rows.filter(({ table }) => table === "usage").length).toBeGreaterThan(rowsAtOnce);
      const later = november + 3601 * hour;
      const target = await closing(to(() => later));
      await target.importRows(each(pages));
      const again = (await exported(target)).flatMap(({ table, rows }) => rows.map((row) => ({ table, row })));
      const text = (row: unknown) => JSON.stringify(row);
      expect(again.map(text).sort()).toEqual(rows.map(text).sort());
      const quotaIn = (each: ServiceStore) => each.quotas(nightly).read(() => false);
      expect(await quotaIn(target)).toEqual(await quotaIn(source));
      const shared = (await target.list()).find(({ quotaName }) => quotaName === "nightly");
      // An answer that was stored before the move is found after it.
      expect(await target.hasAnswer(shared!.id, "k1198")).toBe(true);
      await expect(target.importRows(each(pages))).rejects.toThrow("the state has keys or quotas already");
    },
  );

  test("cannot be imported in part", async () => {
    const pages = await exported(await fill(from));
    const target = await closing(from(() => november));
    async function* broken() {
      yield* pages;
      throw new FileError("the file ends here");
    }
    await expect(target.importRows(broken())).rejects.toThrow(new FileError("the file ends here"));
    expect(await target.list()).toEqual([]);
    const negative = { table: "usage" as const, rows: [{ key_id: "a", hour: "x", kind: null, status: "", units: 1 }] };
    await expect(target.importRows(each([...pages, negative]))).rejects.toThrow(StoreError);
    expect(await target.list()).toEqual([]);
    await target.importRows(each(pages));
    expect(await target.list()).toHaveLength(3);
  });
});

test.runIf(postgres)("PostgreSQL charges the keys of one quota together, and once", async () => {
  const store = await closing(openPostgresServiceStore(await postgres!.create()));
  const { key: a } = await store.create({ quotaName: "shared", limit: 20 });
  const { key: b } = await store.create({ quotaName: "shared" });
  const { key: other } = await store.create({ limit: 5 });
  const group = [charge(a.id, 2, "once"), charge(b.id, 3), charge(b.id, 1, "once")];
  // The first group learns the keys; the next ones are charged in one statement, but for repetitions.
  for (const used of [6, 9, 12]) {
    const outcomes = await store.chargeAll(group);
    expect(outcomes.map((outcome) => typeof outcome === "object" && outcome.statuses.length)).toEqual([2, 3, 1]);
    expect(outcomes.at(-1)).toMatchObject({ quota: { used } });
  }
  await store.chargeAll([charge(a.id, 1), charge(other.id, 4), charge(b.id, 1)]);
  await store.revoke(b.id);
  expect(await store.chargeAll([charge(a.id, 1), charge(b.id, 1)])).toMatchObject([
    { quota: { used: 15 } },
    "key is gone",
  ]);
  expect(unitsIn(await store.usage({ ...always, span: 24 * hour }))).toBe(15 + 4);
  expect((await store.list()).map(({ quota }) => quota.used)).toEqual([15, 15, 4]);
});

test.runIf(postgres)("PostgreSQL charges for a user who may not write messages to its log", async () => {
  const url = new URL(await postgres!.create());
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  const role = `restricted_${url.pathname.slice(1)}`;
  const functions = "SELECT oid::regprocedure AS signature FROM pg_proc WHERE proname = 'pg_logical_emit_message'";
  const { rows } = await client.query(functions);
  await client.query(`CREATE ROLE ${role} LOGIN; GRANT ALL ON SCHEMA public TO ${role};
    ${rows.map(({ signature }) => `REVOKE EXECUTE ON FUNCTION ${signature} FROM PUBLIC`).join(";")}`);
  await client.end();
  url.username = role;
  const store = await closing(openPostgresServiceStore(url.href));
  const { key } = await store.create({});
  for (const name of ["a", "b", "b", "c"]) await store.chargeAll([charge(key.id, 2, name)]);
  expect((await store.list())[0]!.quota.used).toBe(6);
});
