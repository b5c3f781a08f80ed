/** Covers runs over tables: options that the model of whole runs does not predict, summaries, annotations and odd input. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readQuota } from "../../support/quota.js";
import { idv } from "../../support/run-here.js";
import { runOver } from "../../support/run-over.js";
import { folderOf } from "../../support/temporary-folder.js";
import { times } from "../../support/tier.js";

const ann = "email\nann@larch-and-oak.com\n";
const bad = 'id,email\n1,ann@larch-and-oak.com\n2,"x,y@gmial.com"\n3,bob%b@hotmial.com\n4,"Lee <x@mailinator.com>"\n';

test.each([
  [
    "a table with the status column of an earlier run",
    "email,status\nann@larch-and-oak.com,ok\n",
    'l.csv already has a column "status"; the new one is "idv_status"; if "status" is from an earlier run, use --update',
  ],
  ["an empty file", "", "l.csv is empty"],
])("%s gets a notice", async (_, table, notice) => {
  const { code, stderr } = await runOver(table, "emails --explain --log none");
  expect([code, stderr]).toEqual([0, `idv: ${notice}\n`]);
});

describe("a header that is not used as one", () => {
  const table = "id,email\n1,ann@larch-and-oak.com\n2,bob@larch-and-oak.com\n";
  const notice = (line: number, option: string) =>
    `idv: l.csv: line ${line} reads like the header; to use it as one, leave out ${option}\n`;
  test.each<[string, string, string]>([
    [table, "--no-headers", notice(1, "--no-headers")],
    [table, "--skip-lines 1", notice(1, "--skip-lines")],
    [`Report of May\n${table}`, "--skip-lines 2", notice(2, "--skip-lines")],
    [`Report of May\n${table}`, "--skip-lines 1", ""],
    // Said twice, it is meant.
    [table, "--no-headers --skip-lines 1", ""],
    [table.slice(table.indexOf("\n") + 1), "--no-headers", ""],
    ["a,b\n1,ann@larch-and-oak.com\n", "--no-headers", ""],
  ])("%j %s", async (list, options, expected) => {
    const { code, stderr } = await runOver(list, `emails --log none ${options}`);
    expect([code, stderr]).toEqual([0, expected]);
  });
});

describe("--fail-on", () => {
  const few = `email\n${"u@gmial.com\n".repeat(29)}${"ann.keller@larch-and-oak.com\n".repeat(71)}`;

  test.each<[string, string, number, string]>([
    ["disposable,fake:2", bad, 1, "idv: --fail-on: rows found: 1 disposable, 2 fake (more than 2)\n"],
    ["disposable,fake:74.9%", bad, 1, "idv: --fail-on: rows found: 1 disposable, 2 fake (more than 74.9 %)\n"],
    ["no-rows,disposable:1", bad, 0, ""],
    // 29 % of 100 is not exact in binary.
    ["fake:29%", few, 0, ""],
    ["fake:28%", few, 1, "idv: --fail-on: rows found: 29 fake (more than 28 %)\n"],
  ])("%s allows some bad rows", async (condition, table, exitCode, message) => {
    const { code, stderr } = await runOver(table, `emails -q --fail-on ${condition}`);
    expect([code, stderr]).toEqual([exitCode, message]);
  });

  test.each(["2.5", "-1", "101%", "many"])("fake:%s is rejected", async (value) => {
    const { code, stderr } = await runOver(bad, `emails --fail-on=fake:${value}`);
    expect(code).toBe(2);
    expect(stderr).toContain("a number of rows, or a share of at most 100 %: fake:20");
  });
});

test.each([
  ["--only ok --drop fake", "--only and --drop do not go together; leave out one of them"],
  ["-I -o x", "--in-place and --output do not go together; leave out one of them"],
  ["-I/no/where", "l.csv/no/where: cannot be written: its folder is a file"],
  ["-I.d", "l.csv.d: is a folder; choose another name for the copy"],
  ["-I.d/none/x", "l.csv.d/none/x: cannot be written: the folder does not exist"],
  ["--split l.csv.d", "l.csv.d/ok.csv: has the rows of another run; empty the folder, or name another one"],
])("%s is rejected, costs nothing and changes no file", async (line, message) => {
  const home = folderOf({ "l.csv": ann, "l.csv.d/ok.csv": ann });
  const { code, stdout, stderr } = await idv(["emails", "l.csv", ...line.split(" ")], { home });
  expect({ stdout, stderr }).toEqual({ stdout: "", stderr: `idv: ${message}\n` });
  expect(code).not.toBe(0);
  expect(await readQuota(home)).toMatchObject({ used: 0 });
  expect(readdirSync(home).sort()).toEqual(["l.csv", "l.csv.d", "state"]);
  for (const name of ["l.csv", "l.csv.d/ok.csv"]) expect(readFileSync(join(home, name), "utf8")).toBe(ann);
});

describe("--log github", () => {
  test("names file and line of bad rows, and the item that decides", async () => {
    const table = `${bad}5,ann@larch-and-oak.com; Bob <bob@mailinator.com>\n`;
    expect(await runOver(table, "emails -q --log github", "a,b.csv")).toMatchObject({
      code: 0,
      stderr:
        '::error file=a%2Cb.csv,line=3::x,y@gmial.com is fake (syntax: "," in the local part at 2)\n' +
        "::error file=a%2Cb.csv,line=4::bob%25b@hotmial.com is fake (typo-domain: hotmial.com)\n" +
        "::error file=a%2Cb.csv,line=5::x@mailinator.com is disposable (disposable-domain: mailinator.com)\n" +
        "::error file=a%2Cb.csv,line=6::bob@mailinator.com is disposable (disposable-domain: mailinator.com)\n",
    });
  });

  test("ends after fifty rows, with the lines of a large table", async () => {
    const step = times(1000, 200);
    const lines = Array.from({ length: 60 * step }, (_, i) =>
      i % step === step - 1 ? "x@mailinator.com,y" : `u${i}@larch-and-oak.com,y`,
    );
    const { code, stderr } = await runOver(
      `email,x\n${lines.join("\n")}\n`,
      "emails -q --log github --fail-on disposable",
    );
    const annotations = stderr.trim().split("\n");
    expect(code).toBe(1);
    expect(annotations.slice(0, 50).map((line) => /line=(\d+)/.exec(line)?.[1])).toEqual(
      Array.from({ length: 50 }, (_, i) => `${step * (i + 1) + 1}`),
    );
    expect(annotations.slice(50)).toEqual([
      "::notice file=l.csv::10 more rows are disposable",
      "idv: --fail-on: rows found: 60 disposable",
    ]);
  });
});

test("--log json escapes every control character", async () => {
  const { stderr } = await runOver("email\n", "emails -o o.csv --log json -q", "a\u009b2J.csv");
  expect(stderr).toContain('"name":"a\\u009b2J.csv"');
});

test("the text summary has statuses, reasons, domains, files and hints", async () => {
  const table = "email\nbob@gmial.com\nann@hotmial.com\nx@mailinator.com\n\nX@mailinator.com\n";
  const { stderr } = await runOver(table, "emails --split by");
  expect(stderr.replace(/\d+\.\d\d s, .*/, "TIME")).toBe(`\
l.csv: 5 rows, 3 distinct e-mail addresses in column 1 "email"; offline engine (no key is configured)
  disposable                2
  fake                      2
  (empty)                   1
fake: 2 mistyped domain
disposable domains: 2 mailinator.com
written: by/fake.csv (53 bytes), by/disposable.csv (69 bytes), by/empty.csv (14 bytes)
1 row can be repaired with --fix
3 units used, no limit; TIME
`);
});

