/** Covers rows by the values of a column: which columns are found, and that their counts are those of the rows. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  findGroupColumns,
  type Group,
  sumOfGroups,
  worseValue,
  worstFirst,
} from "../../src/core/facts/groups.js";
import { idv } from "../support/run-here.js";
import { folderOf } from "../support/temporary-folder.js";
import { times as timesOf } from "../support/tier.js";

const times = (count: number, ...values: string[]) => Array.from({ length: count }, () => values).flat();

describe("columns that are counted by their values", () => {
  test.each<[what: string, values: readonly string[], isFound: boolean]>([
    ["two sources", times(10, "web", "fair"), true],
    ["in any case, with spaces", times(5, "web", " Web", "WEB ", "fair"), true],
    ["with empty fields", times(6, "web", "", "fair"), true],
    ["one value", times(20, "web"), false],
    ["too few rows", times(4, "web", "fair"), false],
    ["different values", times(1, ..."abcdefghijklmnopqrstuvwxyz"), false],
    ["more than twenty values", times(4, ..."abcdefghijklmnopqrstuvwxyz"), false],
    ["long texts", times(10, "x".repeat(61), "y"), false],
    ["the statuses of an earlier run", times(10, "ok", "fake", "alias"), false],
  ])("%s", (_, values, isFound) => {
    const found = findGroupColumns(["id", "a"], (column) => (column === 1 ? values : []), undefined);
    expect(found.map(({ name }) => name)).toEqual(isFound ? ["a"] : []);
  });

  test("are not those about people", () => {
    const names = ["first_name", "Vorname", "Anrede", "gender", "phone", "E-Mail 2"];
    expect(findGroupColumns(names, () => times(10, "x", "y"), undefined)).toEqual([]);
    expect(findGroupColumns(names, () => times(10, "x", "y"), 3).map(({ name }) => name)).toEqual(["gender"]);
  });

  test("are three at most: the one that is named, then those with usual names", () => {
    const names = ["a", "b", "city", "utm_source", "plan", "c"];
    const sample = () => times(10, "x", "y");
    const namesOf = (wanted?: number) => findGroupColumns(names, sample, wanted).map(({ name }) => name);
    expect(namesOf()).toEqual(["utm_source", "plan", "a"]);
    expect(namesOf(5)).toEqual(["c", "utm_source", "plan"]);
  });
});

test("the worst values are first, those of few rows last", () => {
  const value = (name: string, rows: number, fake: number) => ({ name, rows, statuses: { fake } });
  const values = [value("good", 100, 1), value("one", 1, 1), value("bad", 100, 50)];
  expect(worstFirst(values).map(({ name }) => name)).toEqual(["bad", "good", "one"]);
});

test.each<[fakes: readonly number[], worst: string | undefined]>([
  [[27, 5, 5], "a"],
  [[5, 5, 6], undefined],
  [[0, 0, 0], undefined],
])("a value with far more bad rows than all together is told: %j", (fakes, worst) => {
  const values = fakes.map((fake, nth) => ({ name: "abc"[nth]!, rows: 100, statuses: { fake } }));
  expect(worseValue({ column: "x", isWanted: false, values })?.name).toBe(worst);
});

const ok = "ann@larch-and-oak.com";
const bad = "b@mailinator.com";

describe("idv emails counts rows by a column", () => {
  test("with --by, in the summary and as JSON", async () => {
    const home = folderOf({ "l.csv": `email,from\n${ok},Web\n${bad},fair\n${bad}, web \n${bad},\n,web\n` });
    const { code, stderr } = await idv(["emails", "l.csv", "--by", "FROM", "-o", "o.csv"], { home });
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(
      "by from:\n  Web      2 rows, 50.0 % bad\n  (empty)  1 rows, 100.0 % bad\n  fair     1 rows, 100.0 % bad\n",
    );
    const again = await idv(["emails", "l.csv", "--by", "2", "--log", "json", "-o", "p.csv"], { home });
    const { groups } = JSON.parse(again.stderr.trim().split("\n").at(-1)!) as { groups: readonly Group[] };
    expect(groups[0]!.values[0]).toEqual({ name: "Web", rows: 2, statuses: { ok: 1, disposable: 1 } });
  });

  test("or refuses one that is not there, before anything is charged", async () => {
    const home = folderOf({ "l.csv": `email,from\n${ok},web\n` });
    expect(await idv(["emails", "l.csv", "--by", "source", "-o", "o.csv"], { home })).toMatchObject({
      code: 2,
      stderr: 'idv: l.csv: no column "source" for --by; the columns are "email", "from"\n',
    });
  });

  test("in a report for each column of few values, over several files", async () => {
    const rows = (from: string) => times(10, `${ok},${from}`, `${bad},fair`).join("\n");
    const home = folderOf({
      "a.csv": `email,source\n${rows("web")}\n`,
      "b.csv": `email,source\n${rows("shop")}\n`,
    });
    const args = ["emails", "a.csv", "b.csv", "-o", "o/", "--report", "r.json", "--report", "r.html"];
    const { code, stderr } = await idv(args, { home });
    expect(code, stderr).toBe(0);
    const { groups } = JSON.parse(readFileSync(join(home, "r.json"), "utf8")) as { groups: readonly Group[] };
    expect(groups).toEqual([
      {
        column: "source",
        isWanted: false,
        values: [
          { name: "fair", rows: 20, statuses: { disposable: 20 } },
          { name: "shop", rows: 10, statuses: { ok: 10 } },
          { name: "web", rows: 10, statuses: { ok: 10 } },
        ],
      },
    ]);
    expect(readFileSync(join(home, "r.html"), "utf8")).toContain("<h2>By source</h2>");
  });

  test("as often as the rows have it", async () => {
    const source = fc.constantFrom("web", "Web", "fair", "", "a,b", 'say "x"', "\u00fcber", " pad ");
    const row = fc.tuple(fc.constantFrom(ok, bad, "gmial", ""), source);
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 60 }), async (rows) => {
        const field = (text: string) => `"${text.replaceAll('"', '""')}"`;
        const lines = rows.map(([item, from]) => `${item},${field(from)}`).join("\n");
        const home = folderOf({ "l.csv": `email,source\n${ok},web\n${lines}\n` });
        const run = await idv(["emails", "l.csv", "--by", "source", "--log", "json", "-o", "o.csv"], {
          home,
        });
        const { groups } = JSON.parse(run.stderr.trim().split("\n").at(-1)!) as { groups: readonly Group[] };
        const expected = new Map<string, number>();
        for (const [item, from] of [[ok, "web"] as const, ...rows]) {
          const name = from.trim().toLowerCase() || "(empty)";
          if (item !== "") expected.set(name, (expected.get(name) ?? 0) + 1);
        }
        const found = groups[0]!.values.map(({ name, rows }) => [name.toLowerCase(), rows] as const);
        expect(new Map(found)).toEqual(expected);
      }),
      { numRuns: timesOf(400, 30) },
    );
  });
});

test("groups of files add up by the names of their columns and values", () => {
  const file = (column: string, name: string, fake: number): readonly Group[] => [
    { column, isWanted: false, values: [{ name, rows: fake, statuses: { fake } }] },
  ];
  expect(sumOfGroups([file("a", "x", 1), file("a", "x", 2), file("b", "x", 3)])).toEqual([
    { column: "a", isWanted: false, values: [{ name: "x", rows: 3, statuses: { fake: 3 } }] },
    { column: "b", isWanted: false, values: [{ name: "x", rows: 3, statuses: { fake: 3 } }] },
  ]);
});
