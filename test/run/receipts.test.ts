/** Covers runs that do not end and are tried again: what they pay altogether, with a real quota file. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseSync } from "@photostructure/sqlite";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { FileError } from "../../src/files/errors.js";
import { QuotaFile } from "../../src/store/quota/quota-file.js";
import { RunReceipts } from "../../src/store/quota/receipts.js";
import { offlineValidator, type UnitSource } from "../../src/validator/offline.js";
import { classifier } from "../support/classifier.js";
import { listOf, runTable } from "../support/run-table.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { some, times } from "../support/tier.js";

let path: string;
/** Time in milliseconds since the epoch. */
let now: number;
/** Owners whose process still runs. */
let alive: Set<string>;
let runs: number;
beforeEach(() => {
  path = join(temporaryFolder(), "quota.db");
  now = Date.UTC(2026, 10, 24);
  alive = new Set();
  runs = 0;
});

const addresses = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => `user${from + i}@larch-and-oak.com`);

/** Yields bytes in pieces, with pauses between them. */
async function* slowly(bytes: Buffer, sizes: readonly number[], pause: number, atEnd: () => void) {
  let from = 0;
  for (const size of sizes) {
    yield bytes.subarray(from, from + size);
    from += size;
    await sleep(pause);
  }
  atEnd();
  if (from < bytes.length) yield bytes.subarray(from);
}

/**
 * Runs over a list in a process of its own. Returns the units that the quota has used afterwards, and what the run reports.
 *
 * @param failing the write that fails, from 1: the run does not end
 */
async function attempt(
  values: readonly string[],
  {
    failing = 0,
    kind = "email" as "email" | "domain",
    isAlive = false,
    isEnded = true,
    isReleased = false,
    name = "",
    pieces = [],
    pause = 60,
    isDry = false,
  }: {
    failing?: number;
    kind?: "email" | "domain";
    isAlive?: boolean;
    isEnded?: boolean;
    isReleased?: boolean;
    name?: string;
    /** Sizes in bytes of the pieces in which the list arrives, after each of which the input pauses; the rest is the last one. */
    pieces?: readonly number[];
    pause?: number;
    isDry?: boolean;
  } = {},
) {
  const quotaFile = await QuotaFile.open(path, () => now);
  try {
    const owner = `process ${runs++}`;
    if (isAlive) alive.add(owner);
    const stateOf = (other: string) => (alive.has(other) ? "running" : "ended");
    const receipts = new RunReceipts(await quotaFile.openReceipts(), kind, owner, stateOf, { name, isDry });
    const units: UnitSource = {
      receipts,
      reserve: (count, receipt) => quotaFile.reserve(count, receipt && receipts.charge(receipt)),
    };
    const validator = offlineValidator({ classifier, source: {} }, units);
    let writes = 0;
    const parts: Buffer[] = [];
    const sink = {
      write: async (bytes: Uint8Array) => {
        if (++writes === failing) throw new FileError("no space");
        parts.push(Buffer.from(bytes));
      },
      commit: async () => {},
      discard: async () => {},
    };
    let writtenBeforeEnd = "";
    const atEnd = () => {
      writtenBeforeEnd = Buffer.concat(parts).toString();
    };
    const table =
      pieces.length === 0 ? listOf(values) : slowly(Buffer.from(listOf(values)), pieces, pause, atEnd);
    const run = runTable(table, validator, { sink, kind });
    const report = await run.then(
      ({ report }) => report,
      (error: Error) => {
        if (error.message !== "no space") throw error;
        return undefined;
      },
    );
    if (isReleased) await receipts.release();
    else if (isEnded && failing === 0) await receipts.end();
    const statuses = Buffer.concat(parts).toString().split("\n").slice(1, -1);
    return { report, used: (await quotaFile.read()).used, statuses, writtenBeforeEnd };
  } finally {
    await quotaFile.close();
  }
}

