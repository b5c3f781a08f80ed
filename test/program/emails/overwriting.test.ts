/** Covers pipes, workbooks and runs at once that could overwrite rows; test/cli/bulk/overwriting.test.ts has the rest. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readXlsx, writeXlsx } from "hucre/xlsx";
import { expect, test } from "vitest";
import { startInShell } from "../../support/processes.js";
import { finished, idv } from "../../support/run-idv.js";
import { respond, scriptedServer } from "../../support/scripted-server.js";
import { folderOf } from "../../support/temporary-folder.js";
import { times } from "../../support/tier.js";

const [a, b] = ["email\nann@larch-and-oak.com\n", "email\nbob@larch-and-oak.com\n"];

const read = (home: string, name: string) => readFileSync(join(home, name), "utf8");

test("a run does not take its input as its output", async () => {
  const home = folderOf({ "a.csv": a });
  const message = "-o a.csv: is the input itself; to replace it, use -I, or -I.bak to keep the old one";
  const refusal = { code: 2, stdout: "", stderr: expect.stringContaining(message) };
  expect(await idv(["emails", "a.csv", "-o", "a.csv"], { home })).toEqual(refusal);
  expect(read(home, "a.csv")).toBe(a);
});

test.each([
  ["split", "for i in 1; do idv emails <(cat a.csv) <(cat b.csv) --split out; done"],
  [
    "in a folder",
    "mkdir in; mkfifo in/c in/d; cat a.csv > in/c & cat b.csv > in/d & idv emails in/c in/d -o out/; wait",
  ],
])("pipes give all their rows although there are several, %s", async (_, line) => {
  const home = folderOf({ "a.csv": a, "b.csv": b });
  const { code, stderr } = await finished(startInShell(line, [], home));
  expect(code, stderr).toBe(0);
  const rows = readdirSync(join(home, "out")).flatMap((name) => read(home, `out/${name}`).split("\n"));
  expect(rows).toEqual(expect.arrayContaining(["ann@larch-and-oak.com,ok", "bob@larch-and-oak.com,ok"]));
});

/** Returns a folder with the workbook l.xlsx. */
const withWorkbook = async (...sheets: object[]) => folderOf({ "l.xlsx": await writeXlsx({ sheets } as never) });
/** Returns the rows of the sheets of a workbook. */
const rowsIn = async (home: string, name = "l.xlsx") =>
  (await readXlsx(readFileSync(join(home, name)))).sheets.map(({ rows }) => rows);
const [ann, someone] = ["ann@larch-and-oak.com", "b@mailinator.com"];
const notes = { name: "Notes", rows: [["nothing", true]] };

test("a workbook that loses rows is replaced only with a backup", async () => {
  const home = await withWorkbook({
    name: "People",
    rows: [
      ["id", "email"],
      ["007", ann],
      [2, someone],
    ],
  });
  const refused = await idv(["emails", "-I", "--bad-rows", "skip:bad.csv", "l.xlsx"], { home });
  expect({ code: refused.code, files: readdirSync(home) }).toEqual({ code: 2, files: ["l.xlsx"] });
  expect(refused.stderr).toContain("keep the old one with -I.bak, or use -o");
  expect((await idv(["emails", "-I.bak", "--bad-rows", "skip", "l.xlsx"], { home })).code).toBe(0);
  expect((await rowsIn(home))[0]?.[1]).toEqual(["007", ann, "ok"]);
  expect((await rowsIn(home, "l.xlsx.bak"))[0]).toHaveLength(3);
});

test("a workbook comes back with its other sheets, formulas and numbers, and an update leaves it as it is", async () => {
  const rows = [
    ["id", "email", "sum"],
    [7, ann, null],
    [2, someone, 4.5],
  ];
  const cells = new Map([["1,2", { formula: "A2*2", formulaResult: 14 }]]);
  const home = await withWorkbook(notes, { name: "People", rows, cells });
  const path = join(home, "l.xlsx");
  const { code, stderr } = await idv(["emails", "-I", "l.xlsx"], { home });
  expect(code, stderr).toBe(0);
  expect(stderr).not.toContain("not kept");
  expect(await rowsIn(home)).toEqual([
    notes.rows,
    [
      ["id", "email", "sum", "status"],
      [7, ann, 14, "ok"],
      [2, someone, 4.5, "disposable"],
    ],
  ]);
  const before = readFileSync(path);
  expect((await idv(["emails", "-I", "--update", "l.xlsx"], { home })).code).toBe(0);
  expect(readFileSync(path).equals(before)).toBe(true);
});

test("a workbook is replaced without the rows that a filter leaves out, unless something needs them", async () => {
  const people = {
    name: "People",
    rows: [
      ["id", "email"],
      [7, someone],
      [8, ann],
      [9, ann],
    ],
  };
  const sum = { formula: "SUM(People!A2:A4)", formulaResult: 24 };
  const home = await withWorkbook(people, { name: "Sum", rows: [[0]], cells: new Map([["0,0", sum]]) });
  const before = readFileSync(join(home, "l.xlsx"));
  const args = ["emails", "-I", "--only", "ok", "--dedupe", "l.xlsx"];
  const reason = "rows that may be left out are needed by a formula in another sheet; use -o FILE.csv, or --split";
  const stderr = expect.stringContaining(`l.xlsx: sheet "People": ${reason}\n`);
  expect(await idv(args, { home })).toMatchObject({ code: 6, stderr });
  expect(readFileSync(join(home, "l.xlsx")).equals(before)).toBe(true);
  expect((await idv(["quota", "show", "--json"], { home })).stdout).toContain('"used":0');
  const free = await withWorkbook(people, notes);
  const written = await idv(args, { home: free });
  expect(written).toMatchObject({ code: 0, stderr: expect.stringContaining("1 row written") });
  expect(await rowsIn(free)).toEqual([
    [
      ["id", "email", "status"],
      [8, ann, "ok"],
    ],
    notes.rows,
  ]);
});

test("two runs at once with a backup leave every row in the file or in its backup", async () => {
  /** Answers of the rounds, given when both runs have read their list. */
  const waiting: (() => void)[] = [];
  const { url } = await scriptedServer((response, request) => {
    const statusOf = (item: string) => ({ status: item.startsWith("gone") ? "fake" : "ok" });
    const results = Object.fromEntries(request.items.map((item) => [item, statusOf(item)]));
    waiting.push(() => respond(200, {}, JSON.stringify({ emails: results }))(response, request));
    if (waiting.length === 2) for (const answer of waiting.splice(0)) answer();
  });
  const rows = ["ann", "gone", "bob"].map((name) => `${name}@larch-and-oak.com`);
  const env = { IDV_API_KEY: "kk-1", IDV_BASE_URL: url };
  const args = ["emails", "-q", "-I.bak", "--drop", "fake", "--cache=off", "list.csv"];
  for (let round = 0; round < times(20); round++) {
    const home = folderOf({ "list.csv": `email\n${rows.join("\n")}\n`, "list.csv.bak": "of last night\n" });
    const outcomes = await Promise.all([idv(args, { home, env }), idv(args, { home, env })]);
    const [codes, messages] = [outcomes.map(({ code }) => code), outcomes.map(({ stderr }) => stderr)];
    expect(codes, messages.join("")).toContain(0);
    for (const message of messages) expect(message).toMatch(/^$|changed while it was read/);
    const left = read(home, "list.csv") + read(home, "list.csv.bak");
    for (const row of rows) expect(left).toContain(row);
    expect(readdirSync(home).filter((name) => name.startsWith("."))).toEqual([]);
  }
});
