/** Covers runs that fail before or while they read: one line on standard error, the exit code, and the old output unchanged. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readQuota, setQuota } from "../../support/quota.js";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";
import { isFull } from "../../support/tier.js";

const list = "email\nann@larch-and-oak.com\n";

/** Creates a folder with an old output file, which every failure must leave unchanged. */
const folderWith = (files: Readonly<Record<string, string | Buffer>> = {}) => folderOf({ "out.csv": "old", ...files });

const openQuote =
  "a quoted field is never closed; the quote opens in column 2 of the record that starts here; close it or double it";
const tooWide =
  "3 fields where the header has 2; quote the fields that hold the delimiter, name the delimiter with -d, or leave such rows out with --bad-rows skip";
const noQuotaFile = "q.db: not a quota file of idv; left unchanged; use another file";

/** test/table/long-records.test.ts shows in the quick tier that it is a bad row, with this message. */
const longRecord = (): [string, string[], Record<string, string>] => [
  "l.csv:3: the record that starts here is over 64 MiB; a quote in it may never be closed",
  ["l.csv"],
  { "l.csv": `a,email\n1,a@b.de\n${"x".repeat(67_200_000)},c@d.de\n` },
];

async function expectFailure(
  message: string,
  code: number,
  args: readonly string[],
  files: Readonly<Record<string, string | Buffer>> = { "l.csv": list },
) {
  const home = folderWith(files);
  const failed = await idv(["emails", ...args, "-o", "out.csv"], { home });
  expect(failed).toEqual({ code, stdout: "", stderr: `idv: ${message}\n` });
  expect(readFileSync(join(home, "out.csv"), "utf8")).toBe("old");
  expect(readdirSync(home).filter((name) => name.endsWith(".tmp"))).toEqual([]);
}

describe("a failed run prints one line and keeps the old output", () => {
  test.each(
    Object.entries({
      'no column "mail" (did you mean "email"?); the columns are 1 "email"': "l.csv -c mail",
      '--delimiter: "ab" is invalid. It takes one ASCII character other than " and line ends, or none.': "l.csv -d ab",
      '--delimiter: """ is invalid. It takes one ASCII character other than " and line ends, or none.': 'l.csv -d "',
      '--column: "" is invalid. It must not be empty.': "l.csv -c ",
      "unknown option --offlin (did you mean --offline?); see idv emails --help": "l.csv --offlin",
      '--fail-on: "bad" is invalid. Did you mean fake,disposable? Statuses of emails: ok, alias, disposable, fake, quota_exceeded, no-rows.':
        "l.csv --fail-on ok,bad",
      '--log: "xml" is invalid. It takes one of text, plain, json, github, none, debug, json:FILE, gitlab:FILE, sarif:FILE.':
        "l.csv --log xml",
      "fake: values are joined by commas, as in --drop disposable,fake": "--drop disposable fake l.csv",
      "./l.csv: is named twice; leave out one of them": "l.csv ./l.csv",
      "out.csv: cannot be the output and the quota file at once": "l.csv --quota ./out.csv",
    }),
  )("%s", (message, words) => expectFailure(message, 2, words.split(" ")));

  test.each(
    Object.entries({
      'no column looks like e-mail addresses; the columns are 1 "a", 2 "b"; name one with -c': "a,b\n1,2\n",
      'no column looks like e-mail addresses; the columns are 1 "a", 2 "shop"; for the domains of column 2, run idv domains, or name one with -c':
        "a,shop\n1,web.de\n2,mailinator.com\n",
      '2 columns fit equally well: 1 "a", 2 "b"; choose one with -c, or all with -c "*"': "a,b\na@b.de,c@d.de\n",
      "l.csv: not text: mostly NUL bytes; if it is UTF-16 without a byte order mark, pass --encoding utf-16le":
        Buffer.alloc(5_000_000),
      'no column looks like e-mail addresses; the columns are 1 "a\\u{1b}[2J", 2 "b"; name one with -c':
        "a\u001b[2J,b\n1,2\n",
    }),
  )("%s", (message, content) => expectFailure(message, 2, ["l.csv"], { "l.csv": content }));

  test.each<[string, string[], Record<string, string>?]>([
    ["missing.csv: cannot be read: no such file", ["missing.csv"]],
    ["m.csv: cannot be read: no such file", ["l.csv", "m.csv"]],
    [".: is a folder; name a file", ["."]],
    [`l.csv:3: ${openQuote}`, ["l.csv"], { "l.csv": 'a,email\n1,a@b.de\n2,"c@d.de\n' }],
    [`l.csv:2: ${tooWide}`, ["l.csv"], { "l.csv": "a,email\n1,a@b.de,x\n" }],
    ...(isFull ? [longRecord()] : []),
    [noQuotaFile, ["l.csv", "--quota", "q.db"], { "l.csv": list, "q.db": "x".repeat(5000) }],
  ])("%s", (message, args, files) => expectFailure(message, 6, args, files));

  test.each([[[]], [["--dry-run"]]])("a file that is not written costs nothing %j", async (args) => {
    const home = folderWith({ "l.csv": 'a,email\n1,a@b.de\n2,c@d.de\n3,"e@f.de\n' });
    await setQuota(home, { limit: 9 });
    expect(await idv(["emails", "l.csv", "-o", "out.csv", ...args], { home })).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/^idv: l\.csv:4: a quoted field is never closed; .*; close it or double it\n$/),
    });
    expect(await readQuota(home)).toMatchObject({ used: 0 });
  });

  test.each([
    ["--report", "none/r.html"],
    ["--log", "json:none/l.json"],
    ["--log", "sarif:none/x.sarif"],
  ])("and pays for nothing if there is no folder for %s %s", async (option, value) => {
    const path = value.replace(/^\w+:/, "");
    await expectFailure(`${path}: cannot be written: the folder does not exist`, 6, ["l.csv", option, value]);
    const home = folderWith({ "l.csv": list });
    const sides = [option, value.replace("none", "out")];
    expect((await idv(["emails", "l.csv", "-o", "out/", ...sides, "-q"], { home })).code).toBe(0);
    expect(readdirSync(join(home, "out")).toSorted()).toEqual(["l.csv", path.replace("none/", "")].toSorted());
  });

  test.each(["--split s --log json:s/l.json", "-o t/u/ --log json:t/l.json", "-o v/ --bad-rows skip:v/b.csv"])(
    "but has the folder of %s",
    async (words) => {
      const args = ["emails", "l.csv", ...words.split(" "), "-q"];
      expect(await idv(args, { home: folderWith({ "l.csv": list }) })).toMatchObject({ code: 0, stderr: "" });
    },
  );

  test.each([
    ["in a missing folder", "none/out.csv", "none/out.csv: cannot be written: the folder does not exist"],
    ["that is a folder", "folder", "folder: is a folder; name a file in it"],
    ["on a full device", "/dev/full", "/dev/full: cannot be written: no space left on the device"],
  ])("an output %s", async (_, output, message) => {
    const home = folderWith({ "l.csv": list });
    mkdirSync(join(home, "folder"));
    expect(await idv(["emails", "l.csv", "-o", output], { home })).toMatchObject({
      code: 6,
      stderr: `idv: ${message}\n`,
    });
  });
});

