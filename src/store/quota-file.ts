import {
  changeQuota,
  type Quota,
  type QuotaChange,
  type QuotaRow,
  quotaColumns,
  type Reservation,
  renewed,
  takeUnits,
  toQuota,
} from "./quota.js";
import {
  type Database,
  damaged,
  explainErrors,
  inTransaction,
  openStore,
  retryWhileBusy,
  type Schema,
} from "./sqlite.js";

const schema: Schema = {
  name: "quota file",
  // "idvq"
  applicationId: 0x69647671,
  create: `
    CREATE TABLE quota (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      ${quotaColumns}
    ) STRICT;
    INSERT INTO quota (id) VALUES (1)`,
};

/** The quota that an absent file stands for: no limit, nothing used. */
export const freshQuota: Quota = { limit: null, period: "none", used: 0, left: null, renewsAt: null };

/**
 * A quota in a file that any number of processes may share. Every change is one durable transaction. All
 * methods throw StoreError when the file cannot be read or written.
 */
export class QuotaFile {
  readonly #path: string;
  readonly #database: Database;
  readonly #now: () => number;

  private constructor(path: string, database: Database, now: () => number) {
    this.#path = path;
    this.#database = database;
    this.#now = now;
  }

  /**
   * Opens the file, or makes it, without a limit, where it is absent.
   *
   * @param now the clock, in milliseconds since the epoch
   * @throws StoreError
   */
  static async open(path: string, now: () => number): Promise<QuotaFile> {
    return new QuotaFile(path, await openStore(path, schema), now);
  }

  /** The quota now. */
  read(): Quota {
    return this.#explain(() => retryWhileBusy(() => toQuota(this.#row())));
  }

  /**
   * Takes up to `units` from what is left. Durable when it returns: a crash never gives units back.
   *
   * @param units how many are wanted, at least 0
   */
  reserve(units: number): Reservation {
    return this.#change((row) => takeUnits(row, units));
  }

  /** Changes the limit or the period or both; the units used in this period stay. */
  configure(change: QuotaChange): Quota {
    return this.#change((row) => {
      changeQuota(row, change, this.#now());
      return 0;
    }).quota;
  }

  /** Sets the units used to 0. */
  reset(): Quota {
    return this.#change((row) => {
      row.used = 0;
      return 0;
    }).quota;
  }

  close(): void {
    this.#database.close();
  }

  #change(apply: (row: QuotaRow) => number): Reservation {
    return this.#explain(() =>
      inTransaction(this.#database, () => {
        const row = this.#row();
        const granted = apply(row);
        this.#database
          .prepare("UPDATE quota SET unit_limit = ?, period = ?, used = ?, period_start = ?")
          .run(row.unit_limit, row.period, row.used, row.period_start);
        return { granted, quota: toQuota(row) };
      }),
    );
  }

  /** The row as it stands now, in a new period if one has begun. */
  #row(): QuotaRow {
    const [row] = this.#database
      .prepare("SELECT unit_limit, period, used, period_start FROM quota")
      .all() as QuotaRow[];
    if (row === undefined) throw damaged(this.#path, schema);
    return renewed(row, this.#now());
  }

  #explain<Result>(work: () => Result): Result {
    return explainErrors(this.#path, schema, work);
  }
}
