/** Covers bad rows: what is said of them, which are skipped or kept, and when they end the run. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readQuota } from "../../support/quota.js";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";
import { times } from "../../support/tier.js";

const read = (home: string, name: string) => readFileSync(join(home, name), "utf8");

const broken = 'id,email\n1,ann@larch-and-oak.com\n2,a@b.net,x\n3\n4,"x@mailinator.com\n5,bob@larch-and-oak.com\n';
const open =
  "a quoted field is never closed; the quote opens in column 2 of the record that starts here; close it or double it";
const wide = "3 fields where the header has 2; quote the fields that hold the delimiter, or name the delimiter with -d";
const narrow = "1 field where the table has 2; complete the row, or leave --set ragged=error out to have it padded";

describe("idv, on bad rows,", () => {
  test("ends the run at the first one by default", async () => {
    const home = folderOf({ list: broken });
    const { code, stderr } = await idv(["emails", "list", "-o", "o"], { home });
    const others = wide.replace(", or name the delimiter with -d", ", name the delimiter with -d");
    const said = `idv: list:3: ${others}, or leave such rows out with --bad-rows skip\n`;
    expect({ code, stderr }).toEqual({ code: 6, stderr: said });
  });

  const [ann, bob] = ["1,ann@larch-and-oak.com", "5,bob@larch-and-oak.com"];
  const kept = `${ann},ok\n2,a@b.net,,x\n3\n4,"x@mailinator.com\n${bob},ok\n`;
  test.each<[string, string, string, string[]]>([
    ["skips them with", "skip:bad.csv", `${ann},ok\n3\n${bob},ok\n`, [`3: ${wide}`, `5: ${open}`]],
    ["copies them, with nothing in the column of the status, with", "keep:bad.csv", kept, [`3: ${wide}`, `5: ${open}`]],
    [
      "skips short rows, too, with",
      "skip:bad.csv --set ragged=error",
      `${ann},ok\n${bob},ok\n`,
      [`3: ${wide}`, `4: ${narrow}`, `5: ${open}`],
    ],
  ])("%s --bad-rows %s", async (_, policy, rows, messages) => {
    const home = folderOf({ list: broken });
    expect(await idv(["emails", "list", "-q", "--bad-rows", ...policy.split(" ")], { home })).toEqual({
      ...{ code: 0, stdout: `id,email,status\n${rows}` },
      stderr: messages.map((message) => `idv: list:${message}\n`).join(""),
    });
    expect(read(home, "bad.csv").split("\n")[1]).toBe(`list,3,"${wide}","2,a@b.net,x"`);
  });

  test("ends a run over JSON Lines before it is charged if most rows are bad", async () => {
    const bad = "{'email':'bob@larch-and-oak.com'}\n".repeat(30);
    const home = folderOf({ "l.jsonl": `{"email":"ann@larch-and-oak.com"}\n${bad}` });
    expect(await idv(["emails", "l.jsonl", "--bad-rows", "skip"], { home })).toMatchObject({
      code: 2,
      stderr:
        "idv: l.jsonl: 30 of the first 31 rows are bad, such as line 2: not a JSON object; write an object on each line\n",
    });
    expect((await idv(["emails", "l.jsonl", "-q", "--bad-rows", "skip", "--force"], { home })).code).toBe(0);
  });

  test("counts them in the summary, and does not charge them", async () => {
    const home = folderOf({ list: broken });
    const { stderr } = await idv(["emails", "list", "--bad-rows", "keep", "--log", "json", "-q"], { home });
    const expected = { rows: 3, badRows: 2, distinct: 2, units: { used: 2 } };
    expect(JSON.parse(stderr.split("\n")[2] ?? "")).toMatchObject(expected);
  });

  describe("in the first 64 KiB, below rows that are right", () => {
    const good = Array.from({ length: 300 }, (_, i) => `${i},ann${i}@larch-and-oak.com\n`);
    const wide = "1,ann@larch-and-oak.com,x,y\n";
    const content = `id,email\n${good.join("")}${wide}`;

    test("ends the run before anything is written or charged", async () => {
      const home = folderOf({ "list.csv": content });
      expect(await idv(["emails", "list.csv", "-q"], { home })).toMatchObject({ code: 6, stdout: "" });
      expect((await readQuota(home)).used).toBe(0);
    });

    test("leaves all files as they were with -I", async () => {
      const home = folderOf({ "a.csv": `id,email\n${good[0]}`, "b.csv": content });
      const { stderr } = await idv(["emails", "-I", "a.csv", "b.csv", "-q"], { home });
      expect(stderr).toContain("no file is replaced");
      expect(readFileSync(join(home, "a.csv"), "utf8")).not.toContain("status");
    });

    test("blames the dialect if they are most of the first 1,000", async () => {
      const home = folderOf({ "list.csv": content + wide.repeat(600) });
      expect(await idv(["emails", "list.csv", "-q", "--bad-rows", "skip"], { home })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("601 of the first 901 rows are bad"),
      });
    });
  });

  describe("a quote without its partner", () => {
    const rows = Array.from({ length: 300 }, (_, i) => `${i},ann${i}@larch-and-oak.com,x`);
    const list = rows.with(5, '5,"ann5@larch-and-oak.com,x').with(290, '290,"ann290@larch-and-oak.com,x');
    const content = `id,email,note\n${list.join("\n")}\n`;
    const first =
      "list:7: a quote opens in column 2 and 285 lines follow inside it; close it or double it, or trust all quotes with --quote '\"'";

    test.each([[[]], [["--update"]]])("ends the run with %j, before anything is written", async (args) => {
      const home = folderOf({ list: content });
      const { code, stderr } = await idv(["emails", "list", "-o", "out", ...args], { home });
      expect({ code, stderr }).toEqual({ code: 6, stderr: `idv: ${first}\n` });
      expect(readdirSync(home)).not.toContain("out");
    });

    test.each([
      ["skip", []],
      ["keep", ["--drop", "disposable,fake"]],
      ["keep", ["--explain"]],
      ["skip", ["-c", "email", "-c", "note"]],
    ])("costs its own line only with %s %j", async (policy, args) => {
      const home = folderOf({ list: content });
      const { code, stdout, stderr } = await idv(["emails", "list", "--bad-rows", policy, ...args], { home });
      expect(code).toBe(0);
      expect(stderr).toContain(`idv: ${first}\n`);
      expect(stderr).toContain("idv: list:292: a quoted field is never closed");
      const lines = stdout.trimEnd().split("\n").slice(1);
      expect(lines.filter((line) => /,ok(,|$)/.test(line))).toHaveLength(298);
      expect(lines).toHaveLength(policy === "keep" ? 300 : 298);
    });

    test("opens a field over many lines if --quote is given", async () => {
      const home = folderOf({ list: content });
      const { code, stdout } = await idv(["emails", "list", "-q", "--quote", '"', "--bad-rows", "skip"], { home });
      expect(code).toBe(0);
      expect(stdout.match(/,ok$/gm)).toHaveLength(14);
    });
  });

  const slashed = String.raw`"Ann \"A, B\" Lee, PhD",ann@larch-and-oak.com`;
  test.each<[string, string, string, string]>([
    ["'", `'Lee, Ann',ann@larch-and-oak.com`, 'skip --quote "', `pass --quote "'"`],
    ["backslashes", slashed, 'keep --quote "', `pass --quote '"\\'`],
    ["wrong quotes", `"Lee, Ann",ann@larch-and-oak.com`, "skip --quote '", "leave --quote out"],
    ["bare delimiters", "Lee, Ann, PhD,ann@larch-and-oak.com", "skip", "check the quotes and the delimiter"],
  ])("ends the run before it is charged if most come from %s", async (_, row, words, advice) => {
    const home = folderOf({ "list.csv": `name,email\n${`${row}\n`.repeat(300)}` });
    const args = ["--bad-rows", ...words.split(" ")];
    const { code, stdout, stderr } = await idv(["emails", "list.csv", ...args], { home });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(
      /^idv: list\.csv: (299 of the first 299|300 of the first 300) rows are bad, such as line 2: /,
    );
    expect(stderr.trimEnd().endsWith(`; ${advice}`), stderr).toBe(true);
    expect((await readQuota(home)).used).toBe(0);
    expect((await idv(["emails", "list.csv", "-q", "--force", ...args], { home })).code).toBe(0);
  });

  const shifted = "3 fields where the header has 4; the item is in field 2; add or remove a delimiter";
  test.each([
    ["5,Bob,,bob@larch-and-oak.com,x,", "6 fields where the header has 4", "skip"],
    ["5;Bob,bob@larch-and-oak.com,x", shifted, "keep"],
  ])("counts rows with too many or too few fields as bad: %s", async (row, message, policy) => {
    const rows = Array.from({ length: 9 }, (_, i) => `${i},Ann,ann${i}@larch-and-oak.com,x`);
    const home = folderOf({ list: `id,name,email,note\n${[...rows, row].join("\n")}\n` });
    const { code, stdout, stderr } = await idv(["emails", "list", "-q", "--bad-rows", policy], { home });
    expect(code).toBe(0);
    expect(stderr).toContain(`idv: list:11: ${message}`);
    expect(stdout.match(/,ok$/gm)).toHaveLength(9);
    expect(stdout).not.toContain("fake");
  });

  test("prints the first twenty and then counts; skip:FILE gets all", async () => {
    const good = "4,ann@larch-and-oak.com\n".repeat(1000);
    const more = times(49_970, 970);
    const home = folderOf({ list: `id,email\n${"1,2,3\n".repeat(30)}${good}${"1,2,3\n".repeat(more)}` });
    const { stdout, stderr } = await idv(["emails", "list", "--bad-rows", "skip:bad.csv"], { home });
    expect(stdout).toBe(`id,email,status\n${good.replaceAll("\n", ",ok\n")}`);
    expect(stderr.split("\n").slice(19, 22)).toEqual([
      `idv: list:21: ${wide}`,
      "idv: more bad rows are only counted",
      'list: 1,000 rows, 1 distinct e-mail address in column 2 "email"; offline engine (no key is configured)',
    ]);
    const all = (30 + more).toLocaleString("en");
    expect(stderr).toContain(`\n${all} bad rows: ${all} too many fields (lines 2, 3, 4 ...)\n`);
    expect(read(home, "bad.csv").split("\n")).toHaveLength(32 + more);
  });

  test.each(["--format=csv", "--split=d"])("refuses to keep them with %s", async (option) => {
    expect(await idv(["emails", "--bad-rows", "keep", option])).toMatchObject({
      code: 2,
      stderr:
        "idv: --bad-rows keep works only in the text format of the input and with one output; use --bad-rows skip\n",
    });
  });
});

test.each<[string, string[]]>([
  ["cannot be the file of bad rows and the output", ["-o", "o.csv", "--bad-rows", "skip:o.csv"]],
  ["cannot be the file of bad rows and the quota file", ["--quota", "o.csv", "--bad-rows", "skip:o.csv"]],
  ["cannot be the output and the quota file", ["--quota", "o.csv", "-o", "o.csv"]],
  ["cannot be the input and the file of bad rows", ["--bad-rows", "skip:list"]],
])("a file %s at once", async (what, args) => {
  const home = folderOf({ list: broken, "o.csv": "old" });
  const { code, stderr } = await idv(["emails", "list", ...args], { home });
  expect({ code, stderr }).toEqual({ code: 2, stderr: `idv: ${args.at(-1)!.replace("skip:", "")}: ${what} at once\n` });
  expect([read(home, "list"), read(home, "o.csv")]).toEqual([broken, "old"]);
});

describe("a bad row that an earlier run kept", () => {
  const good = Array.from({ length: 20 }, (_, i) => `${i},A,p${i}@larch-and-oak.com`);
  const bad = ["20,Lee, Ann,ann@larch-and-oak.com", "21,B,y,bob@larch-and-oak.com"];
  const kept = ["20,Lee, Ann,,ann@larch-and-oak.com", "21,B,y,,bob@larch-and-oak.com"];
  const first = { "list.csv": `id,name,email\n${[...good, ...bad].join("\n")}\n` };

  test("does not count as validated with --update", async () => {
    const home = folderOf(first);
    const keep = ["-q", "--bad-rows", "keep"];
    expect((await idv(["emails", "list.csv", "-o", "a.csv", ...keep], { home })).code).toBe(0);
    const validated = readFileSync(join(home, "a.csv"), "utf8");
    expect(validated.split("\n").slice(21, 23)).toEqual(kept);
    const lines = `${validated}22,C,c@mailinator.com,\n`;
    writeFileSync(join(home, "a.csv"), lines);

    const stderr = expect.stringContaining("a.csv:22: 5 fields where the header has 4");
    expect(await idv(["emails", "a.csv", "--update", "-o", "b.csv"], { home })).toMatchObject({ code: 6, stderr });
    expect(existsSync(join(home, "b.csv"))).toBe(false);

    const again = await idv(["emails", "a.csv", "--update", "--bad-rows", "keep"], { home });
    expect(again.stdout).toBe(lines.replace("c@mailinator.com,", "c@mailinator.com,disposable"));
    expect(again.stderr).toContain("2 bad rows: 2 too many fields");
    const skipped = await idv(["emails", "a.csv", "-q", "--update", "--bad-rows", "skip"], { home });
    expect(skipped.stdout.split("\n")).toHaveLength(23);
    expect((await readQuota(home)).used).toBe(22);
  });

  test("gets an annotation", async () => {
    const args = ["emails", "list.csv", "-q", "--log", "github", "--bad-rows", "skip"];
    const { stderr } = await idv(args, { home: folderOf(first) });
    const annotation = /^::error file=list\.csv,line=2[23]::bad row: 4 fields where the header has 3/gm;
    expect(stderr.match(annotation)).toHaveLength(2);
  });
});

test("escapeFormulas escapes only the added fields", async () => {
  const stdin = "email,n\n=cmd@larch-and-oak.com,=1\n+49@larch-and-oak.com,+44\n";
  expect(await idv(["emails", "-q", "--add", "canonical", "--set", "escapeFormulas=true"], { stdin })).toMatchObject({
    stdout:
      "email,n,status,canonical\n=cmd@larch-and-oak.com,=1,ok,'=cmd@larch-and-oak.com\n" +
      "+49@larch-and-oak.com,+44,ok,'+49@larch-and-oak.com\n",
  });
});

test.each<[string[], string]>([
  [["--drop", "fake,empty"], "ann@larch-and-oak.com,1,ok\n"],
  [["--drop", "empty"], "ann@larch-and-oak.com,1,ok\nx@y,4,fake\n"],
  [["--only", "empty"], ",2,\nn/a,3,\n"],
  [["--only", "ok,empty"], "ann@larch-and-oak.com,1,ok\n,2,\nn/a,3,\n"],
  [["--drop", "fake,empty", "--dedupe"], "ann@larch-and-oak.com,1,ok\n"],
])("--only and --drop choose rows without an item by the word empty: %j", async (args, rows) => {
  const stdin = "email,n\nann@larch-and-oak.com,1\n,2\nn/a,3\nx@y,4\n";
  expect(await idv(["emails", "-q", ...args], { stdin })).toMatchObject({ code: 0, stdout: `email,n,status\n${rows}` });
  expect((await idv(["emails", "-q", "--fail-on", "empty"], { stdin })).code).toBe(2);
});
