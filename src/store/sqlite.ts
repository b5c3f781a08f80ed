import { closeSync, fchmodSync, fstatSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { versions } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

/** The part of `node:sqlite`'s `DatabaseSync` that the stores use. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): {
    run(...parameters: readonly (string | number | null | Uint8Array)[]): unknown;
    all(...parameters: readonly (string | number | null | Uint8Array)[]): unknown[];
  };
  close(): void;
}

/** Identity and tables of one kind of state file. */
export interface Schema {
  /** Name of the file in errors: `quota file`. */
  readonly name: string;
  /** SQLite's `application_id`: 32 bits that mark the file as ours. */
  readonly applicationId: number;
  /**
   * Statements of each schema version, the oldest first. A new file runs all of them, an older one those that it lacks;
   * SQLite's `user_version` counts them. Steps that were released never change.
   */
  readonly steps: readonly string[];
}

/** How a process waits for a lock that another process holds. */
export interface LockWait {
  /** Longest wait in milliseconds; 30,000 by default. */
  readonly milliseconds?: number;
  /** Aborting it ends the wait with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** A state file that cannot be used: its path, what is wrong with it and what to do. */
export class StoreError extends Error {
  override readonly name = "StoreError";
}

/** SQLite before this can corrupt a WAL that is reset while it is read. */
const firstSoundSqlite = [3, 51, 3];

/** SQLite's primary result codes, https://sqlite.org/rescode.html */
const resultCode = { busy: 5, readOnly: 8, full: 13 } as const;

/** Other processes hold a lock for about a millisecond, so 30 s means that one of them hangs. */
const defaultWait = 30_000;
/** Attempts that block the thread for a fraction of a millisecond each, before timers are used, which take longer. */
const blockingAttempts = 4;

/**
 * Opens a state file. Creates it, readable by its owner only, where it is absent or empty, and adds what a newer version
 * needs to an older file. A file that is not ours is left as it is.
 *
 * @throws StoreError when the file cannot be opened, is not ours, was made by a newer version, or stays locked
 */
export async function openStore(path: string, schema: Schema, wait: LockWait): Promise<Database> {
  createPrivately(path, schema);
  const { DatabaseSync } = await loadSqlite();
  return explainErrors(path, schema, async () => {
    // Absolute, because SQLite has its own meaning for names such as :memory:.
    const database = new DatabaseSync(resolve(path));
    const deadline = deadlineOf(wait);
    const retry = <Result>(work: () => Result) => retryWhileBusy(work, deadline, wait.signal);
    try {
      // SQLite's own waiting starves a process for seconds when several write.
      database.exec("PRAGMA busy_timeout = 0");
      await retry(() => database.exec("PRAGMA synchronous = FULL"));
      // Identified before anything is changed: it may be somebody else's database.
      const version = await retry(() => versionOf(database, path, schema));
      await retry(() => database.exec("PRAGMA journal_mode = WAL"));
      if (version < schema.steps.length) {
        await retry(() => inTransaction(database, () => upgrade(database, path, schema)));
      }
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

function upgrade(database: Database, path: string, schema: Schema): void {
  // Read again: another process may have been faster.
  const missing = schema.steps.slice(versionOf(database, path, schema));
  for (const step of missing) database.exec(step);
  database.exec(`PRAGMA application_id = ${schema.applicationId}`);
  database.exec(`PRAGMA user_version = ${schema.steps.length}`);
}

/**
 * Runs `work` in one transaction that excludes all other writers, and returns its result. It is synchronous, so that
 * nothing else of this process gets between its statements. With `synchronous = FULL` the result is on the disk.
 *
 * @throws what `work` throws, after a rollback; SQLite's own error when another process holds the lock
 */
export function inTransaction<Result>(database: Database, work: () => Result): Result {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    try {
      database.exec("ROLLBACK");
    } catch {
      // SQLite has rolled back already, as it does when the disk is full.
    }
    throw error;
  }
}

/** Runs `work` and turns its SQLite errors into StoreErrors that name this file. */
export async function explainErrors<Result>(
  path: string,
  schema: Schema,
  work: () => Promise<Result>,
): Promise<Result> {
  const { name } = schema;
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof StoreError) throw error;
    const { message } = error;
    const code = primaryCode(error);
    if (/not a database/.test(message)) throw notOurs(path, name);
    if (/malformed/.test(message)) throw damaged(path, schema);
    if (code === resultCode.readOnly || /readonly/.test(message)) {
      throw new StoreError(
        `${path}: the ${name} is read-only; make it and its folder writable, or name another`,
      );
    }
    if (code === resultCode.full)
      throw new StoreError(`${path}: no space left on the device for the ${name}`);
    if (isBusy(error)) {
      throw new StoreError(`${path}: the ${name} stays locked by another process; try again when it is done`);
    }
    if ((error as { code?: string } | null)?.code !== "ERR_SQLITE_ERROR") throw error;
    throw new StoreError(`${path}: the ${name} cannot be used: ${message}`);
  }
}

/** For a file that is ours but does not hold what it should. */
export function damaged(path: string, { name }: Schema): StoreError {
  return new StoreError(`${path}: the ${name} is damaged; restore it, or remove it to begin anew`);
}

interface SqliteModule {
  readonly DatabaseSync: new (path: string) => Database;
}

/** The SQLite of Node where it is sound, else that of the package. */
export async function loadSqlite(): Promise<SqliteModule> {
  const own = (versions["sqlite"] ?? "0").split(".").map(Number);
  const difference = firstSoundSqlite.map((part, i) => (own[i] ?? 0) - part).find((d) => d !== 0) ?? 0;
  // A variable, because the types of Node 20 do not know the module.
  const builtin: string = "node:sqlite";
  return difference >= 0 ? await import(builtin) : await import("@photostructure/sqlite");
}

/** SQLite would make the file with the umask's rights; its `-wal` and `-shm` take over those of the file. */
function createPrivately(path: string, { name }: Schema): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && !found.isFile()) throw notOurs(path, name);
    const file = openSync(path, "a", 0o600);
    // One that somebody else has made, for us to fill.
    if (fstatSync(file).size === 0) fchmodSync(file, 0o600);
    closeSync(file);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === "EACCES" || code === "EROFS" || code === "EPERM"
        ? "no right to write it"
        : code === "EEXIST" || code === "ENOTDIR"
          ? "its folder is a file"
          : message;
    throw new StoreError(
      `${path}: the ${name} cannot be opened: ${reason}; make it writable or name another`,
    );
  }
}

