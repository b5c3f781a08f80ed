/**
 * The two tiers of the tests: `npm test` runs the quick one, and `npm run test:all`, every night, all of them with their full
 * counts. What is promised has a test in the quick tier, and its full count in the other one.
 */
import { test } from "vitest";

export const isFull = process.env["IDV_TEST_TIER"] === "full";

/** Returns how often a test does something: `full` times, and fewer times in the quick tier, by default a twentieth. */
export const times = (full: number, quick = Math.ceil(full / 20)): number => (isFull ? full : quick);

/** A test of the full tier alone. */
export const testFull = test.runIf(isFull);

/** Returns the cases of a table that the tier runs: all, or in the quick tier `quick` of them, from its start to its end. */
export const some = <Case>(cases: readonly Case[], quick: number): Case[] =>
  cases.filter((_, i) => isFull || (i * quick) % cases.length < quick);
