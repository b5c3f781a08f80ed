/** The receipts of runs in PostgreSQL, for runs on several machines. The clock of the database decides which of them live. */
import type { PostgresDatabase, Query } from "./postgres.js";
import { clock } from "./postgres-service-tables.js";
import {
  keptMilliseconds,
  type ReceiptCharge,
  type ReceiptRow,
  type ReceiptRun,
  type ReceiptStore,
} from "./receipts.js";

const columns = "id, run, owner, created, granted, used, marks";
const ofList = "quota = $1 AND name = $2 AND kind = $3 AND start = $4";
const sign = `INSERT INTO idv_receipt_owner VALUES ($1, (${clock}))
  ON CONFLICT (owner) DO UPDATE SET alive = excluded.alive`;

/** The receipts of one quota. */
export class PostgresReceipts implements ReceiptStore {
  readonly secret: Uint8Array;
  readonly #database: PostgresDatabase;
  readonly #quota: string;

  /** @param quota identifies the quota in the database */
  constructor(database: PostgresDatabase, quota: string, secret: Uint8Array) {
    this.#database = database;
    this.#quota = quota;
    this.secret = secret;
  }

  take(
    { owner, name, kind, start }: ReceiptRun,
    isDead: (owner: string, alive: number | null, now: number) => boolean,
  ): Promise<readonly ReceiptRow[]> {
    return this.#database.transaction(async (query, begun) => {
      const [[{ now }], found] = (await Promise.all([
        query(clock),
        query(
          `SELECT ${columns} FROM idv_receipt WHERE ${ofList} ORDER BY id FOR UPDATE`,
          ...[this.#quota, name, kind, start],
        ),
        begun,
      ])) as unknown as [[{ now: number }], ReceiptRow[]];
      const oldest = now - keptMilliseconds;
      // Not awaited, as below: they are sent together with COMMIT.
      query("DELETE FROM idv_receipt WHERE created < $1", oldest);
      query("DELETE FROM idv_receipt_owner WHERE alive < $1", oldest);
      const rows = found.filter(({ created }) => created >= oldest);
      if (name.length > 0) return rows;
      // After the rows are locked: another run may have taken them meanwhile, and its signs are newer than the statement that waited.
      const owners = [...new Set(rows.map((row) => row.owner))];
      const signs =
        owners.length === 0
          ? []
          : ((await query("SELECT * FROM idv_receipt_owner WHERE owner = ANY($1)", owners)) as {
              owner: string;
              alive: number;
            }[]);
      const alive = new Map(signs.map((other) => [other.owner, other.alive]));
      const dead = owners.filter((other) => isDead(other, alive.get(other) ?? null, now));
      const taken = rows.filter((row) => dead.includes(row.owner));
      if (owner === "") return taken;
      if (dead.length > 0) {
        query("DELETE FROM idv_receipt_owner WHERE owner = ANY($1)", dead);
        query(
          "UPDATE idv_receipt SET owner = $1 WHERE id = ANY($2)",
          owner,
          taken.map(({ id }) => id),
        );
      }
      query(sign, owner);
      return taken;
    });
  }

  async stayAlive(owner: string): Promise<void> {
    await this.#database.read([sign, owner]);
  }

  async end(owner: string, used: ReadonlyMap<string, number>): Promise<void> {
    const ended = "UPDATE idv_receipt SET used = greatest(used, items)";
    const runs =
      "FROM unnest($2::text[], $3::bigint[]) AS ended (other, items) WHERE owner = $1 AND run = other";
    await this.#try(
      [`${ended} ${runs}`, owner, [...used.keys()], [...used.values()]],
      ["DELETE FROM idv_receipt WHERE owner = $1 AND granted <= used", owner],
      ["DELETE FROM idv_receipt_owner WHERE owner = $1", owner],
    );
  }

  async release(owner: string): Promise<void> {
    await this.#try(["DELETE FROM idv_receipt_owner WHERE owner = $1", owner]);
  }

  /** Tries to make a change. Nothing depends on it. */
  async #try(...statements: readonly (readonly [string, ...unknown[]])[]): Promise<void> {
    await this.#database.read(...statements).catch(() => {});
  }
}

/** Returns the receipts that other runs of the name have left since the last charge. */
export function newReceipts(
  query: Query,
  quota: string,
  { run, news }: ReceiptCharge,
): Promise<ReceiptRow[]> {
  if (news === undefined) return Promise.resolve([]);
  return query(
    `SELECT ${columns} FROM idv_receipt WHERE ${ofList} AND id > $5 AND run <> $6 ORDER BY id`,
    ...[quota, run.name, run.kind, run.start, news.after, run.run],
  ) as Promise<ReceiptRow[]>;
}

/** Leaves a receipt. @param values see `receiptValues` */
export const leaveReceipt = (query: Query, quota: string, values: readonly unknown[], now: number) =>
  query(
    `INSERT INTO idv_receipt (run, owner, name, kind, start, granted, marks, quota, created)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    ...[...values, quota, now],
  );