describe("with --log json, each line on standard error is an object", () => {
  const linesOf = (stderr: string) =>
    stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

  test.each<[string, readonly string[], Readonly<Record<string, unknown>>]>([
    ["an unknown option", ["emails", "--log", "json", "--nope"], { code: "usage", exitCode: 2 }],
    ["a format in capitals", ["emails", "no.csv", "--log", "JSON"], { code: "file" }],
    ["a missing file", ["emails", "no.csv", "--log=json"], { code: "file", exitCode: 6 }],
    ["options that exclude each other", ["emails", "-d", ";", "--quote", ";", "--log", "json"], { code: "usage" }],
  ])("of %s", async (_, args, expected) => {
    const { code, stderr } = await idv(args);
    const lines = linesOf(stderr);
    expect(lines).toEqual([expect.objectContaining({ type: "error", ...expected })]);
    expect(code).toBe(lines[0]!["exitCode"]);
    expect(lines[0]!["message"]).not.toMatch(/^idv:/);
  });

  test.each<[string, string, readonly string[], object]>([
    ["a bad row", "id,email\n1,ann@larch-and-oak.com\n2,b,c\n", [], { code: "row", at: { line: 3 } }],
    ["a broken document", '[{"email":"ann@larch-and-oak.com"},\n{]', [], { code: "table", at: { line: 2, column: 2 } }],
    ["no such column", "a,b\nann@web.de,x\n", ["-c", "9"], { code: "column" }],
    ["no items", "a,b\n1,2\n", [], { code: "column" }],
    ["another column", `email,b\n${"n/a,x@web.de\n".repeat(2)}`, ["-c", "email"], { code: "items" }],
    ["a PDF", "%PDF-1.7\n", [], { code: "format" }],
  ])("of %s, with its code, its place and words without options", async (_, stdin, options, expected) => {
    const { stderr } = await idv(["emails", "--log", "json", ...options], { stdin });
    const fault = linesOf(stderr).at(-1)!;
    expect(fault).toMatchObject({ type: "error", ...expected });
    expect(fault["plain"]).not.toMatch(/ -\w\b|--\w/);
  });

  test("of a file with notes", async () => {
    const stdin = Buffer.from("\ufeffemail,status\nann@larch-and-oak.com,old\n", "utf16le");
    const { code, stderr } = await idv(["emails", "--log", "json"], { stdin });
    expect(linesOf(stderr).map(({ type }) => type)).toEqual(["note", "note", "summary"]);
    expect(code).toBe(0);
  });
});
