/** Covers runs over tables: options, summaries, annotations and odd input. */
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";

describe("options", () => {
  const table = "id,email,status,email\n1,ann@larch-and-oak.com,new,bob@mailinator.com\n";

  test.each<[string, string[], string]>([
    ["-c takes an index", ["-c", "2"], "1,ann@larch-and-oak.com,new,bob@mailinator.com,ok"],
    [
      "-c takes a name and its occurrence",
      ["-c", "email[2]"],
      "1,ann@larch-and-oak.com,new,bob@mailinator.com,disposable",
    ],
  ])("%s", async (_, args, record) => {
    const { stdout, code } = await idv(["emails", ...args], { stdin: table });
    expect(stdout.split("\n")[1]).toBe(record);
    expect(code).toBe(0);
  });

  test("a table with the status column of an earlier run gets a notice about --update", async () => {
    const { stdout: first } = await idv(["emails", "-q"], { stdin: "email\nann@larch-and-oak.com\n" });
    const { stderr } = await idv(["emails", "--explain", "--log", "none"], { stdin: first });
    expect(stderr).toBe(
      'idv: standard input has a column "status" already; ours is "idv_status"; to go on with an earlier run, use --update\n',
    );
    const updated = await idv(["emails", "-q", "--update"], { stdin: first });
    expect(updated.stdout).toBe(first);
  });

  test("--only cannot be used with --drop", async () => {
    const { code, stderr } = await idv(["emails", "--only", "ok", "--drop", "fake"]);
    expect(stderr).toBe(
      "idv: option '--only <STATUS,...>' cannot be used with option '--drop <STATUS,...>'\n",
    );
    expect(code).toBe(2);
  });

  test("statusColumn names the added column", async () => {
    const { stdout } = await idv(["emails", "--set", "statusColumn=verdict"], {
      stdin: "email\nann@mailinator.com\n",
    });
    expect(stdout).toBe("email,verdict\nann@mailinator.com,disposable\n");
  });

  test("-n makes the first record a row, in which the name of a column is no item", async () => {
    const { stdout } = await idv(["emails", "-n"], { stdin: "email\nann@mailinator.com\n" });
    expect(stdout).toBe("email,\nann@mailinator.com,disposable\n");
  });

  test.each([
    [":", "1:ann@mailinator.com\n", "1:ann@mailinator.com:disposable\n"],
    ["\\t", "1\tann@mailinator.com\n", "1\tann@mailinator.com\tdisposable\n"],
    ["tab", "1\tann@mailinator.com\n", "1\tann@mailinator.com\tdisposable\n"],
  ])("-d %s sets the delimiter", async (delimiter, input, output) => {
    expect((await idv(["emails", "-d", delimiter], { stdin: input })).stdout).toBe(output);
  });

  const bad =
    'id,email\n1,ann@larch-and-oak.com\n2,"x,y@gmial.com"\n3,bob%b@hotmial.com\n4,"Lee <x@mailinator.com>"\n';

  test.each<[string, number, string]>([
    ["disposable,fake:2", 1, "idv: --fail-on: rows found: 1 disposable, 2 fake (more than 2)\n"],
    ["disposable:3,fake", 0, ""],
    ["disposable,fake:74.9%", 1, "idv: --fail-on: rows found: 1 disposable, 2 fake (more than 74.9 %)\n"],
    ["disposable,fake:75%", 0, ""],
    ["no-rows,disposable:1", 0, ""],
    ["disposable:0", 1, "idv: --fail-on: rows found: 1 disposable (more than 0)\n"],
  ])("--fail-on %s allows some bad rows", async (condition, exitCode, message) => {
    const { code, stderr } = await idv(["emails", "-q", "--fail-on", condition], { stdin: bad });
    expect([code, stderr]).toEqual([exitCode, message]);
  });

  test.each(["2.5", "-1", "101%", "many"])("--fail-on fake:%s is rejected", async (value) => {
    const { code, stderr } = await idv(["emails", `--fail-on=fake:${value}`], { stdin: bad });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("a number of rows, or a share of at most 100 %: fake:20"),
    ]);
  });

  test("--log github names file and line of bad rows", async () => {
    const name = "a,b.csv";
    const home = folderOf({ [name]: bad });
    const { code, stderr } = await idv(["emails", name, "-q", "--log", "github"], { home });
    expect(code).toBe(0);
    expect(stderr).toBe(
      '::error file=a%2Cb.csv,line=3::x,y@gmial.com is fake (syntax: "," in the local part at 2)\n' +
        "::error file=a%2Cb.csv,line=4::bob%25b@hotmial.com is fake (typo-domain: hotmial.com)\n" +
        "::error file=a%2Cb.csv,line=5::x@mailinator.com is disposable (disposable-domain: mailinator.com)\n",
    );
  });

  test("--log github names the item of several that decides, and its reason", async () => {
    const stdin = 'email\n"ann@larch-and-oak.com; Bob <bob@mailinator.com>"\n';
    const args = ["emails", "-q", "--log", "github", "--fail-on", "disposable"];
    expect((await idv(args, { stdin })).stderr).toContain(
      "line=2::bob@mailinator.com is disposable (disposable-domain: mailinator.com)",
    );
  });

  test("--log github ends after fifty rows, with the lines of a large table", async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) =>
      i % 1000 === 999 ? "x@mailinator.com,y" : `u${i}@larch-and-oak.com,y`,
    );
    const home = folderOf({ "list.csv": `email,x\n${lines.join("\n")}\n` });
    const args = ["emails", "list.csv", "-q", "--log", "github", "--fail-on", "disposable"];
    const { code, stderr } = await idv(args, { home });
    const annotations = stderr.trim().split("\n");
    expect(code).toBe(1);
    expect(annotations.slice(0, 50).map((line) => /line=(\d+)/.exec(line)?.[1])).toEqual(
      Array.from({ length: 50 }, (_, i) => `${1000 * (i + 1) + 1}`),
    );
    expect(annotations.slice(50)).toEqual([
      "::notice file=list.csv::10 more rows are disposable",
      "idv: --fail-on: rows found: 60 disposable",
    ]);
  });

  test("--log json escapes every control character", async () => {
    const home = folderOf({ "a\u009b2J.csv": "email\n" });
    const { stderr } = await idv(["emails", "a\u009b2J.csv", "-o", "o.csv", "--log", "json", "-q"], {
      home,
    });
    expect(stderr).toContain('"input":"a\\u009b2J.csv"');
  });

  test("the text summary names reasons, domains and files", async () => {
    const home = folderOf({ "a.csv": "email\nbob@gmial.com\nann@hotmial.com\nx@mailinator.com\n" });
    const { stderr } = await idv(["emails", "a.csv", "--split", "by"], { home });
    expect(stderr).toContain(
      "fake: 2 mistyped domain\ndisposable domains: 1 mailinator.com\nwritten: by/fake.csv (",
    );
    expect(stderr).toContain("1 row with a mistyped domain; --fix repairs it\n");
    const missing = await idv(["emails", "a.csv", "--log", "json:no/such.jsonl"], { home });
    expect(missing.code).toBe(6);
    expect(missing.stdout).toContain(",fake\n");
    expect(missing.stderr).toContain("idv: no/such.jsonl: cannot be written: the folder does not exist");
  });
});

