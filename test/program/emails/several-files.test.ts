/** Covers runs over several files that fail late or are stopped; test/cli/bulk/several-files.test.ts has the rest. */
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lockStore } from "../../support/lock-store.js";
import { readQuota, setQuota } from "../../support/quota.js";
import { finished, idv, startIdv } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";

const [a, b] = [
  "id,email\n1,x@mailinator.com\n2,ann@larch-and-oak.com\n",
  "email\nx@mailinator.com\ny@mailinator.com\n",
];

const read = (home: string, name: string) => readFileSync(join(home, name), "utf8");

describe("several files", () => {
  test("go to a folder under their names, and an item in two is charged once", async () => {
    const home = folderOf({ "a.csv": a, "b.csv": b });
    const { code, stdout, stderr } = await idv(["emails", "a.csv", "b.csv", "-o", "checked/"], { home });
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: "" });
    expect(readdirSync(join(home, "checked"))).toEqual(["a.csv", "b.csv"]);
    expect(read(home, "checked/b.csv")).toBe(
      "email,status\nx@mailinator.com,disposable\ny@mailinator.com,disposable\n",
    );
    expect(stderr).toContain("2 files: 4 rows, 3 distinct e-mail addresses\n");
    expect((await readQuota(home)).used).toBe(3);
  });

  test("count one that fails when it is written as failed", async () => {
    const home = folderOf({ "a.csv": a, "b.csv": b });
    await setQuota(home, { limit: 9 });
    const release = await lockStore(join(home, "state/idv/quota.db"));
    const child = startIdv(["emails", "a.csv", "b.csv", "-I", "--dedupe"], { home });
    const outcome = finished(child);
    const isOpen = () => readdirSync(home).some((name) => name.endsWith(".tmp"));
    await expect.poll(isOpen).toBe(true);
    // Noticed before the file is replaced, after all of its items are charged.
    appendFileSync(join(home, "a.csv"), "3,x\n");
    await release();
    const { code, stderr } = await outcome;
    expect(code, stderr).toBe(6);
    expect(stderr).toContain("idv: a.csv has changed while it was read");
    // With x@mailinator.com left out, that row would be in no output.
    expect(read(home, "b.csv")).toBe(b);
    expect(stderr).toContain("idv: b.csv: not validated, because --dedupe compares all files");
    expect(stderr).toContain("2 files, 2 failed: 0 rows, no e-mail addresses\n");
  });

  test("end with one line on a signal", async () => {
    const home = folderOf({ "a.csv": a, "b.csv": b });
    await setQuota(home, { limit: 9 });
    const release = await lockStore(join(home, "state/idv/quota.db"));
    const child = startIdv(["emails", "-q", "a.csv", "b.csv", "-o", "out/"], { home });
    const outcome = finished(child);
    const isOpen = () => existsSync(join(home, "out")) && readdirSync(join(home, "out")).length > 0;
    await expect.poll(isOpen).toBe(true);
    child.kill("SIGTERM");
    expect(await outcome).toEqual({
      ...{ code: 143, stdout: "" },
      stderr:
        "idv: stopped by SIGTERM; the file at hand was not written; no units are used; to start again, run: idv emails -q a.csv b.csv -o out/\n",
    });
    expect(readdirSync(join(home, "out"))).toEqual([]);
    await release();
  });
});