test("two runs of the same name share their payments, and every item is paid once", async () => {
  const quotaFile = await QuotaFile.open(path, () => now);
  const store = await quotaFile.openReceipts();
  const [first, second] = [0, 1].map(() => {
    const receipts = new RunReceipts(store, "email", "process", () => "running", { name: "job" });
    const source: UnitSource = {
      receipts,
      reserve: (units, receipt) => quotaFile.reserve(units, receipt && receipts.charge(receipt)),
    };
    return offlineValidator({ classifier, source: {} }, source);
  });
  const list = addresses(100_000);
  // Each piece goes to one of them, while the other waits.
  async function* turns(which: number) {
    const bytes = Buffer.from(listOf(list));
    for (let from = 0, turn = 0; from < bytes.length; from += 524_288, turn++) {
      if (turn % 2 === which) await sleep(40);
      yield bytes.subarray(from, from + 524_288);
    }
  }
  await Promise.all([runTable(turns(0), first!), runTable(turns(1), second!)]);
  const { used } = await quotaFile.read();
  await quotaFile.close();
  expect(used).toBe(list.length);
});

test("a run that lasts for weeks keeps only the receipts of seven days", async () => {
  const quotaFile = await QuotaFile.open(path, () => now);
  const store = await quotaFile.openReceipts();
  const receipts = new RunReceipts(store, "email", "process", () => "running");
  await receipts.take("start");
  for (let day = 1; day <= 10; day++) {
    const receipt = receipts.charge({ items: day, marks: [{ items: day, digest: "0123456789abcdef" }] });
    await quotaFile.reserve(1, receipt);
    now += 86_400_000;
    await store.stayAlive(receipt.run.owner);
  }
  const database = new DatabaseSync(path);
  const [row] = database.prepare("SELECT count(*) AS count FROM receipt").all();
  database.close();
  await receipts.release();
  await quotaFile.close();
  expect(row).toEqual({ count: 7 });
});