describe("odd input", () => {
  test("empty input gets a notice", async () => {
    const { code, stdout, stderr } = await idv(["emails", "--log", "none"]);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: "",
      stderr: "idv: standard input is empty\n",
    });
  });

  test("bytes that are not UTF-8 are kept, counted, and no fault of an item", async () => {
    const stdin = Buffer.from(
      "name,email\nJ\xfcrg,joerg@larch-and-oak.com\nJ,j\xfcrg@larch-and-oak.com\n",
      "latin1",
    );
    const { stdout, stderr } = await idv(["emails", "--explain"], { stdin });
    expect(stdout).toBe(
      "name,email,status,reason,suggestion\nJ\xfcrg,joerg@larch-and-oak.com,ok,,\n" +
        "J,j\xfcrg@larch-and-oak.com,ok,,\n",
    );
    expect(stderr).toContain("1 row has an item that is not UTF-8; pass --encoding windows-1252\n");
  });
});

test.each([
  ["29 %, which is not exact in binary", "fake:29%", 0],
  ["less", "fake:28%", 1],
  ["a status named twice", "fake,fake:29", 0],
])("--fail-on counts 29 of 100 rows against a limit of %s", async (_, limit, code) => {
  const fake = Array.from({ length: 29 }, (_, i) => `u${i}@gmial.com\n`).join("");
  const good = Array.from({ length: 71 }, (_, i) => `ann.keller${i}@larch-and-oak.com\n`).join("");
  const home = folderOf({ "l.csv": `email\n${fake}${good}` });
  const ended = await idv(["emails", "l.csv", "-q", "-o", "o.csv", "--fail-on", limit], { home });
  expect(ended.code, ended.stderr).toBe(code);
});

test.each(["__proto__", "constructor", "toString", "valueOf", "hasOwnProperty"])(
  "a column named %s is found if the table has it, and reported as missing if not",
  async (name) => {
    for (const list of ["email\nann@larch-and-oak.com\n", '{"email":"ann@larch-and-oak.com"}\n']) {
      const { code, stderr } = await idv(["emails", "-q", "-c", name], { stdin: list });
      expect(stderr).toMatch(/^idv: .*no column.*\n$/);
      expect(stderr).toContain(name);
      expect(code).toBe(2);
    }
    const table = `${name},n\nann@larch-and-oak.com,1\n`;
    const { stdout } = await idv(["emails", "-q", "-c", name], { stdin: table });
    expect(stdout).toBe(`${name},n,status\nann@larch-and-oak.com,1,ok\n`);
    const lines = `{"${name}":"ann@larch-and-oak.com"}\n`;
    expect((await idv(["emails", "-q", "-c", name], { stdin: lines })).stdout).toBe(
      `{"${name}":"ann@larch-and-oak.com","status":"ok"}\n`,
    );
  },
);
