/** Covers claims in the cache, by which concurrent runs submit an item only once. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { VerdictCache } from "../../src/store/verdict-cache.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Opens one cache for two runs; `endFirst` makes the first run look ended. */
async function twoRuns() {
  let now = Date.parse("2026-11-21T10:30:00Z");
  let isFirstAlive = true;
  const path = join(temporaryFolder(), "verdicts.db");
  const isAlive = (pid: number) => pid === 2 || isFirstAlive;
  const open = async (ownPid: number) => {
    const cache = await VerdictCache.open(path, () => now, {}, { ownPid, isAlive });
    return cache.scope("email", "https://a.net", "secret", 60_000);
  };
  const runs = [await open(1), await open(2)] as const;
  const digests = (...keys: string[]) => keys.map((key) => runs[0].digest(key));
  return {
    runs,
    digests,
    endFirst: () => {
      isFirstAlive = false;
    },
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

const ignore = () => {};

test("a claim keeps items from other runs until it is released", async () => {
  const { runs, digests } = await twoRuns();
  const [first, second] = runs;
  const claim = await first.claim(digests("a", "b"), 5000, ignore);
  expect(claim.isElsewhere).toEqual([false, false]);
  expect((await second.claim(digests("b", "c"), 5000, ignore)).isElsewhere).toEqual([true, false]);
  // The second run has claimed c by now.
  expect((await first.claim(digests("c", "a"), 5000, ignore)).isElsewhere).toEqual([true, false]);
  await claim.release();
  await claim.release();
  expect((await second.claim(digests("b"), 5000, ignore)).isElsewhere).toEqual([false]);
});

test("a claim that submits nothing keeps the record of a killed run's batch", async () => {
  const { runs, digests } = await twoRuns();
  const [killed, resumed] = runs;
  const batch = digests("a", "b");
  await killed.begin(batch);
  const claim = await resumed.claim(batch, 5000, ignore);
  await claim.release();
  expect(await resumed.unfinished()).toEqual([batch]);
  const other = await resumed.claim(digests("c"), 5000, ignore);
  await other.release();
  expect(await resumed.unfinished()).toEqual([batch]);
});

test("a claim reports the verdicts of other runs once", async () => {
  const { runs, digests } = await twoRuns();
  const [first, second] = runs;
  await second.load(ignore);
  await first.finish([], digests("a"), ["ok"]);
  const seen: string[] = [];
  await second.claim(digests("a"), 5000, (_low, _high, status) => seen.push(status));
  await second.claim(digests("b"), 5000, (_low, _high, status) => seen.push(status));
  expect(seen).toEqual(["ok"]);
});

test("a claim of an ended run is ignored", async () => {
  const { runs, digests, endFirst } = await twoRuns();
  await runs[0].claim(digests("a"), 5000, ignore);
  endFirst();
  expect((await runs[1].claim(digests("a"), 5000, ignore)).isElsewhere).toEqual([false]);
});

test("an unfinished batch is forgotten after a day", async () => {
  const { runs, digests, pass } = await twoRuns();
  await runs[0].begin(digests("a", "b"));
  pass(86_400_000);
  expect(await runs[1].unfinished()).toEqual([digests("a", "b")]);
  pass(1);
  expect(await runs[1].unfinished()).toEqual([]);
});

test("of several verdicts on an item, the newest is passed on last", async () => {
  const { runs, digests, pass } = await twoRuns();
  for (const status of ["ok", "fake", "alias"]) {
    await runs[0].finish([], digests("a"), [status]);
    pass(1000);
  }
  const seen: string[] = [];
  await runs[1].load((_low, _high, status) => seen.push(status));
  expect(seen).toEqual(["ok", "fake", "alias"]);
});

test("a claim expires", async () => {
  const { runs, digests, pass } = await twoRuns();
  await runs[0].claim(digests("a"), 5000, ignore);
  pass(4999);
  expect((await runs[1].claim(digests("a"), 5000, ignore)).isElsewhere).toEqual([true]);
  pass(1);
  expect((await runs[1].claim(digests("a"), 5000, ignore)).isElsewhere).toEqual([false]);
});