describe("a list", () => {
  test("pays once if its run does not end, whichever write fails", async () => {
    const list = addresses(60_000);
    for (let failing = 1; failing <= times(6, 2); failing++) {
      const { report } = await attempt(list, { failing });
      expect(report === undefined || failing > 3).toBe(true);
    }
    const { report, used } = await attempt(list);
    expect(used).toBe(60_000);
    expect(report!.charged + report!.paidBefore.units).toBe(60_000);
    expect(report!.paidBefore).toMatchObject({ time: now });
  });

  test("pays again when its run has ended", async () => {
    const list = addresses(10_000);
    await attempt(list, { failing: 2 });
    expect((await attempt(list)).used).toBe(10_000);
    expect(await attempt(list)).toMatchObject({ used: 20_000, report: { paidBefore: { units: 0 } } });
  });

  test("pays for each of two runs side by side", async () => {
    const list = addresses(10_000);
    await attempt(list, { isAlive: true, isEnded: false });
    expect((await attempt(list)).used).toBe(20_000);
  });

  test("that has changed is free only up to the first difference", async () => {
    const list = addresses(50_000);
    await attempt(list, { failing: 4, isEnded: false });
    const { used } = await attempt(list, { isEnded: false });
    expect(used).toBe(50_000);
    const changed = [...list.slice(0, 30_000), "new@larch-and-oak.com", ...list.slice(30_000)];
    const { report } = await attempt(changed, { isEnded: false });
    // The marks are 4,096 items apart.
    expect(report!.paidBefore.units).toBe(28_672);
    expect(report!.charged).toBe(50_001 - 28_672);
    expect((await attempt([...list].reverse())).report!.paidBefore.units).toBe(0);
    const longer = [...list, ...addresses(5, 90_000)];
    expect((await attempt(longer)).report).toMatchObject({ paidBefore: { units: 50_000 }, charged: 5 });
  });

  test("that begins like another list leaves that list the rest of its receipts", async () => {
    const start = addresses(300);
    const first = [...start, ...addresses(20_000, 1000)];
    await attempt(first, { isEnded: false });
    const { report } = await attempt([...start, ...addresses(9000, 50_000)]);
    expect(report!.paidBefore.units).toBe(256);
    // What the other run has had is not for a third one.
    expect((await attempt(first)).report).toMatchObject({ charged: 256, paidBefore: { units: 20_044 } });
    expect((await attempt(first)).report).toMatchObject({ charged: 20_300, paidBefore: { units: 0 } });
  });

  test("pays once, wherever its first pieces end", async () => {
    // Pieces of fewer items than the first mark has, and of more, between two marks.
    const list = addresses(12_000);
    for (const pieces of some([[100], [5000, 100], [90_000, 60_000], [64_000, 30, 30], []], 2)) {
      await attempt(list, { failing: 3, pieces });
      await attempt(list, { isEnded: false, pieces });
    }
    expect(await attempt(list)).toMatchObject({ used: 12_000, report: { charged: 0 } });
  });

  test("that has grown pays only for the added items", async () => {
    for (const [length, longer] of [
      [200, 300],
      [3000, 3100],
      [6000, 6100],
    ] as const) {
      path = join(temporaryFolder(), "quota.db");
      await attempt(addresses(length), { isEnded: false });
      expect((await attempt(addresses(longer))).used).toBe(longer);
    }
  });

  test("pays once although a part of it was checked in between", async () => {
    const list = addresses(30_000);
    await attempt(list, { isEnded: false });
    const { report } = await attempt(list.slice(0, 5000));
    // The marks are 4,096 items apart at most.
    expect(report!.paidBefore.units).toBeGreaterThanOrEqual(4096);
    expect(report!.paidBefore.units + report!.charged).toBe(5000);
    expect((await attempt(list)).used).toBe(35_000);
    expect((await attempt(list)).report).toMatchObject({ charged: 30_000 });
  });

  test("comes out without delay while it matches the receipts", async () => {
    const list = addresses(6000);
    await attempt(list, { isEnded: false });
    const known = list.slice(0, 5000);
    const all = [...known, "new@larch-and-oak.com"];
    const sizes = [listOf(known).length, listOf(all).length - listOf(known).length];
    const { report, used, writtenBeforeEnd } = await attempt(all, { pieces: sizes });
    expect(writtenBeforeEnd).toContain("new@larch-and-oak.com,ok");
    // What turned out to be another item is paid then, with those since the last mark.
    expect(report!.charged).toBeLessThanOrEqual(5001 - 4096);
    expect({ used, all: report!.charged + report!.paidBefore.units }).toEqual({
      used: 6000 + report!.charged,
      all: 5001,
    });
  });

  test("does not become free repeatedly when another list uses part of its receipts", async () => {
    const list = addresses(30_000);
    await attempt(list, { isEnded: false });
    for (let time = 1; time <= 3; time++) await attempt(list.slice(0, 9000));
    // Three times its part, and the whole list once.
    expect((await attempt(list)).used).toBe(30_000 + 3 * 9000);
  });

  test("paid by two runs that did not end is free for exactly two later runs", async () => {
    const list = addresses(20_000);
    await attempt(list, { isAlive: true, isEnded: false });
    await attempt(list, { isAlive: true, isEnded: false });
    alive.clear();
    expect((await attempt(list)).report).toMatchObject({ charged: 0 });
    expect((await attempt(list)).report).toMatchObject({ charged: 0 });
    expect((await attempt(list)).used).toBe(60_000);
  });

  test.each(some([4096, 8192], 1))(
    "never has more free items than were paid before the quota ended, with %d items in common",
    async (same) => {
      const list = addresses(12_000);
      const quotaFile = await QuotaFile.open(path, () => now);
      await quotaFile.configure({ limit: 10_000 });
      await quotaFile.close();
      await attempt(list, { isEnded: false });
      let free = 0;
      for (let time = 1; time <= times(6, 2); time++) {
        const others = [...list.slice(0, same), ...addresses(3000, 100_000 * time)];
        const size = listOf(others).length;
        const { statuses } = await attempt(others, { pieces: [listOf(list.slice(0, same)).length, size] });
        free += statuses.filter((row) => row.endsWith(",ok")).length;
      }
      expect(free).toBeLessThanOrEqual(10_000);
      expect(free).toBeGreaterThan(0);
    },
  );

  test("gets verdicts as far as the quota reaches, in every try of a named run", async () => {
    const quotaFile = await QuotaFile.open(path, () => now);
    await quotaFile.configure({ limit: 3000 });
    await quotaFile.close();
    const list = addresses(times(60_000, 10_000));
    const first = await attempt(list, { name: "job" });
    const second = await attempt(list, { name: "job" });
    for (const { statuses, used } of [first, second]) {
      expect(statuses.map((row) => row.endsWith(",ok"))).toEqual(list.map((_, i) => i < 3000));
      expect(used).toBe(3000);
    }
  });

  test("pays once with many small charges", async () => {
    const list = addresses(7000);
    const sizes = [listOf(list.slice(0, 4200)).length, ...Array.from({ length: 68 }, () => 35 * 26)];
    await attempt(list, { isEnded: false, pieces: sizes, pause: 53 });
    expect((await attempt(list)).used).toBe(7000);
  });

  test("keeps its receipts after a dry run", async () => {
    const list = addresses(9000);
    await attempt(list, { isEnded: false });
    await attempt(list, { isDry: true });
    expect((await attempt(list)).report).toMatchObject({ charged: 0 });
  });

  test("released by its run keeps its receipts when another list is checked", async () => {
    await attempt(addresses(300), { isReleased: true });
    await attempt(addresses(300, 1000), { isReleased: true });
    await attempt(addresses(300, 1000), { isAlive: true, isEnded: false });
    expect((await attempt(addresses(300))).report).toMatchObject({ charged: 0, paidBefore: { units: 300 } });
  });

  test("pays again for another kind of items", async () => {
    await attempt(addresses(300), { isEnded: false });
    const { report } = await attempt(addresses(300), { kind: "domain" });
    expect(report!.paidBefore.units).toBe(0);
  });

  test("that is short is free only if all of its items are the same", async () => {
    await attempt(addresses(3), { isEnded: false });
    expect((await attempt(addresses(2))).report).toMatchObject({ charged: 2, paidBefore: { units: 0 } });
    expect((await attempt(addresses(3))).report).toMatchObject({ charged: 0, paidBefore: { units: 3 } });
  });

  test("pays again after seven days", async () => {
    await attempt(addresses(300), { isEnded: false });
    now += 7 * 86_400_000 + 1;
    expect((await attempt(addresses(300))).report).toMatchObject({ charged: 300, paidBefore: { units: 0 } });
  });

  test("pays once for later and concurrent runs of one name", async () => {
    const list = addresses(20_000);
    const name = "job\n42".repeat(2000);
    await attempt(list, { name });
    expect(await attempt(list, { name })).toMatchObject({
      used: 20_000,
      report: { paidBefore: { units: 20_000 } },
    });
    const both = [...list, ...addresses(30_000, 50_000)];
    const runs = await Promise.all([
      attempt(both, { name }),
      attempt(both, { name }),
      attempt(both, { name }),
    ]);
    expect(Math.max(...runs.map(({ used }) => used))).toBe(50_000);
    for (const { statuses } of runs) expect(statuses.every((row) => row.endsWith(",ok"))).toBe(true);
    const slow = addresses(6000, 200_000);
    const own = { name: "slow" };
    const inPieces = await Promise.all([
      attempt(slow, { ...own, pieces: Array.from({ length: 6 }, () => 12_345) }),
      attempt(slow, { ...own, pieces: Array.from({ length: 9 }, () => 7777) }),
    ]);
    expect(Math.max(...inPieces.map(({ used }) => used))).toBe(56_000);
    await attempt(both, { name: "other" });
    expect((await attempt(both)).used).toBe(156_000);
    expect((await attempt(both)).used).toBe(206_000);
  });

  test("pays again after the quota was reset", async () => {
    await attempt(addresses(300), { isEnded: false });
    const quotaFile = await QuotaFile.open(path, () => now);
    await quotaFile.reset();
    await quotaFile.close();
    expect(await attempt(addresses(300))).toMatchObject({ used: 300, report: { charged: 300 } });
  });
});

