/** Covers what a run decides by itself, and what it refuses: missing homes, options without effect. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { setQuota } from "../../support/quota.js";
import { idv, shellCommand } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";

const list = "id;email\n1;ann@larch-and-oak.com\n2;b@mailinator.com\n";

test("a file in place of the folder of --split is refused", async () => {
  const home = folderOf({ "l.csv": list, file: "" });
  const { code, stderr } = await idv(["emails", "l.csv", "--split", "file"], { home });
  expect([code, stderr.split("\n")]).toEqual([6, [expect.stringContaining("file"), ""]]);
});

test("standard output into the input is refused with a hint", () => {
  const home = folderOf({ "l.csv": list });
  const { status, stderr } = spawnSync("sh", ["-c", `${shellCommand} emails l.csv > l.csv`], {
    cwd: home,
    env: { PATH: process.env["PATH"], HOME: home },
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr:
      "idv: l.csv: standard output goes to the same file, which the shell has emptied; to replace a file, use -I\n",
  });
});

describe("without a home", () => {
  // Below a file and below /proc, root cannot create a folder either.
  test.each(["/dev/null/x", "/proc/x"])("%s a run counts no units, and says so", async (folder) => {
    const home = folderOf({ "l.csv": list });
    const env = { HOME: folder, XDG_STATE_HOME: "" };
    const { code, stdout, stderr } = await idv(["emails", "l.csv"], { home, env });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("2;b@mailinator.com;disposable\n");
    expect(stderr).toMatch(
      /^idv: .*quota\.db: the quota file cannot be opened: .*; nobody has set a limit, so nothing is counted$/m,
    );
    const doctor = await idv(["doctor"], { home, env });
    expect({ code: doctor.code, output: doctor.stdout + doctor.stderr }).toEqual({
      code: 2,
      output: expect.stringContaining("quota.db: cannot be created: "),
    });
  });

  test("a run fails if the file given with --quota cannot be created", async () => {
    const home = folderOf({ "l.csv": list });
    const { code } = await idv(["emails", "l.csv", "--quota", "/dev/null/q.db"], { home });
    expect(code).toBe(6);
  });
});

test("a limit below what is used says so", async () => {
  const home = folderOf({ "l.csv": list });
  await idv(["emails", "l.csv"], { home });
  const { stderr } = await idv(["quota", "set", "--limit", "1"], { home });
  expect(stderr).toBe("idv: 2 units are used already, more than the limit: none is left until idv quota reset\n");
});

test("options for a service are named once if the engine is offline", async () => {
  const { code, stderr } = await idv(["emails", "--set", "rate=5/s", "--cache=off"], {
    stdin: "ann@larch-and-oak.com\n",
  });
  expect(code).toBe(0);
  expect(stderr).toContain("idv: --cache, --set rate: for a service only; the offline engine does not need them\n");
});

test("--fail-on no-rows writes nothing", async () => {
  const home = folderOf({ "l.csv": "email\n", "o.csv": "old\n" });
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

test("--wait waits for the quota of the offline engine", async () => {
  const home = folderOf({ "l.csv": "email\na@mailinator.com\nb@mailinator.com\n" });
  await setQuota(home, { limit: 1, period: "hour" });
  const { code, stderr } = await idv(["emails", "l.csv", "--wait", "1ms"], { home });
  expect(code).toBe(2);
  expect(stderr).toContain("--wait");
  const short = await idv(["emails", "l.csv", "--wait", "1s"], { home });
  expect(short.code).toBe(4);
});
