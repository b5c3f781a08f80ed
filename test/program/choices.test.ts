/** Covers what a run decides by itself, and what it refuses: formats by name, missing homes, options without effect. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { setQuota } from "../support/quota.js";
import { idv, program } from "../support/run-idv.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const list = "id;email\n1;ann@larch-and-oak.com\n2;b@mailinator.com\n";

function homeWith(files: Readonly<Record<string, string>>): string {
  const home = temporaryFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(home, name), content);
  return home;
}

describe("the name of the output", () => {
  test.each<[string, string, string]>([
    ["o.csv", list, "id;email;status\n1;ann@larch-and-oak.com;ok\n2;b@mailinator.com;disposable\n"],
    ["o.tsv", list, "id\temail\tstatus\n1\tann@larch-and-oak.com\tok\n2\tb@mailinator.com\tdisposable\n"],
    [
      "o.csv",
      list.replaceAll(";", "\t"),
      "id,email,status\n1,ann@larch-and-oak.com,ok\n2,b@mailinator.com,disposable\n",
    ],
    ["o.txt", list, "id;email;status\n1;ann@larch-and-oak.com;ok\n2;b@mailinator.com;disposable\n"],
    [
      "o.jsonl",
      list,
      '{"id":"1","email":"ann@larch-and-oak.com","status":"ok"}\n{"id":"2","email":"b@mailinator.com","status":"disposable"}\n',
    ],
    ["o.csv", '{"email":"b@mailinator.com"}\n', "email,status\nb@mailinator.com,disposable\n"],
  ])("%s decides its format: %j", async (name, input, expected) => {
    const home = homeWith({ l: input });
    const { code, stderr } = await idv(["emails", "l", "-o", name], { home });
    expect(code, stderr).toBe(0);
    expect(readFileSync(join(home, name), "utf8")).toBe(expected);
  });

  test.each([
    ["o.json", "name it .jsonl, with an object on each line"],
    ["o.parquet", "name it .csv, .tsv or .jsonl"],
    ["o.json.gz", "name it .jsonl"],
    ["o.csv.bz2", ".bz2 cannot be written"],
  ])("%s is refused before anything is read", async (name, advice) => {
    const home = homeWith({});
    const { code, stderr } = await idv(["emails", "missing", "-o", name], { home });
    expect({ code, isThere: existsSync(join(home, name)) }).toEqual({ code: 2, isThere: false });
    expect(stderr).toContain(advice);
  });

  test.each(["--report", "--split"])("%s - is refused before anything is read", async (option) => {
    const home = homeWith({});
    const { code, stderr } = await idv(["emails", "missing", option, "-"], { home });
    expect({ code, isThere: existsSync(join(home, "-")) }).toEqual({ code: 2, isThere: false });
    expect(stderr).toContain("It takes a path; for one that is -, write ./-.");
  });
});

test.each([
  ["29 %, which is not exact in binary", "fake:29%", 0],
  ["less", "fake:28%", 1],
  ["a status named twice", "fake,fake:29", 0],
])("29 of 100 rows against a limit of %s", async (_, limit, code) => {
  const fake = Array.from({ length: 29 }, (_, i) => `u${i}@gmial.com\n`).join("");
  const good = Array.from({ length: 71 }, (_, i) => `ann.keller${i}@larch-and-oak.com\n`).join("");
  const home = homeWith({ "l.csv": `email\n${fake}${good}` });
  const ended = await idv(["emails", "l.csv", "-q", "-o", "o.csv", "--fail-on", limit], { home });
  expect(ended.code, ended.stderr).toBe(code);
});

test("a file in place of the folder of --split is refused", async () => {
  const home = homeWith({ "l.csv": list, file: "" });
  const { code, stderr } = await idv(["emails", "l.csv", "--split", "file"], { home });
  expect([code, stderr.split("\n")]).toEqual([6, [expect.stringContaining("file"), ""]]);
});

test("standard output into the input is refused with a hint", () => {
  const home = homeWith({ "l.csv": list });
  const { status, stderr } = spawnSync(
    "sh",
    ["-c", '"$0" "$1" emails l.csv > l.csv', process.execPath, program],
    {
      cwd: home,
      env: { PATH: process.env["PATH"], HOME: home },
      encoding: "utf8",
    },
  );
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr:
      "idv: l.csv: standard output goes to the same file, which the shell has emptied; to replace a file, use -I\n",
  });
});

describe("without a home", () => {
  // Below a file and below /proc, root cannot create a folder either.
  test.each(["/dev/null/x", "/proc/x"])("%s a run is not counted, and says so", async (folder) => {
    const home = homeWith({ "l.csv": list });
    const env = { HOME: folder, XDG_STATE_HOME: "" };
    const { code, stdout, stderr } = await idv(["emails", "l.csv"], { home, env });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("2;b@mailinator.com;disposable\n");
    expect(stderr).toContain("cannot be created; nobody has set a limit, so nothing is counted\n");
    const doctor = await idv(["doctor"], { home, env });
    expect({ code: doctor.code, output: doctor.stdout + doctor.stderr }).toEqual({
      code: 2,
      output: expect.stringContaining("quota.db: cannot be created: "),
    });
  });

  test("a quota file that was named has to be there", async () => {
    const home = homeWith({ "l.csv": list });
    const { code } = await idv(["emails", "l.csv", "--quota", "/dev/null/q.db"], { home });
    expect(code).toBe(6);
  });
});

test("a limit below what is used says so", async () => {
  const home = homeWith({ "l.csv": list });
  await idv(["emails", "l.csv"], { home });
  const { stderr } = await idv(["quota", "set", "--limit", "1"], { home });
  expect(stderr).toBe(
    "idv: 2 units are used already, more than the limit: none is left until idv quota reset\n",
  );
});

test("options for a service are named once if the engine is offline", async () => {
  const { code, stderr } = await idv(["emails", "--rate", "5/s", "--cache=off"], {
    stdin: "ann@larch-and-oak.com\n",
  });
  expect(code).toBe(0);
  expect(stderr).toContain(
    "idv: --rate, --cache: for a service only; the offline engine does not need them\n",
  );
});

test("--fail-on no-rows writes nothing", async () => {
  const home = homeWith({ "l.csv": "email\n", "o.csv": "old\n" });
  const { code, stderr } = await idv(["emails", "l.csv", "-o", "o.csv", "--fail-on=no-rows"], { home });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: "idv: --fail-on no-rows: l.csv has no rows; nothing is written\n",
  });
  expect(readFileSync(join(home, "o.csv"), "utf8")).toBe("old\n");
  const args = ["emails", "--fail-on=no-rows", "--comment", "#"];
  const empty = await idv(args, { stdin: "email\n# no rows yet\n" });
  expect(empty).toMatchObject({ code: 1, stdout: "" });
  const filled = await idv(args, { stdin: "email\n# one row\nann@larch-and-oak.com\n" });
  expect(filled).toMatchObject({ code: 0, stdout: `email,status\n# one row\nann@larch-and-oak.com,ok\n` });
});

test("--bom, and --encoding of a table that Excel saved, start with a byte order mark", async () => {
  const marked = await idv(["emails", "--bom"], { stdin: "email\nann@larch-and-oak.com\n" });
  expect(marked.stdout).toBe("\xef\xbb\xbfemail,status\nann@larch-and-oak.com,ok\n");
  const again = await idv(["emails", "--bom"], { stdin: Buffer.from(marked.stdout, "latin1") });
  expect(again.stdout).toBe("\xef\xbb\xbfemail,status,idv_status\nann@larch-and-oak.com,ok,ok\n");
  const lines = await idv(["emails", "--bom", "--format", "jsonl"], { stdin: "\ufeffemail\na@@b\n" });
  expect(lines.stdout).toBe('\xef\xbb\xbf{"email":"a@@b","status":"fake"}\n');
  const stdin = Buffer.from("Name;email\r\nJ\xfcrg;ann@larch-and-oak.com\r\n", "latin1");
  const excel = await idv(["emails", "--encoding", "windows-1252"], { stdin });
  expect(Buffer.from(excel.stdout, "latin1").toString()).toBe(
    "\ufeffName;email;status\r\nJürg;ann@larch-and-oak.com;ok\r\n",
  );
});

test("--wait waits for the quota of the offline engine", async () => {
  const home = homeWith({ "l.csv": "email\na@mailinator.com\nb@mailinator.com\n" });
  await setQuota(home, { limit: 1, period: "hour" });
  const { code, stderr } = await idv(["emails", "l.csv", "--wait", "1ms"], { home });
  expect(code).toBe(2);
  expect(stderr).toContain("--wait");
  const short = await idv(["emails", "l.csv", "--wait", "1s"], { home });
  expect(short.code).toBe(4);
});
