/** Covers rows by the values of a column: which columns are found, and that their counts are those of the rows. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Group } from "../../src/core/facts/facts-schema.js";
import { findGroupColumns, sumOfGroups, sumOfValues, worseValue, worstFirst } from "../../src/core/facts/groups.js";
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
    const names = [
      "first_name",
      "Vorname",
      "Anrede",
      "gender",
      "phone",
      "E-Mail 2",
      "form of address",
      "preferred name",
    ];
    names.push(
      "landline phone",
      "referred by name",
      "listing agent name",
      "Formulartitel",
      "apellidos",
      "sex",
      "first",
    );
    expect(findGroupColumns(names, () => times(10, "x", "y"), undefined)).toEqual([]);
    expect(findGroupColumns(names, () => times(10, "x", "y"), 3).map(({ name }) => name)).toEqual(["gender"]);
    const usual = ["Campaign Name", "email_source", "Mailing list", "event_title"];
    expect(findGroupColumns(usual, () => times(10, "x", "y"), undefined)).toHaveLength(4);
  });

  test("are five at most: the one that is named, then those with usual names", () => {
    const names = ["a", "b", "city", "utm_source", "plan", "c", "d", "e"];
    const sample = () => times(10, "x", "y");
    const namesOf = (wanted?: number) => findGroupColumns(names, sample, wanted).map(({ name }) => name);
    expect(namesOf()).toEqual(["utm_source", "plan", "a", "b", "city"]);
    expect(namesOf(6)).toEqual(["d", "utm_source", "plan", "a", "b"]);
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
  expect(worseValue({ column: "x", isWanted: false, values, others: null })?.name).toBe(worst);
});

const ok = "ann@larch-and-oak.com";
const bad = "b@mailinator.com";

describe("idv emails counts rows by a column", () => {
  test("with --by, in the summary and as JSON", async () => {
    const home = folderOf({ "l.csv": `email,from\n${ok},Web\n${bad},fair\n${bad}, web \n${bad},\n,web\n` });
    const { code, stderr } = await idv(["emails", "l.csv", "--by", "FROM", "-o", "o.csv"], { home });
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(
      "by from:\n  Web      2 rows, 50.0 % bad: 1 ok, 1 disposable\n  (empty)  1 row,  100.0 % bad: 1 disposable\n  fair     1 row,  100.0 % bad: 1 disposable\n",
    );
    const again = await idv(["emails", "l.csv", "--by", "2", "--log", "json", "-o", "p.csv"], { home });
    const { groups } = JSON.parse(again.stderr.trim().split("\n").at(-1)!) as { groups: readonly Group[] };
    expect(groups[0]!.values[0]).toEqual({ name: "Web", rows: 2, statuses: { ok: 1, disposable: 1 } });
  });

  test("or refuses one that is not there, before anything is charged", async () => {
    const home = folderOf({ "l.csv": `email,from\n${ok},web\n` });
    expect(await idv(["emails", "l.csv", "--by", "source", "-o", "o.csv"], { home })).toMatchObject({
      code: 2,
      stderr: 'idv: no column "source" for --by; the columns are 1 "email", 2 "from"\n',
    });
  });

  test.each([
    [" plan ,mail", "plan", 1],
    ["Plan,plan,mail", "plan", 2],
    ["plan,mail,plan", "plan[2]", 3],
    ["plan,mail,plan", "plan", "2 columns are named"],
    ["plan,mail", "plan,mail", 'no column "plan,mail" for --by; it takes one'],
    ["mail,emial", "mial", '(did you mean "mail"?)'],
    ["a@x.net,one", "2", 2],
    ["a@x.net,one", "4", "no column 4 for --by: the table has 2"],
  ])("by the name of a column, as -c finds it: %s, %s", async (header, by, expected) => {
    const fields = header.split(",").map((name, nth) => (name.includes("mail") ? ok : `${nth + 1}`));
    const home = folderOf({ "l.csv": `${header}\n${fields.join(",")}\n` });
    const { code, stderr } = await idv(["emails", "l.csv", "--by", by, "-o", "o.csv", "--log", "json"], { home });
    if (typeof expected === "string")
      expect([code, stderr]).toEqual([2, expect.stringContaining(JSON.stringify(expected).slice(1, -1))]);
    else {
      const { groups } = JSON.parse(stderr.trim().split("\n").at(-1)!) as { groups: readonly Group[] };
      expect(groups[0]!.values.map(({ name }) => name)).toContain(header.includes("@") ? "one" : `${expected}`);
    }
  });

  test("in a report for each column of few values, over several files", async () => {
    const rows = (from: string) => times(10, `${ok},${from}`, `${bad},fair`).join("\n");
    const home = folderOf({ "a.csv": `email,source\n${rows("web")}\n`, "b.csv": `email,source\n${rows("shop")}\n` });
    const args = ["emails", "a.csv", "b.csv", "-o", "o/", "--report", "r.json", "--report", "r.html"];
    const { code, stderr } = await idv(args, { home });
    expect(code, stderr).toBe(0);
    const { groups } = JSON.parse(readFileSync(join(home, "r.json"), "utf8")) as { groups: readonly Group[] };
    expect(groups).toEqual([
      {
        column: "source",
        isWanted: false,
        others: null,
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
        const run = await idv(["emails", "l.csv", "--by", "source", "--log", "json", "-o", "o.csv"], { home });
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

describe("groups of files", () => {
  const group = (column: string, ...values: readonly [name: string, fake: number][]): Group => ({
    column,
    isWanted: false,
    values: values.map(([name, fake]) => ({ name, rows: fake, statuses: { fake } })),
    others: null,
  });

  test("add up by the names of their columns and values, in any case", () => {
    const files = [[group("a", ["Web", 1], ["fair", 3])], [group("a", ["web", 2])]];
    expect(sumOfGroups(files)).toEqual([group("a", ["Web", 3], ["fair", 3])]);
  });

  test("are left out if a file has none, or all have one value", () => {
    expect(sumOfGroups([[group("a", ["x", 1], ["y", 1])], []])).toEqual([]);
    expect(sumOfGroups([[group("a", ["x", 1])], [group("a", ["x", 1])]])).toEqual([]);
  });

  test("of many values have all rows in their sum", () => {
    const of = (nth: number) =>
      group("a", ...Array.from({ length: 30 }, (_, i): [string, number] => [`v${nth * 30 + i}`, 1 + i]));
    const [sum] = sumOfGroups([[of(0)], [of(1)]]);
    expect(sum!.values).toHaveLength(20);
    expect(sum!.others).toMatchObject({ values: 40 });
    expect(sumOfValues(sum!).rows).toBe(2 * 465);
  });
});

test("values beyond the shown ones are in the figures of the whole list", async () => {
  const rows = Array.from({ length: 100 }, (_, from) =>
    Array.from(
      { length: from < 20 ? 10 : 9 },
      (_, i) => `u${from}x${i}@${from < 20 ? "b.net" : "mailinator.com"},s${from}`,
    ),
  ).flat();
  const home = folderOf({ "l.csv": `email,source\n${rows.join("\n")}\n` });
  const { stderr } = await idv(["emails", "l.csv", "--by", "source", "-o", "o.csv", "--report", "r.md"], { home });
  expect(stderr).toContain("80 other values  730 rows, 86.3 % bad: 100 ok, 630 disposable\n");
  const report = readFileSync(join(home, "r.md"), "utf8");
  expect(report).toContain("| 80 other values | 730 | 86.3 % |");
  expect(report).not.toContain("Look at");
});

test("the worst of many values is shown, however few rows it has", async () => {
  const rows = Array.from({ length: 30 }, (_, from) =>
    Array.from({ length: from === 29 ? 40 : 100 }, (_, i) => {
      const isBad = from === 29 ? i < 28 : i % 20 === 0;
      return `u${from}x${i}@${isBad ? "mailinator.com" : "b.net"},campaign-${from}`;
    }),
  ).flat();
  const home = folderOf({ "l.csv": `email,source\n${rows.join("\n")}\n` });
  await idv(["emails", "l.csv", "--by", "source", "-o", "o.csv", "--report", "r.md"], { home });
  expect(readFileSync(join(home, "r.md"), "utf8")).toContain(
    "Look at campaign-29 (source): 70.0 % of its rows are bad",
  );
});

test("a value that is not shown of one file counts in the figures of all", async () => {
  const of = (count: number, source: string, domain: string) =>
    Array.from({ length: count }, (_, i) => `${source}${i}@${domain},${source}\n`).join("");
  const many = Array.from({ length: 30 }, (_, i) => of(91 + i, `s${i}`, "b.net")).join("");
  const home = folderOf({
    "a.csv": `email,source\n${many}${of(90, "x", "b.net")}`,
    "b.csv": `email,source\n${of(1, "x", "c.net")}${of(20, "x", "mailinator.com")}${of(99, "y", "b.net")}`,
  });
  await idv(["emails", "a.csv", "b.csv", "--by", "source", "-o", "o/", "--report", "r.json"], { home });
  const { groups } = JSON.parse(readFileSync(join(home, "r.json"), "utf8")) as { groups: readonly Group[] };
  const x = groups[0]!.values.find(({ name }) => name === "x");
  expect(x).toEqual({ name: "x", rows: 111, statuses: { ok: 91, disposable: 20 } });
});

test("a file of one source counts in a report on several", async () => {
  const of = (source: string, count: number) =>
    `email,source\n${Array.from({ length: count }, (_, i) => `u${i}@mailinator.com,${source}`).join("\n")}\n`;
  const two = `${of("web", 20)}${of("fair", 20).slice("email,source\n".length)}`;
  const home = folderOf({ "a.csv": two, "b.csv": of("app", 400) });
  await idv(["emails", "a.csv", "b.csv", "-o", "o/", "--report", "r.json"], { home });
  const { groups } = JSON.parse(readFileSync(join(home, "r.json"), "utf8")) as { groups: readonly Group[] };
  expect(groups[0]!.values.map(({ name, rows }) => [name, rows])).toEqual([
    ["app", 400],
    ["fair", 20],
    ["web", 20],
  ]);
});

test("long values that differ at their ends are counted apart, and none is cut within a character", async () => {
  const link = "https://www.example.com/landing/spring/offers/index.html?utm_source=";
  const from = [
    `${link}newsletter`,
    `${link}popup`,
    `${"x".repeat(59)}\u{1f600}tail`,
    `${"x".repeat(59)}\u{1f601}tail`,
  ];
  const close = ["a", "b"].map((end) => `${"y".repeat(40)}${end}${"y".repeat(40)}`);
  const rows = [...from, ...close, ""].flatMap((value, nth) =>
    Array.from({ length: 5 + nth }, (_, i) => `u${nth}x${i}@b.net,${value}\n`),
  );
  const home = folderOf({ "l.csv": `email,from\n${rows.join("")}` });
  const { stderr } = await idv(["emails", "l.csv", "--by", "from", "-o", "o.csv", "--report", "r.json"], { home });
  expect(stderr).toMatch(/ {2}https:\/\/www\.example\.com\/landin \.\.\. dex\.html\?utm_source=newsletter +5 rows/);
  const { groups } = JSON.parse(readFileSync(join(home, "r.json"), "utf8")) as { groups: readonly Group[] };
  const counts = groups[0]!.values.map(({ name, rows }) => [rows, Buffer.from(name).toString() === name]);
  expect(counts).toEqual([11, 10, 9, 8, 7, 6, 5].map((rows) => [rows, true]));
});

test("columns of JSON Lines are found below the first line, from a file and from a pipe", async () => {
  const objects = Array.from({ length: 40 }, (_, i) => {
    const email = `ann${i}@b.net`;
    return i === 0
      ? { email }
      : { email, created: `2026-${String(1 + (i % 9)).padStart(2, "0")}-11`, source: `s${i % 3}` };
  });
  const text = objects.map((object) => `${JSON.stringify(object)}\n`).join("");
  const home = folderOf({ "l.jsonl": text });
  for (const args of [["l.jsonl"], ["-"]]) {
    const options = ["-c", "email", "--by", "source", "-o", "o.jsonl", "--report", "r.json", "-q"];
    const run = await idv(["emails", ...args, ...options], { home, stdin: text });
    expect(run).toMatchObject({ code: 0, stderr: "" });
    const { groups, breakdown } = JSON.parse(readFileSync(join(home, "r.json"), "utf8"));
    expect(groups[0].values).toHaveLength(4);
    expect(breakdown.months.counts).toHaveLength(9);
  }
});

test.each([
  ["l.jsonl", "m.src"],
  ["l.json", "m.src"],
  ["l.json", "users.m.src"],
])("a member within another one is a column: %s by %s", async (name, by) => {
  const users = Array.from({ length: 12 }, (_, i) => ({ email: `ann${i}@b.net`, m: { src: `s${i % 3}` } }));
  const lines = users.map((user) => `${JSON.stringify(user)}\n`).join("");
  const home = folderOf({ "l.jsonl": lines, "l.json": JSON.stringify({ users }) });
  const { stderr } = await idv(["emails", name, "--by", by, "-o", `o.${name}`], { home });
  expect(stderr).toContain(
    "s0  4 rows, 0.0 % bad: 4 ok\n  s1  4 rows, 0.0 % bad: 4 ok\n  s2  4 rows, 0.0 % bad: 4 ok\n",
  );
});

test("long values are the same ones in all files, and an empty field is one with (empty)", async () => {
  const link = (page: string) =>
    `https://www.example.org/landing/page/${page}/utm_source=newsletter&utm_campaign=spring-2026`;
  const of = (domain: string, from: string) =>
    Array.from({ length: 10 }, (_, i) => `u${i}@${domain},${from}\n`).join("");
  const [good, bad] = [of("b.net", link("good")), of("mailinator.com", link("evil"))];
  const home = folderOf({
    "a.csv": `email,source\n${good}${bad}${of("c.net", "")}`,
    "b.csv": `email,source\n${bad}${good}${of("d.net", "(empty)")}`,
  });
  await idv(["emails", "a.csv", "b.csv", "--by", "source", "-o", "o/", "--report", "r.json"], { home });
  const { groups } = JSON.parse(readFileSync(join(home, "r.json"), "utf8")) as { groups: readonly Group[] };
  const counts = Object.fromEntries(groups[0]!.values.map(({ name, statuses }) => [name, statuses]));
  expect(counts).toEqual({ [link("good")]: { ok: 20 }, [link("evil")]: { disposable: 20 }, "(empty)": { ok: 20 } });
});

test.each(["l.csv", "l.jsonl", "two.csv"])(
  "columns beside others are counted by their own fields: %s",
  async (name) => {
    const rows = Array.from({ length: 4000 }, (_, i) => ({
      id: i,
      ...{
        email: `ann${i}@b.net`,
        created: `2026-0${1 + (i % 9)}-11`,
        same: "x, y",
        source: `s${i % 4}`,
        also: "x, y",
      },
    }));
    const csv = rows.map(({ same, also, ...row }, i) => {
      const comment = i % 100 === 0 ? "# note\n" : "";
      return `${comment}${row.id},${row.email},${row.created},"${same}",${row.source},"${also}"\n`;
    });
    const table = `id,email,created,same,source,also\n${csv.join("")}`;
    const home = folderOf({
      "l.csv": table,
      "two.csv": table.replaceAll('"x, y"', "b@c.net").replace("same", "other"),
      "l.jsonl": rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
    });
    const columns = name === "two.csv" ? ["-c", "email", "-c", "other"] : [];
    const options = [...columns, "--comment", "#", "--by", "source", "-o", `o.${name}`, "--report", "r.json"];
    await idv(
      ["emails", name, ...(name === "l.jsonl" ? options.filter((each) => !/^(?:--comment|#)$/.test(each)) : options)],
      { home },
    );
    const { groups, breakdown } = JSON.parse(readFileSync(join(home, "r.json"), "utf8"));
    const rowsOf = (values: readonly { readonly name: string; readonly rows: number }[]) =>
      Object.fromEntries(values.map(({ name, rows }) => [name, rows]));
    const source = groups.find(({ column }: Group) => column === "source");
    expect(rowsOf(source.values)).toEqual({ s0: 1000, s1: 1000, s2: 1000, s3: 1000 });
    const months = breakdown.months.counts.map(({ name, total }: { name: string; total: number }) => [name, total]);
    expect(months).toEqual(Array.from({ length: 9 }, (_, m) => [`2026-0${m + 1}`, m < 4 ? 445 : 444]));
  },
);
