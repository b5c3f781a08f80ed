/**
 * Quota file of the offline engine: one quota in a SQLite file. The arithmetic is in quota.ts; locks and transactions
 * are in state-file.ts.
 */

import { ask, tell } from "../sql.js";
import { damaged, type LockWait, loadSqlite, type Schema } from "../sqlite/database.js";
import { translate } from "../sqlite/dialect.js";
import { openFile, StateFile } from "../sqlite/state-file.js";
import {
  changeQuota,
  freshRow,
  type Quota,
  type QuotaChange,
  type QuotaRow,
  quotaColumns,
  type Reservation,
  renewed,
  takeUnits,
  toQuota,
} from "./quota.js";
import { receiptTables } from "./receipt-tables.js";
import {
  type Granted,
  type ReceiptCharge,
  type ReceiptRow,
  type ReceiptStore,
  receiptValues,
  takeOnce,
} from "./receipts.js";
import { leaveReceipt, newReceipts, SqlReceipts } from "./sql-receipts.js";

const schema: Schema = {
  name: "quota file",
  otherwise: "use another file, or FILE#NAME for a quota in the state of idv serve",
  // "idvq"
  applicationId: 0x69647671,
  tables: translate(`CREATE TABLE quota (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      ${quotaColumns},
      secret BLOB NOT NULL
    ) STRICT;
    INSERT INTO quota (id, secret) VALUES (1, randomblob(32));
    ${receiptTables}`),
};

const rowColumns = "unit_limit, period, used, period_start";

/** Identifies the quota in receipts: a file has only one quota. */
const noName = "";

export const freshQuota: Quota = toQuota(freshRow);

/**
 * A quota in a file that any number of processes may share. Every change is one durable transaction. All methods throw
 * StoreError when the file cannot be read or written.
 */
export class QuotaFile extends StateFile {
  /**
   * Opens the file. Creates it with {@link freshQuota} if it is absent.
   *
   * @param now clock in milliseconds since the epoch
   * @throws StoreError
   */
  static async open(path: string, now: () => number, wait: LockWait = {}): Promise<QuotaFile> {
    return new QuotaFile(await openFile(path, schema, now, wait));
  }

  /**
   * Reads the quota of a file that machines can share, without changing the file.
   *
   * @throws an error of SQLite when the file cannot be read
   */
  static async peek(path: string): Promise<Quota> {
    const { DatabaseSync } = await loadSqlite();
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const [row] = database.prepare(`SELECT ${rowColumns} FROM quota`).all() as QuotaRow[];
      return toQuota(row!);
    } finally {
      database.close();
    }
  }

  read(): Promise<Quota> {
    return this.inRead(() => toQuota(this.#row()));
  }

  /**
   * Charges up to `units`, fewer if fewer are left. Durable when it resolves: a crash never returns units.
   *
   * @param units at least 0
   * @param receipt stored in the same transaction; may make the charge smaller
   */
  reserve(units: number, receipt?: ReceiptCharge): Promise<Reservation & Granted> {
    return this.inBackgroundWrite(() => {
      const select = receipt && newReceipts(noName, receipt);
      const [news = []] = select ? this.work(ask<[ReceiptRow[]]>(select)) : [];
      let quota: Quota | undefined;
      const granted = takeOnce(units, receipt, news, (wanted) => {
        const reservation = this.#applied((row) => takeUnits(row, wanted));
        quota = reservation.quota;
        return reservation.granted;
      });
      const values = receipt && receiptValues(receipt, units, granted);
      this.work(tell(...leaveReceipt(noName, values, this.file.now())));
      return { ...granted, quota: quota! };
    });
  }

  async openReceipts(): Promise<ReceiptStore> {
    const [row] = (await this.inRead(() => this.all("SELECT secret FROM quota"))) as {
      secret: Uint8Array | null;
    }[];
    if (!row?.secret) throw damaged(this.file.path, schema);
    return new SqlReceipts(this, noName, row.secret);
  }

  /** Used units stay. */
  async configure(change: QuotaChange): Promise<Quota> {
    const { quota } = await this.#change((row) => {
      changeQuota(row, change, this.file.now());
      return 0;
    });
    return quota;
  }

  async reset(): Promise<Quota> {
    const { quota } = await this.#change((row) => {
      row.used = 0;
      this.run("DELETE FROM receipt");
      this.run("DELETE FROM receipt_owner");
      return 0;
    });
    return quota;
  }

  #change(apply: (row: QuotaRow) => number): Promise<Reservation> {
    return this.inWrite(() => this.#applied(apply));
  }

  #applied(apply: (row: QuotaRow) => number): Reservation {
    const row = this.#row();
    const granted = apply(row);
    this.file.database
      .prepare("UPDATE quota SET unit_limit = ?, period = ?, used = ?, period_start = ?")
      .run(row.unit_limit, row.period, row.used, row.period_start);
    return { granted, quota: toQuota(row) };
  }

  #row(): QuotaRow {
    const [row] = this.file.database.prepare(`SELECT ${rowColumns} FROM quota`).all() as QuotaRow[];
    if (row === undefined) throw damaged(this.file.path, schema);
    return renewed(row, this.file.now());
  }
}