/**
 * Number of schema steps that the file has; 0 for an empty one.
 *
 * @throws StoreError when it is not ours, or newer than this program
 */
function versionOf(database: Database, path: string, { name, applicationId, steps }: Schema): number {
  const [id] = database.prepare("PRAGMA application_id").all() as { application_id: number }[];
  if (id?.application_id === applicationId) {
    const [row] = database.prepare("PRAGMA user_version").all() as { user_version: number }[];
    // The first version did not count itself.
    const version = Math.max(1, row?.user_version ?? 0);
    if (version <= steps.length) return version;
    throw new StoreError(
      `${path}: the ${name} was made by a newer version of idv; update idv, or name another`,
    );
  }
  const tables = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").all();
  if (id?.application_id !== 0 || tables.length > 0) throw notOurs(path, name);
  return 0;
}

function notOurs(path: string, name: string): StoreError {
  return new StoreError(`${path}: not a ${name} of idv; name another, it was left as it is`);
}

/** The time, by `performance.now()`, at which a wait that starts now ends. */
export const deadlineOf = ({ milliseconds = defaultWait }: LockWait): number =>
  performance.now() + milliseconds;

/**
 * Runs `work` again while another process holds the lock that it needs. It is tried at least once, also after the
 * deadline or when the signal is aborted already: what was paid for is worth one attempt.
 *
 * @param deadline see {@link deadlineOf}
 * @throws what `work` throws, SQLite's "busy" after the deadline, or the signal's reason
 */
export async function retryWhileBusy<Result>(
  work: () => Result,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    signal?.throwIfAborted();
    if (attempt <= blockingAttempts) Atomics.wait(sleeper, 0, 0, 0.1 + 0.4 * Math.random());
    else await pause(1 + 2 * Math.random(), signal);
  }
}

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(milliseconds, undefined, { ...(signal && { signal }) }).catch((error: unknown) => {
    throw signal?.aborted ? signal.reason : error;
  });
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

function isBusy(error: unknown): boolean {
  return primaryCode(error) === resultCode.busy || /database is locked/.test((error as Error).message ?? "");
}

/** The lowest byte of an extended result code. */
function primaryCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}
