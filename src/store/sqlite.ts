import { closeSync, fchmodSync, fstatSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { versions } from "node:process";

/** The part of `node:sqlite`'s `DatabaseSync` that the stores use. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): {
    run(...parameters: readonly (string | number | null | Uint8Array)[]): unknown;
    all(...parameters: readonly (string | number | null | Uint8Array)[]): unknown[];
  };
  close(): void;
}

/** What tells a store's file from all others, and how an empty one begins. */
export interface Schema {
  /** What the file is called in errors: `quota file`. */
  readonly name: string;
  /** SQLite's `application_id`: 32 bits that mark the file as ours. */
  readonly applicationId: number;
  /** Statements that make the tables of a new file. */
  readonly create: string;
}

/** A state file that cannot be used: its path, what is wrong with it and what to do. */
export class StoreError extends Error {
  override readonly name = "StoreError";
}

/** SQLite before this can corrupt a WAL that is reset while it is read. */
const firstSoundSqlite = [3, 51, 3];

/** SQLite's primary result codes, https://sqlite.org/rescode.html */
const resultCode = { busy: 5, readOnly: 8, full: 13 } as const;

/** 0.2 to 2 ms each: waits about 30 s in all for a lock that other processes hold for a millisecond at a time. */
const maximumAttempts = 27_000;

/**
 * Opens a state file, and makes it, with rights for its owner only, where it is absent or empty. A file that is
 * not ours is left as it is.
 *
 * @throws StoreError when the file cannot be opened, is not ours, or stays locked
 */
export async function openStore(path: string, schema: Schema): Promise<Database> {
  createPrivately(path, schema);
  const { DatabaseSync } = await loadSqlite();
  return explainErrors(path, schema, () => {
    // Absolute, because SQLite has its own meaning for names such as :memory:.
    const database = new DatabaseSync(resolve(path));
    try {
      // SQLite's own waiting starves a process for seconds when several write.
      database.exec("PRAGMA busy_timeout = 0");
      retryWhileBusy(() => database.exec("PRAGMA synchronous = FULL"));
      // Looked at before anything is changed: it may be somebody else's database.
      const isNew = retryWhileBusy(() => identify(database, path, schema)) === "empty";
      retryWhileBusy(() => database.exec("PRAGMA journal_mode = WAL"));
      if (isNew) {
        inTransaction(database, () => {
          // Another process may have been faster.
          if (identify(database, path, schema) === "ours") return;
          database.exec(`${schema.create}; PRAGMA application_id = ${schema.applicationId}`);
        });
      }
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/**
 * Runs `work` in one durable transaction that excludes all other writers, and returns what it returns. Committed
 * means on the disk: no crash takes it back.
 *
 * @throws what `work` throws, after a rollback
 */
export function inTransaction<Result>(database: Database, work: () => Result): Result {
  retryWhileBusy(() => database.exec("BEGIN IMMEDIATE"));
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

/** Runs `work` and says what its SQLite errors mean for this file. */
export function explainErrors<Result>(path: string, schema: Schema, work: () => Result): Result {
  const { name } = schema;
  try {
    return work();
  } catch (error) {
    const { message } = error as Error;
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
    if ((error as { code?: string }).code !== "ERR_SQLITE_ERROR") throw error;
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

async function loadSqlite(): Promise<SqliteModule> {
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

function identify(database: Database, path: string, schema: Schema): "ours" | "empty" {
  const [id] = database.prepare("PRAGMA application_id").all() as { application_id: number }[];
  if (id?.application_id === schema.applicationId) return "ours";
  const tables = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").all();
  if (id?.application_id !== 0 || tables.length > 0) throw notOurs(path, schema.name);
  return "empty";
}

function notOurs(path: string, name: string): StoreError {
  return new StoreError(`${path}: not a ${name} of idv; name another, it was left as it is`);
}

/** Runs `work` again for as long as another process holds the lock that it needs, up to about 30 s. */
export function retryWhileBusy<Result>(work: () => Result): Result {
  for (let attempt = 1; ; attempt++) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || attempt === maximumAttempts) throw error;
      Atomics.wait(sleeper, 0, 0, 0.2 + 1.8 * Math.random());
    }
  }
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

function isBusy(error: unknown): boolean {
  return primaryCode(error) === resultCode.busy || /database is locked/.test((error as Error).message);
}

/** The lowest byte of an extended result code. */
function primaryCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}
