/** Covers state files of other versions, and locks held by other processes. */
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { StoreError } from "../../../src/state/errors.js";
import { fileQuota } from "../../../src/state/quota/quota.js";
import { openQuotaFile } from "../../../src/state/quota/quota-file.js";
import { Quotas } from "../../../src/state/quota/quotas.js";
import { openStateFile } from "../../../src/state/service/database/state-database.js";
import { schemaVersion } from "../../../src/state/sql.js";
import {
  explainErrors,
  hasTables,
  inTransaction,
  type LockWait,
  loadSqlite,
  openStore,
  retryWhileBusy,
  type Schema,
} from "../../../src/state/sqlite/database.js";
import type { OpenFile } from "../../../src/state/sqlite/state-file.js";
import { openFile, StateFile } from "../../../src/state/sqlite/state-file.js";
import { take } from "../../support/quota.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

// The library that idv itself uses: two of them in one process do not see each other's locks.
const { DatabaseSync } = await loadSqlite();
const schema: Schema = { name: "test file", applicationId: 0x12345678, tables: "CREATE TABLE a (x ANY) STRICT" };

const newPath = () => join(temporaryFolder(), "file.db");

/** Makes a file as another program does. */
function makeBy(path: string, statements: string): void {
  const other = new DatabaseSync(path);
  other.exec(statements);
  other.close();
}

test.each([1, 2, 3])("recognises a file that another process creates before statement %i", async (place) => {
  const path = newPath();
  const database = new DatabaseSync(path);
  let statements = 0;
  const prepare = (sql: string) => {
    if (++statements === place) {
      const { tables, applicationId } = schema;
      const version = `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}`;
      makeBy(path, `BEGIN; ${tables}; ${version}; COMMIT`);
    }
    return database.prepare(sql);
  };
  const isMade = hasTables({ prepare, exec: () => {}, close: () => {} }, path, schema);
  expect(isMade).toBe(statements >= place);
  database.close();
});

test.each([0, schemaVersion - 1, schemaVersion + 1])("refuses a file of version %i", async (version) => {
  const path = newPath();
  const database = await openStore(path, schema, {});
  database.exec(`PRAGMA user_version = ${version}`);
  database.close();
  await expect(openStore(path, schema, {})).rejects.toThrow(
    `${path}: the test file was written by another version of idv; use that one, or another file`,
  );
});

test("refuses a file on a file system that machines share, and makes none", async () => {
  const path = newPath();
  await expect(openStore(path, schema, {}, "NFS")).rejects.toMatchObject({
    message: expect.stringMatching(/the test file is on NFS, .*--quota postgres:\/\/\.\.\.$/),
    obstacle: "shared",
  });
  expect(existsSync(path)).toBe(false);
});

test.each<[string, (signal: AbortSignal) => LockWait, string]>([
  ["the maximum wait", () => ({ milliseconds: 500 }), "is still locked by another process"],
  ["the signal", (signal) => ({ signal }), "stopped"],
])("waits for the lock of another process until %s, without blocking", async (_, waitFor, message) => {
  const path = join(temporaryFolder(), "quota.db");
  const controller = new AbortController();
  const file = await openQuotaFile(path, Date.now, waitFor(controller.signal));
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  let ticks = 0;
  // However slow the machine is, other work goes on meanwhile.
  const ticking = setInterval(() => {
    if (++ticks === 5) controller.abort(new Error("stopped"));
  }, 5);
  await expect(take(file.quotas, 1)).rejects.toThrow(message);
  clearInterval(ticking);
  expect(ticks).toBeGreaterThan(0);
  // Reading needs no lock.
  expect((await file.quotas.read(() => false)).used).toBe(0);
  other.exec("ROLLBACK");
  expect((await take(file.quotas, 2)).quota.used).toBe(2);
  other.close();
  await file.close();
});

test("applies changes in the order of their calls, even if they wait for a lock", async () => {
  const path = join(temporaryFolder(), "quota.db");
  const state = await openStateFile(path, Date.now, { isQuota: true });
  const quotas = new Quotas(state, fileQuota);
  await quotas.configure({ limit: 100 });
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  const { database } = (state as unknown as { readonly file: OpenFile }).file;
  const tries = vi.spyOn(database, "exec");
  const reservations = Array.from({ length: 30 }, (_, i) =>
    quotas.reserve({ id: `${i}`, owner: "", holds: 7, isDead: () => false }),
  );
  await expect.poll(() => tries.mock.calls.length).toBeGreaterThan(10);
  tries.mockRestore();
  other.exec("ROLLBACK");
  other.close();
  const granted = (await Promise.all(reservations)).map(({ holds }) => holds);
  expect(granted).toEqual([...Array(14).fill(7), 2, ...Array(15).fill(0)]);
  await state.close();
});

/** Shows how durable the next change of a file is: 2 stands for FULL. */
class Probe extends StateFile {
  readonly durability = () => this.file.database.prepare("PRAGMA synchronous").all();
  readonly writeQuickly = () => this.inFastWrite(() => this.durability());
}

test("changes are durable when they return, even after a fast write", async () => {
  const file = new Probe(await openFile(newPath(), schema, Date.now, {}));
  expect(file.durability()).toEqual([{ synchronous: 2 }]);
  expect(await file.writeQuickly()).toEqual([{ synchronous: 1 }]);
  expect(file.durability()).toEqual([{ synchronous: 2 }]);
  await file.close();
});

