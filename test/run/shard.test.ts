/** Covers shards: together they write the rows of the list and charge what one run would. */
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { usualCells } from "../../src/core/run/items/cells.js";
import { nameColumns } from "../../src/core/run/rows/columns.js";
import { isInShard } from "../../src/core/run/rows/shard.js";
import { validateTable } from "../../src/core/run/run.js";
import type { RunReport } from "../../src/core/run/run-options.js";
import { offlineValidator } from "../../src/core/validator/offline.js";
import { classifier } from "../support/classifier.js";
import { TestQuota } from "../support/quota.js";
import { asService } from "../support/run-table.js";
import { open } from "../support/tables.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { times } from "../support/tier.js";

const value = fc.oneof(
  fc.constantFrom("", " ", "n/a", "Email", "ann@larch-and-oak.com", " ANN@larch-and-oak.com", "a@@b", "\xff"),
  fc.constantFrom('"Lee, Ann" <ann@larch-and-oak.com>', "mailto:x@mailinator.com", "é@larch-and-oak.com"),
  fc.nat(30).map((i) => `User${i}@${i % 2 ? "larch-and-oak.com" : "mailinator.com"}`),
);
/** Two items in a field, of which only the first counts with `--set cell=first`. */
const two = "x@mailinator.com; user1@larch-and-oak.com";

const path = join(temporaryFolder(), "quota.db");
const quotaFile = await TestQuota.open(path, Date.now);
const validator = offlineValidator({ classifier, source: {} }, quotaFile);
afterAll(() => quotaFile.close());

interface Choices {
  readonly shard?: { readonly index: number; readonly count: number };
  readonly isService?: boolean;
  readonly withReasons?: boolean;
  readonly firstOnly?: boolean;
  readonly dedupe?: boolean;
  readonly chunkSize?: number;
  readonly isUpdate?: boolean;
}

async function run(
  text: string | Uint8Array,
  { shard, isService, withReasons = false, firstOnly = true, dedupe, chunkSize = 100, isUpdate }: Choices,
): Promise<{ report: RunReport; rows: string[] }> {
  const table = await open(text, { chunkSize, delimiter: ",", columns: ["email"], dialect: { comment: "#" } });
  const columns = nameColumns(table.names, "status", { withReasons, ...(isUpdate && { isOurs: () => true }) });
  const parts: Buffer[] = [];
  const report = await validateTable({
    kind: "email",
    table,
    sink: {
      write: async (bytes) => void parts.push(Buffer.from(bytes)),
      commit: async () => {},
      discard: async () => {},
    },
    validator: isService ? asService(validator) : validator,
    columns,
    cells: { ...usualCells, deciding: firstOnly ? "first" : "worst" },
    omitsHeader: true,
    ...(shard && { shard: { ...shard, list: "list.csv" } }),
    ...(dedupe && { filter: { dedupe: "item" as const } }),
    signal: new AbortController().signal,
  });
  return { report, rows: Buffer.concat(parts).toString("latin1").split("\n").slice(0, -1) };
}

const counted = ({ rows, emptyRows, emptied, notUtf8, kept, distinct, charged, written }: RunReport) => ({
  rows,
  emptyRows,
  emptied,
  notUtf8,
  kept,
  distinct,
  charged,
  written,
});

test("the shards of any list have all of its rows and charge as much as one run", async () => {
  const arbitrary = fc.record({
    values: fc.array(fc.oneof({ weight: 8, arbitrary: value }, fc.constant(two)), { maxLength: 40 }),
    count: fc.integer({ min: 1, max: 5 }),
    isService: fc.boolean(),
    withReasons: fc.boolean(),
    dedupe: fc.boolean(),
    isUpdate: fc.boolean(),
    chunkSize: fc.integer({ min: 1, max: 200 }),
  });
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ values, count, ...choices }) => {
      const rows = values.map((item, i) =>
        i % 9 === 8 ? `# ${i}\n` : `${i},"${item.replaceAll('"', '""')}",${i % 3 ? "" : "ok"}\n`,
      );
      const text = `id,email,status\n${rows.join("")}`;
      const whole = await run(text, choices);
      const shards = await Promise.all(
        Array.from({ length: count }, (_, i) => run(text, { ...choices, shard: { index: i + 1, count } })),
      );
      expect(shards.flatMap((shard) => shard.rows).sort()).toEqual(whole.rows.toSorted());
      // A status of an earlier run moves no row to another shard.
      const idsOf = ({ rows }: { rows: readonly string[] }) => rows.map((row) => row.split(",")[0]);
      if (choices.isUpdate && !choices.dedupe) {
        for (const [i, shard] of shards.entries()) {
          const anew = await run(text, { ...choices, isUpdate: false, shard: { index: i + 1, count } });
          expect(idsOf(shard)).toEqual(idsOf(anew));
        }
      }
      const sums = { ...counted(whole.report) };
      for (const name of Object.keys(sums) as (keyof typeof sums)[]) {
        sums[name] = shards.reduce((sum, { report }) => sum + counted(report)[name], 0);
      }
      expect(sums).toEqual(counted(whole.report));
    }),
    { numRuns: times(150) },
  );
});

test.each([false, true])(
  "only the first shard counts values that are not UTF-8, with a service: %s",
  async (isService) => {
    const values = Array.from({ length: 9 }, (_, i) => `user${i}\xe9@larch-and-oak.com\n`);
    const list = Buffer.from(`email\n${values.join("")}`, "latin1");
    const runs = await Promise.all([1, 2].map((index) => run(list, { shard: { index, count: 2 }, isService })));
    expect(runs.map(({ report }) => report.notUtf8)).toEqual([9, 0]);
  },
);

test.each([false, true])("a field with several items ends a run with shards, with a service: %s", async (isService) => {
  const shard = { index: 2, count: 2 };
  await expect(run(`id,email\n1,\n2,${two}\n`, { shard, isService, firstOnly: false })).rejects.toThrow(
    "list.csv:3: a field with several items, which may be in different shards; add --set cell=first, or leave out --shard",
  );
});

describe("the shard of an item", () => {
  // Machines with different versions of idv share lists: these must never change.
  test.each([
    ["ann@larch-and-oak.com", 3],
    ["ANN@larch-and-oak.com", 3],
    ["bob@example.net", 6],
    ["é@example.net", 4],
    ["example.org", 7],
  ])("%s is in shard %d of 7", (item, index) => {
    const found = Array.from({ length: 7 }, (_, i) => i + 1).filter((i) =>
      isInShard({ index: i, count: 7, list: "" }, item),
    );
    expect(found).toEqual([index]);
  });

  test("shards have about the same size", () => {
    const sizes = Array.from(
      { length: 8 },
      (_, i) =>
        Array.from({ length: 8000 }, (_, n) => `user${n}@larch-and-oak.com`).filter((item) =>
          isInShard({ index: i + 1, count: 8, list: "" }, item),
        ).length,
    );
    for (const size of sizes) expect(Math.abs(size - 1000)).toBeLessThan(150);
  });
});

test("a row with a number beside the word for the items is no header", async () => {
  const values = ["n/a", "n/a", "ann@larch-and-oak.com", "n/a", "n/a", "Email", "bob@larch-and-oak.com"];
  const rows = values.map((value, i) => `${i},${value},\n`).join("");
  const { report } = await run(`id,email,status\n${rows}`, {});
  expect([report.rows, report.distinct]).toEqual([7, 2]);
});
