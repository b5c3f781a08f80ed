/** Charges of the service in PostgreSQL in one statement, if nothing has changed since the last charge of the key. */
import type { StoreError } from "../../errors.js";
import type { PostgresDatabase } from "../../postgres/database.js";
import { clock } from "../../postgres/dialect.js";
import { toQuota } from "../../quota/quota.js";
import type { Charge } from "../api-key.js";
import { applyCharges, type ChargedRows, isUsable, type KeyRow, type NamedQuotaRow } from "../rules.js";

type VersionedQuotaRow = NamedQuotaRow & { readonly version: number };

type KnownKey = { readonly quota: VersionedQuotaRow; readonly until: number | null };

const mostKnown = 10_000;

// Unlocks the quota before the charges are on disk, so that servers need not wait for the disk one after another. They
// are durable once {@link untilDurable}, sent after it, is answered. Returns no row if it charges nothing.
const atOnce = `WITH time AS MATERIALIZED (${clock}, set_config('synchronous_commit', 'off', true)),
  quota AS (
    UPDATE idv_quota SET used = used + $2 FROM time
    WHERE id = $1 AND version = $3 AND ($4::bigint IS NULL OR now < $4)
      AND (unit_limit IS NULL OR used + $2 <= unit_limit)
      AND NOT EXISTS (
        SELECT FROM idv_answer JOIN unnest($5::text[], $6::bytea[]) AS asked (key, hash)
        ON key_id = key AND idempotency_key_hash = hash
      )
    RETURNING idv_quota.*, now
  ),
  answer AS (
    INSERT INTO idv_answer SELECT key, hash, body_hash, statuses, now
    FROM quota, unnest($5::text[], $6::bytea[], $7::bytea[], $8::text[]) AS added (key, hash, body_hash, statuses)
  ),
  usage AS (
    INSERT INTO idv_usage
    SELECT key, greatest(now - now % 3600000, (SELECT rolled FROM idv_usage_mark)), kind, status, units
    FROM quota, unnest($9::text[], $10::text[], $11::text[], $12::bigint[]) AS added (key, kind, status, units)
    ON CONFLICT (key_id, hour, kind, status) DO UPDATE SET units = idv_usage.units + excluded.units
  )
  SELECT * FROM quota`;
/** Waits until all earlier commits are on disk, and on the synchronous standbys: the log is written in order. */
const untilDurable = "SELECT pg_backend_pid() AS pid, pg_logical_emit_message(true, 'idv', '')";
/** SQLSTATEs of an answer that another server has just stored, and of a deadlock. */
const notAtOnce = ["23505", "40P01"];

export class PostgresCharges {
  /** Whether {@link untilDurable} reaches the server process that made the charge, and so waits for its commit. */
  #waits: Promise<boolean> | undefined;
  readonly #known = new Map<string, KnownKey>();

  constructor(private readonly database: PostgresDatabase) {}

  /** Locks the quota for a third of the time. Undefined unless all charges are new, granted and on one quota. */
  async chargeAll(charges: readonly Charge[]) {
    if (!charges.every(({ statuses }) => statuses.length > 0)) return undefined;
    const all = this.#knownOf(charges);
    const [first] = all ?? [];
    if (all === undefined || first === undefined) return undefined;
    const { quota: known } = first;
    const until = earliest(all.map(({ until }) => until));
    const units = charges.reduce((sum, { statuses }) => sum + statuses.length, 0);
    if (known.unit_limit !== null && known.used + units > known.unit_limit) return undefined;
    this.#waits ??= this.database.runsItself(untilDurable).catch((error) => {
      this.#waits = undefined;
      throw error;
    });
    if (!(await this.#waits)) return undefined;
    const usable = { expires: null, revoked: null, quota_id: known.id } as KeyRow;
    const free = { ...known, unit_limit: null };
    const keys = new Map(charges.map(({ keyId }) => [keyId, usable]));
    const rows = { keys, quotas: new Map([[known.id, free]]), answers: new Map() };
    const { answers, usage } = applyCharges(rows, charges, 0);
    // Two of the charges have the same Idempotency-Key.
    if (answers.length < charges.filter(({ once }) => once !== undefined).length) return undefined;
    const [found] = await this.database
      .limited(() =>
        this.database.read(
          [
            atOnce,
            ...[known.id, units, known.version, until],
            answers.map((answer) => answer.key_id),
            answers.map((answer) => answer.idempotency_key_hash),
            answers.map((answer) => answer.body_hash),
            answers.map(({ statuses }) => statuses),
            usage.map(({ keyId }) => keyId),
            usage.map(({ kind }) => kind),
            usage.map(({ status }) => status),
            usage.map((line) => line.units),
          ],
          [untilDurable],
        ),
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

  #knownOf(charges: readonly Charge[]): readonly KnownKey[] | undefined {
    const all: KnownKey[] = [];
    for (const keyId of new Set(charges.map(({ keyId }) => keyId))) {
      const known = this.#known.get(keyId);
      const [first = known] = all;
      if (known === undefined || known.quota.id !== first!.quota.id) return undefined;
      if (known.quota.version !== first!.quota.version) return undefined;
      all.push(known);
    }
    return all;
  }

  learn({ keys, quotas }: Pick<ChargedRows, "keys" | "quotas">, now: number): void {
    if (this.#known.size + keys.size > mostKnown) this.#known.clear();
    for (const { id, quota_id, expires, ...key } of keys.values()) {
      const quota = quotas.get(quota_id) as VersionedQuotaRow;
      const until = earliest([expires, toQuota(quota).renewsAt]);
      if (isUsable({ expires, ...key }, now)) this.#known.set(id, { quota, until });
    }
  }
}

function earliest(times: readonly (number | null)[]): number | null {
  const ends = times.filter((time) => time !== null);
  return ends.length === 0 ? null : Math.min(...ends);
}