test("a summary that cannot be written ends a run with 6, which has its output", async () => {
  const home = folderOf({ "l.csv": ann, "s.jsonl/old": "" });
  const { code, stdout, stderr } = await idv(["emails", "l.csv", "--offline", "--log", "json:s.jsonl"], { home });
  expect([code, stdout]).toEqual([6, "email,status\nann@larch-and-oak.com,ok\n"]);
  expect(stderr).toContain("idv: s.jsonl: cannot be written: is a folder");
});

test.each(["__proto__", "constructor", "toString", "valueOf", "hasOwnProperty"])(
  "a column named %s is found if the table has it, and reported as missing if not",
  async (name) => {
    const run = (list: string) => runOver(list, `emails -q -c ${name}`);
    for (const list of [ann, '{"email":"ann@larch-and-oak.com"}\n']) {
      const { code, stderr } = await run(list);
      expect([code, stderr]).toEqual([2, expect.stringMatching(`^idv: .*no column.*${name}.*\n$`)]);
    }
    const table = `${name},n\nann@larch-and-oak.com,1\n`;
    expect((await run(table)).output).toBe(`${name},n,status\nann@larch-and-oak.com,1,ok\n`);
    const line = `{"${name}":"ann@larch-and-oak.com"}\n`;
    expect((await run(line)).output).toBe(line.replace("}", ',"status":"ok"}'));
  },
);
