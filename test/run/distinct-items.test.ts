/** Covers the table of distinct items, which is keyed by hash. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { hashItem } from "../../src/core/classifier/tables/item-hash.js";
import { DistinctItems } from "../../src/core/run/distinct-items.js";

test("the table agrees with a Map while it grows", () => {
  const step = fc.tuple(fc.string({ maxLength: 3 }), fc.integer({ min: 1, max: 255 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 500 }), (steps) => {
      const items = new DistinctItems();
      const map = new Map<string, number>();
      for (const [key, state] of steps) {
        expect(items.get(hashItem(items.seed, key))).toBe(map.get(key) ?? 0);
        items.set(hashItem(items.seed, key), state);
        map.set(key, state);
      }
      expect(items.size).toBe(map.size);
      for (const [key, state] of map) expect(items.get(hashItem(items.seed, key))).toBe(state);
    }),
  );
});

test("the table keeps 300,000 keys distinct", () => {
  const items = new DistinctItems();
  for (let i = 0; i < 300_000; i++) items.set(hashItem(items.seed, `user${i}@example.net`), 1 + (i % 255));
  expect(items.size).toBe(300_000);
  let wrong = 0;
  for (let i = 0; i < 300_000; i++) {
    if (items.get(hashItem(items.seed, `user${i}@example.net`)) !== 1 + (i % 255)) wrong++;
  }
  expect(wrong).toBe(0);
  expect(items.get(hashItem(items.seed, "user300000@example.net"))).toBe(0);
});

test("each table hashes with a seed of its own", () => {
  expect(hashItem(new DistinctItems().seed, "ann@example.net")).not.toEqual(
    hashItem(new DistinctItems().seed, "ann@example.net"),
  );
});
