/** Covers the bounded counter against a Map. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { hashItem } from "../../src/core/classifier/tables/item-hash.js";
import { TopCounts } from "../../src/core/facts/top-counts.js";
import { times } from "../support/tier.js";

const seed = Int32Array.of(1, 2);

function add(counts: TopCounts, name: string, series = 0): void {
  const hash = hashItem(seed, name);
  const known = counts.names.find(hash.low, hash.high);
  counts.add(known === -1 ? counts.names.add(hash.low, hash.high, Buffer.from(name)) : known, series);
}

test("the counter agrees with a Map below its bound", () => {
  const steps = fc.array(fc.record({ name: fc.constantFrom("a", "b", "c", "d"), series: fc.nat(1) }));
  fc.assert(
    fc.property(steps, (added) => {
      const counts = new TopCounts(2);
      for (const { name, series } of added) add(counts, name, series);
      const expected = new Map<string, number[]>();
      for (const { name, series } of added) {
        expected.set(name, expected.get(name) ?? [0, 0]);
        expected.get(name)![series]!++;
      }
      const top = counts.top(10);
      expect(new Map(top.map((entry) => [entry.name, entry.counts]))).toEqual(expected);
      expect(top.map(({ total }) => total)).toEqual(top.map(({ total }) => total).sort((a, b) => b - a));
      expect(counts.isApproximate).toBe(false);
    }),
  );
});

test("the counts of two counters add up", () => {
  const [one, other] = [new TopCounts(2), new TopCounts(2)];
  for (const name of ["a", "b", "b"]) add(one, name, 1);
  for (const name of ["b", "c"]) add(other, name);
  one.addAll(other);
  expect(one.top(10)).toEqual([
    { name: "b", counts: [1, 2], total: 3 },
    { name: "a", counts: [0, 1], total: 1 },
    { name: "c", counts: [1, 0], total: 1 },
  ]);
  expect(one.top(1)).toEqual([{ name: "b", counts: [1, 2], total: 3 }]);
});

test("the counter keeps frequent names among more rare names than it has room for", () => {
  const counts = new TopCounts();
  for (let i = 0; i < times(500_000, 150_000); i++) {
    add(counts, `rare-${i}`);
    add(counts, `often-${i % 10}`);
    if (i % 1000 === 0) counts.trim();
  }
  expect(counts.isApproximate).toBe(true);
  const top = counts.top(10);
  expect(top.every(({ name, total }) => name.startsWith("often-") && total === times(50_000, 15_000))).toBe(true);
  expect(counts.top(Number.POSITIVE_INFINITY).length).toBeLessThanOrEqual(126_000);
});
