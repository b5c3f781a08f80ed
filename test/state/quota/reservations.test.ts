/** Covers reservations: what runs charge, deliver and give back, and what becomes of the units of dead runs. */
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { ProcessState } from "../../../src/state/lease.js";
import { deliverAll } from "../../../src/state/quota/deliveries.js";
import { fileQuota } from "../../../src/state/quota/quota.js";
import { openQuotaFile } from "../../../src/state/quota/quota-file.js";
import { Quotas } from "../../../src/state/quota/quotas.js";
import { RunReservation } from "../../../src/state/quota/run-reservation.js";
import { UnitsLost } from "../../../src/state/quota/units-lost.js";
import { openPostgresServiceStore } from "../../../src/state/service/database/postgres.js";
import { openSqliteServiceStore } from "../../../src/state/service/database/sqlite.js";
import { openStateFile } from "../../../src/state/service/database/state-database.js";
import type { ServiceStore } from "../../../src/state/service/service-store.js";
import { hasPostgres, startPostgres } from "../../support/postgres.js";
import { take } from "../../support/quota.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { isFull, times } from "../../support/tier.js";

const postgres = hasPostgres && isFull ? await startPostgres() : undefined;

/** Opens a quota, twice. */
type Open = () => Promise<readonly [Quotas, Quotas]>;

/** Opens the shared quota of two stores. */
async function quotasOf(stores: readonly [ServiceStore, ServiceStore]): Promise<readonly [Quotas, Quotas]> {
  onTestFinished(async () => {
    for (const store of stores) await store.close();
  });
  const [one, other] = [stores[0].quotas({ quotaName: "nightly" }), stores[1].quotas({ quotaName: "nightly" })];
  await one.configure({});
  return [one, other];
}

const openPostgres: Open = async () => {
  const url = await postgres!.create();
  return quotasOf([await openPostgresServiceStore(url), await openPostgresServiceStore(url)]);
};

const openState: Open = async () => {
  const path = join(temporaryFolder(), "service.db");
  return quotasOf([await openSqliteServiceStore(path, Date.now), await openSqliteServiceStore(path, Date.now)]);
};

const openFiles: Open = async () => {
  const path = join(temporaryFolder(), "quota.db");
  const files = [await openQuotaFile(path, Date.now), await openQuotaFile(path, Date.now)] as const;
  onTestFinished(async () => {
    for (const file of files) await file.close();
  });
  return [files[0].quotas, files[1].quotas];
};

const places: readonly (readonly [string, Open])[] = [
  ["a quota file", openFiles],
  ...(isFull ? ([["a state file", openState]] as const) : []),
  ...(postgres ? ([["PostgreSQL", openPostgres]] as const) : []),
];

// A clock that stands still would stop the tests that follow.
afterEach(() => {
  vi.restoreAllMocks();
  gone.clear();
});

/** Processes that are gone. */
const gone = new Set<string>();
const elsewhere = new Set<string>();
const stateOf = (owner: string): ProcessState =>
  gone.has(owner) ? "ended" : elsewhere.has(owner) ? "elsewhere" : "running";

let runs = 0;
function start(quotas: Quotas, name?: string, bytes = 100) {
  const owner = `process ${++runs}`;
  const settings = { kind: "email", stateOf, name, secret: Buffer.from("secret"), isWhole: true, part: "", bytes };
  const run = new RunReservation(quotas, { ...settings, owner });
  onTestFinished(() => run.end());
  return { run, owner };
}
async function finish(run: RunReservation): Promise<void> {
  await run.secure();
  await run.deliver();
  await run.end();
}
const usedIn = async (quotas: Quotas) => (await quotas.read((other) => stateOf(other.owner) === "ended")).used;

