/** Covers the distinct items of batched runs: which have to be submitted, and what is counted. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ItemLedger } from "../../src/run/batched/item-ledger.js";
import { countsSince } from "../../src/run/session.js";
import { VerdictCache } from "../../src/store/verdict-cache.js";
import { ServiceError } from "../../src/validator/errors.js";
import { notChecked, type Validator } from "../../src/validator/validator.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const validator: Validator = {
  name: "counting",
  batchSize: 10,
  validate: async () => Promise.reject(new Error("not used")),
  precheck: (_, item) => (item.includes("@") ? undefined : { status: "fake", reason: "syntax: no @ at 1" }),
};

/** Creates a ledger. With a cache, `other` is the scope of another run that shares it. */
async function ledgerFor({ hasCache = false, known = {} as Readonly<Record<string, string>> } = {}) {
  const cache = hasCache
    ? await VerdictCache.open(join(temporaryFolder(), "verdicts.db"), Date.now)
    : undefined;
  const scope = await cache?.scope("email", "https://b.net", "secret", 60_000);
  const other = await cache?.scope("email", "https://b.net", "secret", 60_000);
  const digests = Object.keys(known).map((item) => other!.digest(item));
  await other?.finish(digests, digests, Object.values(known));
  const ledger = new ItemLedger({ kind: "email", validator, ...(scope && { cache: scope }) });
  await ledger.load();
  const statusOf = (item: string) => ledger.statuses[ledger.codeOf(ledger.add(item))];
  return { ledger, statusOf };
}

describe.each([false, true])("with a cache: %s", (hasCache) => {
  test("an item is open where it occurs first", async () => {
    const { ledger, statusOf } = await ledgerFor({ hasCache });
    const first = ledger.add("Ann@b.net");
    expect(first).toMatchObject({ item: "Ann@b.net", isFirst: true, isOpen: true });
    expect(first.digest).toHaveLength(hasCache ? 16 : 0);
    expect(ledger.add("ann@B.net")).toMatchObject({
      isFirst: false,
      isOpen: false,
      low: first.low,
      high: first.high,
    });
    expect(statusOf("ann@b.net")).toBe("quota_exceeded");
    ledger.settle(first, { status: "alias", reason: "relay: duckduckgo" });
    expect(statusOf("ann@b.net")).toBe("alias");
    expect(ledger.reasons[ledger.codeOf(first)]).toBe("relay");
    expect(ledger.add("bob@b.net")).toMatchObject({ isFirst: true, isOpen: true });
    expect(ledger.counts).toMatchObject({ distinct: 2, cached: 0, prechecked: 0, charged: 0 });
  });

  test("an item that cannot be valid is decided at once", async () => {
    const { ledger, statusOf } = await ledgerFor({ hasCache });
    expect(ledger.add("ann")).toMatchObject({ isFirst: true, isOpen: false });
    expect(ledger.add("ann")).toMatchObject({ isFirst: false, isOpen: false });
    expect(statusOf("ann")).toBe("fake");
    expect(ledger.counts).toMatchObject({ distinct: 1, prechecked: 1 });
  });
});

describe("verdicts of earlier runs", () => {
  test("count from where their items occur", async () => {
    const { ledger, statusOf } = await ledgerFor({
      hasCache: true,
      known: { "ann@b.net": "ok", "bob@b.net": "fake" },
    });
    expect(ledger.counts).toMatchObject({ distinct: 0, cached: 0 });
    expect(ledger.add("Ann@b.net")).toMatchObject({ isFirst: true, isOpen: false });
    expect(ledger.add("ann@b.net")).toMatchObject({ isFirst: false, isOpen: false });
    expect(statusOf("bob@b.net")).toBe("fake");
    expect(ledger.counts).toMatchObject({ distinct: 2, cached: 2, charged: 0 });
  });

  test("are replaced by newer ones until then", async () => {
    const { ledger, statusOf } = await ledgerFor({ hasCache: true });
    const { low, high } = (await ledgerFor({ hasCache: true })).ledger.add("ann@b.net");
    ledger.remember({ low, high }, "ok");
    ledger.remember({ low, high }, "fake");
    expect(statusOf("ann@b.net")).toBe("fake");
    expect(ledger.counts).toMatchObject({ distinct: 1, cached: 1 });
  });

  test("do not replace one of this run", async () => {
    const { ledger, statusOf } = await ledgerFor({ hasCache: true });
    const item = ledger.add("bob@b.net");
    ledger.settle(item, { status: "ok" });
    ledger.remember(item, "fake");
    expect(ledger.settleFromCache(item)).toBe(false);
    expect(statusOf("bob@b.net")).toBe("ok");
  });

  test("that arrive while an item is open settle it once", async () => {
    const { ledger, statusOf } = await ledgerFor({ hasCache: true });
    const open = ledger.add("ann@b.net");
    expect(ledger.settleFromCache(open)).toBe(false);
    ledger.remember(open, "ok");
    ledger.remember(open, "disposable");
    expect(statusOf("ann@b.net")).toBe("quota_exceeded");
    expect(ledger.settleFromCache(open)).toBe(true);
    expect(statusOf("ann@b.net")).toBe("disposable");
    expect(ledger.settleFromCache(open)).toBe(false);
    expect(ledger.counts).toMatchObject({ distinct: 1, cached: 1 });
  });
});

