/** Covers the two ways of judging a table offline: over bytes and over batches. */
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { nameColumns } from "../../src/run/columns.js";
import { validateTable } from "../../src/run/run.js";
import { QuotaFile } from "../../src/store/quota-file.js";
import type { RecordStream } from "../../src/table/records.js";
import { offlineValidator } from "../../src/validator/offline.js";
import { classifier } from "../support/classifier.js";
import { open } from "../support/tables.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const value = fc.oneof(
  fc.constantFrom("", " ", "ann@larch-and-oak.com", "ANN@larch-and-oak.com", " ann@larch-and-oak.com "),
  fc.constantFrom('"ann@larch-and-oak.com"', '"Lee, Ann" <ann@larch-and-oak.com>', "x@mailinator.com"),
  fc.constantFrom(
    "test@hotmail.com",
    "ann+news@larch-and-oak.com",
    "a@@b",
    "é@larch-and-oak.com",
    "ann@gmial.com",
  ),
  fc.constantFrom("ann.lee@gmail.com", "AnnLee+x@googlemail.com", "annlee@gmail.com"),
  fc.constantFrom(
    "n/a",
    "Email",
    "a@mailinator.com; ann@larch-and-oak.com",
    "user1@larch-and-oak.com ::: x@y.z",
  ),
  fc.nat(30).map((i) => `user${i}@larch-and-oak.com`),
  fc.string({ unit: fc.constantFrom(...'a@."\n, é'), maxLength: 6 }),
);

test("judging over bytes and over batches gives the same table and report", async () => {
  const path = join(temporaryFolder(), "quota.db");
  const quotaFile = await QuotaFile.open(path, Date.now);
  const validator = offlineValidator({ classifier, source: {} }, quotaFile);

  const arbitrary = fc.record({
    values: fc.array(value, { maxLength: 40 }),
    tail: fc.constantFrom(",x", ',"y\nz"', ""),
    limit: fc.option(fc.nat(12)),
    withReasons: fc.boolean(),
    dedupe: fc.constantFrom(undefined, "item" as const, "canonical" as const),
    withCanonical: fc.boolean(),
    keeps: fc.constantFrom(
      undefined,
      (status: string) => status === "ok",
      (status: string) => status !== "ok",
    ),
    chunkSize: fc.integer({ min: 1, max: 200 }),
  });
  await fc.assert(
    fc.asyncProperty(
      arbitrary,
      async ({ values, tail, limit, withReasons, withCanonical, dedupe, keeps, chunkSize }) => {
        const text = `email,note\n${values.map((item) => `${item}${tail}\n`).join("")}`;
        const run = async (toTable: (table: RecordStream) => RecordStream) => {
          await quotaFile.configure({ limit });
          await quotaFile.reset();
          const parts: Buffer[] = [];
          try {
            const report = await validateTable({
              kind: "email",
              table: toTable(await open(text, { chunkSize, delimiter: ",", columns: ["1"] })),
              sink: {
                write: async (bytes) => void parts.push(Buffer.from(bytes)),
                commit: async () => {},
                discard: async () => {},
              },
              validator,
              columns: nameColumns(undefined, "status", { withReasons, withCanonical }),
              filter: { ...(dedupe && { dedupe }), ...(keeps && { keeps }) },
              signal: new AbortController().signal,
            });
            return { report, output: Buffer.concat(parts).toString(), used: (await quotaFile.read()).used };
          } catch (error) {
            return { error: (error as Error).message };
          }
        };
        const overBytes = await run((table) => table);
        const overBatches = await run(({ start, chunks }) => ({ start, chunks }));
        expect(overBytes).toEqual(overBatches);
      },
    ),
    { numRuns: 300 },
  );
  await quotaFile.close();
});