describe.each(places)("in %s", (_, open) => {
  const opened = async (limit: number) => {
    const quotas = await open();
    await quotas[0].configure({ limit });
    return quotas;
  };

  test("units count as used for others until they are delivered or given back", async () => {
    const [quotas, same] = await opened(10);
    const [{ run }, { run: other }] = [start(quotas), start(same)];
    expect(await run.charge(6)).toMatchObject({ granted: 6, quota: { used: 6, left: 4 } });
    expect(await other.charge(6)).toMatchObject({ granted: 4, quota: { left: 0 } });
    await finish(run);
    expect(await usedIn(quotas)).toBe(10);
    await other.end();
    expect(await usedIn(quotas)).toBe(6);
  });

  test("the units of a process that is gone are given to whoever charges next", async () => {
    const [quotas, same] = await opened(10);
    const { run, owner } = start(quotas);
    await run.charge(8);
    const { run: next } = start(same);
    expect(await next.charge(2)).toMatchObject({ granted: 2 });
    gone.add(owner);
    expect(await next.charge(8)).toMatchObject({ granted: 8, quota: { used: 10 } });
    await next.deliver();
    expect(await usedIn(quotas)).toBe(10);
  });

  test("a run that was taken for dead charges again, or delivers nothing", async () => {
    const [quotas, same] = await opened(10);
    const [stopped, unlucky] = [start(quotas), start(quotas)];
    await stopped.run.charge(4);
    await unlucky.run.charge(5);
    gone.add(stopped.owner).add(unlucky.owner);
    expect(await usedIn(same)).toBe(0);
    const { run } = start(same);
    expect(await run.charge(2)).toMatchObject({ granted: 2 });
    gone.clear();
    // They come back: 8 units are left for the 4 and the 5.
    vi.spyOn(performance, "now").mockReturnValue(performance.now() + 20_000);
    await stopped.run.secure();
    await stopped.run.deliver();
    await expect(unlucky.run.secure()).rejects.toThrow(UnitsLost);
    vi.restoreAllMocks();
    await unlucky.run.end();
    await run.deliver();
    expect(await usedIn(quotas)).toBe(6);
  });

  test("a run that has lost its units owes none, and gives none back", async () => {
    const [quotas, same] = await opened(10);
    const { run, owner } = start(quotas);
    await run.charge(8);
    gone.add(owner);
    const { run: other } = start(same);
    await other.charge(8);
    await other.deliver();
    await other.end();
    gone.clear();
    await expect(run.charge(1)).rejects.toThrow(UnitsLost);
    await run.giveBack(8);
    await run.end();
    expect(await usedIn(quotas)).toBe(8);
  });

  test("a delivery that is repeated after its answer was lost is made once, though the dead are cleared away", async () => {
    const [quotas, same] = await opened(10);
    const { run, owner } = start(quotas);
    await run.charge(6);
    const deliver = vi.spyOn(quotas, "deliver");
    await run.deliver();
    gone.add(owner);
    expect(await usedIn(same)).toBe(6);
    for (const [change] of [...deliver.mock.calls]) await quotas.deliver(change);
    vi.restoreAllMocks();
    gone.clear();
    expect(await usedIn(same)).toBe(6);
  });

  test("what could not be given back is not delivered with the next rows", async () => {
    const [quotas] = await opened(200);
    const { run } = start(quotas);
    await run.charge(100);
    vi.spyOn(quotas, "reserve").mockRejectedValueOnce(new Error("away"));
    await run.giveBack(100);
    await run.charge(10);
    await run.deliver();
    await run.end();
    vi.restoreAllMocks();
    expect(await usedIn(quotas)).toBe(10);
  });

  test("what was given back stays so if the answer was lost", async () => {
    const [quotas] = await opened(200);
    const { run } = start(quotas);
    await run.charge(100);
    const reserve = quotas.reserve.bind(quotas);
    vi.spyOn(quotas, "reserve").mockImplementationOnce(async (request) => {
      await reserve(request);
      throw new Error("away");
    });
    await run.giveBack(60);
    await run.charge(50);
    await run.deliver(70);
    expect(await usedIn(quotas)).toBe(90);
    await finish(run);
    vi.restoreAllMocks();
    expect(await usedIn(quotas)).toBe(90);
  });

  test("a reset forgets what runs have charged, and they charge it again", async () => {
    const [quotas, same] = await opened(10);
    const { run } = start(quotas);
    await run.charge(7);
    expect(await same.reset()).toMatchObject({ used: 0 });
    expect(await run.charge(1)).toMatchObject({ granted: 1, quota: { used: 8 } });
    await run.deliver();
    expect(await usedIn(same)).toBe(8);
  });

  /** A set of items that a run delivers, all or the first ones. */
  const itemsOf = (name: string, count: number) => {
    const digestOf = (items: number) => Buffer.from(`${name} ${items}`);
    return {
      digests: () => ({
        digest: digestOf(count),
        prefixes: new Map(Array.from({ length: count + 1 }, (_, items) => [items, digestOf(items)])),
      }),
      clear: () => {},
    };
  };

  test("tries of one name at the same items are paid once, whatever is left", async () => {
    const [quotas, same] = await opened(10);
    for (let i = 0; i < 3; i++) {
      const { run } = start(quotas, "job");
      expect((await run.charge(3)).granted + (await run.charge(4)).granted).toBe(7);
      run.items = itemsOf("a", 7);
      await finish(run);
      expect(await usedIn(same)).toBe(7);
    }
    // Another name, or none, is paid.
    const { run } = start(same, "other");
    expect(await run.charge(7)).toMatchObject({ granted: 3 });
  });

  test("a name does not pay for other items", async () => {
    const [quotas] = await opened(10);
    const deliverAs = async (name: string, units: number) => {
      const { run } = start(quotas, "job");
      try {
        const { granted } = await run.charge(units);
        run.items = itemsOf(name, granted);
        await run.secure();
        await run.deliver();
        return granted;
      } finally {
        await run.end();
      }
    };
    expect(await deliverAs("a", 6)).toBe(6);
    // The 6 that the name has paid are lent, and then are for other items: 4 are left.
    await expect(deliverAs("b", 6)).rejects.toThrow("this IDV_RUN paid for other items");
    expect(await usedIn(quotas)).toBeLessThanOrEqual(10);
    expect(await deliverAs("c", 4)).toBe(4);
    expect(await usedIn(quotas)).toBe(10);
  });

  test("a list whose units ended goes on under its name when there are more", async () => {
    const [quotas] = await open();
    for (const [limit, granted] of [
      [10, 10],
      [15, 15],
      [15, 15],
      [100, 40],
    ] as const) {
      await quotas.configure({ limit });
      const { run } = start(quotas, "list");
      expect((await run.charge(40)).granted).toBe(granted);
      run.items = itemsOf("a", granted);
      await finish(run);
      expect(await usedIn(quotas)).toBe(granted);
    }
  });

  test("two runs of one name at once deliver the same, and one is paid", async () => {
    const [quotas, same] = await open();
    const both = [start(quotas, "job"), start(same, "job")];
    for (const { run } of both) {
      await run.charge(5);
      run.items = itemsOf("a", 5);
    }
    for (const { run } of both) await finish(run);
    expect(await usedIn(quotas)).toBe(5);
  });

  test("two runs of one name at once share what the quota has", async () => {
    const [quotas, same] = await opened(8);
    const both = [start(quotas, "job"), start(same, "job")];
    for (const { run } of [...both, ...both, ...both]) await run.charge(3);
    for (const { run } of both) {
      run.items = itemsOf("a", 8);
      await finish(run);
      expect(await usedIn(quotas)).toBe(8);
    }
  });

  test("a run of a name waits while another one is about to deliver the same", async () => {
    const [quotas, same] = await opened(8);
    const [one, other] = [start(quotas, "job").run, start(same, "job").run];
    for (const run of [one, other]) {
      expect((await run.charge(8)).granted).toBe(8);
      run.items = itemsOf("a", 8);
    }
    await one.secure();
    const second = finish(other);
    await one.deliver();
    await second;
    expect(other.takePaidBefore()).toBe(8);
    expect(await usedIn(quotas)).toBe(8);
  });

  test("what a run has lent stays used for others when it ends, or is dead", async () => {
    const [quotas, same] = await opened(8);
    for (const end of [
      (run: RunReservation) => run.end(),
      async (_: RunReservation, owner: string) => gone.add(owner),
    ]) {
      await quotas.reset();
      const [lender, borrower, third] = [start(quotas, "job"), start(same, "job"), start(quotas)];
      for (const { run } of [lender, borrower]) expect((await run.charge(8)).granted).toBe(8);
      await end(lender.run, lender.owner);
      expect((await third.run.charge(8)).granted).toBe(0);
      borrower.run.items = itemsOf("a", 8);
      await finish(borrower.run);
      expect(await usedIn(quotas)).toBe(8);
    }
  });

  test("a loan is charged with the units of runs that are dead", async () => {
    const [quotas, same] = await opened(16);
    const [lender, borrower, third] = [start(quotas, "job"), start(same, "job"), start(quotas)];
    for (const { run } of [lender, borrower, third]) expect((await run.charge(8)).granted).toBe(8);
    lender.run.items = itemsOf("a", 8);
    await lender.run.secure();
    for (const { owner } of [lender, third]) gone.add(owner);
    borrower.run.items = itemsOf("b", 8);
    await finish(borrower.run);
    expect(await usedIn(quotas)).toBe(8);
  });

  test("a list that has grown pays for what is new, and tries at once see what was paid", async () => {
    const [quotas, same] = await opened(10);
    const { run: first } = start(quotas, "job");
    await first.charge(10);
    first.items = itemsOf("a", 10);
    await finish(first);
    await quotas.configure({ limit: 15 });
    const both = [start(quotas, "job", 150).run, start(same, "job", 150).run];
    for (const run of both) expect((await run.charge(40)).granted).toBe(15);
    for (const run of both) {
      run.items = itemsOf("a", 15);
      await finish(run);
      expect(await usedIn(quotas)).toBe(15);
    }
  });

  test("of two runs of one name at once with other items, the second is refused, unless the quota has enough", async () => {
    for (const [limit, used] of [
      [8, 8],
      [20, 16],
    ] as const) {
      const [quotas, same] = await opened(limit);
      await quotas.reset();
      const [one, other] = [start(quotas, "job").run, start(same, "job").run];
      for (const run of [one, other]) expect((await run.charge(8)).granted).toBe(8);
      [one.items, other.items] = [itemsOf("a", 8), itemsOf("b", 8)];
      await finish(one);
      if (limit === 8) await expect(other.secure()).rejects.toThrow("this IDV_RUN paid for other items");
      else await finish(other);
      await other.end();
      expect(await usedIn(quotas)).toBe(used);
    }
  });

  test("tries of one name at a list, at once or one after another, pay once, and never more than the limit", async () => {
    const [quotas, same] = await open();
    const step = fc.record({
      nth: fc.nat(2),
      act: fc.oneof(
        { weight: 5, arbitrary: fc.record({ charge: fc.integer({ min: 1, max: 9 }) }) },
        { weight: 2, arbitrary: fc.constantFrom("finish" as const, "kill" as const) },
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.nat(20), fc.nat(20), fc.array(step, { maxLength: 25 }), async (limit, items, steps) => {
        gone.clear();
        await quotas.reset();
        await quotas.configure({ limit });
        const fresh = (i: number) => ({ ...start(i % 2 ? quotas : same, "job"), held: 0, left: items });
        const live = [0, 1, 2].map(fresh);
        let delivered = 0;
        for (const { nth, act } of steps) {
          const one = live[nth]!;
          if (typeof act === "object") {
            const units = Math.min(one.left, act.charge);
            const { granted } = await one.run.charge(units);
            one.held += granted;
            one.left = granted < units ? 0 : one.left - units;
          } else if (act === "kill") {
            gone.add(one.owner);
            live[nth] = fresh(nth);
          } else if (one.left === 0) {
            one.run.items = itemsOf("a", one.held);
            await finish(one.run);
            delivered = Math.max(delivered, one.held);
            live[nth] = fresh(nth);
          }
          expect((await quotas.read(() => false)).used).toBeLessThanOrEqual(limit);
        }
        for (const { owner } of live) gone.add(owner);
        expect(await usedIn(same)).toBe(delivered);
        gone.clear();
      }),
      { numRuns: times(200) },
    );
  });

  test("into a pipe, each flush is delivered, and the rest given back", async () => {
    const [quotas] = await opened(20);
    const { run, owner } = start(quotas);
    await run.charge(10);
    await run.deliver(4);
    await run.charge(5);
    await run.deliver(3);
    expect(await usedIn(quotas)).toBe(15);
    gone.add(owner);
    expect(await usedIn(quotas)).toBe(7);
    gone.clear();
  });

  test("charges and deliveries at once count each unit once", async () => {
    const [quotas] = await opened(1000);
    const { run } = start(quotas);
    let delivered = 0;
    await run.charge(5);
    for (let turn = 0; turn < 20; turn++) {
      const charging = run.charge(10);
      await Promise.all([charging, run.deliver(5), run.stayAlive()]);
      delivered += 5;
      expect(await charging).toMatchObject({ granted: 10 });
    }
    expect(await usedIn(quotas)).toBe(205);
    await run.end();
    expect(await usedIn(quotas)).toBe(delivered);
  });

  test("used units are those delivered, and never more than the limit, whatever runs do", async () => {
    const [quotas, same] = await open();
    const step = fc.record({
      run: fc.nat(3),
      act: fc.oneof(
        { weight: 5, arbitrary: fc.record({ charge: fc.nat(30) }) },
        { weight: 2, arbitrary: fc.constant("deliver" as const) },
        fc.record({ flush: fc.nat(10) }),
        fc.constant("kill" as const),
        fc.constant("end" as const),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.nat(100), fc.array(step, { maxLength: 30 }), async (limit, steps) => {
        gone.clear();
        await quotas.reset();
        await quotas.configure({ limit });
        const live = Array.from({ length: 4 }, (_, i) => ({ ...start(i % 2 ? quotas : same), held: 0 }));
        let delivered = 0;
        for (const { run: nth, act } of steps) {
          const one = live[nth]!;
          if (act === "kill" || act === "end") {
            if (act === "kill") gone.add(one.owner);
            else await one.run.end();
            Object.assign(one, { ...start(quotas), held: 0 });
          } else if (act === "deliver") {
            await one.run.secure();
            await one.run.deliver();
            delivered += one.held;
            one.held = 0;
          } else if ("charge" in act) one.held += (await one.run.charge(act.charge)).granted;
          else {
            const units = Math.min(one.held, act.flush);
            await one.run.deliver(units);
            delivered += units;
            one.held -= units;
          }
          expect(delivered).toBeLessThanOrEqual(limit);
        }
        for (const { owner } of live) gone.add(owner);
        expect(await usedIn(same)).toBe(delivered);
        gone.clear();
      }),
      { numRuns: times(200) },
    );
  });
});

test("a charge that is repeated, because its answer was lost, is made once", async () => {
  const [quotas] = await openFiles();
  const request = { id: "a", owner: "", holds: 5, isDead: () => false } as const;
  expect(await quotas.reserve(request)).toMatchObject({ holds: 5 });
  expect(await quotas.reserve(request)).toMatchObject({ holds: 5, quota: { used: 5 } });
  const delivery = { id: "a", kind: "email", held: 5, holds: 3 };
  for (let i = 0; i < 2; i++) await quotas.deliver(delivery);
  await quotas.release("a");
  expect((await quotas.read(() => false)).used).toBe(2);
});

test("a list of the service whose units were given back is not done", async () => {
  const path = join(temporaryFolder(), "service.db");
  const [store, state] = [await openSqliteServiceStore(path, Date.now), await openStateFile(path, Date.now)];
  const { key } = await store.create({ limit: 10 });
  const quotas = store.quotas({ keyId: key.id });
  const isDead = () => true;
  const request = { id: "list-a-1", owner: "", holds: 6, isDead };
  await quotas.reserve(request);
  expect((await quotas.read(isDead)).used).toBe(0);
  await take(quotas, 8);
  const deliver = () => state.write(() => deliverAll({ keyId: key.id }, "list-a-1", "email", 6));
  await expect(deliver()).rejects.toThrow(UnitsLost);
  expect((await quotas.read(isDead)).used).toBe(8);
  expect(await store.check()).toEqual([]);
  await store.close();
  await state.close();
});

test("a list of the service that runs again is paid once", async () => {
  const path = join(temporaryFolder(), "service.db");
  const [store, state] = [await openSqliteServiceStore(path, Date.now), await openStateFile(path, Date.now)];
  const { key } = await store.create({ limit: 8 });
  const quotas = store.quotas({ keyId: key.id });
  const lends = { name: Buffer.from("list-a"), part: "", bytes: 100 };
  const seal = { ...lends, digest: Buffer.from("the same items"), prefixes: new Map() };
  for (const attempt of [1, 2]) {
    const loan = { ...lends, most: Number.POSITIVE_INFINITY };
    const request = { id: `list-a-${attempt}`, owner: "", holds: 6, lends: loan, isDead: () => false };
    expect(await quotas.reserve(request)).toMatchObject({ holds: 6 });
    expect(await quotas.reserve({ ...request, seal })).toMatchObject({ holds: 6, paidBefore: attempt === 1 ? 0 : 6 });
    await state.write(() => deliverAll({ keyId: key.id }, request.id, "email", 6));
    expect((await quotas.read(() => false)).used).toBe(6);
  }
  expect(await store.check()).toEqual([]);
  await store.close();
  await state.close();
});

test("of a run that is about to deliver, another one takes no units", async () => {
  const [quotas] = await openFiles();
  await quotas.configure({ limit: 8 });
  const lends = { name: Buffer.from("job"), part: "", bytes: 100 };
  const seal = { ...lends, digest: Buffer.from("the same items"), prefixes: new Map() };
  const requestOf = (id: string) => ({
    ...{ id, owner: "", holds: 8, isDead: () => false },
    lends: { ...lends, most: Number.POSITIVE_INFINITY },
  });
  for (const id of ["a", "b"]) expect(await quotas.reserve(requestOf(id))).toMatchObject({ holds: 8 });
  expect(await quotas.reserve({ ...requestOf("a"), seal })).toMatchObject({ holds: 8 });
  expect(await quotas.reserve({ ...requestOf("b"), seal })).toMatchObject({ holds: 0, isUnsure: true });
  await quotas.deliver({ id: "a", kind: "email", held: 8, holds: 0 });
  expect(await quotas.reserve({ ...requestOf("b"), seal })).toMatchObject({ holds: 8, paidBefore: 8 });
  await quotas.deliver({ id: "b", kind: "email", held: 8, holds: 0 });
  expect((await quotas.read(() => false)).used).toBe(8);
});

test("a change of the period keeps what runs hold, which is given back when they are dead", async () => {
  const store = await openSqliteServiceStore(join(temporaryFolder(), "service.db"), Date.now);
  const { key } = await store.create({ limit: 10 });
  const quotas = store.quotas({ keyId: key.id });
  await quotas.reserve({ id: "a", owner: "", holds: 6, isDead: () => false });
  await store.set(key.id, { period: "hour" });
  await store.clearDead(() => true);
  expect((await quotas.read(() => false)).used).toBe(0);
  await store.close();
});

test("usage has the units of a run in the hour of their period, which are not of the next one", async () => {
  const hour = 3_600_000;
  const start = Date.UTC(2026, 10, 27, 9);
  let now = start + hour / 2;
  const store = await openSqliteServiceStore(join(temporaryFolder(), "service.db"), () => now);
  const { key } = await store.create({ limit: 10, period: "hour" });
  const quotas = store.quotas({ keyId: key.id });
  const request = { id: "a", owner: "", isDead: () => false };
  await quotas.reserve({ ...request, holds: 6 });
  now += hour;
  expect(await quotas.reserve({ ...request, holds: 15 })).toMatchObject({ holds: 15 });
  await quotas.deliver({ id: "a", kind: "email", held: 15, holds: 0 });
  expect((await quotas.read(() => false)).used).toBe(9);
  expect(await store.usage({ from: start, to: start + 2 * hour, span: hour, keyId: key.id })).toEqual([
    { start, status: "unknown", units: 6 },
    { start: start + hour, status: "unknown", units: 9 },
  ]);
  expect(await store.check()).toEqual([]);
  await store.close();
});

describe("a run of another machine", () => {
  test("keeps its units while it gives signs of life, whatever its clock shows", async () => {
    const path = join(temporaryFolder(), "quota.db");
    let now = Date.now();
    const [one, other] = [await openQuotaFile(path, () => now + 5 * 3_600_000), await openQuotaFile(path, () => now)];
    await one.quotas.configure({ limit: 10 });
    const { run, owner } = start(one.quotas);
    elsewhere.add(owner);
    await run.charge(10);
    const beating = setInterval(() => {
      now += 100;
    }, 100);
    const { run: next } = start(other.quotas);
    const charged = next.charge(4);
    // A beat moves the sign of life that the other one watches.
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const id of await idsIn(one.quotas)) await one.quotas.beat(id);
    expect(await charged).toMatchObject({ granted: 0 });
    clearInterval(beating);
    await run.deliver();
    await run.end();
    expect(await usedIn(other.quotas)).toBe(10);
    for (const file of [one, other]) await file.close();
  });

  test("that is silent loses them after 15 seconds, if the limit is reached", async () => {
    const [quotas, same] = await openFiles();
    await quotas.configure({ limit: 10 });
    const { run, owner } = start(quotas);
    elsewhere.add(owner);
    await run.charge(10);
    // No sign of life any more.
    vi.spyOn(quotas, "beat").mockResolvedValue(false);
    const { run: next } = start(same);
    // Ten seconds a second.
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => 10 * now());
    const started = performance.now();
    expect(await next.charge(4)).toMatchObject({ granted: 4 });
    expect(performance.now() - started).toBeGreaterThan(14_000);
    vi.restoreAllMocks();
  });
});

