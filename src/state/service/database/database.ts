/** Port of the store of the service to its database: SQLite or PostgreSQL. */

import type { PoolState } from "../../postgres/database.js";
import type { Work } from "../../sql.js";
import type { PostgresCharges } from "./postgres-charges.js";

/** All methods throw StoreError when the database cannot be used. */
export interface ServiceDatabase {
  readonly name: string;
  /** A server has one clock for all who use it, and charges of different keys run concurrently. */
  readonly isServer: boolean;
  readonly fastCharges?: PostgresCharges;
  readonly pool?: PoolState;
  read<Result>(work: () => Work<Result>): Promise<Result>;
  /** Durable. May restart the work while the database is locked. */
  write<Result>(work: () => Work<Result>): Promise<Result>;
  /** Like `write`, but a power failure may undo the change. */
  writeFast<Result>(work: () => Work<Result>): Promise<Result>;
  /** Tries for at most a second. Nothing may depend on it. */
  tryWrite(work: () => Work<unknown>): Promise<void>;
  /** Does several pieces of work in one transaction. Nothing else may use the database meanwhile. */
  inOne(
    use: "read" | "write",
    work: (run: <Result>(work: Work<Result>) => Promise<Result>) => Promise<void>,
  ): Promise<void>;
  checkWritable(): Promise<void>;
  /** Also reads all of a file, some 2 s a GB, to find damage before a charge does. */
  examine(): Promise<void>;
  close(): Promise<void>;
}
