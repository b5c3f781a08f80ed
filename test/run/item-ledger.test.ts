/** Covers the distinct items of a session: their codes, what the cache knows of them, and what is counted. */
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { nowhere } from "../../src/core/run/blocks/elsewhere.js";
import { ItemLedger } from "../../src/core/run/item-ledger.js";
import { countsSince } from "../../src/core/run/session.js";
import { createOpenItems } from "../../src/core/run/settle/open-items.js";
import { notCheckedCode, StatusCodes } from "../../src/core/run/status-codes.js";
import { ServiceError } from "../../src/core/validator/errors.js";
import { VerdictCache } from "../../src/state/cache/verdict-cache.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Returns a chunk of rows, whose items are numbers, without an item where they are 0. */
const chunkOf = (items: readonly number[], code = notCheckedCode) => ({
  columns: 1,
  emptied: 0,
  marked: 0,
  repairable: 0,
  ...nowhere,
  notUtf8: 0,
  kept: 0,
  codes: Uint8Array.from(items, (item) => (item === 0 ? 0 : code)),
  hashes: Int32Array.from(items.flatMap((item) => [item, item])),
});
const hashOf = (item: number) => ({ low: item, high: item });

describe("items", () => {
  test("count as new only where they occur first", () => {
    const ledger = new ItemLedger("counting");
    const { isNew, newItems } = ledger.add(chunkOf([1, 2, 0, 1]));
    expect([[...isNew], newItems]).toEqual([[1, 1, 0, 0], 2]);
    expect(ledger.add(chunkOf([2, 3, 3])).newItems).toBe(1);
    expect(ledger.counts).toEqual({ distinct: 3, cached: 0, prechecked: 0, charged: 0 });
  });

  test("keep the code from their thread until they are settled", () => {
    const ledger = new ItemLedger("counting");
    const chunk = chunkOf([1, 2, 0, 1]);
    ledger.add(chunk);
    expect(ledger.takeCodes(chunk)).toBe(false);
    ledger.settle(hashOf(1), { status: "ok" });
    expect(ledger.settledRows(chunk)).toBe(3);
    expect(ledger.takeCodes(chunk)).toBe(true);
    expect([...chunk.codes]).toEqual([1, notCheckedCode, 0, 1]);
    expect(ledger.codeOf(hashOf(1))).toBe(1);
  });

  test("that were not submitted are new when they occur again", () => {
    const ledger = new ItemLedger("counting");
    ledger.add(chunkOf([1, 2]));
    ledger.forget(hashOf(2));
    expect(ledger.counts.distinct).toBe(1);
    expect([...ledger.add(chunkOf([1, 2])).isNew]).toEqual([0, 1]);
  });

  test("do not count in rows that keep their status", () => {
    const ledger = new ItemLedger("counting");
    const kept = ledger.codes.keptCodeOf("ok")!;
    const chunk = { ...chunkOf([1, 1], kept), kept: 2 };
    expect(ledger.add(chunk).newItems).toBe(0);
    expect(ledger.takeCodes(chunk)).toBe(false);
    expect([...chunk.codes]).toEqual([kept, kept]);
  });

  test("get hashes with a different seed in every session", () => {
    expect(new ItemLedger("counting").seed).not.toEqual(new ItemLedger("counting").seed);
  });
});

/** Opens items 1 and 2 with a cache that has some verdicts of another run. */
async function openItems(known: Readonly<Record<number, string>> = {}) {
  const cache = await VerdictCache.open(join(temporaryFolder(), "verdicts.db"), Date.now);
  onTestFinished(() => cache.close());
  const scope = await cache.scope("email", "https://b.net", "secret", 60_000);
  const stored = Object.keys(known).map((item) => hashOf(Number(item)));
  await scope.finish(stored, stored, Object.values(known));
  const ledger = new ItemLedger("counting");
  const items = createOpenItems(ledger, await cache.scope("email", "https://b.net", "secret", 60_000));
  await items.load();
  ledger.add(chunkOf([1, 2]));
  return { ledger, items, statusOf: (item: number) => ledger.codes.statuses[ledger.codeOf(hashOf(item))] };
}

const openItem = (hash: number) => ({ item: `${hash}@b.net`, ...hashOf(hash) });