describe("a file that cannot be used", () => {
  /** Opens a file, lets a fault happen to it, and returns what is said of the next change. */
  async function failureAfter(fault: string, change = "INSERT INTO a VALUES (zeroblob(100000))") {
    const path = newPath();
    const database = await openStore(path, schema, {});
    database.exec(fault);
    const work = explainErrors(path, schema, async () => inTransaction(database, () => database.exec(change)));
    const error: Error = await work.catch((thrown) => thrown);
    // The transaction is over: the next one can begin.
    database.exec("BEGIN; ROLLBACK");
    database.close();
    return `${error.name}: ${error.message.replace(path, "PATH")}`;
  }

  test.each([
    ["PRAGMA query_only = 1", "the test file is read-only; make it and its folder writable, or use another file"],
    ["PRAGMA max_page_count = 5", "no space left on the device for the test file; free some space"],
    ["DROP TABLE a", "the test file cannot be used: no such table: a"],
  ])("fails with the reason after %s", async (fault, message) => {
    expect(await failureAfter(fault)).toBe(`StoreError: PATH: ${message}`);
  });

  test("does not change errors that have another cause", async () => {
    for (const error of [new TypeError("a bug"), new StoreError("known"), "text"]) {
      const work = explainErrors("path", schema, () => Promise.reject(error));
      await expect(work).rejects.toBe(error);
    }
  });

  test("fails as damaged if its contents are", async () => {
    const path = newPath();
    const database = await openStore(path, schema, {});
    database.exec("INSERT INTO a VALUES (zeroblob(50000)); PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    writeFileSync(path, readFileSync(path).fill(0xff, 4096));
    const again = await openStore(path, schema, {});
    const reading = explainErrors(path, schema, async () => again.prepare("SELECT x FROM a").all());
    await expect(reading).rejects.toThrow(
      `${path}: the test file is damaged; restore a backup, or delete it to start over`,
    );
    again.close();
  });

  const another = "; use another file";
  test.each<[string, (path: string) => void, string]>([
    ["text", (path) => writeFileSync(path, "email\n".repeat(500)), ""],
    ["a folder", (path) => mkdirSync(path), another],
    ["the database of another program", (path) => makeBy(path, "CREATE TABLE b (y)"), another],
    ["another file of idv", (path) => makeBy(path, "PRAGMA application_id = 7"), another],
  ])("fails and stays unchanged: %s", async (_, make, advice) => {
    const message = `not a test file of idv; left unchanged${advice}`;
    const path = newPath();
    make(path);
    const before = statSync(path);
    await expect(openStore(path, schema, {})).rejects.toThrow(`${path}: ${message}`);
    expect([statSync(path).ino, statSync(path).size]).toEqual([before.ino, before.size]);
  });

  test("fails below a file", async () => {
    const path = join(temporaryFolder(), "file");
    writeFileSync(path, "");
    await expect(openStore(join(path, "file.db"), schema, {})).rejects.toThrow(
      "the test file cannot be opened: its folder is a file; make it writable or use another file",
    );
  });

  test("fails below /proc", async () => {
    await expect(openStore("/proc/x/file.db", schema, {})).rejects.toThrow(
      /^\/proc\/x\/file\.db: the test file cannot be opened: ENOENT: .*; make it writable or use another file$/,
    );
  });
});

describe("the mode of a file", () => {
  const modeOf = (path: string) => statSync(path).mode & 0o777;

  test("becomes 0600 if idv creates the file or fills an empty one, in new folders of mode 0700", async () => {
    const home = temporaryFolder();
    (await openStore(join(home, "new/file.db"), schema, {})).close();
    expect([modeOf(join(home, "new")), modeOf(join(home, "new/file.db"))]).toEqual([0o700, 0o600]);
    writeFileSync(join(home, "empty.db"), "", { mode: 0o644 });
    (await openStore(join(home, "empty.db"), schema, {})).close();
    expect(modeOf(join(home, "empty.db"))).toBe(0o600);
  });

  test("does not change if the file has content", async () => {
    const path = newPath();
    (await openStore(path, schema, {})).close();
    chmodSync(path, 0o640);
    (await openStore(path, schema, {})).close();
    expect(modeOf(path)).toBe(0o640);
  });
});

test("a locked change is retried until the deadline or a signal, but tried at least once", async () => {
  const path = newPath();
  const database = await openStore(path, schema, {});
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  let tries = 0;
  const change = () => {
    tries++;
    inTransaction(database, () => {});
  };
  await expect(retryWhileBusy(change, performance.now() - 1, undefined)).rejects.toThrow("locked");
  expect(tries).toBe(1);
  const deadline = performance.now() + 60;
  await expect(retryWhileBusy(change, deadline, undefined)).rejects.toThrow("locked");
  expect(performance.now()).toBeGreaterThanOrEqual(deadline);
  const stopped = AbortSignal.abort(new Error("stop"));
  await expect(retryWhileBusy(change, performance.now() + 9999, stopped)).rejects.toThrow("stop");
  const stopping = new AbortController();
  tries = 0;
  const stop = () => {
    if (tries === 6) stopping.abort(new Error("stop"));
    change();
  };
  await expect(retryWhileBusy(stop, performance.now() + 60_000, stopping.signal)).rejects.toThrow("stop");
  // Other failures are not repeated.
  tries = 0;
  const failing = () => {
    tries++;
    throw new Error("a bug");
  };
  await expect(retryWhileBusy(failing, performance.now() + 9999, undefined)).rejects.toThrow("a bug");
  expect(tries).toBe(1);
  tries = 0;
  const release = () => {
    if (tries === 9) other.exec("ROLLBACK");
    change();
  };
  await retryWhileBusy(release, performance.now() + 60_000, undefined);
  expect(tries).toBe(10);
  other.close();
  database.close();
});