describe("statuses", () => {
  /** Settles new items with this many different statuses. */
  function settleAll(ledger: ItemLedger, count: number): void {
    for (let i = 0; i < count; i++) ledger.settle(ledger.add(`${i}@b.net`), { status: `status ${i}` });
  }

  test("may be 127, with that of an open item", async () => {
    const { ledger, statusOf } = await ledgerFor();
    settleAll(ledger, 126);
    expect(ledger.statuses).toHaveLength(128);
    expect(statusOf("125@b.net")).toBe("status 125");
    expect(() => settleAll(ledger, 127)).toThrow(
      new ServiceError("the counting engine gave more than 127 different statuses and reasons"),
    );
  });

  test("beyond that are not taken from the cache", async () => {
    const { ledger, statusOf } = await ledgerFor({ hasCache: true });
    settleAll(ledger, 126);
    const [open, unseen] = [ledger.add("ann@b.net"), ledger.add("bob@b.net")];
    ledger.remember(open, "one more");
    expect(ledger.settleFromCache(open)).toBe(false);
    ledger.remember(unseen, "status 7");
    expect(ledger.settleFromCache(unseen)).toBe(true);
    expect(statusOf("bob@b.net")).toBe("status 7");
  });

  test("have a code for each of their reasons", async () => {
    const { ledger } = await ledgerFor();
    const codes = ["relay: addy", "sub-address: +x", "relay: blur", undefined].map((reason, i) => {
      const item = ledger.add(`${i}@b.net`);
      ledger.settle(item, { status: "alias", ...(reason !== undefined && { reason }) });
      return ledger.codeOf(item);
    });
    expect(codes[0]).toBe(codes[2]);
    expect(new Set(codes).size).toBe(3);
    expect(codes.map((code) => ledger.reasons[code])).toEqual(["relay", "sub-address", "relay", undefined]);
  });

  test("of rows that keep them have codes too", async () => {
    const { ledger } = await ledgerFor();
    expect(ledger.codeOfKept("")).toBe(0);
    expect(ledger.statuses[ledger.codeOfKept("spam")]).toBe("spam");
    expect(ledger.codeOfKept("spam")).toBe(ledger.codeOfKept("spam"));
  });
});

test("the worst of several items decides, the first of equal ones", async () => {
  const { ledger } = await ledgerFor();
  const statuses = ["ok", "fake", "alias", notChecked.status, "fake"];
  const items = statuses.map((status, i) => {
    const item = ledger.add(`${i}@b.net`);
    ledger.settle(item, { status });
    return item;
  });
  const worst = (...places: number[]) => ledger.decidingOf(places.map((place) => items[place]!))?.item;
  expect(worst()).toBeUndefined();
  expect(worst(0)).toBe("0@b.net");
  expect(worst(0, 2)).toBe("2@b.net");
  expect(worst(1, 2, 4)).toBe("1@b.net");
  expect(worst(4, 3, 1)).toBe("3@b.net");
});

test("counts what each run of a session adds", async () => {
  const { ledger } = await ledgerFor({ hasCache: true, known: { "ann@b.net": "ok" } });
  for (const item of ["ann@b.net", "bob@b.net", "bob"]) ledger.add(item);
  ledger.charge(1, { left: 8, renewsAt: null });
  ledger.charge(2, { left: 6, renewsAt: null });
  const before = ledger.counts;
  expect(before).toEqual({ distinct: 3, cached: 1, prechecked: 1, charged: 3 });
  expect(ledger.quota).toEqual({ left: 6, renewsAt: null });
  ledger.add("eve");
  ledger.charge(1, { left: 5, renewsAt: 7 });
  expect(countsSince(before, ledger.counts)).toEqual({ distinct: 1, cached: 0, prechecked: 1, charged: 1 });
  expect(ledger.quota).toEqual({ left: 5, renewsAt: 7 });
});

test("values are read as cells, and words for no item are counted", async () => {
  const { ledger } = await ledgerFor();
  expect(ledger.itemsIn("ann@b.net; bob@b.net")).toEqual(["ann@b.net", "bob@b.net"]);
  expect(ledger.itemsIn("n/a")).toEqual([]);
  expect(ledger.emptied).toBe(1);
  const cells = { emptyValues: ["nobody"], deciding: "first" as const, isPlainList: false };
  const own = new ItemLedger({ kind: "email" as const, validator, cells });
  expect(own.itemsIn("ann@b.net; bob@b.net")).toEqual(["ann@b.net"]);
  expect(own.itemsIn("nobody")).toEqual([]);
});

test("the seed of mailbox hashes is secret and new", async () => {
  const [a, b] = [await ledgerFor(), await ledgerFor()];
  expect(a.ledger.keySeed).toHaveLength(2);
  expect(a.ledger.keySeed).not.toEqual(b.ledger.keySeed);
});
