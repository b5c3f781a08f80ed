/** Covers bad rows, --split, --escape-formulas and files that are replaced in place. */
import { execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readQuota } from "../support/quota.js";
import { finished, idv, program, startIdv } from "../support/run-idv.js";
import { temporaryFolder } from "../support/temporary-folder.js";

function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const home = temporaryFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(home, name), content);
  return home;
}
const read = (home: string, name: string) => readFileSync(join(home, name), "utf8");

const broken =
  'id,email\n1,ann@larch-and-oak.com\n2,a@b.net,x\n3\n4,"x@mailinator.com\n5,bob@larch-and-oak.com\n';
const open =
  "a quoted field is never closed; the quote opens in column 2 of the record that starts here; close it or double it";
const wide =
  "3 fields where the header has 2; quote the fields that hold the delimiter, or name the delimiter with -d";
const narrow =
  "1 field where the table has 2; complete the row, or leave --set ragged=error out to have it padded";

describe("bad rows", () => {
  test("end the run at the first one by default", async () => {
    const home = folderWith({ list: broken });
    const { code, stderr } = await idv(["emails", "list", "-o", "o"], { home });
    expect({ code, stderr }).toEqual({ code: 6, stderr: `idv: list:3: ${wide}\n` });
  });

  test.each<[string, string[], string, string[]]>([
    [
      "are skipped with --bad-rows skip",
      ["--bad-rows", "skip:bad.csv"],
      "id,email,status\n1,ann@larch-and-oak.com,ok\n3,,\n5,bob@larch-and-oak.com,ok\n",
      [`list:3: ${wide}`, `list:5: ${open}`],
    ],
    [
      "are copied unchanged with --bad-rows keep",
      ["--bad-rows", "keep:bad.csv"],
      'id,email,status\n1,ann@larch-and-oak.com,ok\n2,a@b.net,x\n3,,\n4,"x@mailinator.com\n5,bob@larch-and-oak.com,ok\n',
      [`list:3: ${wide}`, `list:5: ${open}`],
    ],
    [
      "include short rows with --set ragged=error",
      ["--bad-rows", "skip:bad.csv", "--set", "ragged=error"],
      "id,email,status\n1,ann@larch-and-oak.com,ok\n5,bob@larch-and-oak.com,ok\n",
      [`list:3: ${wide}`, `list:4: ${narrow}`, `list:5: ${open}`],
    ],
  ])("%s", async (_, args, output, messages) => {
    const home = folderWith({ list: broken });
    const { code, stdout, stderr } = await idv(["emails", "list", "-q", ...args], { home });
    expect({ code, stdout }).toEqual({ code: 0, stdout: output });
    expect(stderr).toBe(messages.map((message) => `idv: ${message}\n`).join(""));
    expect(read(home, "bad.csv").split("\n")[1]).toBe(`list,3,"${wide}","2,a@b.net,x"`);
  });

  test("are not charged, but counted in the summary", async () => {
    const home = folderWith({ list: broken });
    const args = ["emails", "list", "--bad-rows", "keep", "--log", "json", "-q"];
    const { stderr } = await idv(args, { home });
    expect(JSON.parse(stderr.split("\n")[2] ?? "")).toMatchObject({
      rows: 3,
      badRows: 2,
      distinct: 2,
      units: { used: 2 },
    });
  });

  describe("a quote without its partner", () => {
    const rows = Array.from({ length: 300 }, (_, i) => `${i},ann${i}@larch-and-oak.com,x`);
    const list = rows.with(5, '5,"ann5@larch-and-oak.com,x').with(290, '290,"ann290@larch-and-oak.com,x');
    const content = `id,email,note\n${list.join("\n")}\n`;
    const first =
      "list:7: a quote opens in column 2 and 285 lines follow inside it; close it or double it, or trust all quotes with --quote '\"'";

    test.each([[[]], [["--update"]]])("ends the run with %j, before anything is written", async (args) => {
      const home = folderWith({ list: content });
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
      const home = folderWith({ list: content });
      const { code, stdout, stderr } = await idv(["emails", "list", "--bad-rows", policy, ...args], { home });
      expect(code).toBe(0);
      expect(stderr).toContain(`idv: ${first}\n`);
      expect(stderr).toContain("idv: list:292: a quoted field is never closed");
      const lines = stdout.trimEnd().split("\n").slice(1);
      expect(lines.filter((line) => /,ok(,|$)/.test(line))).toHaveLength(298);
      expect(lines).toHaveLength(policy === "keep" ? 300 : 298);
    });

    test("is the same in a table of several blocks, in threads and in batches", async () => {
      const many = Array.from(
        { length: 300_000 },
        (_, i) => `${i},ann${i % 9}@larch-and-oak.com,${"x".repeat(80)}`,
      );
      for (const i of [9000, 9001, 120_000, 250_000]) many[i] = many[i]!.replace(",ann", ',"ann');
      const home = folderWith({ list: `id,email,note\n${many.join("\n")}\n` });
      const runs = await Promise.all(
        [[], ["-c", "email", "-c", "note"]].map((args) =>
          idv(["emails", "list", "--bad-rows", `skip:bad${args.length}`, "-q", ...args], { home }),
        ),
      );
      for (const { code, stdout } of runs) {
        expect({ code, lines: stdout.split("\n").length }).toEqual({ code: 0, lines: 1 + 300_000 - 4 + 1 });
      }
      expect(read(home, "bad0")).toBe(read(home, "bad4"));
      expect(read(home, "bad0").match(/^list,\d+/gm)).toEqual([
        "list,9002",
        "list,9003",
        "list,120002",
        "list,250002",
      ]);
    });

    test("is trusted with --quote", async () => {
      const home = folderWith({ list: content });
      const { code, stdout } = await idv(["emails", "list", "-q", "--quote", '"', "--bad-rows", "skip"], {
        home,
      });
      expect(code).toBe(0);
      expect(stdout.match(/,ok$/gm)).toHaveLength(14);
    });
  });

  test.each<[string, string, string[], string]>([
    ["'", `'Lee, Ann',ann@larch-and-oak.com`, ["skip", "--quote", '"'], `pass --quote "'"`],
    [
      "backslashes",
      String.raw`"Ann \"A, B\" Lee, PhD",ann@larch-and-oak.com`,
      ["keep", "--quote", '"'],
      `pass --quote '"\\'`,
    ],
    [
      "quotes that were given wrongly",
      `"Lee, Ann",ann@larch-and-oak.com`,
      ["skip", "--quote", "'"],
      "leave --quote out",
    ],
    [
      "delimiters that are not quoted",
      "Lee, Ann, PhD,ann@larch-and-oak.com",
      ["skip"],
      "check the quotes and the delimiter",
    ],
  ])("of which most come from %s end the run before it is charged", async (_, row, args, advice) => {
    const home = folderWith({ "list.csv": `name,email\n${`${row}\n`.repeat(300)}` });
    const { code, stdout, stderr } = await idv(["emails", "list.csv", "--bad-rows", ...args], { home });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(
      /^idv: list\.csv: (?:299 of the first 299|300 of the first 300) rows are bad \(list\.csv:2: /,
    );
    expect(stderr.trimEnd().endsWith(`; ${advice}`), stderr).toBe(true);
    expect((await readQuota(home)).used).toBe(0);
    expect((await idv(["emails", "list.csv", "-q", "--force", "--bad-rows", ...args], { home })).code).toBe(
      0,
    );
  });

  test.each([
    ["5,Bob,,bob@larch-and-oak.com,x,", "6 fields where the header has 4", "skip"],
    [
      "5;Bob,bob@larch-and-oak.com,x",
      "3 fields where the header has 4; the item is in field 2; add or remove a delimiter",
      "keep",
    ],
  ])("are those out of step: %s", async (row, message, policy) => {
    const rows = Array.from({ length: 9 }, (_, i) => `${i},Ann,ann${i}@larch-and-oak.com,x`);
    const home = folderWith({ list: `id,name,email,note\n${[...rows, row].join("\n")}\n` });
    const { code, stdout, stderr } = await idv(["emails", "list", "-q", "--bad-rows", policy], { home });
    expect(code).toBe(0);
    expect(stderr).toContain(`idv: list:11: ${message}`);
    expect(stdout.match(/,ok$/gm)).toHaveLength(9);
    expect(stdout).not.toContain("fake");
  });

  test("after the first 20 are only counted, while a file gets all", async () => {
    const good = "4,ann@larch-and-oak.com\n".repeat(1000);
    const home = folderWith({ list: `id,email\n${"1,2,3\n".repeat(30)}${good}${"1,2,3\n".repeat(49_970)}` });
    const args = ["emails", "list", "--bad-rows", "skip:bad.csv"];
    const { stdout, stderr } = await idv(args, { home });
    expect(stdout).toBe(`id,email,status\n${good.replaceAll("\n", ",ok\n")}`);
    expect(stderr.split("\n").slice(19, 22)).toEqual([
      `idv: list:21: ${wide}`,
      "idv: more bad rows are only counted",
      'list: 1,000 rows, 1 distinct e-mail address in column 2 "email"; offline engine (no key is configured)',
    ]);
    expect(stderr).toContain("\n50,000 bad rows: 50,000 too many fields (lines 2, 3, 4 ...)\n");
    expect(read(home, "bad.csv").split("\n")).toHaveLength(50_002);
  });

  test.each(["skip", "keep"])("include a line of 40 MB with --bad-rows %s", async (policy) => {
    const long = `2,${"x".repeat(40_000_000)}`;
    const home = folderWith({
      list: `id,email\n1,ann@larch-and-oak.com\n${long}\n3,bob@larch-and-oak.com\n`,
    });
    const { code, stderr } = await idv(["emails", "list", "-q", "--bad-rows", policy, "-o", "o"], { home });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "idv: list:3: the record that starts here is over 1 MiB; a quote in it may never be closed\n",
    });
    const kept = policy === "keep" ? `${long}\n` : "";
    const expected = `id,email,status\n1,ann@larch-and-oak.com,ok\n${kept}3,bob@larch-and-oak.com,ok\n`;
    expect(read(home, "o") === expected).toBe(true);
  });

  test.each(["--format=csv", "--split=d"])("cannot be kept with %s", async (option) => {
    const { code, stderr } = await idv(["emails", "--bad-rows", "keep", option]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "idv: --bad-rows keep needs the format of FILE and one output; use --bad-rows skip\n",
    });
  });
});

