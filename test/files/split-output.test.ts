/** Covers the folder of --split: the rows of several tables in the same files, which appear at the end, all or none. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SplitFolder } from "../../src/cli/bulk/open/split-output.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { times } from "../support/tier.js";

const { signal } = new AbortController();
const header = Buffer.from("email\n");
const contentOf = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));

/** Writes rows with their statuses as one table. */
async function write(split: SplitFolder, rows: readonly (readonly [string, string])[]) {
  const table = split.table("csv");
  await table.write(header);
  for (const [status, row] of rows) await (await table.of(table.nameOf(status))).write(Buffer.from(`${row}\n`));
  return table;
}

test("writes the rows of the tables that were committed, in their order, and nothing before the end", async () => {
  const row = fc.tuple(fc.constantFrom("ok", "fake", ""), fc.stringMatching(/^[a-z]{1,5}$/));
  const table = fc.record({ rows: fc.array(row, { maxLength: 5 }), isCommitted: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(table, { minLength: 1, maxLength: 5 }), fc.boolean(), async (tables, isBroken) => {
      const folder = temporaryFolder();
      const split = new SplitFolder(folder, tables.length, signal);
      const expected: Record<string, string> = {};
      for (const [n, { rows, isCommitted }] of tables.entries()) {
        const sink = await write(split, rows);
        await sink.prepare?.();
        const isLast = n === tables.length - 1;
        expect(readdirSync(folder).filter((name) => name.endsWith(".csv"))).toEqual([]);
        if (isLast && isBroken) break;
        if (isCommitted) await sink.commit();
        await sink.discard();
        if (!isCommitted) continue;
        for (const [status, text] of rows) {
          const name = `${status || "empty"}.csv`;
          expected[name] = `${expected[name] ?? "email\n"}${text}\n`;
        }
      }
      if (!isBroken) await split.commit();
      await split.discard();
      expect(contentOf(folder)).toEqual(isBroken ? {} : expected);
    }),
    { numRuns: times(50) },
  );
});

test("shows no file if one of them cannot appear", async () => {
  const folder = temporaryFolder();
  const split = new SplitFolder(folder, 1, signal);
  const rows = Object.entries({ ok: "a", fake: "b" });
  const table = await write(split, rows);
  await table.prepare?.();
  const [last] = Object.entries(contentOf(folder)).find(([, content]) => content === "email\nb\n")!;
  rmSync(join(folder, last));
  await expect(table.commit()).rejects.toThrow("cannot be written");
  await split.discard();
  expect(readdirSync(folder)).toEqual([]);
});

test("replaces no file that another run has written meanwhile", async () => {
  const folder = temporaryFolder();
  const runs = [new SplitFolder(folder, 1, signal), new SplitFolder(folder, 1, signal)];
  const tables = await Promise.all(runs.map((split, n) => write(split, [["ok", `run${n}`]])));
  const outcomes = await Promise.allSettled(tables.map((table) => table.commit()));
  const lost = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(lost).toHaveLength(1);
  expect(lost[0]!.reason).toMatchObject({ message: expect.stringContaining("another run has written it") });
  for (const split of runs) await split.discard();
  expect(contentOf(folder)).toEqual({ "ok.csv": `email\nrun${outcomes[0]!.status === "rejected" ? 1 : 0}\n` });
});

test.each([
  ["with a byte order mark", "\ufeffemail\n"],
  ["with other line breaks", "email\r\n"],
])("puts a table %s into the file of one without", async (_, start) => {
  const folder = temporaryFolder();
  const split = new SplitFolder(folder, 2, signal);
  await (await write(split, [["ok", "a"]])).commit();
  const other = split.table("csv");
  await other.write(Buffer.from(start));
  await (await other.of("ok")).write(Buffer.from("b\n"));
  await other.commit();
  expect(readFileSync(join(folder, "ok.csv"), "utf8")).toBe("email\na\nb\n");
});

test("refuses the files of another run, a document after a document, and a table with another header", async () => {
  const folder = temporaryFolder();
  const split = new SplitFolder(folder, 9, signal);
  await (await split.table("json").of("ok")).write(Buffer.from("[]"));
  expect(() => split.table("json")).toThrow("cannot append to a JSON document");
  await write(split, [["ok", "a"]]);
  const other = split.table("csv");
  await other.write(Buffer.from("id,email\n"));
  await expect(other.of("ok")).rejects.toThrow("its header differs from this table's");
  mkdirSync(join(folder, "fake.csv"));
  expect(() => split.table("csv")).toThrow("fake.csv: has the rows of another run");
  writeFileSync(join(folder, "alias.jsonl"), "");
  expect(() => split.table("jsonl")).toThrow("alias.jsonl: has the rows of another run");
  await split.discard();
  expect(readdirSync(folder).sort()).toEqual(["alias.jsonl", "fake.csv"]);
});
