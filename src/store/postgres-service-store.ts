/**
 * State of the service in PostgreSQL 13 or newer, for servers on several machines. The clock of the database decides periods
 * and ends, because the clocks of servers differ. Secrets, Idempotency-Keys and request bodies are stored only as hashes.
 */
import type { StoreError } from "./errors.js";
import { PostgresDatabase, type Query } from "./postgres.js";
import {
  changeQuota,
  freshRow,
  type Quota,
  type QuotaChange,
  type Reservation,
  renewed,
  toQuota,
} from "./quota.js";
import { hashOf, hintOf, newId, newSecret, newToken } from "./secrets.js";
import {
  type AnswerRow,
  type ApiKey,
  type AuditEntry,
  answerKey,
  answerMilliseconds,
  applyCharges,
  applyUnitRequest,
  type Charge,
  type ChargeOutcome,
  isUsable,
  type KeyChange,
  KeyExistsError,
  type KeyRow,
  type NamedQuotaRow,
  type NewKey,
  noQuota,
  permissions,
  type QuotaOwner,
  type ServiceStore,
  sessionMilliseconds,
  signInMilliseconds,
  toKey,
  type UnitRequest,
  UnknownKeyError,
  type Usage,
  usageIdOf,
} from "./service-store.js";
import {
  holdsBytes,
  keyOf,
  pageStatement,
  type StateRows,
  stateInUse,
  stateTableNames,
  stateTables,
  toValues,
} from "./state-rows.js";

/** Statements of each version of the tables, the oldest first. Released steps must never change. */
const steps: readonly string[] = [
  `CREATE TABLE idv_quota (
    id text PRIMARY KEY,
    name text UNIQUE,
    unit_limit bigint CHECK (unit_limit >= 0),
    period text NOT NULL CHECK (period IN ('none', 'hour', 'day', 'month')),
    used bigint NOT NULL CHECK (used >= 0),
    period_start bigint NOT NULL
  ) WITH (fillfactor = 50);
  CREATE TABLE idv_key (
    id text PRIMARY KEY,
    name text NOT NULL,
    hash bytea NOT NULL UNIQUE,
    previous_hash bytea UNIQUE,
    previous_until bigint,
    hint text NOT NULL,
    permissions text NOT NULL,
    is_sandbox integer NOT NULL,
    created bigint NOT NULL,
    expires bigint,
    revoked bigint,
    quota_id text NOT NULL REFERENCES idv_quota
  );
  CREATE TABLE idv_answer (
    key_id text NOT NULL,
    idempotency_key_hash bytea NOT NULL,
    body_hash bytea NOT NULL,
    statuses text NOT NULL,
    created bigint NOT NULL,
    PRIMARY KEY (key_id, idempotency_key_hash)
  );
  CREATE INDEX idv_answer_created ON idv_answer (created);
  CREATE TABLE idv_usage (
    key_id text NOT NULL,
    hour bigint NOT NULL,
    kind text NOT NULL,
    status text NOT NULL,
    units bigint NOT NULL,
    PRIMARY KEY (key_id, hour, kind, status)
  ) WITH (fillfactor = 50);
  CREATE INDEX idv_usage_hour ON idv_usage (hour)`,
  // Counts the changes of the quota and of its keys, so that a charge notices them in the row that it locks.
  `ALTER TABLE idv_quota ADD COLUMN version bigint NOT NULL DEFAULT 0`,
  // Access to the dashboard.
  `CREATE TABLE idv_sign_in (hash bytea PRIMARY KEY, expires bigint NOT NULL);
  CREATE TABLE idv_session (hash bytea PRIMARY KEY, id text NOT NULL, expires bigint NOT NULL);
  CREATE TABLE idv_audit (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    who text NOT NULL,
    what text NOT NULL,
    key_id text NOT NULL
  )`,
];

/** Time between two deletions of old answers, in milliseconds, and their largest number at a time. */
const [sweepMilliseconds, sweptAnswers] = [60_000, 1000];

const keyAndQuota = `SELECT k.*, q.name AS quota_name, q.unit_limit, q.period, q.used, q.period_start
  FROM idv_key k JOIN idv_quota q ON q.id = k.quota_id`;
const clock = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";

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

