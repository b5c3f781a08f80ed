/**
 * One open state file: reads and changes wait for the locks of other processes without blocking this one, and errors name
 * the file. What the file holds is up to the classes that extend it.
 */
import {
  type Database,
  deadlineOf,
  explainErrors,
  inTransaction,
  type LockWait,
  openStore,
  retryWhileBusy,
  type Schema,
} from "./sqlite.js";

/** An open state file. */
export interface OpenFile {
  readonly path: string;
  readonly database: Database;
  readonly schema: Schema;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
  readonly wait: LockWait;
}

/**
 * Opens a state file, or creates it where it is absent.
 *
 * @param wait how this and every later call waits for the locks of other processes
 * @throws StoreError
 */
export async function openFile(
  path: string,
  schema: Schema,
  now: () => number,
  wait: LockWait,
): Promise<OpenFile> {
  return { path, database: await openStore(path, schema, wait), schema, now, wait };
}

/** State in a file that any number of processes may share. All methods throw StoreError when it cannot be used. */
export abstract class StateFile {
  protected readonly file: OpenFile;
  /** The change that was asked for last. Changes queue up: one process polls for a lock once, however much it has to do. */
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(file: OpenFile) {
    this.file = file;
  }

  /** Closes the file when all changes asked for so far are done. */
  async close(): Promise<void> {
    await this.#lastWrite;
    this.file.database.close();
  }

  /** Runs a read, again while another process keeps it from reading. */
  protected inRead<Result>(work: () => Result): Promise<Result> {
    const { path, schema, wait } = this.file;
    return explainErrors(path, schema, () => retryWhileBusy(work, deadlineOf(wait), wait.signal));
  }

  /** Runs a change in one durable transaction, after the changes asked for before. */
  protected inWrite<Result>(work: () => Result): Promise<Result> {
    const { database } = this.file;
    return this.#write(() => inTransaction(database, work));
  }

  /** Like {@link inWrite}, but the change survives a crash of the process only, perhaps not a power failure: much faster. */
  protected inFastWrite<Result>(work: () => Result): Promise<Result> {
    const { database } = this.file;
    return this.#write(() => {
      database.exec("PRAGMA synchronous = NORMAL");
      try {
        return inTransaction(database, work);
      } finally {
        database.exec("PRAGMA synchronous = FULL");
      }
    });
  }

  #write<Result>(transaction: () => Result): Promise<Result> {
    const { path, schema, wait } = this.file;
    // Counted from now, so that the time in the queue is part of the wait.
    const deadline = deadlineOf(wait);
    const written = this.#lastWrite.then(() => retryWhileBusy(transaction, deadline, wait.signal));
    this.#lastWrite = written.catch(() => {});
    return explainErrors(path, schema, () => written);
  }
}
