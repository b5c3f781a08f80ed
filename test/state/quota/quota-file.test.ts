/** Covers the quota file: limits, periods, reservations and files that cannot be used. */
import { copyFileSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { StoreError } from "../../../src/state/errors.js";
import { openSqliteServiceStore } from "../../../src/state/service/database/sqlite.js";
import { TestQuota } from "../../support/quota.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { times } from "../../support/tier.js";

const november = Date.parse("2026-11-21T10:30:00Z");
const newPath = () => join(temporaryFolder(), "deep", "folder", "quota.db");

/** Opens a file that is closed when the test has finished. */
async function opened(now = () => november, path = newPath()): Promise<TestQuota> {
  const file = await TestQuota.open(path, now);
  onTestFinished(() => file.close());
  return file;
}

describe("a new file", () => {
  test("sets no limit and counts units", async () => {
    const file = await opened();
    expect(await file.read()).toEqual({ limit: null, period: "none", used: 0, left: null, renewsAt: null });
    expect(await file.charge(70)).toMatchObject({ granted: 70, quota: { used: 70, left: null } });
    expect((await file.read()).used).toBe(70);
  });

  test("admits only its owner, as do SQLite's files beside it", async () => {
    const path = newPath();
    const file = await opened(undefined, path);
    await file.charge(1);
    for (const suffix of ["", "-wal", "-shm"]) expect(statSync(path + suffix).mode & 0o777).toBe(0o600);
  });
});

describe("a file alone", () => {
  test("has all units when it is closed, as in a copy", async () => {
    const path = newPath();
    const file = await TestQuota.open(path, () => november);
    await file.configure({ limit: 100 });
    await file.charge(70);
    await file.close();
    const copy = newPath();
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(path, copy);
    expect(await (await opened(undefined, copy)).read()).toMatchObject({ limit: 100, used: 70 });
  });

  test("is refused if it has lost its bytes, and its limit", async () => {
    const path = newPath();
    const file = await TestQuota.open(path);
    await file.configure({ limit: 100 });
    await file.close();
    truncateSync(path);
    const refusal = `${path}: the quota file is empty; restore a backup, or delete it to start over`;
    await expect(opened(() => Date.now() + 60_000, path)).rejects.toThrow(refusal);
    // Another program may be creating one that is as young.
    const young = join(temporaryFolder(), "quota.db");
    writeFileSync(young, "");
    expect(await (await opened(Date.now, young)).read()).toMatchObject({ limit: null });
  });
});

describe("a limit", () => {
  test("grants no more than is left", async () => {
    const file = await opened();
    await file.configure({ limit: 100 });
    expect(await file.charge(60)).toMatchObject({ granted: 60, quota: { left: 40 } });
    expect(await file.charge(60)).toMatchObject({ granted: 40, quota: { left: 0 } });
    expect(await file.charge(60)).toMatchObject({ granted: 0, quota: { left: 0, used: 100 } });
    await file.configure({ limit: 130 });
    expect(await file.charge(60)).toMatchObject({ granted: 30 });
    await file.configure({ limit: 10 });
    expect(await file.read()).toMatchObject({ limit: 10, used: 130, left: 0 });
    expect(await file.reset()).toMatchObject({ used: 0, left: 10 });
    await file.configure({ limit: null });
    expect(await file.charge(1000)).toMatchObject({ granted: 1000 });
  });

  test("renews with its period, and not when the clock is set back", async () => {
    let now = november;
    const file = await opened(() => now);
    expect((await file.configure({ limit: 5, period: "day" })).renewsAt).toBe(Date.parse("2026-11-22T00:00:00Z"));
    await file.charge(5);
    expect((await file.charge(1)).granted).toBe(0);
    now = Date.parse("2026-11-22T00:00:00Z");
    expect(await file.read()).toMatchObject({ used: 0, left: 5 });
    expect((await file.charge(3)).granted).toBe(3);
    now = november;
    expect(await file.charge(3)).toMatchObject({ granted: 2, quota: { renewsAt: Date.parse("2026-11-23T00:00:00Z") } });
  });

  test("survives closing, and keeps the used units when the period changes", async () => {
    const path = newPath();
    const first = await TestQuota.open(path, () => november);
    await first.configure({ limit: 10, period: "month" });
    await first.charge(4);
    await first.close();
    const second = await opened(undefined, path);
    expect(await second.configure({ period: "hour" })).toMatchObject({ limit: 10, used: 4, left: 6 });
  });

  test("matches a plain model for any order of reservations and limits", async () => {
    const file = await opened();
    const step = fc.oneof(
      fc.record({ units: fc.nat(50) }),
      fc.record({ limit: fc.option(fc.nat(200)) }),
      fc.constant({ reset: true }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        await file.reset();
        await file.configure({ limit: null });
        let [used, limit] = [0, null as number | null];
        for (const one of steps) {
          if ("units" in one) {
            const granted = limit === null ? one.units : Math.min(one.units, Math.max(0, limit - used));
            used += granted;
            expect((await file.charge(one.units)).granted).toBe(granted);
          } else if ("limit" in one) limit = (await file.configure({ limit: one.limit })).limit;
          else used = (await file.reset()).used;
          expect(await file.read()).toMatchObject({ used, limit });
        }
      }),
      { numRuns: times(30) },
    );
  });
});

describe("files that cannot be used", () => {
  test.each([
    ["text", (path: string) => writeFileSync(path, "not a database, but long enough to be one".repeat(20))],
    ["a database of another program", (path: string) => new DatabaseSync(path).exec("CREATE TABLE t (a)")],
    ["a folder", (path: string) => mkdirSync(path)],
  ])("fail with the reason and stay unchanged: %s", async (_, make) => {
    const path = join(temporaryFolder(), "quota.db");
    make(path);
    const before = statSync(path).isFile() ? readFileSync(path) : undefined;
    await expect(opened(undefined, path)).rejects.toThrow(StoreError);
    await expect(opened(undefined, path)).rejects.toThrow(`${path}: not a quota file of idv`);
    if (before) expect(readFileSync(path)).toEqual(before);
  });

  test("fail with the reason: the state of a service", async () => {
    const path = join(temporaryFolder(), "service.db");
    await (await openSqliteServiceStore(path, () => november)).close();
    await expect(TestQuota.open(path, () => november)).rejects.toThrow(
      `${path}: has no quota of its own, as the state of a service; name one of its quotas: --quota ${path}#NAME`,
    );
  });
});
