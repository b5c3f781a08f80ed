/**
 * Charges of the service in PostgreSQL in one statement, if nothing has changed since the last charge of the key. Must not know how
 * keys are made or changed.
 */
import type { StoreError } from "../errors.js";
import type { PostgresDatabase } from "../postgres/database.js";
import { clock } from "../postgres/dialect.js";
import { toQuota } from "../quota/quota.js";
import type { FastCharges } from "./database.js";
import { applyCharges, type ChargedRows, isUsable, type KeyRow, type NamedQuotaRow } from "./rules.js";
import type { Charge } from "./service-store.js";

/** A quota with the number of its changes and those of its keys. */
interface VersionedQuotaRow extends NamedQuotaRow {
  readonly version: number;
}

/** The quota of a key, and the end of its period or of the key, in milliseconds since the epoch; null for never. */
interface KnownKey {
  readonly quota: VersionedQuotaRow;
  readonly until: number | null;
}

/** Most keys that are remembered. */
const mostKnown = 10_000;

/**
 * Makes charges in one statement, or none if it returns no row. The answers and the usage are those of {@link applyCharges}.
 * The quota is unlocked before the charges are on disk, so that other servers need not wait for the disk one after another. They
 * are durable once {@link untilDurable}, sent after it, is answered: the log of the database is written in order.
 */
const atOnce = `WITH time AS MATERIALIZED (${clock}, set_config('synchronous_commit', 'off', true)),
  quota AS (
    UPDATE idv_quota SET used = used + $3 FROM time
    WHERE id = $2 AND version = $4 AND ($5::bigint IS NULL OR now < $5)
      AND (unit_limit IS NULL OR used + $3 <= unit_limit)
      AND NOT EXISTS (SELECT FROM idv_answer WHERE key_id = $1 AND idempotency_key_hash = ANY($6))
    RETURNING idv_quota.*, now
  ),
  answer AS (
    INSERT INTO idv_answer SELECT $1, hash, body_hash, statuses, now
    FROM quota, unnest($6::bytea[], $7::bytea[], $8::text[]) AS added (hash, body_hash, statuses)
  ),
  usage AS (
    INSERT INTO idv_usage SELECT $1, now - now % 3600000, kind, status, units
    FROM quota, unnest($9::text[], $10::text[], $11::bigint[]) AS added (kind, status, units)
    ON CONFLICT (key_id, hour, kind, status) DO UPDATE SET units = idv_usage.units + excluded.units
  )
  SELECT * FROM quota`;
/** Commits something, and so waits until all that was committed before is on disk, and on the standbys that count. */
const untilDurable = "SELECT pg_backend_pid() AS pid, pg_logical_emit_message(true, 'idv', '')";
/** SQLSTATE of an answer that another server has stored at the same moment, and of locks in a circle. */
const notAtOnce = ["23505", "40P01"];

/** Makes charges in a database that any number of servers may share. All methods throw StoreError when it cannot be used. */
export class PostgresCharges implements FastCharges {
  readonly #database: PostgresDatabase;
  /** Whether {@link untilDurable} waits for what the statement before it has committed. */
  #waits: Promise<boolean> | undefined;
  /** What a charge has found last, by the ids of keys that could be used. */
  readonly #known = new Map<string, KnownKey>();

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  /**
   * Makes charges in one statement, which locks the quota for a third of the time. That will do for charges of one key that the
   * quota grants in full, if neither the key nor the quota has changed since the last charge, the period goes on, and none of
   * them has been made before. Otherwise nothing is charged.
   */
  async chargeAll(charges: readonly Charge[]): ReturnType<FastCharges["chargeAll"]> {
    const [{ keyId } = { keyId: "" }] = charges;
    const { quota: known, until } = this.#known.get(keyId) ?? {};
    const isPlain = charges.every((charge) => charge.keyId === keyId && charge.statuses.length > 0);
    if (known === undefined || !isPlain) return undefined;
    const units = charges.reduce((sum, { statuses }) => sum + statuses.length, 0);
    if (known.unit_limit !== null && known.used + units > known.unit_limit) return undefined;
    this.#waits ??= this.#database.runsItself(untilDurable).catch((error) => {
      this.#waits = undefined;
      throw error;
    });
    if (!(await this.#waits)) return undefined;
    const usable = { expires: null, revoked: null, quota_id: known.id } as KeyRow;
    const free = { ...known, unit_limit: null };
    const rows = {
      keys: new Map([[keyId, usable]]),
      quotas: new Map([[known.id, free]]),
      answers: new Map(),
    };
    const { answers, usage } = applyCharges(rows, charges, 0);
    // One of them repeats another.
    if (answers.length < charges.filter(({ once }) => once !== undefined).length) return undefined;
    const [found] = await this.#database
      .read(
        [
          atOnce,
          ...[keyId, known.id, units, known.version, until],
          ...[
            answers.map((answer) => answer.idempotency_key_hash),
            answers.map((answer) => answer.body_hash),
          ],
          answers.map(({ statuses }) => statuses),
          ...[
            usage.map(({ kind }) => kind),
            usage.map(({ status }) => status),
            usage.map((line) => line.units),
          ],
        ],
        [untilDurable],
      )
      .catch((error: StoreError) => {
        if (notAtOnce.includes((error.cause as { code?: string } | undefined)?.code ?? "")) return [[]];
        throw error;
      });
    const [after] = found as (NamedQuotaRow & { now: number })[];
    if (after === undefined) return undefined;
    const quota = { ...after, used: after.used - units };
    const outcomes = charges.map(({ statuses }) => {
      quota.used += statuses.length;
      return { statuses, quota: toQuota(quota) };
    });
    return { outcomes, now: after.now };
  }

  learn({ keys, quotas }: Pick<ChargedRows, "keys" | "quotas">, now: number): void {
    if (this.#known.size + keys.size > mostKnown) this.#known.clear();
    for (const { id, quota_id, expires, ...key } of keys.values()) {
      const quota = quotas.get(quota_id) as VersionedQuotaRow;
      const ends = [expires, toQuota(quota).renewsAt].filter((time) => time !== null);
      const until = ends.length === 0 ? null : Math.min(...ends);
      if (isUsable({ expires, ...key }, now)) this.#known.set(id, { quota, until });
    }
  }
}