test("a list that needs the whole quota is completed in a second try", async () => {
  const list = addresses(50_000);
  const quotaFile = await QuotaFile.open(path, () => now);
  await quotaFile.configure({ limit: 50_000 });
  await quotaFile.close();
  await attempt(list, { failing: 3 });
  const { statuses, used } = await attempt(list);
  expect(statuses.filter((row) => !row.endsWith(",ok"))).toEqual([]);
  expect([statuses.length, used]).toEqual([50_000, 50_000]);
});

test("a quota that ends grants the same rows in every try and is never exceeded", async () => {
  const list = addresses(50_000);
  const quotaFile = await QuotaFile.open(path, () => now);
  await quotaFile.configure({ limit: 33_333 });
  await quotaFile.close();
  await attempt(list, { failing: 2 });
  await attempt(list, { isEnded: false });
  const { statuses, used } = await attempt(list);
  expect(statuses.map((row) => row.endsWith(",ok"))).toEqual(list.map((_, i) => i < 33_333));
  expect(used).toBe(33_333);
});

test.each(
  some(
    [
      [10_000, 10_500, 0],
      [10_000, 10_500, 5000],
      [150, 200, 0],
      [150, 200, 5000],
    ] as const,
    2,
  ),
)(
  "a quota of %d units is charged exactly when a second try pauses after %d items, with %d more units",
  async (limit, items, more) => {
    const list = addresses(12_000);
    const configure = async (units: number) => {
      const quotaFile = await QuotaFile.open(path, () => now);
      await quotaFile.configure({ limit: units });
      await quotaFile.close();
    };
    await configure(limit);
    await attempt(list, { isEnded: false });
    await configure(limit + more);
    const { statuses, used } = await attempt(list, { pieces: [listOf(list.slice(0, items)).length] });
    const granted = Math.min(list.length, limit + more);
    expect(statuses.map((row) => row.endsWith(",ok"))).toEqual(list.map((_, i) => i < granted));
    expect(used).toBe(granted);
  },
);

