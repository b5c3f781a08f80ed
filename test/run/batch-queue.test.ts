/** Covers which batches are sent: none after the end of the quota, and those of a killed run as they were. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { nameColumns } from "../../src/run/columns.js";
import { validateTable } from "../../src/run/run.js";
import type { RunOptions } from "../../src/run/run-options.js";
import { VerdictCache } from "../../src/store/verdict-cache.js";
import { notChecked, type Validator } from "../../src/validator/validator.js";
import { open } from "../support/tables.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Runs over addresses with an engine that has some units, and returns the batches that it was sent. */
async function batchesOf(
  names: readonly string[],
  units: number,
  options: Partial<RunOptions> = {},
): Promise<readonly (readonly string[])[]> {
  const batches: (readonly string[])[] = [];
  let left = units;
  const validator: Validator = {
    name: "counting",
    batchSize: 3,
    async validate(_kind, items) {
      batches.push(items.map((item) => item.slice(0, item.indexOf("@"))));
      const charged = Math.min(left, items.length);
      left -= charged;
      return {
        verdicts: items.map((_, i) => (i < charged ? { status: "ok" } : notChecked)),
        ...{ charged, exhausted: charged < items.length, quota: { left, renewsAt: null } },
      };
    },
  };
  const { start, chunks } = await open(`email\n${names.map((name) => `${name}@b.net\n`).join("")}`, {});
  await validateTable({
    ...{ kind: "email", validator, signal: new AbortController().signal },
    table: { start: (columns) => start(columns), chunks },
    sink: { write: async () => {}, commit: async () => {}, discard: async () => {} },
    columns: nameColumns(undefined, "status"),
    ...options,
  });
  return batches;
}

const names = ["a", "b", "c", "d", "e", "f", "g", "h"];

test("no batch is sent after the quota has ended", async () => {
  expect(await batchesOf(names, 4)).toEqual([
    ["a", "b", "c"],
    ["d", "e", "f"],
  ]);
});

test("the batch of a killed run is sent again in its old order", async () => {
  const cache = await VerdictCache.open(join(temporaryFolder(), "verdicts.db"), Date.now);
  const killed = await cache.scope("email", "https://b.net", "secret", 60_000);
  await killed.begin(["f", "a", "d"].map((name) => killed.digest(`${name}@b.net`)));
  const scope = await cache.scope("email", "https://b.net", "secret", 60_000);
  const batches = await batchesOf(names, 100, { cache: scope });
  expect(batches).toContainEqual(["f", "a", "d"]);
  expect(batches.flat().toSorted()).toEqual(names);
  await cache.close();
});
