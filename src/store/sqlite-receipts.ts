/** The receipts of runs in a SQLite file: that of a quota, or the state of the service. Its processes are those of one machine. */
import {
  keptMilliseconds,
  type ReceiptCharge,
  type ReceiptRow,
  type ReceiptRun,
  type ReceiptStore,
} from "./receipts.js";
import type { Parameter } from "./state-file.js";

/** Statements in a transaction. */
interface Sql {
  all(sql: string, ...parameters: readonly Parameter[]): unknown[];
  run(sql: string, ...parameters: readonly Parameter[]): number;
}

/** Access to the file. */
interface ReceiptFile extends Sql {
  /** Clock in milliseconds since the epoch. */
  readonly now: () => number;
  /** Runs a change in a transaction. */
  write<Result>(work: () => Result): Promise<Result>;
  /** Tries to make a change, for a second at most. Nothing depends on it. */
  tryWrite(work: () => void): Promise<void>;
}

/** The tables. Receipts of a quota file that has no such columns get them by a step of its own. */
export const receiptTables = `CREATE TABLE receipt (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    start BLOB NOT NULL,
    created INTEGER NOT NULL,
    granted INTEGER NOT NULL,
    marks BLOB NOT NULL,
    name BLOB NOT NULL,
    quota TEXT NOT NULL
  ) STRICT;
  CREATE INDEX receipt_by_start ON receipt (start);
  CREATE INDEX receipt_by_owner ON receipt (owner);
  CREATE TABLE receipt_owner (owner TEXT PRIMARY KEY, alive INTEGER NOT NULL) STRICT, WITHOUT ROWID`;

/** The number of first items that are used up. */
export const usedColumn = "ALTER TABLE receipt ADD COLUMN used INTEGER NOT NULL DEFAULT 0";

/** Numbers that are damaged stay within what JavaScript can hold. */
const columns = `id, run, owner, min(max(created, 0), 8.64e15) AS created, min(max(granted, 0), 9e15) AS granted,
  min(max(used, 0), 9e15) AS used, marks`;
const ofList = "quota = ? AND name = ? AND kind = ? AND start = ?";

/** Time between two deletions of old receipts by the run that has left them, in milliseconds. */
const sweepMilliseconds = 3_600_000;

/** The receipts of one quota. */
export class SqliteReceipts implements ReceiptStore {
  readonly secret: Uint8Array;
  readonly #file: ReceiptFile;
  readonly #quota: string;
  #sweptAt = 0;

  /** @param quota identifies the quota in the file */
  constructor(file: ReceiptFile, quota: string, secret: Uint8Array) {
    this.#file = file;
    this.#quota = quota;
    this.secret = secret;
  }

  take(
    { owner, name, kind, start }: ReceiptRun,
    isDead: (owner: string, alive: number | null, now: number) => boolean,
  ): Promise<readonly ReceiptRow[]> {
    const { all, run, write } = this.#file;
    const list = [this.#quota, name, kind, start];
    return write(() => {
      const now = this.#file.now();
      run("DELETE FROM receipt WHERE created < ?", now - keptMilliseconds);
      run("DELETE FROM receipt_owner WHERE alive < ?", now - keptMilliseconds);
      const rows = all(
        `SELECT ${columns}, (SELECT alive FROM receipt_owner AS o WHERE o.owner = receipt.owner) AS alive
        FROM receipt WHERE ${ofList} ORDER BY id`,
        ...list,
      ) as (ReceiptRow & { alive: number | null })[];
      if (name.length > 0) return rows;
      const signs = new Map(rows.map((row) => [row.owner, row.alive]));
      const dead = Array.from(signs).flatMap(([other, alive]) => (isDead(other, alive, now) ? other : []));
      if (owner !== "") {
        for (const other of dead) {
          // Receipts of another list are left to its own run.
          run(`UPDATE receipt SET owner = ? WHERE owner = ? AND ${ofList}`, ...[owner, other, ...list]);
          run("DELETE FROM receipt_owner WHERE owner = ?", other);
        }
        this.#sign(owner);
      }
      return rows.filter((row) => dead.includes(row.owner));
    });
  }

  async stayAlive(owner: string): Promise<void> {
    const { now, run, write } = this.#file;
    await write(() => {
      this.#sign(owner);
      if (now() < this.#sweptAt + sweepMilliseconds) return;
      this.#sweptAt = now();
      // Of a run that lasts for weeks.
      run("DELETE FROM receipt WHERE owner = ? AND created < ?", owner, now() - keptMilliseconds);
    });
  }

  async end(owner: string, used: ReadonlyMap<string, number>): Promise<void> {
    const { run, write } = this.#file;
    const ended = write(() => {
      for (const [other, items] of used) {
        run("DELETE FROM receipt WHERE run = ? AND owner = ? AND granted <= ?", other, owner, items);
        run("UPDATE receipt SET used = max(used, ?) WHERE run = ? AND owner = ?", items, other, owner);
      }
      run("DELETE FROM receipt_owner WHERE owner = ?", owner);
    });
    // The output is in place: what has it again is free.
    await ended.catch(() => {});
  }

  async release(owner: string): Promise<void> {
    const { run, tryWrite } = this.#file;
    await tryWrite(() => void run("DELETE FROM receipt_owner WHERE owner = ?", owner));
  }

  #sign(owner: string): void {
    this.#file.run("INSERT OR REPLACE INTO receipt_owner VALUES (?, ?)", owner, this.#file.now());
  }
}

/** Returns the receipts that other runs of the name have left since the last charge. */
export function newReceipts({ all }: Sql, quota: string, { run, news }: ReceiptCharge): ReceiptRow[] {
  if (news === undefined) return [];
  return all(
    `SELECT ${columns} FROM receipt
    WHERE ${ofList} AND id > ? AND run <> ? ORDER BY id`,
    ...[quota, run.name, run.kind, run.start, news.after, run.run],
  ) as ReceiptRow[];
}

/** Leaves a receipt. @param values see `receiptValues` */
export function leaveReceipt(
  { run }: Sql,
  quota: string,
  values: readonly Parameter[] | undefined,
  now: number,
): void {
  if (values === undefined) return;
  run(
    `INSERT INTO receipt (run, owner, name, kind, start, granted, marks, quota, created)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[...values, quota, now],
  );
}
