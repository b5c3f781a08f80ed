/** Covers that every mutation still has the text that it breaks. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mutations } from "./mutations.mjs";

test.each(mutations)("$promise: the text to replace occurs once in its file", ({ file, from, to }) => {
  const source = readFileSync(join(import.meta.dirname, "../..", file), "utf8");
  expect(source.split(from)).toHaveLength(2);
  expect(to).not.toBe(from);
});
