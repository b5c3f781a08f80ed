/**
 * SQLite for all state files: that of Node.js where it is sound, else `@photostructure/sqlite`, which, unlike
 * `better-sqlite3`, needs no compiler or download. Waits for locks by sleeps of its own: SQLite's waiting starves a
 * process for seconds.
 */
import { closeSync, fchmodSync, fstatSync, openSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { versions } from "node:process";
import { makeFolder } from "../../files/folders.js";
import { nativeAdvice, nativeSqlite } from "../../package/native-code.js";
import { sleepFor } from "../../time.js";
import { StoreError } from "../errors.js";
import { schemaVersion } from "../sql.js";
import { sharedKindOf } from "./shared-folder.js";

export interface Database {
  exec(sql: string): void;
  prepare(sql: string): {
    run(...parameters: readonly (string | number | null | Uint8Array)[]): unknown;
    all(...parameters: readonly (string | number | null | Uint8Array)[]): unknown[];
  };
  close(): void;
}

export interface Schema {
  readonly name: string;
  readonly applicationId: number;
  readonly tables: string;
}

export interface LockWait {
  readonly milliseconds?: number;
  readonly signal?: AbortSignal;
}

/** Older versions can corrupt a database in WAL mode, https://sqlite.org/wal.html#walresetbug */
const firstSoundSqlite = [3, 51, 3];

const resultCode = { busy: 5, readOnly: 8, full: 13 } as const;
/** SQLITE_IOERR_SHMSIZE: there is no space for the index of the write-ahead log. */
const indexFull = 4874;

/** Milliseconds. Locks last about 1 ms, so after 30 s their process must be hanging. */
const defaultWait = 30_000;
/** Attempts with a blocking wait of up to 0.5 ms. Later waits use timers, which are slower. */
const blockingAttempts = 4;
/** Mean of a later wait, in milliseconds, which grows: 64 processes that tried every 2 ms took up both cores. */
const shortestPause = 2;
const longestPause = 80;

/** Creates a private file if there is none. @throws StoreError when it is shared, locked, or not of this schema */
export async function openStore(path: string, schema: Schema, wait: LockWait, kind = sharedKindOf(dirname(path))) {
  if (kind !== undefined) {
    throw new StoreError(
      `${path}: the ${schema.name} is on ${kind}, which machines can share without seeing each other's locks; use a local path, or a shared quota on a database: --quota postgres://...`,
      { obstacle: "shared" },
    );
  }
  // First, because a file that is there says that something was stored.
  const { DatabaseSync } = await loadSqlite();
  const isOwn = createPrivately(path, schema);
  return explainErrors(path, schema, async () => {
    // Absolute, because SQLite treats names such as :memory: specially.
    const database = new DatabaseSync(resolve(path));
    const deadline = deadlineOf(wait);
    const retry = <Result>(work: () => Result) => retryWhileBusy(work, deadline, wait.signal);
    try {
      database.exec("PRAGMA busy_timeout = 0");
      await retry(() => database.exec("PRAGMA synchronous = FULL"));
      // Identify the file before changing anything: it may be the database of another program.
      const isMade = await retry(() => hasTables(database, path, schema));
      await retry(() => database.exec("PRAGMA journal_mode = WAL"));
      if (!isMade) await retry(() => inTransaction(database, () => makeTables(database, path, schema)));
      return database;
    } catch (error) {
      database.close();
      // Left empty on a full disk, it would seem to have lost what was in it.
      if (isOwn && statSync(path, { throwIfNoEntry: false })?.size === 0) rmSync(path, { force: true });
      throw error;
    }
  });
}

function makeTables(database: Database, path: string, schema: Schema): void {
  if (hasTables(database, path, schema)) return;
  database.exec(schema.tables);
  database.exec(`PRAGMA application_id = ${schema.applicationId}`);
  database.exec(`PRAGMA user_version = ${schemaVersion}`);
}

/** Excludes all other writers. The changes are on the disk on return. @throws the "busy" error of SQLite when locked */
export function inTransaction<Result>(database: Database, work: () => Result): Result {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

export function rollBack(database: Database): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // SQLite has already rolled back, as it does when the disk is full.
  }
}