test.each<[string, string[]]>([
  ["cannot be the file of bad rows and the output", ["-o", "o.csv", "--bad-rows", "skip:o.csv"]],
  ["cannot be the file of bad rows and the quota file", ["--quota", "o.csv", "--bad-rows", "skip:o.csv"]],
  ["cannot be the output and the quota file", ["--quota", "o.csv", "-o", "o.csv"]],
  ["cannot be the input and the file of bad rows", ["--bad-rows", "skip:list"]],
])("a file %s at once", async (what, args) => {
  const home = folderWith({ list: broken, "o.csv": "old" });
  const { code, stderr } = await idv(["emails", "list", ...args], { home });
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `idv: ${args.at(-1)!.replace("skip:", "")}: ${what} at once\n`,
  });
  expect([read(home, "list"), read(home, "o.csv")]).toEqual([broken, "old"]);
});

test("short rows of a very wide table are padded in bounded memory", async () => {
  const rows = 300;
  const width = 100_000;
  const home = folderWith({
    list: `email${",".repeat(width - 1)}\n${"ann@larch-and-oak.com\n".repeat(rows)}`,
  });
  const args = ["-c", 'ulimit -v 2500000; exec "$@"', "_", process.execPath, program];
  const child = spawn("bash", [...args, "emails", "list", "-q", "-o", "o"], {
    cwd: home,
    env: { PATH: process.env["PATH"], HOME: home },
  });
  expect(await finished(child)).toMatchObject({ code: 0, stderr: "" });
  expect(statSync(join(home, "o")).size).toBe((21 + width + 3) * rows + 5 + width - 1 + 8);
});

