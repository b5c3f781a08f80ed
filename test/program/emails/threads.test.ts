/** Covers workers: a table comes out the same however many judge it. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunOptions } from "../../../src/core/run/run-options.js";
import { TestQuota } from "../../support/quota.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { some, times } from "../../support/tier.js";

// Modules of the built program, since workers are started from files.
const built = (module: string) => import(new URL(`../../../dist/${module}.js`, import.meta.url).href);
const { validateTable } = await built("core/run/run");
const { nameColumns } = await built("core/run/rows/columns");
const { profiles } = await built("core/run/items/profiles");
const { openTable } = await built("formats/text-formats");
const { offlineValidator } = await built("core/validator/offline");
const { loadClassifier } = await built("core/classifier/tables/load-classifier");
const { openQuotaFile } = await built("state/quota/quota-file");
const openQuota = async () => new TestQuota(await openQuotaFile(join(temporaryFolder(), "quota.db"), Date.now));

/** Yields rows of every kind, 100 bytes each; some notes have line ends, so that a block may end inside one. */
function* table(count: number) {
  yield Buffer.from("id,email,note\n");
  // Blocks that lie inside it look like rows of their own.
  const lineEnds = "line\n".repeat(times(150_000, 60_000));
  for (let start = 0; start < count; start += 1000) {
    let text = "";
    for (let id = start; id < start + 1000; id++) {
      const domain = ["gmail.com", "mailinator.com", "larch-and-oak.com", `d${id % 5000}.net`, "gmial.com"][id % 5];
      const note = id % 7 === 0 ? '"calls,\nback ""soon"""' : "x".repeat(60);
      text += `${id},${id % 11 === 0 ? "" : `user${id % 90_000}@${domain}`},${note}\n`;
    }
    const bytes = Buffer.from(start === rows / 2 ? `${text}-1,ann@larch-and-oak.com,"${lineEnds}"\n` : text);
    // As they come from a file.
    for (let i = 0; i < bytes.length; i += 524_288) yield bytes.subarray(i, i + 524_288);
  }
}

const rows = times(200_000, 120_000);
const parts = [...table(rows)];

let threads = 0;
const count = () => {
  threads++;
};
beforeAll(() => void process.on("worker", count));
afterAll(() => void process.off("worker", count));

/** Validates a table on a number of threads. */
const validate = async (bytes: AsyncIterable<Uint8Array>, quota: TestQuota, cores: number, rest: object) =>
  validateTable({
    ...{ kind: "email", columns: nameColumns(undefined, "status"), cores, signal: new AbortController().signal },
    table: await openTable({ name: "list.csv", bytes }, { profile: profiles.email }),
    validator: offlineValidator({ classifier: loadClassifier(), source: {} }, quota),
    ...rest,
  });

test("a CRLF that is split between two blocks is one line end", async () => {
  const block = 524_288;
  const line = "ann@larch-and-oak.com,hello\r\n";
  // Two lines longer than a block: the first ends with a block, the second has its CR at the end of one.
  const rows = line.repeat(Math.ceil((40 * block) / line.length));
  const before = `email,text\r\n${rows}`;
  const fill = (length: number) => `ann@larch-and-oak.com,${"x".repeat(length - 24)}\r\n`;
  const aligned = fill(2 * block - (before.length % block));
  const text = `${before}${aligned}${fill(block + 1)}${line.repeat(times(5000, 1000))}`;
  const bytes = Buffer.from(text);
  async function* inBlocks() {
    for (let i = 0; i < bytes.length; i += block) {
      yield bytes.subarray(i, i + block);
      await new Promise((resolve) => setTimeout(resolve, i < 20 * block ? 10 : 0));
    }
  }
  const quotaFile = await openQuota();
  const outputs = await Promise.all(
    [1, 3].map(async (cores) => {
      const hash = createHash("sha256");
      const sink = { write: async (part: Uint8Array) => void hash.update(part) };
      const { rows: count } = await validate(inBlocks(), quotaFile, cores, { sink });
      return { count, output: hash.digest("hex") };
    }),
  );
  expect(outputs[1]).toEqual(outputs[0]);
  expect(outputs[0]?.count).toBe(text.split("\r\n").length - 2);
  await quotaFile.close();
});

describe("a large table comes out the same with and without workers", () => {
  const cases: [string, number | null, Partial<RunOptions>][] = [
    ["deduplicated by mailbox", null, { filter: { dedupe: "canonical" } }],
    ["filtered, with a limit", 60_000, { filter: { keeps: (status) => status !== "ok" } }],
    ["unfiltered", null, {}],
    ["with a limit", 77_777, {}],
    ["deduplicated", null, { filter: { dedupe: "item" } }],
  ];
  test.each(some(cases, 2))("%s", async (_, limit, options) => {
    const quotaFile = await openQuota();
    const run = async (cores: number) => {
      await quotaFile.configure({ limit });
      await quotaFile.reset();
      threads = 0;
      const hash = createHash("sha256");
      const sink = { write: async (bytes: Uint8Array) => void hash.update(bytes) };
      const report = await validate(inParts(), quotaFile, cores, { sink, ...options });
      return { report, hash: hash.digest("hex"), threads };
    };
    async function* inParts() {
      for (const part of parts) {
        yield part;
        // Yields to the event loop as a file does, so that workers can become ready.
        await new Promise(setImmediate);
      }
    }
    const [{ threads: none, ...alone }, { threads: two, ...together }] = [await run(1), await run(3)];
    expect(together).toEqual(alone);
    // The main thread works, too.
    expect([none, two]).toEqual([0, 2]);
    expect(together.report.rows).toBe(rows + 1);
    await quotaFile.close();
  });
});
