/** Base class of all state files. Waits for the locks of other processes without blocking this one. */
import { statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { StoreError } from "../errors.js";
import { clock, longestKnown, type Parameter, type Statement, type Work } from "../sql.js";
import * as sqlite from "./database.js";
import { translate } from "./dialect.js";

export interface OpenFile {
  readonly path: string;
  readonly database: sqlite.Database;
  readonly inode: number;
  readonly schema: sqlite.Schema;
  readonly now: () => number;
  readonly wait: sqlite.LockWait;
}

/** Creates the file if it is absent. `wait` limits this and every later wait for a lock. @throws StoreError */
export async function openFile(path: string, schema: sqlite.Schema, now: () => number, wait: sqlite.LockWait) {
  const database = await sqlite.openStore(path, schema, wait);
  return { path, database, inode: statSync(path).ino, schema, now, wait };
}

/** All methods throw StoreError when the file cannot be used. */
export abstract class StateFile {
  /** Changes run one after another, so that a process never competes with itself for the lock. */
  #lastWrite: Promise<unknown> = Promise.resolve();

  readonly #statements = new Map<string, ReturnType<sqlite.Database["prepare"]>>();

  #log: Promise<FileHandle | undefined> | undefined;
  #syncing: Promise<void> = Promise.resolve();
  #nextSync: Promise<void> | undefined;

  constructor(protected readonly file: OpenFile) {}

  async close(): Promise<void> {
    await this.#lastWrite;
    await (await this.#log)?.close();
    const { database } = this.file;
    try {
      // Closing does this only without prepared statements, which this SQLite has no way to end. A copy of the file alone then
      // has all, and one that is put back is not changed by an old log.
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Nothing is lost: the log stays.
    }
    database.close();
  }

  protected all(sql: string, ...parameters: readonly Parameter[]): unknown[] {
    return this.#statement(sql).all(...parameters);
  }

  protected run(sql: string, ...parameters: readonly Parameter[]): number {
    return Number((this.#statement(sql).run(...parameters) as { changes: number | bigint }).changes);
  }

  #statement(sql: string): ReturnType<sqlite.Database["prepare"]> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.file.database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  protected work<Result>(work: Work<Result>): Result {
    let step = work.next();
    while (!step.done) step = work.next(step.value.statements.map((statement) => this.#rowsOf(statement)));
    return step.value;
  }

  #rowsOf(statement: Statement): unknown[] {
    if (statement === clock) return [{ now: this.file.now() }];
    const [text, ...parameters] = statement;
    const sql = translate(text);
    const prepared = text.length < longestKnown ? this.#statement(sql) : this.file.database.prepare(sql);
    return prepared.all(...parameters);
  }

  async writeFast<Result>(work: () => Work<Result>): Promise<Result> {
    this.checkPath();
    return this.inFastWrite(() => this.work(work()));
  }

  async tryWrite(work: () => Work<unknown>): Promise<void> {
    await this.#lastWrite;
    const { database } = this.file;
    const deadline = sqlite.deadlineOf({ milliseconds: 1000 });
    const change = () => sqlite.inTransaction(database, () => this.work(work()));
    await sqlite.retryWhileBusy(change, deadline, undefined).catch(() => {});
  }

  protected inRead<Result>(work: () => Result): Promise<Result> {
    const { path, schema, wait } = this.file;
    return sqlite.explainErrors(path, schema, () => sqlite.retryWhileBusy(work, sqlite.deadlineOf(wait), wait.signal));
  }

  /** Durable, after the changes already in the queue. */
  protected inWrite<Result>(work: () => Result): Promise<Result> {
    const { database } = this.file;
    return this.#write(() => sqlite.inTransaction(database, work));
  }

  /** Much faster: the change survives a crash of the process but perhaps not a power failure. */
  protected inFastWrite<Result>(work: () => Result): Promise<Result> {
    const { database } = this.file;
    return this.#write(() => {
      database.exec("PRAGMA synchronous = NORMAL");
      try {
        return sqlite.inTransaction(database, work);
      } finally {
        database.exec("PRAGMA synchronous = FULL");
      }
    });
  }

  protected async canSync(): Promise<boolean> {
    // A change is durable once the log is. There may be none yet, or it cannot be created here.
    this.#log ??= open(`${this.file.path}-wal`, "r+").catch(() => undefined);
    const hasLog = (await this.#log) !== undefined;
    if (!hasLog) this.#log = undefined;
    return hasLog;
  }

  /** Makes all fast changes so far durable without blocking. Changes made meanwhile share the next sync. */
  protected sync(): Promise<void> {
    this.#nextSync ??= this.#syncing
      .catch(() => {})
      .then(async () => {
        this.#nextSync = undefined;
        this.#syncing = (await this.#log)!.datasync();
        return this.#syncing;
      });
    const { path, schema } = this.file;
    return this.#nextSync.catch((error: Error) => {
      throw new StoreError(`${path}: the ${schema.name} cannot be used: ${error.message}`);
    });
  }

  get #inode(): number | undefined {
    return statSync(this.file.path, { throwIfNoEntry: false })?.ino;
  }

  get isInPlace(): boolean {
    return this.#inode === this.file.inode;
  }

  /** @throws StoreError when the file was removed or replaced: SQLite would continue with the lost file */
  protected checkPath(): void {
    const { path, schema } = this.file;
    if (this.isInPlace) return;
    const what = this.#inode === undefined ? "removed" : "replaced";
    throw new StoreError(`${path}: the ${schema.name} was ${what} during the run; put it back, or run again`);
  }

  /** Runs work that takes many turns of the event loop. Nothing else may use this object meanwhile. */
  protected async inLongTransaction(begin: "BEGIN" | "BEGIN IMMEDIATE", work: () => Promise<void>): Promise<void> {
    const { path, schema, wait, database } = this.file;
    await this.#lastWrite;
    return sqlite.explainErrors(path, schema, async () => {
      await sqlite.retryWhileBusy(() => database.exec(begin), sqlite.deadlineOf(wait), wait.signal);
      try {
        await work();
        database.exec("COMMIT");
      } catch (error) {
        sqlite.rollBack(database);
        throw error;
      }
    });
  }

  #write<Result>(transaction: () => Result): Promise<Result> {
    const { path, schema, wait } = this.file;
    // Before queueing, so that the time in the queue counts as part of the wait.
    const deadline = sqlite.deadlineOf(wait);
    const written = this.#lastWrite.then(() => sqlite.retryWhileBusy(transaction, deadline, wait.signal));
    this.#lastWrite = written.catch(() => {});
    return sqlite.explainErrors(path, schema, () => written);
  }
}