describe("--split", () => {
  const list = "id,email\n1,ann@larch-and-oak.com\n2,x@mailinator.com\n3,\n4,bob@larch-and-oak.com\n";

  test("writes a file for each status, to which the next run appends with --append", async () => {
    const home = folderWith({ list });
    for (const run of [1, 2]) {
      const append = run === 1 ? [] : ["--append"];
      const { code, stdout } = await idv(["emails", "list", "-q", "--split", "d", ...append], {
        home,
      });
      expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
      const rows = (text: string) => `id,email,status\n${text.repeat(run)}`;
      expect(readdirSync(join(home, "d")).sort()).toEqual(["disposable.csv", "empty.csv", "ok.csv"]);
      expect(read(home, "d/ok.csv")).toBe(rows("1,ann@larch-and-oak.com,ok\n4,bob@larch-and-oak.com,ok\n"));
      expect(read(home, "d/disposable.csv")).toBe(rows("2,x@mailinator.com,disposable\n"));
      expect(read(home, "d/empty.csv")).toBe(rows("3,,\n"));
    }
  });

  test("refuses the files of an earlier run, before anything is charged", async () => {
    const home = folderWith({ list });
    await idv(["emails", "list", "-q", "--split", "d"], { home });
    const before = read(home, "d/ok.csv");
    const { code, stderr } = await idv(["emails", "list", "-q", "--split", "d"], { home });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        "idv: d/ok.csv: has the rows of an earlier run; empty the folder, or add to its files with --append\n",
    });
    expect(read(home, "d/ok.csv")).toBe(before);
    expect((await readQuota(home)).used).toBe(3);
  });

  test("works with --drop, --dedupe and --format jsonl", async () => {
    const home = folderWith({ list: `${list}5,ann@larch-and-oak.com\n` });
    const options = ["--split", "d", "--format", "jsonl", "--drop", "disposable", "--dedupe"];
    expect((await idv(["emails", "list", "-q", ...options], { home })).code).toBe(0);
    expect(readdirSync(join(home, "d")).sort()).toEqual(["empty.jsonl", "ok.jsonl"]);
    expect(read(home, "d/ok.jsonl").split("\n")).toHaveLength(3);
  });

  test("changes no file if the run fails", async () => {
    const home = folderWith({ list, bad: `${list}6,a,b\n` });
    await idv(["emails", "list", "-q", "--split", "d"], { home });
    const before = read(home, "d/ok.csv");
    expect((await idv(["emails", "bad", "-q", "--split", "d", "--append"], { home })).code).toBe(6);
    expect(read(home, "d/ok.csv")).toBe(before);
    expect(readdirSync(join(home, "d"))).toHaveLength(3);
  });

  test("leaves no temporary file if SIGINT arrives while the files are opened", async () => {
    const home = folderWith({ list });
    mkdirSync(join(home, "d"));
    const old = `id,email,status\n${"9,old@larch-and-oak.com,ok\n".repeat(6_000_000)}`;
    writeFileSync(join(home, "d/ok.csv"), old);
    const child = startIdv(["emails", "list", "--split", "d", "--append"], { home });
    const ended = finished(child);
    while (child.exitCode === null && !readdirSync(join(home, "d")).some((name) => name.endsWith(".tmp"))) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    child.kill("SIGINT");
    const { code } = await ended;
    expect(code).toBe(130);
    expect(readdirSync(join(home, "d"))).toEqual(["ok.csv"]);
    expect(statSync(join(home, "d/ok.csv")).size).toBe(old.length);
  });

  test("completes a last line without a line end, and rejects another header", async () => {
    const home = folderWith({ list });
    mkdirSync(join(home, "d"));
    writeFileSync(join(home, "d/ok.csv"), "id,email,status\n0,old@larch-and-oak.com,ok");
    expect((await idv(["emails", "list", "-q", "--split", "d", "--append"], { home })).code).toBe(0);
    expect(read(home, "d/ok.csv").split("\n").slice(1, 3)).toEqual([
      "0,old@larch-and-oak.com,ok",
      "1,ann@larch-and-oak.com,ok",
    ]);
    writeFileSync(join(home, "d/ok.csv"), "id,name,email,status\n");
    const { code, stderr } = await idv(["emails", "list", "-q", "--split", "d", "--append"], { home });
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr: "idv: d/ok.csv: its header differs from this table's; split into another folder\n",
    });
  });
});

