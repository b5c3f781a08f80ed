/** Covers what a run decides by itself, and what it refuses: missing homes, options without effect. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startInShell } from "../../support/processes.js";
import { setQuota } from "../../support/quota.js";
import { finished, idv } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";

const list = "id;email\n1;ann@larch-and-oak.com\n2;b@mailinator.com\n";

test("a file in place of the folder of --split is refused", async () => {
  const home = folderOf({ "l.csv": list, file: "" });
  const { code, stderr } = await idv(["emails", "l.csv", "--split", "file"], { home });
  expect([code, stderr.split("\n")]).toEqual([6, [expect.stringContaining("file"), ""]]);
});

test.each([
  ["l.csv > l.csv", "l.csv: standard output goes to the same file, which the shell has emptied"],
  ["l.csv >> l.csv", "l.csv: standard output goes to the same file"],
  ["< l.csv >> l.csv", "standard input: standard output goes to the same file"],
])("standard output into the input is refused with a hint: %s", async (words, reason) => {
  const outcome = await finished(startInShell(`idv emails ${words}`, [], folderOf({ "l.csv": list })));
  expect(outcome).toMatchObject({ code: 2, stderr: `idv: ${reason}; to replace a file, use -I\n` });
});

describe("without a home", () => {
  // Below a file and below /proc, root cannot create a folder either.
  test.each(["/dev/null/x", "/proc/x"])("%s a run counts no units, and says so", async (folder) => {
    const home = folderOf({ "l.csv": list });
    const env = { HOME: folder, XDG_STATE_HOME: "" };
    const note = /^idv: .*quota\.db: the quota file cannot be opened: .*; no limit is set, so units are not counted$/m;
    const rows = expect.stringContaining("2;b@mailinator.com;disposable\n");
    const counted = { code: 0, stdout: rows, stderr: expect.stringMatching(note) };
    expect(await idv(["emails", "l.csv"], { home, env })).toEqual(counted);
    const { code, stdout, stderr } = await idv(["doctor"], { home, env });
    expect([code, stdout + stderr]).toEqual([2, expect.stringContaining("quota.db: cannot be created: ")]);
  });

  test("a run fails if the file given with --quota cannot be created", async () => {
    const home = folderOf({ "l.csv": list });
    expect((await idv(["emails", "l.csv", "--quota", "/dev/null/q.db"], { home })).code).toBe(6);
  });
});

test("a limit below what is used says so", async () => {
  const home = folderOf({ "l.csv": list });
  await idv(["emails", "l.csv"], { home });
  const { stderr } = await idv(["quota", "set", "--limit", "1"], { home });
  expect(stderr).toBe("idv: 2 units are used already, more than the limit; none are left until idv quota reset\n");
});

test("options for a service are named once if the engine is offline", async () => {
  const outcome = await idv(["emails", "--set", "rate=5/s", "--cache=off"], { stdin: "ann@larch-and-oak.com\n" });
  const remark = "idv: --cache, --set rate: for a service only; the offline engine does not need them\n";
  expect(outcome).toMatchObject({ code: 0, stderr: expect.stringContaining(remark) });
});

test("--fail-on no-rows writes nothing", async () => {
  const home = folderOf({ "l.csv": "email\n", "o.csv": "old\n" });
  const failed = await idv(["emails", "l.csv", "-o", "o.csv", "--fail-on=no-rows"], { home });
  const stderr = "idv: --fail-on no-rows: l.csv has no rows; nothing is written\n";
  expect(failed).toMatchObject({ code: 1, stderr });
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
  const refused = await idv(["emails", "l.csv", "--wait", "1ms"], { home });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--wait") });
  expect((await idv(["emails", "l.csv", "--wait", "1s"], { home })).code).toBe(4);
});
