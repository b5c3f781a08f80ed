import { type Period, periodEnd, periodStart } from "./period.js";
import {
  type Database,
  damaged,
  explainErrors,
  inTransaction,
  openStore,
  retryWhileBusy,
  type Schema,
} from "./sqlite.js";

/** The state of a quota at one moment. */
export interface Quota {
  /** Units a period; null for no limit. */
  readonly limit: number | null;
  readonly period: Period;
  /** Units used in this period. */
  readonly used: number;
  /** Units left in this period; null for no limit. Never negative. */
  readonly left: number | null;
  /** When `used` goes back to 0, in milliseconds since the epoch; null for never. */
  readonly renewsAt: number | null;
}

/** A reservation: how many of the units asked for were granted, and the quota after it. */
export interface Reservation {
  readonly granted: number;
  readonly quota: Quota;
}

interface Row {
  unit_limit: number | null;
  period: Period;
  used: number;
  period_start: number;
}

const schema: Schema = {
  name: "quota file",
  // "idvq"
  applicationId: 0x69647671,
  create: `
    CREATE TABLE quota (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      unit_limit INTEGER CHECK (unit_limit >= 0),
      period TEXT NOT NULL DEFAULT 'none' CHECK (period IN ('none', 'hour', 'day', 'month')),
      used INTEGER NOT NULL DEFAULT 0 CHECK (used >= 0),
      period_start INTEGER NOT NULL DEFAULT 0
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
    return this.#change((row) => {
      const { left } = toQuota(row);
      const granted = left === null ? units : Math.min(units, left);
      row.used += granted;
      return granted;
    });
  }

  /** Changes the limit or the period or both; the units used in this period stay. */
  configure(change: { readonly limit?: number | null; readonly period?: Period }): Quota {
    return this.#change((row) => {
      if (change.limit !== undefined) row.unit_limit = change.limit;
      if (change.period !== undefined && change.period !== row.period) {
        row.period = change.period;
        row.period_start = periodStart(row.period, this.#now());
      }
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

  #change(apply: (row: Row) => number): Reservation {
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
  #row(): Row {
    const [row] = this.#database
      .prepare("SELECT unit_limit, period, used, period_start FROM quota")
      .all() as Row[];
    if (row === undefined) throw damaged(this.#path, schema);
    const start = periodStart(row.period, this.#now());
    // A clock that was set back does not renew anything.
    return start > row.period_start ? { ...row, used: 0, period_start: start } : { ...row };
  }

  #explain<Result>(work: () => Result): Result {
    return explainErrors(this.#path, schema, work);
  }
}

function toQuota({ unit_limit: limit, period, used, period_start }: Row): Quota {
  return {
    limit,
    period,
    used,
    left: limit === null ? null : Math.max(0, limit - used),
    renewsAt: periodEnd(period, period_start) ?? null,
  };
}