/** Returns the ids of the reservations of a quota. */
async function idsIn(quotas: Quotas): Promise<readonly string[]> {
  const ids: string[] = [];
  await quotas.read(({ id }) => {
    ids.push(id);
    return false;
  });
  return ids;
}

test("what a run delivers of an earlier period is usage of that one, though its hours are in the sums", async () => {
  const hour = 3_600_000;
  let now = Date.parse("2026-11-21T10:30:00Z");
  const store = await openSqliteServiceStore(join(temporaryFolder(), "s.db"), () => now);
  onTestFinished(() => store.close());
  const { key } = await store.create({ limit: 100, period: "day" });
  const quotas = store.quotas({ keyId: key.id });
  await take(quotas, 1);
  await quotas.reserve({ id: "a", owner: "a", holds: 60, isDead: () => false });
  for (const pause of [20, 4]) {
    now += pause * hour;
    await take(quotas, 1);
    await store.tidyUsage(400 * 24 * hour);
  }
  await quotas.deliver({ id: "a", kind: "email", held: 60, holds: 0 });
  expect(await store.check()).toEqual([]);
  const day = 24 * hour;
  const start = Date.parse("2026-11-21T00:00:00Z");
  for (const span of [hour, day]) {
    const sums = await store.usage({ from: start, to: start + 2 * day, span });
    const units = (from: number) =>
      sums.filter(({ start }) => start >= from && start < from + day).reduce((sum, { units }) => sum + units, 0);
    expect([units(start), units(start + day)]).toEqual([61, 2]);
  }
});

