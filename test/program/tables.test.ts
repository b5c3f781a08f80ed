/** Covers idv emails and idv domains on tables: fixtures, options, filters and summaries. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readQuota } from "../support/quota.js";
import { fixtures, idv } from "../support/run-idv.js";
import { folderOf, temporaryFolder } from "../support/temporary-folder.js";

const program = fileURLToPath(new URL("../../bin/idv.js", import.meta.url));
const utf8 = (binary: string) => Buffer.from(binary, "latin1").toString("utf8");

test("idv emails fixtures/customers.csv keeps semicolons, byte order mark and CRLF", async () => {
  const { code, stdout } = await idv(["emails", `${fixtures}customers.csv`]);
  const input = readFileSync(`${fixtures}customers.csv`, "utf8").split("\r\n");
  const statuses = ["status", "ok", "ok", "alias", "disposable", "fake", "", "fake", "ok", "ok"];
  expect(utf8(stdout)).toBe(
    input.map((line, i) => (line === "" ? "" : `${line};${statuses[i]}`)).join("\r\n"),
  );
  expect(code).toBe(0);
});

test("idv emails --explain fixtures/addresses.txt gives reasons and suggestions", async () => {
  const { code, stdout } = await idv(["emails", "--explain", `${fixtures}addresses.txt`]);
  expect(utf8(stdout)).toBe(`anna.adler@larch-and-oak.com,ok,,
Ben Brown <ben.brown@brightmill.co.uk>,ok,,
"""Costa, Clara"" <clara@campo-verde.es>",ok,,
mailto:david.dubois@atelier-rive.fr,ok,,
emma+news@fjordline-books.no,alias,sub-address: +news,
felix@mailinator.com,disposable,disposable-domain: mailinator.com,
felix@mail.mailinator.com,disposable,disposable-domain: mailinator.com,
grace.lee@gmial.com,fake,typo-domain: gmial.com,grace.lee@gmail.com
hugo@example.com,fake,special-use: example.com,
ines@duck.com,alias,relay: duckduckgo,
test@hotmail.com,fake,placeholder,
ann@gmail.com,fake,"impossible-mailbox: gmail.com needs 6 to 30 characters, letters and digits",
12345+octocat@users.noreply.github.com,fake,no-reply: users.noreply.github.com,
not an address,fake,syntax: a space in the local part at 4,
Anna.Adler@Larch-and-Oak.com,ok,,
jürgen@bücher-weber.de,ok,,
karin@team.fastmail.com,alias,sub-address: team.fastmail.com,
`);
  expect(code).toBe(0);
});

test("idv domains fixtures/domains.txt gives every domain its status", async () => {
  const { code, stdout } = await idv(["domains", `${fixtures}domains.txt`]);
  const lines = readFileSync(`${fixtures}domains.txt`, "utf8").trimEnd().split("\n");
  const statuses =
    "ok ok disposable disposable fake fake fake fake fake ok ok ok ok ok fake fake ok ok".split(" ");
  expect(utf8(stdout)).toBe(lines.map((line, i) => `${line},${statuses[i]}\n`).join(""));
  expect(code).toBe(0);
});

test("cat list.csv | idv emails -c email | head -2 ends without an error", () => {
  const line = `cat "$1" | "$2" "$3" emails -c email -q | head -2; echo "\${PIPESTATUS[@]}"`;
  const args = ["-c", line, "bash", `${fixtures}newsletter.csv`, process.execPath, program];
  const home = temporaryFolder();
  const output = execFileSync("bash", args, {
    env: { PATH: process.env["PATH"], HOME: home },
    encoding: "utf8",
  });
  expect(output).toBe(
    "subscriber_id,first_name,last_name,email,country,source,subscribed_at,opens,note,status\n" +
      '10001,Jonas,Eriksen,jonas.eriksen@orange.fr,IT,checkout,2026-07-12,27,"asked for\n0 0 0\n',
  );
});

test("a run ends silently when the reader of its output stops early", () => {
  const home = temporaryFolder();
  const list = join(home, "list.csv");
  writeFileSync(
    list,
    `id,email\n${Array.from({ length: 300_000 }, (_, i) => `${i},user${i}@larch-and-oak.com\n`).join("")}`,
  );
  const line = `"$2" "$3" emails "$1" | head -1; echo "\${PIPESTATUS[@]}"`;
  const output = execFileSync("bash", ["-c", `{ ${line}; } 2>&1`, "bash", list, process.execPath, program], {
    env: { PATH: process.env["PATH"], HOME: home },
    encoding: "utf8",
  });
  expect(output).toBe("id,email,status\n0 0\n");
});

describe("options", () => {
  const table = "id,email,status,email\n1,ann@larch-and-oak.com,new,bob@mailinator.com\n";

  test.each<[string, string[], string]>([
    ["-c takes an index", ["-c", "2"], "1,ann@larch-and-oak.com,new,bob@mailinator.com,ok"],
    [
      "-c takes a name and its occurrence",
      ["-c", "email[2]"],
      "1,ann@larch-and-oak.com,new,bob@mailinator.com,disposable",
    ],
    [
      "--explain adds the reason and the suggestion",
      ["-c", "4", "--explain"],
      "1,ann@larch-and-oak.com,new,bob@mailinator.com,disposable,disposable-domain: mailinator.com,",
    ],
  ])("%s", async (_, args, record) => {
    const { stdout, code } = await idv(["emails", ...args], { stdin: table });
    expect(stdout.split("\n")[1]).toBe(record);
    expect(code).toBe(0);
  });

  test("a table with a status column gets idv_status and a notice", async () => {
    const { stdout, stderr } = await idv(["emails", "-c", "2", "--log", "none"], { stdin: table });
    expect(stdout.split("\n")[0]).toBe("id,email,status,email,idv_status");
    expect(stderr).toBe('idv: standard input has a column "status" already; ours is "idv_status"\n');
  });

  test("which is told of --update if that column is of an earlier run", async () => {
    const { stdout: first } = await idv(["emails", "-q"], { stdin: "email\nann@larch-and-oak.com\n" });
    const { stderr } = await idv(["emails", "--explain", "--log", "none"], { stdin: first });
    expect(stderr).toBe(
      'idv: standard input has a column "status" already; ours is "idv_status"; to go on with an earlier run, use --update\n',
    );
    const updated = await idv(["emails", "-q", "--update"], { stdin: first });
    expect(updated.stdout).toBe(first);
  });

  const mixed = "email\nann@larch-and-oak.com\nbob@mailinator.com\n\nANN@larch-and-oak.com\nbroken\n";

  test.each<[string[], string]>([
    [["--only", "ok"], "ann@larch-and-oak.com,ok\nANN@larch-and-oak.com,ok\n"],
    [["--only", "disposable,fake"], "bob@mailinator.com,disposable\nbroken,fake\n"],
    [["--drop", "disposable,fake"], "ann@larch-and-oak.com,ok\n,\nANN@larch-and-oak.com,ok\n"],
    [["--dedupe"], "ann@larch-and-oak.com,ok\nbob@mailinator.com,disposable\n,\nbroken,fake\n"],
    [["--dedupe", "--only", "ok"], "ann@larch-and-oak.com,ok\n"],
  ])("%j selects rows", async (args, rows) => {
    const { stdout, stderr } = await idv(["emails", "--log", "json", ...args], { stdin: mixed });
    expect(stdout).toBe(`email,status\n${rows}`);
    expect(JSON.parse(stderr)).toMatchObject({
      rows: 5,
      written: rows.split("\n").length - 1,
      distinct: 3,
    });
  });

  describe("--update with --dedupe", () => {
    const earlier = [
      ...["id,email,status", "1,ann.lee@gmail.com,ok", "2,,ok", "3,annlee+1@gmail.com,alias"],
      ...["4,Ann.Lee@gmail.com,ok", "5,x@mailinator.com,disposable", "6,bob@larch-and-oak.com,", ""],
    ].join("\n");

    test.each([
      [["--dedupe"], [1, 2, 3, 5, 6]],
      [
        ["--dedupe=canonical", "--drop", "disposable"],
        [1, 2, 6],
      ],
    ])("%j keeps the first row of each item, whether or not it keeps its status", async (args, ids) => {
      const home = temporaryFolder();
      writeFileSync(join(home, "l.csv"), earlier);
      const expected = earlier
        .replace("oak.com,\n", "oak.com,ok\n")
        .split("\n")
        .filter((line) => !/^\d/.test(line) || ids.includes(Number(line[0])));
      for (const night of [1, 2]) {
        const { code, stderr } = await idv(["emails", "-I", "--update", ...args, "l.csv"], { home });
        expect(code, stderr).toBe(0);
        expect(readFileSync(join(home, "l.csv"), "utf8"), `night ${night}`).toBe(expected.join("\n"));
      }
      expect(await readQuota(home)).toMatchObject({ used: 1 });
    });

    test("looks at rows of the files before, although they keep their statuses", async () => {
      const home = temporaryFolder();
      for (const name of ["a.csv", "b.csv"])
        writeFileSync(join(home, name), earlier.replace("oak.com,\n", "oak.com,ok\n"));
      await idv(["emails", "-I", "--update", "--dedupe", "a.csv", "b.csv"], { home });
      expect(readFileSync(join(home, "b.csv"), "utf8")).toBe("id,email,status\n2,,ok\n");
    });
  });

  test("--dedupe looks at the first of several columns", async () => {
    const stdin = "a,b\nann@larch-and-oak.com,bob@larch-and-oak.com\nbob@larch-and-oak.com,\n";
    const { stdout } = await idv(["emails", "-c", "a", "-c", "b", "--dedupe"], { stdin });
    expect(stdout.split("\n")).toHaveLength(4);
  });

  test("--only cannot be used with --drop", async () => {
    const { code, stderr } = await idv(["emails", "--only", "ok", "--drop", "fake"], { stdin: mixed });
    expect(stderr).toBe(
      "idv: option '--only <STATUS,...>' cannot be used with option '--drop <STATUS,...>'\n",
    );
    expect(code).toBe(2);
  });

  test("--status-column names the added column", async () => {
    const { stdout } = await idv(["emails", "--status-column", "verdict"], {
      stdin: "email\nann@mailinator.com\n",
    });
    expect(stdout).toBe("email,verdict\nann@mailinator.com,disposable\n");
  });

  test("-n takes the first record for a row, but the name of a column for no item", async () => {
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

  test("-o writes to the file and not to standard output", async () => {
    const home = temporaryFolder();
    writeFileSync(join(home, "list.csv"), "email\nann@mailinator.com\n");
    const { stdout, code } = await idv(["emails", "list.csv", "-o", "out.csv", "-q"], { home });
    expect({ stdout, code }).toEqual({ stdout: "", code: 0 });
    expect(readFileSync(join(home, "out.csv"), "utf8")).toBe("email,status\nann@mailinator.com,disposable\n");
    expect(readdirSync(home).sort()).toEqual(["list.csv", "out.csv", "state"]);
  });

  test.each<[string[], string[]]>([
    [["-I", "list.csv"], []],
    [["list.csv", "--in-place"], []],
    [["-I.bak", "list.csv"], ["list.csv.bak"]],
    [["--in-place=~", "list.csv"], ["list.csv~"]],
  ])("%j replaces the file", async (args, backups) => {
    const home = temporaryFolder();
    writeFileSync(join(home, "list.csv"), "email\nann@mailinator.com\n");
    const { stdout, stderr, code } = await idv(["emails", "-q", ...args], { home });
    expect({ stdout, stderr, code }).toEqual({ stdout: "", stderr: "", code: 0 });
    expect(readFileSync(join(home, "list.csv"), "utf8")).toBe(
      "email,status\nann@mailinator.com,disposable\n",
    );
    expect(readdirSync(home).sort()).toEqual(["list.csv", ...backups, "state"]);
    for (const name of backups) {
      expect(readFileSync(join(home, name), "utf8")).toBe("email\nann@mailinator.com\n");
    }
  });

  test.each([
    [["-I"], "--in-place needs a FILE; standard input cannot be replaced"],
    [["-I", "-"], "--in-place needs a FILE; standard input cannot be replaced"],
    [
      ["-I", "l.csv", "-o", "x"],
      "option '-I, --in-place [=SUFFIX]' cannot be used with option '-o, --output <FILE>'",
    ],
    [["-I/no/where", "l.csv"], "l.csv/no/where: cannot be written: its folder is a file"],
    [["-I.d", "l.csv"], "l.csv.d: is a folder; choose another name for the copy"],
    [["-I.d/none/x", "l.csv"], "l.csv.d/none/x: cannot be written: the folder does not exist"],
  ])("%j is rejected", async (args, message) => {
    const home = temporaryFolder();
    writeFileSync(join(home, "l.csv"), "ann@mailinator.com\n");
    mkdirSync(join(home, "l.csv.d"));
    const { stdout, stderr } = await idv(["emails", ...args], { home });
    expect({ stdout, stderr }).toEqual({ stdout: "", stderr: `idv: ${message}\n` });
    expect(await readQuota(home)).toMatchObject({ used: 0 });
    expect(readFileSync(join(home, "l.csv"), "utf8")).toBe("ann@mailinator.com\n");
    expect(readdirSync(home).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test.each<[string[], string, number]>([
    [["--fail-on", "disposable"], "ann@mailinator.com\n", 1],
    [["--fail-on", "fake, disposable"], "ann@mailinator.com\n", 1],
    [["--fail-on", "fake"], "ann@mailinator.com\n", 0],
    [["--fail-on", "fake,alias,disposable"], "ann@larch-and-oak.com\n", 0],
  ])("%j sets the exit code", async (args, stdin, expected) => {
    const { code, stdout, stderr } = await idv(["emails", "-q", ...args], { stdin });
    expect(code).toBe(expected);
    expect(stdout).toMatch(/@/);
    expect(stderr).toBe(expected === 1 ? "idv: --fail-on: rows found: 1 disposable\n" : "");
  });

  test("--log text is the default", async () => {
    const { stderr } = await idv(["emails"], { stdin: "email\nann@mailinator.com\n\nANN@mailinator.com\n" });
    expect(stderr.replace(/\d+\.\d\d s, .*/, "TIME")).toBe(
      'standard input: 3 rows, 1 distinct e-mail address in column 1 "email"; offline engine (no key is configured)\n' +
        "  disposable                2\n" +
        "  (empty)                   1\n" +
        "disposable domains: 2 mailinator.com\n" +
        "1 unit used, no limit; TIME\n",
    );
  });

  test("--log json prints the summary even with -q", async () => {
    const { stderr } = await idv(["domains", "-q", "--log", "json"], {
      stdin: "mailinator.com\nduck.com\n",
    });
    expect(JSON.parse(stderr)).toEqual({
      type: "summary",
      input: "standard input",
      linesLeftOut: 0,
      emptyFormulas: null,
      badRows: 0,
      badRowKinds: [],
      dialect: { delimiter: null, quote: '"', escape: '"', skipsSpaces: false },
      kind: "domain",
      engine: "offline",
      engineReason: "no key is configured",
      requests: null,
      dns: null,
      column: 1,
      columnName: null,
      otherColumns: [],
      passedOver: [],
      emptied: 0,
      notUtf8: 0,
      kept: 0,
      outvoted: { count: 0, lines: [] },
      seconds: expect.any(Number),
      rows: 2,
      written: 2,
      empty: 0,
      distinct: 2,
      cached: 0,
      prechecked: 0,
      statuses: { ok: 1, disposable: 1, fake: 0, quota_exceeded: 0 },
      reasons: { "disposable-domain": 1 },
      topDomains: [{ domain: "mailinator.com", items: 1 }],
      files: [],
      units: { used: 2, paidBefore: 0, left: null, renews: null },
    });
  });

  test("--log json:FILE adds a line of JSON for each file, whatever else --log says", async () => {
    const home = folderOf({
      "a.csv": "email\nann@larch-and-oak.com\nbob@gmial.com\n",
      "b.csv": "email\nx@y.z\n",
    });
    const options = ["--log", "json:runs.jsonl", "-q", "--bad-rows", "skip:bad.csv"];
    await idv(["emails", "a.csv", "-o", "out.csv", ...options], { home });
    await idv(["emails", "b.csv", "-I.old", "--explain", ...options], { home });
    const [first, second] = readFileSync(join(home, "runs.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(first).toMatchObject({ input: "a.csv", rows: 2, reasons: { "typo-domain": 1 } });
    expect(first.files).toEqual(
      ["out.csv", "bad.csv"].map((path) => ({ path, bytes: statSync(join(home, path)).size })),
    );
    expect(second.files.map(({ path }: { path: string }) => path)).toEqual(["b.csv", "b.csv.old", "bad.csv"]);
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
    expect([code, stderr]).toEqual([2, expect.stringContaining("a number of rows or a share: fake:20")]);
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

  test("--log json:does not wait for the reader of a named pipe", async () => {
    const home = folderOf({ "a.csv": "email\nann@larch-and-oak.com\n" });
    execFileSync("mkfifo", [join(home, "pipe")]);
    const { code, stderr } = await idv(["emails", "a.csv", "-q", "--log", "json:pipe"], { home });
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("pipe: the summary cannot be written: ENXIO"),
    ]);
    expect((await idv(["completion", "suggest", "--", "emails", "pipe", "-c", ""], { home })).code).toBe(0);
  });

  test.each<[string, string[], Record<string, string>]>([
    ["with own lists of mailboxes there", ["--allow", "allow.txt"], {}],
    ["where WebAssembly cannot run", ["--allow", "allow.txt"], { LIMIT: "2500000" }],
  ])("counts items at disposable domains %s", async (_, options, { LIMIT = "unlimited" }) => {
    const home = folderOf({
      "a.csv": `email\n${"a@mailinator.com\n".repeat(50)}good@mailinator.com\nLee <b@x.mooo.com>\n`,
      "allow.txt": "good@mailinator.com\n",
    });
    const words = [process.execPath, program, "emails", "a.csv", "-q", "--log", "json", ...options];
    const { stderr } = spawnSync("bash", ["-c", `ulimit -v ${LIMIT}; exec "$@"`, "_", ...words], {
      cwd: home,
      env: { HOME: home, PATH: process.env["PATH"] },
    });
    expect(JSON.parse(stderr.toString()).topDomains).toEqual([
      { domain: "mailinator.com", items: 50 },
      { domain: "mooo.com", items: 1 },
    ]);
  });

  test("--log json and plain say how far the run is, off a terminal too", async () => {
    const command = (mode: string) =>
      `(echo email; seq -f 'user%g@larch-and-oak.com' 9000; sleep ${mode === "json" ? 2.5 : 0}) |
        '${process.execPath}' '${program}' emails --log ${mode} > /dev/null`;
    const run = (mode: string) =>
      spawnSync("bash", ["-c", command(mode)], {
        env: { HOME: temporaryFolder(), PATH: process.env["PATH"] },
      });
    const lines = run("json")
      .stderr.toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({ type: "summary", rows: 9000 });
    expect(lines.at(-2)).toEqual({
      type: "progress",
      rows: 9000,
      share: null,
      seconds: expect.any(Number),
      units: 9000,
      cached: 0,
      statuses: { ok: 9000 },
    });
    // The first line comes after ten seconds.
    expect(run("plain").stderr.toString()).not.toContain("idv: 9,000 rows");
    const { code, stderr } = await idv(["emails", "--log", "loud"]);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("text, plain, json, github, none"),
    });
  });

  test("the text summary names reasons, domains and files", async () => {
    const home = folderOf({ "a.csv": "email\nbob@gmial.com\nann@hotmial.com\nx@mailinator.com\n" });
    const { stderr } = await idv(["emails", "a.csv", "--split", "by"], { home });
    expect(stderr).toContain(
      "fake: 2 mistyped domain\ndisposable domains: 1 mailinator.com\nwritten: by/fake.csv (",
    );
    expect(stderr).toContain("2 rows with a mistyped domain; --explain adds suggestions\n");
    const missing = await idv(["emails", "a.csv", "--log", "json:no/such.jsonl"], { home });
    expect(missing.code).toBe(0);
    expect(missing.stderr).toContain("idv: no/such.jsonl: the summary cannot be written: ENOENT");
  });

  test("-q prints nothing", async () => {
    expect((await idv(["emails", "-q"], { stdin: "ann@mailinator.com\n" })).stderr).toBe("");
  });
});

describe("odd input", () => {
  test("a header without rows gets the added column", async () => {
    const { code, stdout } = await idv(["emails"], { stdin: "id,email\n" });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "id,email,status\n" });
  });

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
