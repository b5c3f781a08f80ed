/** Covers state files of older and newer versions, and locks held by other processes. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { QuotaFile } from "../../src/store/quota-file.js";
import { type LockWait, loadSqlite, openStore, type Schema } from "../../src/store/sqlite.js";
import { openFile, StateFile } from "../../src/store/state-file.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The library that idv itself uses: two of them in one process do not see each other's locks.
const { DatabaseSync } = await loadSqlite();
const first: Schema = {
  name: "test file",
  applicationId: 0x12345678,
  steps: ["CREATE TABLE a (x ANY) STRICT"],
};
const second: Schema = { ...first, steps: [...first.steps, "CREATE TABLE b (y ANY) STRICT"] };

test("upgrades a file of an older version and keeps its data", async () => {
  const path = join(temporaryFolder(), "file.db");
  const old = await openStore(path, first, {});
  old.exec("INSERT INTO a VALUES (7)");
  old.close();
  const upgraded = await openStore(path, second, {});
  expect(upgraded.prepare("SELECT x FROM a").all()).toEqual([{ x: 7 }]);
  expect(upgraded.prepare("SELECT y FROM b").all()).toEqual([]);
  upgraded.close();
  (await openStore(path, second, {})).close();
});

test("takes a file without a version number for version 1", async () => {
  const path = join(temporaryFolder(), "file.db");
  const database = new DatabaseSync(path);
  database.exec(`${first.steps[0]}; PRAGMA application_id = ${first.applicationId}`);
  database.close();
  const upgraded = await openStore(path, second, {});
  expect(upgraded.prepare("SELECT y FROM b").all()).toEqual([]);
  upgraded.close();
});

test("rejects a file of a newer version", async () => {
  const path = join(temporaryFolder(), "file.db");
  (await openStore(path, second, {})).close();
  await expect(openStore(path, first, {})).rejects.toThrow(
    `${path}: the test file was written by a newer version of idv; update idv, or use another file`,
  );
});

test.each<[string, (signal: AbortSignal) => LockWait, string]>([
  ["the maximum wait", () => ({ milliseconds: 500 }), "is still locked by another process"],
  ["the signal", (signal) => ({ signal }), "stopped"],
])("waits for the lock of another process until %s, without blocking", async (_, waitFor, message) => {
  const path = join(temporaryFolder(), "quota.db");
  const controller = new AbortController();
  const file = await QuotaFile.open(path, Date.now, waitFor(controller.signal));
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  let ticks = 0;
  // However slow the machine is, other work goes on meanwhile.
  const ticking = setInterval(() => {
    if (++ticks === 5) controller.abort(new Error("stopped"));
  }, 5);
  await expect(file.reserve(1)).rejects.toThrow(message);
  clearInterval(ticking);
  expect(ticks).toBeGreaterThan(0);
  // Reading needs no lock.
  expect((await file.read()).used).toBe(0);
  other.exec("ROLLBACK");
  expect((await file.reserve(2)).quota.used).toBe(2);
  other.close();
  await file.close();
});

test("applies changes in the order of their calls, even if they wait for a lock", async () => {
  const path = join(temporaryFolder(), "quota.db");
  const file = await QuotaFile.open(path, Date.now);
  await file.configure({ limit: 100 });
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  const reservations = Array.from({ length: 30 }, () => file.reserve(7));
  await new Promise((resolve) => setTimeout(resolve, 30));
  other.exec("ROLLBACK");
  other.close();
  const granted = (await Promise.all(reservations)).map((reservation) => reservation.granted);
  expect(granted).toEqual([...Array(14).fill(7), 2, ...Array(15).fill(0)]);
  await file.close();
});

/** Shows how durable the next change of a file is: 2 stands for FULL. */
class Probe extends StateFile {
  readonly durability = () => this.file.database.prepare("PRAGMA synchronous").all();
  readonly writeFast = () => this.inFastWrite(() => this.durability());
}

test("changes are on the disk when they are done, also after one that need not be", async () => {
  const file = new Probe(await openFile(join(temporaryFolder(), "file.db"), first, Date.now, {}));
  expect(file.durability()).toEqual([{ synchronous: 2 }]);
  expect(await file.writeFast()).toEqual([{ synchronous: 1 }]);
  expect(file.durability()).toEqual([{ synchronous: 2 }]);
  await file.close();
});