export async function explainErrors<Result>(path: string, schema: Schema, work: () => Promise<Result>) {
  const { name } = schema;
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof StoreError) throw error;
    const { message } = error;
    const code = primaryCode(error);
    if (/not a database/.test(message)) throw notOurs(path, schema);
    if (/malformed/.test(message)) throw damaged(path, schema);
    if (code === resultCode.readOnly || /readonly/.test(message)) {
      throw new StoreError(`${path}: the ${name} is read-only; make it and its folder writable, or use another file`);
    }
    if (code === resultCode.full || (error as { errcode?: number }).errcode === indexFull)
      throw new StoreError(`${path}: no space left on the device for the ${name}; free some space`);
    const advice = "try again when that process is done";
    if (isBusy(error))
      throw new StoreError(`${path}: the ${name} is still locked by another process; ${advice}`, {
        obstacle: "locked",
      });
    if ((error as { code?: string } | null)?.code !== "ERR_SQLITE_ERROR") throw error;
    throw new StoreError(`${path}: the ${name} cannot be used: ${message}`);
  }
}

export function damaged(path: string, { name }: Schema, how = "damaged"): StoreError {
  return new StoreError(`${path}: the ${name} is ${how}; restore a backup, or delete it to start over`);
}

type SqliteModule = {
  readonly DatabaseSync: new (path: string, options?: { readonly readOnly?: boolean }) => Database;
};

/** @throws StoreError when there is no build for this machine */
export async function loadSqlite(): Promise<SqliteModule> {
  const own = (versions["sqlite"] ?? "0").split(".").map(Number);
  const difference = firstSoundSqlite.map((part, i) => (own[i] ?? 0) - part).find((d) => d !== 0) ?? 0;
  const builtin: string = "node:sqlite";
  if (difference >= 0) return await import(builtin);
  try {
    return nativeSqlite();
  } catch (error) {
    if (!/^(?:No native build|Cannot find module)/.test((error as Error).message)) throw error;
    throw new StoreError(`there is no SQLite for Node.js ${versions.node}; ${nativeAdvice}`, { obstacle: "no SQLite" });
  }
}

/**
 * SQLite would apply the umask. It gives its `-wal` and `-shm` files the same mode. Returns whether there was no file.
 * @throws StoreError
 */
function createPrivately(path: string, schema: Schema): boolean {
  const { name } = schema;
  try {
    makeFolder(dirname(path), 0o700);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && !found.isFile()) throw notOurs(path, schema);
    const file = openSync(path, "a", 0o600);
    // Another program may have created the empty file, with another mode.
    if (fstatSync(file).size === 0) fchmodSync(file, 0o600);
    closeSync(file);
    return found === undefined;
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const { code = "", message } = error as NodeJS.ErrnoException;
    const isDenied = ["EACCES", "EROFS", "EPERM"].includes(code);
    const otherwise = ["EEXIST", "ENOTDIR"].includes(code) ? "its folder is a file" : message;
    const reason = isDenied ? "permission denied" : otherwise;
    throw new StoreError(`${path}: the ${name} cannot be opened: ${reason}; make it writable or use another file`);
  }
}

/** An empty file has no tables. @throws StoreError when the file does not have this schema and version */
export function hasTables(database: Database, path: string, schema: Schema): boolean {
  const { name, applicationId } = schema;
  // Read the tables before the id: a file that is being created must not seem to have tables without an id.
  const tables = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").all();
  const [id] = database.prepare("PRAGMA application_id").all() as { application_id: number }[];
  if (id?.application_id === applicationId) {
    const [row] = database.prepare("PRAGMA user_version").all() as { user_version: number }[];
    if (row?.user_version === schemaVersion) return true;
    throw new StoreError(`${path}: the ${name} was written by another version of idv; use that one, or another file`);
  }
  if (id?.application_id !== 0 || tables.length > 0) throw notOurs(path, schema);
  return false;
}

function notOurs(path: string, { name }: Schema): StoreError {
  return new StoreError(`${path}: not a ${name} of idv; left unchanged; use another file`);
}

export const deadlineOf = ({ milliseconds = defaultWait }: LockWait): number => performance.now() + milliseconds;

/** Always tries once, even after the deadline or an abort, because `work` may store verdicts that were paid for. */
export async function retryWhileBusy<Result>(work: () => Result, deadline: number, signal: AbortSignal | undefined) {
  const start = performance.now();
  for (let attempt = 1; ; attempt++) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    signal?.throwIfAborted();
    if (attempt <= blockingAttempts) Atomics.wait(sleeper, 0, 0, 0.1 + 0.4 * Math.random());
    else {
      const mean = Math.min(longestPause, Math.max(shortestPause, (performance.now() - start) / 2));
      await sleepFor(mean * (0.5 + Math.random()), signal);
    }
  }
}

/** Never changes: `Atomics.wait` on it blocks the thread until the timeout. */
const sleeper = new Int32Array(new SharedArrayBuffer(4));

function isBusy(error: unknown): boolean {
  return primaryCode(error) === resultCode.busy || /database is locked/.test((error as Error).message ?? "");
}

function primaryCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}
