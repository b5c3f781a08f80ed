/** Covers idv emails and idv domains on fixtures, in pipes, with files, and what they print; test/cli/bulk/tables.test.ts has more. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readQuota } from "../../support/quota.js";
import { command, finished, fixtures, idv, shellCommand, startIdv } from "../../support/run-idv.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";

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
  const line = `cat "$1" | ${shellCommand} emails -c email -q | head -2; echo "\${PIPESTATUS[@]}"`;
  const args = ["-c", line, "bash", `${fixtures}newsletter.csv`];
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
  const line = `${shellCommand} emails "$1" | head -1; echo "\${PIPESTATUS[@]}"`;
  const output = execFileSync("bash", ["-c", `{ ${line}; } 2>&1`, "bash", list], {
    env: { PATH: process.env["PATH"], HOME: home },
    encoding: "utf8",
  });
  expect(output).toBe("id,email,status\n0 0\n");
});

describe("options", () => {
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
      hiddenRows: null,
      otherElements: null,
      badRows: 0,
      badRowKinds: [],
      dialect: { delimiter: null, quote: '"', escape: '"', skipsSpaces: false },
      kind: "domain",
      engine: "offline",
      engineReason: "no key is configured",
      requests: null,
      dns: null,
      elsewhere: null,
      column: 1,
      columnName: null,
      otherColumns: [],
      passedOver: [],
      emptied: 0,
      marked: 0,
      repairable: 0,
      notUtf8: 0,
      kept: 0,
      outvoted: { count: 0, lines: [] },
      seconds: expect.any(Number),
      rows: 2,
      written: 2,
      empty: 0,
      distinct: 2,
      distinctStatuses: { ok: 1, disposable: 1 },
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

  test("--log json:FILE does not wait for the reader of a named pipe, and ends with 6", async () => {
    const home = folderOf({ "a.csv": "email\nann@larch-and-oak.com\n" });
    execFileSync("mkfifo", [join(home, "pipe")]);
    const { code, stderr } = await idv(["emails", "a.csv", "-q", "--log", "json:pipe"], { home });
    expect([code, stderr]).toEqual([6, expect.stringContaining("pipe: cannot be written: ENXIO")]);
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
    const words = [...command, "emails", "a.csv", "-q", "--log", "json", ...options];
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
    const rows = Array.from({ length: 9000 }, (_, i) => `user${i}@larch-and-oak.com\n`);
    const stdin = `email\n${rows.join("")}`;
    const child = startIdv(["emails", "--log", "json"]);
    const outcome = finished(child);
    child.stdin?.write(stdin);
    // The input stays open until the run has said how far it is.
    let said = "";
    await new Promise<void>((resolve) => {
      child.stderr?.on("data", (part: Buffer) => {
        said += part;
        if (said.includes('"rows":9000')) resolve();
      });
    });
    child.stdin?.end();
    const lines = (await outcome).stderr
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
    expect((await idv(["emails", "--log", "plain"], { stdin })).stderr).not.toContain("idv: 9,000 rows");
    const { code, stderr } = await idv(["emails", "--log", "loud"]);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("text, plain, json, github, none"),
    });
  });
});

test.skipIf(process.platform !== "linux")(
  "lines that the shell appends to a file end with a line break",
  () => {
    const home = folderOf({ l: "ann@larch-and-oak.com" });
    const append = (to: string) =>
      execFileSync("sh", ["-c", `"$@" -q l ${to}`, "_", ...command, "emails"], {
        cwd: home,
        env: { HOME: home, XDG_STATE_HOME: home },
      });
    append("> new");
    for (let run = 0; run < 2; run++) append(">> all");
    expect(readFileSync(join(home, "new"), "utf8")).toBe("ann@larch-and-oak.com,ok");
    expect(readFileSync(join(home, "all"), "utf8")).toBe("ann@larch-and-oak.com,ok\n".repeat(2));
  },
);
