/** Covers that every mutation still has the text that it breaks, and tests that are there. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mutations } from "./mutations.mjs";

const root = join(import.meta.dirname, "../..");

test.each(mutations)("$promise: the text to replace occurs once in its file", ({ file, from, to }) => {
  const source = readFileSync(join(root, file), "utf8");
  expect(source.split(from)).toHaveLength(2);
  expect(to).not.toBe(from);
});

test.each(mutations)("$promise: its tests are there", ({ tests }) => {
  expect(tests.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect(tests).not.toEqual([]);
});
