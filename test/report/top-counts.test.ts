/** Covers the bounded counter against a Map. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { TopCounts } from "../../src/report/top-counts.js";

test("agrees with a Map below its bound", () => {
  const steps = fc.array(fc.record({ name: fc.constantFrom("a", "b", "c", "d"), series: fc.nat(1) }));
  fc.assert(
    fc.property(steps, (added) => {
      const counts = new TopCounts(2);
      for (const { name, series } of added) counts.add(name, series);
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

test("keeps frequent names among more rare ones than it has room for", () => {
  const counts = new TopCounts();
  for (let i = 0; i < 200_000; i++) {
    counts.add(`rare-${i}`);
    counts.add(`often-${i % 10}`);
  }
  expect(counts.isApproximate).toBe(true);
  const top = counts.top(10);
  expect(top.every(({ name, total }) => name.startsWith("often-") && total === 20_000)).toBe(true);
  expect(counts.top(Number.POSITIVE_INFINITY).length).toBeLessThan(50_000);
});
