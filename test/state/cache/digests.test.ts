/** Covers the digests under which the cache stores items. */
import { expect, test } from "vitest";
import { Digests, digestBytes } from "../../../src/state/cache/digests.js";

const items = [
  { low: 1, high: -2 },
  { low: -2_147_483_648, high: 2_147_483_647 },
  { low: 1, high: -2 },
];

test("equal items have equal digests, from which the secret gives their hashes", () => {
  const digests = new Digests("secret").of(items);
  expect(digests).toHaveLength(3 * digestBytes);
  expect(digests.subarray(0, digestBytes)).toEqual(digests.subarray(2 * digestBytes));
  expect(new Digests("secret").itemsOf(digests)).toEqual(items);
  expect(new Digests("secret").of([])).toHaveLength(0);
});

test("digests do not depend on the items before them", () => {
  const digests = new Digests("secret");
  const before = digests.of(items);
  expect(Buffer.concat(items.map((item) => digests.of([item])))).toEqual(before);
});

test("digests of another secret, and damaged ones, give no items", () => {
  const digests = new Digests("secret").of(items);
  expect(new Digests("another").itemsOf(digests)).toBeUndefined();
  digests[5]! ^= 1;
  expect(new Digests("secret").itemsOf(digests)).toBeUndefined();
});

test("a part of a digest does not affect those read after it", () => {
  const digests = new Digests("secret");
  const stored = digests.of(items);
  expect(digests.itemsOf(stored.subarray(0, 7))).toBeUndefined();
  expect(digests.itemsOf(stored)).toEqual(items);
});