type JoinedRow = KeyRow & NamedQuotaRow & { readonly quota_name: string | null };

/** The state in a database that any number of servers may share. */
export class PostgresServiceStore implements ServiceStore {
  readonly runsSideBySide = true;
  readonly #database: PostgresDatabase;
  #sweptAt = Number.NEGATIVE_INFINITY;
  /** Whether {@link untilDurable} waits for what the statement before it has committed. */
  #waits: Promise<boolean> | undefined;
  /** What a charge has found last, by the ids of keys that could be used. */
  readonly #known = new Map<string, KnownKey>();

  /**
   * Connects, and creates or upgrades the tables.
   *
   * @param url `postgres://` with a host, or without one for the PG* variables
   * @param env the environment, of which PGHOST and PGSSLMODE decide about TLS
   * @throws StoreError when the database cannot be reached or was used by a newer version, or the URL asks for weak TLS
   */
  static async open(
    url: string,
    env: Readonly<Record<string, string | undefined>> = {},
  ): Promise<PostgresServiceStore> {
    return new PostgresServiceStore(await PostgresDatabase.open(url, env, steps));
  }

  private constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  async find(secret: string): Promise<ApiKey | undefined> {
    const hash = hashOf(secret);
    const [[{ now }], [row]] = (await this.#database.read(
      [clock],
      [`${keyAndQuota} WHERE k.hash = $1 OR k.previous_hash = $1`, hash],
    )) as [[{ now: number }], JoinedRow[]];
    if (row === undefined || !isUsable(row, now)) return undefined;
    const isOld = !hash.every((byte, i) => byte === row.hash[i]);
    if (isOld && !(row.previous_until !== null && row.previous_until > now)) return undefined;
    return toKey(row, quotaOf(row), now);
  }

  /** Makes the charges in one statement if that will do, else in a transaction. */
  async chargeAll(charges: readonly Charge[]): Promise<readonly ChargeOutcome[]> {
    return (await this.#chargeAtOnce(charges)) ?? this.#chargeInSteps(charges);
  }

  /**
   * Makes charges in one statement, which locks the quota for a third of the time. That will do for charges of one key that the
   * quota grants in full, if neither the key nor the quota has changed since the last charge, the period goes on, and none of
   * them has been made before. Otherwise nothing is charged.
   */
  async #chargeAtOnce(charges: readonly Charge[]): Promise<readonly ChargeOutcome[] | undefined> {
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
    this.#sweep(after.now);
    const quota = { ...after, used: after.used - units };
    return charges.map(({ statuses }) => {
      quota.used += statuses.length;
      return { statuses, quota: toQuota(quota) };
    });
  }

  async #chargeInSteps(charges: readonly Charge[]): Promise<readonly ChargeOutcome[]> {
    const ids = [...new Set(charges.map(({ keyId }) => keyId))];
    const once = charges.flatMap(({ keyId, once }) =>
      once === undefined ? [] : [{ keyId, hash: hashOf(once.idempotencyKey) }],
    );
    const { now, outcomes, keys, quotas } = await this.#database.transaction(async (query, begun) => {
      // Both rows are locked: a charge that has waited must see a revocation that was committed meanwhile.
      const [keyRows, quotaRows, stored, [time]] = (await Promise.all([
        query("SELECT * FROM idv_key WHERE id = ANY($1) ORDER BY id FOR SHARE", ids),
        query(
          `SELECT * FROM idv_quota WHERE id IN (SELECT quota_id FROM idv_key WHERE id = ANY($1)) ORDER BY id
          FOR NO KEY UPDATE`,
          ids,
        ),
        once.length === 0
          ? []
          : query(
              `SELECT key_id, idempotency_key_hash, body_hash, statuses, created FROM idv_answer
              WHERE (key_id, idempotency_key_hash) IN (SELECT * FROM unnest($1::text[], $2::bytea[]))`,
              ...[once.map(({ keyId }) => keyId), once.map(({ hash }) => hash)],
            ),
        query(clock),
        begun,
      ])) as unknown as [
        KeyRow[],
        VersionedQuotaRow[],
        (AnswerRow & { created: number })[],
        [{ now: number }],
      ];
      const { now } = time;
      const quotas = new Map(quotaRows.map((row) => [row.id, renewed(row, now)]));
      const isValid = ({ created }: { created: number }) => Math.abs(now - created) < answerMilliseconds;
      const answers = new Map(
        stored.filter(isValid).map((row) => [answerKey(row.key_id, row.idempotency_key_hash), row]),
      );
      const keys = new Map(keyRows.map((row) => [row.id, row]));
      const result = applyCharges({ keys, quotas, answers }, charges, now);
      // Not awaited: they are sent together with COMMIT, so that the locks are held for one round trip only.
      for (const quota of quotas.values()) updateQuota(query, quota);
      if (result.answers.length > 0) insertAnswers(query, result.answers, now);
      if (result.usage.length > 0) addUsage(query, result.usage);
      return { now, outcomes: result.outcomes, keys, quotas };
    });
    if (this.#known.size + keys.size > mostKnown) this.#known.clear();
    for (const { id, quota_id, expires, ...key } of keys.values()) {
      const quota = quotas.get(quota_id)!;
      const ends = [expires, toQuota(quota).renewsAt].filter((time) => time !== null);
      const until = ends.length === 0 ? null : Math.min(...ends);
      if (isUsable({ expires, ...key }, now)) this.#known.set(id, { quota, until });
    }
    this.#sweep(now);
    return outcomes;
  }

  async takeUnits(request: UnitRequest): Promise<Reservation> {
    const { now, reservation } = await this.#database.transaction(async (query, begun) => {
      const keyId = usageIdOf(request.from);
      const [key, row, [stored], [{ now }]] = (await Promise.all([
        ...lockQuota(query, request.from),
        query(
          "SELECT * FROM idv_answer WHERE key_id = $1 AND idempotency_key_hash = $2",
          ...[keyId, hashOf(request.once)],
        ),
        query(clock),
        begun,
      ])) as unknown as [LockedKey, NamedQuotaRow | undefined, AnswerRow[], [{ now: number }]];
      if (row === undefined || (key && !isUsable(key, now))) throw noQuota(request.from);
      const quota = renewed(row, now);
      const { reservation, answers, usage } = applyUnitRequest(quota, stored, request, now);
      // Sent together with COMMIT, as in a charge.
      updateQuota(query, quota);
      if (answers.length > 0) insertAnswers(query, answers, now);
      if (usage.length > 0) addUsage(query, usage);
      return { now, reservation };
    });
    this.#sweep(now);
    return reservation;
  }

  async quotaOf(owner: QuotaOwner): Promise<Quota> {
    const { now, key, row } = await this.#database.transaction(async (query, begun) => {
      const [key, row, [{ now }]] = (await Promise.all([
        ...lockQuota(query, owner),
        query(clock),
        begun,
      ])) as unknown as [LockedKey, NamedQuotaRow | undefined, [{ now: number }]];
      return { now, key, row };
    });
    if (row === undefined || (key && !isUsable(key, now))) throw noQuota(owner);
    return toQuota(renewed(row, now));
  }

  async setSharedQuota(name: string, change: QuotaChange): Promise<Quota> {
    return this.#database.transaction(async (query, begun) => {
      await begun;
      await insertQuota(query, { ...freshRow, id: newId(), name });
      const [[row], [{ now }]] = (await Promise.all([
        query("SELECT * FROM idv_quota WHERE name = $1 FOR NO KEY UPDATE", name),
        query(clock),
      ])) as unknown as [[NamedQuotaRow], [{ now: number }]];
      const quota = renewed(row, now);
      changeQuota(quota, change, now);
      await updateQuota(query, quota);
      await query("UPDATE idv_quota SET version = version + 1 WHERE id = $1", quota.id);
      return toQuota(quota);
    });
  }

  async hasAnswer(keyId: string, idempotencyKey: string): Promise<boolean> {
    const [rows] = await this.#database.read([
      `SELECT 1 FROM idv_answer WHERE key_id = $1 AND idempotency_key_hash = $2
      AND abs(created - (extract(epoch FROM clock_timestamp()) * 1000)::bigint) < $3`,
      ...[keyId, hashOf(idempotencyKey), answerMilliseconds],
    ]);
    return rows!.length > 0;
  }

  async create({ id = newId(), name = "", isSandbox = false, quotaName, ...change }: NewKey) {
    const secret = newSecret(isSandbox);
    return this.#database.transaction(async (query, begun) => {
      const [[{ now }], found] = (await Promise.all([
        query(clock),
        query("SELECT FROM idv_key WHERE id = $1", id),
        begun,
      ])) as unknown as [[{ now: number }], unknown[]];
      if (found.length > 0) throw new KeyExistsError(id);
      const own: NamedQuotaRow = { ...freshRow, id, name: quotaName ?? null };
      changeQuota(own, change, now);
      const isShared = (await insertQuota(query, own)).length === 0;
      if (isShared && (change.limit !== undefined || change.period !== undefined)) {
        throw new UnknownKeyError(
          `there is a quota "${quotaName}" already; leave out --limit and --period, or change it with idv keys set`,
        );
      }
      const [quota = own] = isShared
        ? ((await query("SELECT * FROM idv_quota WHERE name = $1", quotaName)) as NamedQuotaRow[])
        : [];
      const key: KeyRow = {
        ...{
          id,
          name,
          hash: hashOf(secret),
          previous_hash: null,
          previous_until: null,
          hint: hintOf(secret),
        },
        permissions: (change.permissions ?? permissions).join(","),
        ...{ is_sandbox: Number(isSandbox), created: now, expires: change.expires ?? null, revoked: null },
        quota_id: quota.id,
      };
      await query(
        "INSERT INTO idv_key VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        ...[key.id, key.name, key.hash, key.previous_hash, key.previous_until, key.hint, key.permissions],
        ...[key.is_sandbox, key.created, key.expires, key.revoked, key.quota_id],
      );
      return { key: toKey(key, quota, now), secret };
    });
  }

  async list(): Promise<readonly ApiKey[]> {
    const [[{ now }], rows, used] = (await this.#database.read(
      [clock],
      [`${keyAndQuota} ORDER BY k.created, k.id`],
      ["SELECT key_id, max(hour) AS hour FROM idv_usage GROUP BY key_id"],
    )) as [[{ now: number }], JoinedRow[], { key_id: string; hour: number }[]];
    const lastUsed = new Map(used.map(({ key_id, hour }) => [key_id, hour]));
    return rows.map((row) => toKey(row, quotaOf(row), now, lastUsed.get(row.id)));
  }

  async set(id: string, change: KeyChange): Promise<ApiKey> {
    return this.#change(id, (key, quota, now) => {
      if (change.name !== undefined) key.name = change.name;
      if (change.permissions !== undefined) key.permissions = change.permissions.join(",");
      if (change.expires !== undefined) key.expires = change.expires;
      changeQuota(quota, change, now);
    });
  }

  async revoke(id: string): Promise<ApiKey> {
    return this.#change(id, (key, _, now) => {
      key.revoked ??= now;
    });
  }

  async rotate(id: string, grace: number): Promise<{ key: ApiKey; secret: string }> {
    let secret = "";
    const key = await this.#change(id, (row, _, now) => {
      if (row.revoked !== null) throw new UnknownKeyError(`key ${id} is revoked; create another key`);
      secret = newSecret(row.is_sandbox === 1);
      const isKept = grace > 0;
      row.previous_hash = isKept ? row.hash : null;
      row.previous_until = isKept ? now + grace : null;
      row.hash = hashOf(secret);
      row.hint = hintOf(secret);
    });
    return { key, secret };
  }

  async usage(since: number, keyId?: string): Promise<readonly Usage[]> {
    const [rows] = await this.#database.read([
      `SELECT key_id AS "keyId", hour, kind, status, units FROM idv_usage
      WHERE hour >= $1 AND ($2::text IS NULL OR key_id = $2) ORDER BY hour, key_id, kind, status`,
      ...[since, keyId ?? null],
    ]);
    return rows as Usage[];
  }

  async createSignIn(): Promise<string> {
    const token = newToken();
    await this.#database.read(
      [`DELETE FROM idv_sign_in WHERE expires <= (${clock})`],
      [`DELETE FROM idv_session WHERE expires <= (${clock})`],
      [`INSERT INTO idv_sign_in VALUES ($1, (${clock}) + $2)`, ...[hashOf(token), signInMilliseconds]],
    );
    return token;
  }

  async signIn(token: string): Promise<string | undefined> {
    const secret = newToken();
    const [rows] = await this.#database.read([
      `WITH spent AS (DELETE FROM idv_sign_in WHERE hash = $1 AND expires > (${clock}) RETURNING hash)
      INSERT INTO idv_session SELECT $2, $3, (${clock}) + $4 FROM spent RETURNING id`,
      ...[hashOf(token), hashOf(secret), newId(), sessionMilliseconds],
    ]);
    return rows!.length === 0 ? undefined : secret;
  }

  async sessionOf(secret: string): Promise<string | undefined> {
    const sql = `SELECT id FROM idv_session WHERE hash = $1 AND expires > (${clock})`;
    const [rows] = await this.#database.read([sql, hashOf(secret)]);
    return (rows as { id: string }[])[0]?.id;
  }

  async signOut(secret?: string): Promise<void> {
    if (secret === undefined)
      await this.#database.read(["DELETE FROM idv_sign_in"], ["DELETE FROM idv_session"]);
    else await this.#database.read(["DELETE FROM idv_session WHERE hash = $1", hashOf(secret)]);
  }

  async record({ who, what, keyId }: Omit<AuditEntry, "at">): Promise<void> {
    const sql = `INSERT INTO idv_audit (at, who, what, key_id) VALUES ((${clock}), $1, $2, $3)`;
    await this.#database.read([sql, who, what, keyId]);
  }

  async audit(most: number): Promise<readonly AuditEntry[]> {
    const sql = `SELECT at, who, what, key_id AS "keyId" FROM idv_audit ORDER BY number DESC LIMIT $1`;
    const [rows] = await this.#database.read([sql, most]);
    return rows as AuditEntry[];
  }

  async exportRows(visit: (rows: StateRows) => Promise<void>): Promise<void> {
    await this.#database.transaction(async (query, begun) => {
      await begun;
      await query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
      for (const table of stateTableNames) {
        let last: unknown[] = [];
        for (;;) {
          const sql = pageStatement(table, `idv_${table}`, (index) => `$${index}`, last.length === 0);
          const rows = (await query(sql, ...last)) as Record<string, unknown>[];
          if (rows.length === 0) break;
          await visit({ table, rows: rows.map(toValues) });
          last = keyOf(table, rows.at(-1)!);
        }
      }
    });
  }

  async importRows(pages: AsyncIterable<StateRows>): Promise<void> {
    await this.#database.transaction(async (query, begun) => {
      await begun;
      const found = await query("SELECT id FROM idv_quota UNION ALL SELECT id FROM idv_key LIMIT 1");
      if (found.length > 0) throw stateInUse(this.#database.name);
      for await (const { table, rows } of pages) {
        const { columns } = stateTables[table];
        const stored = rows.map((row) => {
          const storedIn = (column: string) => {
            const value = row[column];
            return typeof value === "string" && holdsBytes(table, column) ? `\\x${value}` : value;
          };
          return Object.fromEntries(columns.map((column) => [column, storedIn(column)]));
        });
        const names = columns.join(", ");
        await query(
          `INSERT INTO idv_${table} (${names}) SELECT ${names} FROM json_populate_recordset(null::idv_${table}, $1)`,
          JSON.stringify(stored),
        );
      }
    });
  }

  /** Checks that the database can be written, by writing a value that it already has. */
  async checkWritable(): Promise<void> {
    await this.#database.transaction(async (query, begun) => {
      await begun;
      await query("UPDATE idv_schema SET version = version");
    });
  }

  #change(id: string, apply: (key: KeyRow, quota: NamedQuotaRow, now: number) => void): Promise<ApiKey> {
    // Locks the key first, as charges do.
    return this.#database.transaction(async (query, begun) => {
      const [[key], [quotaRow], [{ now }]] = (await Promise.all([
        query("SELECT * FROM idv_key WHERE id = $1 FOR UPDATE", id),
        query(
          "SELECT * FROM idv_quota WHERE id = (SELECT quota_id FROM idv_key WHERE id = $1) FOR NO KEY UPDATE",
          id,
        ),
        query(clock),
        begun,
      ])) as unknown as [KeyRow[], NamedQuotaRow[], [{ now: number }]];
      if (key === undefined) throw new UnknownKeyError(`no key "${id}"; run idv keys list to see all keys`);
      const quota = renewed(quotaRow!, now);
      apply(key, quota, now);
      await Promise.all([
        query(
          `UPDATE idv_key SET name = $2, hash = $3, previous_hash = $4, previous_until = $5, hint = $6, permissions = $7,
          expires = $8, revoked = $9 WHERE id = $1`,
          ...[id, key.name, key.hash, key.previous_hash, key.previous_until, key.hint, key.permissions],
          ...[key.expires, key.revoked],
        ),
        updateQuota(query, quota),
        query("UPDATE idv_quota SET version = version + 1 WHERE id = $1", quota.id),
      ]);
      return toKey(key, quota, now);
    });
  }

  /** Deletes expired answers in pieces, in the background, once a minute. */
  #sweep(now: number): void {
    if (now < this.#sweptAt + sweepMilliseconds && now >= this.#sweptAt) return;
    this.#sweptAt = now;
    const text = `DELETE FROM idv_answer WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM idv_answer WHERE created <= $1 ORDER BY created LIMIT ${sweptAnswers} FOR UPDATE SKIP LOCKED))
      RETURNING 1`;
    this.#database.read([text, now - answerMilliseconds]).then(
      ([deleted]) => {
        // With more to delete, the next charge goes on.
        if (deleted!.length === sweptAnswers) this.#sweptAt = Number.NEGATIVE_INFINITY;
      },
      () => {},
    );
  }
}

