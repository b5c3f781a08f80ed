/** Covers runs over several files that fail late or are stopped; test/cli/bulk/several-files.test.ts has the rest. */
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lockStore } from "../../support/lock-store.js";
import { killedWhen } from "../../support/processes.js";
import { setQuota } from "../../support/quota.js";
import { finished, startIdv } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";

const b = "email\nx@mailinator.com\ny@mailinator.com\n";
const files = { "a.csv": "id,email\n1,x@mailinator.com\n2,ann@larch-and-oak.com\n", "b.csv": b };

describe("several files", () => {
  test("count one that fails when it is written as failed", async () => {
    const home = folderOf(files);
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
    for (const part of [
      ...["idv: a.csv changed while it was read", "2 files, 2 failed: 0 rows, no e-mail addresses\n"],
      "idv: b.csv: not validated: a.csv failed, and --dedupe compares all files",
    ]) {
      expect(stderr).toContain(part);
    }
    // With x@mailinator.com left out, that row would be in no output.
    expect(readFileSync(join(home, "b.csv"), "utf8")).toBe(b);
  });

  test("end with one line on a signal", async () => {
    const home = folderOf(files);
    await setQuota(home, { limit: 9 });
    const release = await lockStore(join(home, "state/idv/quota.db"));
    const child = startIdv(["emails", "-q", "a.csv", "b.csv", "-o", "out/"], { home });
    const isOpen = () => existsSync(join(home, "out")) && readdirSync(join(home, "out")).length > 0;
    const outcome = await killedWhen(child, isOpen, "SIGTERM");
    const advice = "no units are used; to start again, run: idv emails -q a.csv b.csv -o out/";
    const stderr = `idv: stopped by SIGTERM; the file at hand was not written; ${advice}\n`;
    expect(outcome).toEqual({ code: 143, stdout: "", stderr });
    expect(readdirSync(join(home, "out"))).toEqual([]);
    await release();
  });
});