describe("a bad row that an earlier run kept", () => {
  const good = Array.from({ length: 20 }, (_, i) => `${i},A,p${i}@larch-and-oak.com`);
  const bad = ["20,Lee, Ann,ann@larch-and-oak.com", "21,B,y,bob@larch-and-oak.com"];
  const first = { "list.csv": `id,name,email\n${[...good, ...bad].join("\n")}\n` };

  test("is none that --update takes for validated", async () => {
    const home = folderWith(first);
    const keep = ["-q", "--bad-rows", "keep"];
    expect((await idv(["emails", "list.csv", "-o", "a.csv", ...keep], { home })).code).toBe(0);
    const validated = readFileSync(join(home, "a.csv"), "utf8");
    expect(validated.split("\n").slice(21, 23)).toEqual(bad);
    const lines = `${validated}22,C,c@mailinator.com,\n`;
    writeFileSync(join(home, "a.csv"), lines);

    const refused = await idv(["emails", "a.csv", "--update", "-o", "b.csv"], { home });
    expect({ code: refused.code, isWritten: existsSync(join(home, "b.csv")) }).toEqual({
      code: 6,
      isWritten: false,
    });
    expect(refused.stderr).toContain('a.csv:22: the column "status" has a field that is no status');

    const kept = await idv(["emails", "a.csv", "--update", "--bad-rows", "keep"], { home });
    expect(kept.stdout).toBe(lines.replace("c@mailinator.com,", "c@mailinator.com,disposable"));
    expect(kept.stderr).toContain("2 bad rows: 2 out of step");
    const skipped = await idv(["emails", "a.csv", "-q", "--update", "--bad-rows", "skip"], { home });
    expect(skipped.stdout.split("\n")).toHaveLength(23);
    expect((await readQuota(home)).used).toBe(22);
  });

  test("of JSON Lines end the run before it is charged if most are bad", async () => {
    const home = folderWith({
      "l.jsonl": `{"email":"ann@larch-and-oak.com"}\n${"{'email':'bob@larch-and-oak.com'}\n".repeat(30)}`,
    });
    const { code, stderr } = await idv(["emails", "l.jsonl", "--bad-rows", "skip"], { home });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        "idv: l.jsonl: 30 of the first 31 rows are bad (l.jsonl:2: not a JSON object); write an object on each line\n",
    });
    expect((await idv(["emails", "l.jsonl", "-q", "--bad-rows", "skip", "--force"], { home })).code).toBe(0);
  });

  test("is annotated", async () => {
    const { stderr } = await idv(["emails", "list.csv", "-q", "--log", "github", "--bad-rows", "skip"], {
      home: folderWith(first),
    });
    expect(
      stderr.match(/^::error file=list\.csv,line=2[23]::bad row: 4 fields where the header has 3/gm),
    ).toHaveLength(2);
  });
});