const updateQuota = (query: Query, { id, unit_limit, period, used, period_start }: NamedQuotaRow) =>
  query(
    "UPDATE idv_quota SET unit_limit = $2, period = $3, used = $4, period_start = $5 WHERE id = $1",
    ...[id, unit_limit, period, used, period_start],
  );

type LockedKey = KeyRow | undefined;

/** Locks the key, if there is one, and the quota of a run, in this order. */
const lockQuota = (query: Query, owner: QuotaOwner) => {
  const first = (rows: unknown[]) => rows[0];
  if ("quotaName" in owner) {
    const sql = "SELECT * FROM idv_quota WHERE name = $1 FOR NO KEY UPDATE";
    return [undefined, query(sql, owner.quotaName).then(first)] as const;
  }
  const sql =
    "SELECT * FROM idv_quota WHERE id = (SELECT quota_id FROM idv_key WHERE id = $1) FOR NO KEY UPDATE";
  return [
    query("SELECT * FROM idv_key WHERE id = $1 FOR SHARE", owner.keyId).then(first),
    query(sql, owner.keyId).then(first),
  ] as const;
};

/** Inserts a quota. Returns no row if there is one with this name. */
const insertQuota = (query: Query, { id, name, unit_limit, period, used, period_start }: NamedQuotaRow) =>
  query(
    "INSERT INTO idv_quota VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO NOTHING RETURNING id",
    ...[id, name, unit_limit, period, used, period_start],
  );

