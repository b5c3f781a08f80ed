/** Covers shards: together they write the rows of the list and charge what one run would. */
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { usualCells } from "../../src/core/run/items/cells.js";
import { isInShard } from "../../src/core/run/rows/shard.js";
import { offlineValidator } from "../../src/core/validator/offline.js";
import { classifier } from "../support/classifier.js";
import { TestQuota } from "../support/quota.js";
import { runTable } from "../support/run-table.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { times } from "../support/tier.js";

const value = fc.oneof(
  fc.constantFrom("", " ", "n/a", "Email", "ann@larch-and-oak.com", " ANN@larch-and-oak.com", "a@@b", "\xff"),
  fc.constantFrom('"Lee, Ann" <ann@larch-and-oak.com>', "mailto:x@mailinator.com", "é@larch-and-oak.com"),
  fc.constantFrom("ann@larch-and-oak.com\u200b", "'bob@gmial.com'", "user2@gmial.com"),
  fc.nat(30).map((i) => `User${i}@${i % 2 ? "larch-and-oak.com" : "mailinator.com"}`),
);
/** Two items in a field, of which only the first counts with `--set cell=first`. */
const two = "x@mailinator.com; user1@larch-and-oak.com";

const quotaFile = await TestQuota.open(join(temporaryFolder(), "quota.db"), Date.now);
const validator = offlineValidator({ classifier, source: {} }, quotaFile);
afterAll(() => quotaFile.close());

type Settings = NonNullable<Parameters<typeof runTable>[2]>;
interface Choices extends Pick<Settings, "isService" | "isUpdate"> {
  readonly shard?: { readonly index: number; readonly count: number };
  readonly withReasons?: boolean;
  readonly firstOnly?: boolean;
  readonly dedupe?: boolean;
  readonly chunkSize?: number;
}

async function run(
  text: string | Uint8Array,
  { shard, withReasons = false, firstOnly = true, dedupe, chunkSize = 100, ...settings }: Choices,
) {
  const { report, bytes } = await runTable(text, validator, {
    ...settings,
    table: { chunkSize, columns: ["email"], dialect: { comment: "#" } },
    columns: { withReasons },
    cells: { ...usualCells, deciding: firstOnly ? "first" : "worst" },
    omitsHeader: true,
    ...(shard && { shard: { ...shard, list: "list.csv" } }),
    ...(dedupe && { filter: { dedupe: "item" as const } }),
  });
  return { report, rows: bytes.toString("latin1").split("\n").slice(0, -1) };
}

const counts = [
  ...(["rows", "emptyRows", "emptied", "marked", "repairable", "notUtf8"] as const),
  ...(["kept", "distinct", "charged", "written"] as const),
];

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
      for (const name of counts) {
        const sum = shards.reduce((sum, { report }) => sum + report[name], 0);
        expect([name, sum]).toEqual([name, whole.report[name]]);
      }
    }),
    { numRuns: times(150, 40) },
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
    ["ann@larch-and-oak.com", 4],
    ["ANN@larch-and-oak.com", 4],
    ["bob@example.net", 2],
    ["é@example.net", 2],
    ["example.org", 5],
    ["a-name-of-more-than-sixteen-characters@example.org", 1],
  ])("%s is in shard %d of 7", (item, index) => {
    const found = [1, 2, 3, 4, 5, 6, 7].filter((i) => isInShard({ index: i, count: 7, list: "" }, item));
    expect(found).toEqual([index]);
  });

  test("shards have about the same size", () => {
    const items = Array.from({ length: 8000 }, (_, n) => `user${n}@larch-and-oak.com`);
    for (let index = 1; index <= 8; index++) {
      const { length } = items.filter((item) => isInShard({ index, count: 8, list: "" }, item));
      expect(Math.abs(length - 1000)).toBeLessThan(150);
    }
  });
});

test("a row with a number beside the word for the items is no header", async () => {
  const values = ["n/a", "n/a", "ann@larch-and-oak.com", "n/a", "n/a", "Email", "bob@larch-and-oak.com"];
  const rows = values.map((value, i) => `${i},${value},\n`).join("");
  const { report } = await run(`id,email,status\n${rows}`, {});
  expect([report.rows, report.distinct]).toEqual([7, 2]);
});
