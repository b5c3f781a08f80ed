/** Covers the kernel's table of distinct items. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { DistinctTable, TooManyItems } from "../../src/core/kernel/distinct-table.js";
import { kernelModule } from "../../src/core/kernel/kernel.js";
import { times } from "../support/tier.js";

/** Hashes of which many share their places in the table, or their high words, or are zero. */
const word = fc.oneof(
  fc.constantFrom(0, 1, -1, 0x7fff_ffff, -0x8000_0000),
  fc.integer({ min: -20, max: 20 }),
  fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff }),
);
const row = fc.record({ low: word, high: word, code: fc.constantFrom(0, 1, 4, 255) });
const step = fc.record({
  rows: fc.array(row, { maxLength: 600, size: "max" }),
  state: fc.integer({ min: 1, max: 252 }),
  expected: fc.constantFrom(0, 0, 10, 5000),
});

/** Zero and one share a place; see `orOne`. */
const keyOf = (low: number, high: number) => (high === 0 && low === 0 ? "1 0" : `${low} ${high}`);

test("the table agrees with a Map as it grows", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const table = new DistinctTable(kernelModule());
      const map = new Map<string, number>();
      /** Every key that the table has had. */
      const keys = new Set<string>();
      for (const { rows, state, expected } of steps) {
        table.expect(expected);
        const hashes = Int32Array.from(rows.flatMap(({ low, high }) => [low, high]));
        const codes = Uint8Array.from(rows, ({ code }) => (code === 1 ? state : code));
        const { isNew, count } = table.addAll(hashes, codes);
        for (const [i, { low, high, code }] of rows.entries()) {
          const isItem = code !== 0 && code !== 255;
          expect(isNew[i]).toBe(Number(isItem && !map.has(keyOf(low, high))));
          if (isItem && !map.has(keyOf(low, high))) map.set(keyOf(low, high), codes[i]!);
        }
        expect(isNew.reduce((sum, one) => sum + one, 0)).toBe(count);
        const found = codes.slice();
        table.takeStates(hashes, found);
        const states = rows.map(({ low, high }, i) =>
          codes[i] === 0 || codes[i] === 255 ? codes[i] : map.get(keyOf(low, high)),
        );
        expect([...found]).toEqual(states);
        for (const { low, high } of rows.slice(0, 20)) {
          table.set(low, high, 9);
          map.set(keyOf(low, high), 9);
        }
        const some = rows.slice(5, 20);
        table.giveStates(hashes.subarray(10, 10 + 2 * some.length), new Uint8Array(some.length).fill(8));
        for (const { low, high } of some) map.set(keyOf(low, high), 8);
        for (const key of map.keys()) keys.add(key);
        expect(table.size).toBe(keys.size);
        for (const { low, high } of rows.slice(10, 30)) {
          table.set(low, high, 0);
          map.delete(keyOf(low, high));
          keys.add(keyOf(low, high));
        }
        for (const { low, high } of rows) expect(table.get(low, high)).toBe(map.get(keyOf(low, high)) ?? 0);
      }
      for (const [key, state] of map) {
        const [low, high] = key.split(" ").map(Number);
        expect(table.get(low!, high!)).toBe(state);
      }
    }),
    { numRuns: times(25) },
  );
});

test("the table finds hashes that collide at its end", () => {
  const table = new DistinctTable(kernelModule());
  const hashes = Int32Array.from({ length: 4000 }, (_, i) => (i % 2 === 0 ? i : -1));
  expect(table.addAll(hashes, new Uint8Array(2000).fill(7)).count).toBe(2000);
  for (let i = 0; i < 4000; i += 2) expect(table.get(i, -1)).toBe(7);
  expect(table.get(1, -1)).toBe(0);
});

test("the table throws TooManyItems if its memory is full, and keeps the hashes added before", () => {
  const table = new DistinctTable(kernelModule(), 20 * 65_536);
  // An expectation that is too large does no harm.
  table.expect(4_000_000_000);
  const hashes = Int32Array.from({ length: 200_000 }, (_, i) => Math.imul(i + 1, 0x9e3779b1));
  expect(() => table.addAll(hashes, new Uint8Array(100_000).fill(7))).toThrow(TooManyItems);
  expect(table.get(hashes[0]!, hashes[1]!)).toBe(7);
});

test("the table needs at most 17 bytes per item", () => {
  const table = new DistinctTable(kernelModule());
  const count = 1_000_000;
  const hashes = Int32Array.from({ length: 2 * 10_000 });
  for (let from = 0; from < count; from += 10_000) {
    for (let i = 0; i < 20_000; i++) hashes[i] = Math.imul(from * 2 + i + 1, 0x9e3779b1) ^ (i << 13);
    table.addAll(hashes, new Uint8Array(10_000).fill(1));
  }
  expect(table.size).toBeGreaterThan(0.99 * count);
  expect(table.bytes).toBeLessThan(17 * count + 400_000);
});