const insertAnswers = (query: Query, answers: readonly AnswerRow[], now: number) =>
  query(
    `INSERT INTO idv_answer SELECT *, $5 FROM unnest($1::text[], $2::bytea[], $3::bytea[], $4::text[])
    ON CONFLICT (key_id, idempotency_key_hash) DO UPDATE
    SET body_hash = excluded.body_hash, statuses = excluded.statuses, created = excluded.created`,
    answers.map(({ key_id }) => key_id),
    answers.map(({ idempotency_key_hash }) => idempotency_key_hash),
    answers.map(({ body_hash }) => body_hash),
    answers.map(({ statuses }) => statuses),
    now,
  );

const addUsage = (query: Query, usage: readonly Usage[]) =>
  query(
    `INSERT INTO idv_usage SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])
    ON CONFLICT (key_id, hour, kind, status) DO UPDATE SET units = idv_usage.units + excluded.units`,
    usage.map(({ keyId }) => keyId),
    usage.map(({ hour }) => hour),
    usage.map(({ kind }) => kind),
    usage.map(({ status }) => status),
    usage.map(({ units }) => units),
  );

function quotaOf({
  quota_id: id,
  quota_name: name,
  unit_limit,
  period,
  used,
  period_start,
}: JoinedRow): NamedQuotaRow {
  return { id, name, unit_limit, period, used, period_start };
}