test("a period that began when an earlier one did gives back nothing of the earlier one", async () => {
  let now = Date.parse("2026-11-01T10:00:00Z");
  const store = await openSqliteServiceStore(join(temporaryFolder(), "s.db"), () => now);
  onTestFinished(() => store.close());
  const quotas = store.quotas({ quotaName: "q" });
  await quotas.configure({ limit: 100, period: "day" });
  const isDead = () => false;
  // A run charges on the 1st, and lives on.
  await quotas.reserve({ id: "a", owner: "a", holds: 60, isDead });
  now = Date.parse("2026-11-03T10:00:00Z");
  await quotas.reserve({ id: "b", owner: "b", holds: 80, isDead });
  await quotas.deliver({ id: "b", kind: "email", held: 80, holds: 0 });
  await quotas.release("b");
  await quotas.configure({ period: "month" });
  await quotas.release("a");
  expect(await quotas.read(isDead)).toMatchObject({ used: 80, left: 20 });
});

test("deliveries share a durable write: after a second, or at the end of their run", async () => {
  const database = await openStateFile(join(temporaryFolder(), "quota.db"), Date.now, { isQuota: true });
  onTestFinished(() => database.close());
  const durable = vi.spyOn(database, "write");
  const quotas = new Quotas(database, fileQuota);
  for (const isLong of [false, true]) {
    durable.mockClear();
    const { run } = start(quotas);
    for (let file = 0; file < 5; file++) {
      await run.charge(2);
      await run.secure();
      await run.deliver();
    }
    expect(durable).not.toHaveBeenCalled();
    if (isLong) await expect.poll(() => durable.mock.calls.length).toBe(1);
    await run.end();
    expect(durable).toHaveBeenCalledTimes(1);
  }
});
