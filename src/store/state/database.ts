/** Port of the store of the service to its database: SQLite or PostgreSQL. */

import type { Work } from "../sql.js";
import type { ChargedRows } from "./rules.js";
import type { Charge, ChargeOutcome } from "./service-store.js";

/** A database with the state of the service. All methods throw StoreError when it cannot be used. */
export interface ServiceDatabase {
  /** Names the database in messages, without a password. */
  readonly name: string;
  /** Whether charges of different keys run side by side, rather than one after the other. */
  readonly runsSideBySide: boolean;
  /** Most usage that is added up in one go, in milliseconds, where others wait for it. */
  readonly usagePart?: number;
  /** Makes plain charges in less than a transaction. */
  readonly fastCharges?: FastCharges;
  /** Runs work that changes nothing. */
  read<Result>(work: () => Work<Result>): Promise<Result>;
  /** Runs work in a durable transaction. It may be started again while the database is locked. */
  write<Result>(work: () => Work<Result>): Promise<Result>;
  /** The same, but a power failure may undo it. */
  writeFast<Result>(work: () => Work<Result>): Promise<Result>;
  /** Tries to make a change, for a second at most. Nothing depends on it. */
  tryWrite(work: () => Work<unknown>): Promise<void>;
  /**
   * Runs several pieces of work in one transaction. Nothing else may use the database meanwhile.
   *
   * @param use `read` for rows as of one moment
   */
  inOne(
    use: "read" | "write",
    work: (run: <Result>(work: Work<Result>) => Promise<Result>) => Promise<void>,
  ): Promise<void>;
  /** Checks that the state can be written, by writing something that it already has. */
  checkWritable(): Promise<void>;
  close(): Promise<void>;
}

/** Charges that need no transaction. */
export interface FastCharges {
  /**
   * Makes charges at once if that will do.
   *
   * @returns undefined if nothing was charged
   */
  chargeAll(
    charges: readonly Charge[],
  ): Promise<{ readonly outcomes: readonly ChargeOutcome[]; readonly now: number } | undefined>;
  /** Takes note of the rows after charges in a transaction. */
  learn(rows: Pick<ChargedRows, "keys" | "quotas">, now: number): void;
}