describe("verdicts of earlier runs", () => {
  test("settle their items at once", async () => {
    const { items, ledger, statusOf } = await openItems({ 1: "ok", 3: "fake" });
    expect(items.settleFromCache(openItem(1))).toBe(true);
    expect(statusOf(1)).toBe("ok");
    expect(items.settleFromCache(openItem(2))).toBe(false);
    expect(ledger.counts).toMatchObject({ distinct: 2, cached: 1, charged: 0 });
  });

  test("that arrive while an item is open settle the item, and the newest wins", async () => {
    const { items, ledger, statusOf } = await openItems();
    expect(items.settleFromCache(openItem(1))).toBe(false);
    items.remember(hashOf(1), "ok");
    items.remember(hashOf(1), "disposable");
    expect(statusOf(1)).toBe("quota_exceeded");
    expect(items.settleFromCache(openItem(1))).toBe(true);
    expect(statusOf(1)).toBe("disposable");
    expect(ledger.counts).toMatchObject({ distinct: 2, cached: 1 });
  });

  test("settle nothing beyond the maximum number of statuses", async () => {
    const { items, ledger } = await openItems();
    for (let i = 0; i < 100; i++) ledger.settle(hashOf(1), { status: `status ${i}` });
    items.remember(hashOf(2), "one more");
    expect(items.settleFromCache(openItem(2))).toBe(false);
    items.remember(hashOf(2), "status 7");
    expect(items.settleFromCache(openItem(2))).toBe(true);
  });

  test("settle nothing without a cache", () => {
    const items = createOpenItems(new ItemLedger("counting"), undefined);
    items.remember(hashOf(1), "ok");
    expect(items.settleFromCache(openItem(1))).toBe(false);
  });
});

describe("statuses", () => {
  test("besides those of the offline engine are limited to 100", () => {
    const ledger = new ItemLedger("counting");
    for (let i = 0; i < 100; i++) ledger.settle(hashOf(1), { status: `status ${i}` });
    expect(ledger.codes.statuses[ledger.codeOf(hashOf(1))]).toBe("status 99");
    ledger.settle(hashOf(1), { status: "ok" });
    expect(() => ledger.settle(hashOf(1), { status: "one more" })).toThrow(
      new ServiceError("the counting engine gave more than 100 different statuses and reasons"),
    );
  });

  test("get a code for each of their reasons", () => {
    const codes = new StatusCodes();
    const reasons = ["relay: addy", "sub-address: +x", "relay: blur", undefined];
    const found = reasons.map((reason) => codes.codeOf({ status: "alias", ...(reason && { reason }) })!);
    expect(found[0]).toBe(found[2]);
    expect(new Set(found).size).toBe(3);
    expect(found.map((code) => codes.reasons[code])).toEqual(["relay", "sub-address", "relay", undefined]);
  });

  test("kept from earlier runs have codes of their own, 100 at most", () => {
    const codes = new StatusCodes();
    expect(codes.keptCodeOf("ok")).not.toBe(codes.codeOf({ status: "ok" }));
    expect(codes.keptCodeOf("spam")).toBe(codes.keptCodeOf("spam"));
    for (let i = 0; i < 94; i++) expect(codes.keptCodeOf(`status ${i}`)).toBeDefined();
    expect(codes.keptCodeOf("one more")).toBeUndefined();
    expect(codes.statuses[codes.codeOf({ status: "one more" })!]).toBe("one more");
  });
});

test("counts the items and units that each run of a session adds", () => {
  const ledger = new ItemLedger("counting");
  const items = createOpenItems(ledger, undefined);
  ledger.add(chunkOf([1, 2]));
  items.charge(1, { left: 8, renewsAt: null });
  items.charge(2);
  const before = ledger.counts;
  expect(before).toEqual({ distinct: 2, cached: 0, prechecked: 0, charged: 3 });
  expect(ledger.quota).toEqual({ left: 8, renewsAt: null });
  ledger.add(chunkOf([2, 3]));
  items.charge(1, { left: 5, renewsAt: 7 });
  expect(countsSince(before, ledger.counts)).toEqual({ distinct: 1, cached: 0, prechecked: 0, charged: 1 });
  expect(ledger.quota).toEqual({ left: 5, renewsAt: 7 });
});