test("--escape-formulas escapes only the added fields", async () => {
  const stdin = "email,n\n=cmd@larch-and-oak.com,=1\n+49@larch-and-oak.com,+44\n";
  const { stdout } = await idv(["emails", "-q", "--canonical", "--escape-formulas"], { stdin });
  expect(stdout).toBe(
    "email,n,status,canonical\n=cmd@larch-and-oak.com,=1,ok,'=cmd@larch-and-oak.com\n" +
      "+49@larch-and-oak.com,+44,ok,'+49@larch-and-oak.com\n",
  );
});

test.each<[string[], string]>([
  [["--drop", "fake,empty"], "ann@larch-and-oak.com,1,ok\n"],
  [["--drop", "empty"], "ann@larch-and-oak.com,1,ok\nx@y,4,fake\n"],
  [["--only", "empty"], ",2,\nn/a,3,\n"],
  [["--only", "ok,empty"], "ann@larch-and-oak.com,1,ok\n,2,\nn/a,3,\n"],
  [["--drop", "fake,empty", "--dedupe"], "ann@larch-and-oak.com,1,ok\n"],
])("rows without an item are chosen as empty: %j", async (args, rows) => {
  const stdin = "email,n\nann@larch-and-oak.com,1\n,2\nn/a,3\nx@y,4\n";
  const { stdout, code } = await idv(["emails", "-q", ...args], { stdin });
  expect({ stdout, code }).toEqual({ stdout: `email,n,status\n${rows}`, code: 0 });
  expect((await idv(["emails", "-q", "--fail-on", "empty"], { stdin })).code).toBe(2);
});