test("random lists are paid once, however often their runs fail and however the input arrives", async () => {
  const item = fc.nat(6000).map((i) => `user${i}@larch-and-oak.com`);
  const pieces = fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.integer({ min: 1, max: 200_000 }), { maxLength: 3 }) },
  );
  const lists = fc.record({
    block: fc.array(item, { minLength: 1, maxLength: 40 }),
    times: fc.integer({ min: 1, max: 900 }),
    tries: fc.array(fc.record({ failing: fc.integer({ min: 1, max: 8 }), pieces }), { maxLength: 4 }),
    last: pieces,
    name: fc.constantFrom("", "nightly"),
  });
  await fc.assert(
    fc.asyncProperty(lists, async ({ block, times, tries, last, name }) => {
      path = join(temporaryFolder(), "quota.db");
      // Each time with other items at the end, so that there are duplicates and new ones.
      const list = Array.from({ length: times }, (_, i) => [...block, `n${i}@larch-and-oak.com`]).flat();
      const distinct = new Set(list).size;
      const quotaFile = await QuotaFile.open(path, () => now);
      await quotaFile.configure({ limit: distinct });
      await quotaFile.close();
      for (const settings of tries) await attempt(list, { ...settings, isEnded: false, name });
      const { used, report, statuses } = await attempt(list, { pieces: last, name });
      expect(used).toBe(distinct);
      expect(report!.charged + report!.paidBefore.units).toBe(used);
      expect(statuses.filter((row) => !row.endsWith(",ok"))).toEqual([]);
    }),
    { numRuns: times(30) },
  );
});
