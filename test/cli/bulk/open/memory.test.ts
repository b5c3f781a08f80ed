/** Covers files whose items may not fit into the memory. */
import { expect, test } from "vitest";
import { checkMemory } from "../../../../src/cli/bulk/open/input.js";

const MB = 1_000_000;

test.each<[number, number, number | undefined, number, string | undefined]>([
  // What a memory cgroup has shown: a million in 64 MB; ten million in 192 MB, and not in 160.
  [1 * MB, 1, undefined, 64 * MB, undefined],
  [10 * MB, 1, undefined, 192 * MB, undefined],
  [10 * MB, 1, undefined, 160 * MB, "use --shard 1/2"],
  [10 * MB, 1, 2, 160 * MB, undefined],
  [10 * MB, 2, undefined, 192 * MB, "use --shard 1/2"],
  [500 * MB, 1, undefined, 64_000 * MB, "use --shard 1/3"],
  [500 * MB, 1, 3, 64_000 * MB, undefined],
  [200 * MB, 1, undefined, 64_000 * MB, undefined],
])("checks %i rows, %i columns and %s shards against %i bytes", (rows, columns, shards, limit, message) => {
  const check = () => checkMemory("list.csv", rows, columns, { shards, limit });
  if (message === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(message);
});
