/** Covers that a charge is reported only when it is on the disk, although the thread does not wait for the disk. */
import { copyFileSync, existsSync, readdirSync, readlinkSync, renameSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { StoreError } from "../../../src/store/errors.js";
import { QuotaFile } from "../../../src/store/quota/quota-file.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** What a sync waits for. A disk can neither be slowed down nor made to fail otherwise. */
let disk = async () => {};
let syncs = 0;

beforeAll(async () => {
  const handle = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { datasync } = prototype;
  vi.spyOn(prototype, "datasync").mockImplementation(async function (this: FileHandle) {
    await disk();
    await datasync.call(this);
    syncs++;
  });
});
afterAll(() => {
  vi.restoreAllMocks();
});

let path: string;
let file: QuotaFile;

beforeEach(async () => {
  disk = async () => {};
  syncs = 0;
  path = join(temporaryFolder(), "quota.db");
  file = await QuotaFile.open(path, Date.now);
  // The first charge makes the log, unless opening has made it.
  await file.reserve(1);
});
afterEach(() => file.close());

test("a charge is reported once its log is on the disk, and visible to others before", async () => {
  let finish = () => {};
  disk = () =>
    new Promise((resolve) => {
      finish = resolve;
    });
  syncs = 0;
  let isReported = false;
  const reserved = file.reserve(5).then((reservation) => {
    isReported = true;
    return reservation;
  });
  await expect.poll(async () => (await file.read()).used).toBe(6);
  expect(isReported).toBe(false);
  expect(syncs).toBe(0);
  finish();
  expect(await reserved).toMatchObject({ granted: 5, quota: { used: 6 } });
  expect(syncs).toBe(1);
});

test("a configured limit and a reset apply to the next reservation", async () => {
  await file.configure({ limit: 10 });
  expect(await file.reserve(20)).toMatchObject({ granted: 9 });
  await file.reset();
  expect((await file.read()).used).toBe(0);
});

test("a failing disk is reported as a quota file that cannot be used", async () => {
  disk = async () => {
    throw Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });
  };
  const failed = file.reserve(5);
  await expect(failed).rejects.toThrow(StoreError);
  await expect(failed).rejects.toThrow(`${path}: the quota file cannot be used: EIO: i/o error, fdatasync`);
  await expect(failed).rejects.toMatchObject({ granted: 5 });
  // What was charged stays charged.
  expect((await file.read()).used).toBe(6);
});

test.each<[string, (path: string) => void]>([
  ["removed", (path) => rmSync(path)],
  ["replaced", (path) => copyFileSync(path, `${path}.new`)],
])("refuses to charge a file that was %s", async (what, change) => {
  change(path);
  if (existsSync(`${path}.new`)) renameSync(`${path}.new`, path);
  await expect(file.reserve(5)).rejects.toThrow(
    `${path}: the quota file was ${what} while it was in use, and no longer counts; put it back, or run again`,
  );
});

test.runIf(existsSync("/proc/self/fd"))("opens the log once for concurrent charges", async () => {
  const other = join(temporaryFolder(), "quota.db");
  const opened = await QuotaFile.open(other, Date.now);
  const granted = await Promise.all([opened.reserve(1), opened.reserve(2), opened.reserve(3)]);
  expect(granted.map(({ quota }) => quota.used)).toEqual([1, 3, 6]);
  // SQLite has one, too.
  expect(timesOpen(`${other}-wal`)).toBe(2);
  await opened.close();
  expect(timesOpen(`${other}-wal`)).toBeLessThan(2);
});

function timesOpen(path: string): number {
  const linkOf = (fd: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      // Closed meanwhile.
      return undefined;
    }
  };
  return readdirSync("/proc/self/fd").filter((fd) => linkOf(fd) === path).length;
}
