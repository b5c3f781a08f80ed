import {
  type Database,
  explainErrors,
  inTransaction,
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
}

/**
 * Opens a state file, or makes it where it is absent.
 *
 * @throws StoreError
 */
export async function openFile(path: string, schema: Schema, now: () => number): Promise<OpenFile> {
  return { path, database: await openStore(path, schema), schema, now };
}

/** State in a file that any number of processes may share. All methods throw StoreError when it cannot be used. */
export abstract class StateFile {
  protected readonly file: OpenFile;

  constructor(file: OpenFile) {
    this.file = file;
  }

  close(): void {
    this.file.database.close();
  }

  /** Runs a read, again while others write. */
  protected inRead<Result>(work: () => Result): Result {
    return explainErrors(this.file.path, this.file.schema, () => retryWhileBusy(work));
  }

  /** Runs a change in one durable transaction. */
  protected inWrite<Result>(work: () => Result): Result {
    const { path, schema, database } = this.file;
    return explainErrors(path, schema, () => inTransaction(database, work));
  }

  /** Runs a change in one transaction that outlives the process, but perhaps not a power failure: much faster. */
  protected inFastWrite<Result>(work: () => Result): Result {
    const { path, schema, database } = this.file;
    return explainErrors(path, schema, () => {
      database.exec("PRAGMA synchronous = NORMAL");
      try {
        return inTransaction(database, work);
      } finally {
        database.exec("PRAGMA synchronous = FULL");
      }
    });
  }
}