describe("a file that is replaced", () => {
  const list = "email\nann@larch-and-oak.com\n";

  test("through a symbolic link stays in its place, as does the link", async () => {
    const home = folderWith({});
    mkdirSync(join(home, "real"));
    writeFileSync(join(home, "real/list"), list);
    symlinkSync("real/list", join(home, "link"));
    expect((await idv(["emails", "-q", "-I", "link"], { home })).code).toBe(0);
    expect(read(home, "real/list")).toBe("email,status\nann@larch-and-oak.com,ok\n");
    expect(readdirSync(home).sort()).toEqual(["link", "real", "state"]);
  });

  test.skipIf(!existsSync("/dev/shm"))("may be on another device than the link to it", async () => {
    const home = folderWith({});
    const shared = mkdtempSync("/dev/shm/idv-test-");
    try {
      writeFileSync(join(shared, "list"), list);
      symlinkSync(join(shared, "list"), join(home, "link"));
      const outcome = await idv(["emails", "-q", "-I.bak", "link"], { home });
      expect(outcome).toMatchObject({ code: 0, stderr: "" });
      const columns = "email,status\nann@larch-and-oak.com,ok\n";
      expect(readFileSync(join(shared, "list"), "utf8")).toBe(columns);
      expect(read(home, "link.bak")).toBe(list);
    } finally {
      rmSync(shared, { recursive: true });
    }
  });

  test("must not be read-only", async () => {
    const home = folderWith({ list });
    execFileSync("chmod", ["-R", "a+rwX", home]);
    execFileSync("chmod", ["444", join(home, "list")]);
    const asSomebody = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    const { code, stderr } = await idv(["emails", "-q", "-I", "list"], { home, ...asSomebody });
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr: "idv: list: is read-only; make it writable, or write elsewhere with -o\n",
    });
    expect(read(home, "list")).toBe(list);
  });

  test("must be a regular file", async () => {
    const home = folderWith({});
    execFileSync("mkfifo", [join(home, "fifo")]);
    const child = startIdv(["emails", "-q", "-I", "fifo"], { home });
    const writer = spawn("sh", ["-c", "echo email > fifo"], { cwd: home });
    const { code, stderr } = await finished(child);
    writer.kill();
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr: "idv: fifo: not a regular file; cannot be replaced; use -o\n",
    });
  });

  test("is left unchanged if it grows while it is read", async () => {
    const home = folderWith({ list: `email\n${"ann@larch-and-oak.com\n".repeat(400_000)}` });
    const { size } = statSync(join(home, "list"));
    const child = startIdv(["emails", "-q", "-I", "list"], { home });
    const ended = finished(child);
    while (child.exitCode === null) {
      appendFileSync(join(home, "list"), "late@larch-and-oak.com\n");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { code, stderr } = await ended;
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr: "idv: list has changed while it was read; it is left as it is now; run again\n",
    });
    expect(statSync(join(home, "list")).size).toBeGreaterThan(size);
    expect(readdirSync(home).sort()).toEqual(["list", "state"]);
  });
});
